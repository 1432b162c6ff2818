"""Presets over HTTP."""

import pytest

from experiments.library import keeping
from experiments.models import Preset
from tests.cases import each_case

pytestmark = pytest.mark.django_db


def test_all_that_one_may_use_are_listed(api, bobs_api, shy):
    mine = api.get("presets/", workflow="starchamber").json()["results"]
    his = bobs_api.get("presets/").json()["results"]

    assert [p["id"] for p in mine][-1] == str(shy.pk)
    assert mine[-1] == {
        "id": str(shy.pk),
        "label": "Shy",
        "description": "Says little.",
        "context": "Answer reluctantly.",
        "builtin": False,
        "owner": "alice",
        "shared": False,
    }
    assert len(his) == 11
    assert all(p["builtin"] and p["owner"] is None for p in his)


def test_another_workflow_has_none(api, shy):
    assert api.get("presets/", workflow="council").json()["results"] == []
    assert api.get("presets/", workflow="\x00").json()["results"] == []


def test_one_is_saved_changed_and_deleted(api):
    saved = api.post("presets/", {"name": "Curt", "context": "Be curt."})
    assert saved.status_code == 201
    id_ = saved.json()["id"]

    changed = api.patch(f"presets/{id_}/", {"context": "Be brief.", "shared": True}).json()
    assert (changed["label"], changed["context"], changed["shared"]) == ("Curt", "Be brief.", True)
    assert api.get(f"presets/{id_}/").json() == changed

    assert api.delete(f"presets/{id_}/").json() == changed
    assert not Preset.objects.exists()


def test_a_stranger_finds_nothing_until_it_is_shared(api, bobs_api, shy, alice):
    path = f"presets/{shy.pk}/"
    assert [bobs_api.get(path).status_code, bobs_api.patch(path, {}).status_code] == [404, 404]
    assert bobs_api.delete(path).status_code == 404

    keeping.share_preset(shy, by=alice)

    assert bobs_api.get(path).status_code == 200
    assert [bobs_api.patch(path, {"name": "x"}).status_code, bobs_api.delete(path).status_code] == [403, 403]
    assert Preset.objects.get().name == "Shy"


def test_a_built_in_one_is_read_and_not_changed(api):
    assert api.get("presets/blank/").json()["context"] == ""
    assert api.patch("presets/blank/", {"context": "x"}).status_code == 403
    assert api.delete("presets/blank/").status_code == 403


@each_case(
    "body",
    [
        {},
        {"name": "x"},
        {"name": "", "context": "y"},
        {"name": [], "context": {}},
        {"name": "x" * 99, "context": "y"},
        [],
        "x",
        {"name": "x", "context": "y", "workflow": "arena"},
        {"name": "x\x00", "context": "y"},
    ],
)
def test_garbage_is_a_problem_and_leaves_nothing(api, body):
    answer = api.post("presets/", body)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert not Preset.objects.exists()


def test_a_name_taken_is_told_at_its_field(api, shy):
    answer = api.post("presets/", {"name": "Shy", "context": "y"})

    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == ["name"]
