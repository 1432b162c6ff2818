"""Scenarios over HTTP."""

import pytest

from experiments.models import Scenario
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG

pytestmark = pytest.mark.django_db


def test_one_is_saved_shared_revised_archived_and_copied(api):
    saved = api.post("scenarios/", {"title": "The well", "config": CONFIG})
    assert saved.status_code == 201
    id_ = saved.json()["id"]
    assert saved.json()["kind"] == "mixed"

    assert api.post(f"scenarios/{id_}/share/").json()["shared"] is True
    newer = api.post(f"scenarios/{id_}/versions/", {"title": "Two wells", "config": CONFIG}).json()
    assert (newer["version"], newer["shared"]) == (2, True)
    assert [v["version"] for v in newer["versions"]] == [2, 1]
    assert api.post(f"scenarios/{id_}/archive/").json()["archived"] is True
    assert api.post(f"scenarios/{id_}/copy/").status_code == 201
    assert Scenario.objects.filter(archived=True).count() == 2


def test_a_built_in_one_is_read_by_its_slug(api):
    answer = api.get("scenarios/bidding-war/").json()

    assert (answer["id"], answer["builtin"], answer["owner"], answer["version"]) == ("bidding-war", True, None, 1)
    assert answer["versions"] == [{"id": "bidding-war", "version": 1, "title": "Bidding war"}]


def test_a_built_in_one_is_not_changed(api):
    assert api.post("scenarios/bidding-war/share/").status_code == 403
    assert api.post("scenarios/bidding-war/versions/", {"title": "x", "config": CONFIG}).status_code == 403


@each_case(
    "body",
    [
        {},
        {"title": "x"},
        {"title": "x", "config": {}},
        {"title": "x", "config": []},
        {"title": "", "config": CONFIG},
        {"title": "x", "config": {**CONFIG, "max_turns": 0}},
        {"title": "x", "config": {**CONFIG, "mode": "wild"}},
        {"title": "x", "config": CONFIG, "kind": "war"},
        [],
        "x",
        '{"title": "x", "config": {"prompt": "\\ud800"}}',
    ],
)
def test_garbage_is_a_problem_and_leaves_nothing(api, body):
    answer = api.post("scenarios/", body)

    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"
    assert not Scenario.objects.exists()


def test_complaints_name_the_setting(api):
    errors = api.post(
        "scenarios/", {"title": "x", "config": {**CONFIG, "max_turns": 0, "limits": {"cost": -1}}}
    ).json()["errors"]

    assert set(errors) == {"config.max_turns", "config.limits.cost"}


@pytest.mark.parametrize("ref", ["nothing", "00000000-0000-7000-8000-000000000000"])
def test_what_does_not_exist_is_not_found(api, ref):
    assert api.get(f"scenarios/{ref}/").status_code == 404
    for path in ("versions", "share", "archive", "copy", "demonstration"):
        assert api.post(f"scenarios/{ref}/{path}/", {"title": "x", "config": CONFIG}).status_code == 404
