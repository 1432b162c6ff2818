"""What pages change about datasets, contestants, battles, councils, queues and rubrics, over HTTP."""

import pytest

from experiments.battles.boards import model_board
from experiments.datasets import demonstration
from experiments.models import Battle, Contestant, Dataset, Preset, ReviewQueue, ReviewRubric
from tests.experiments.reviews import reviewed
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db


@pytest.fixture
def dataset(alice, provider):
    return demonstration.make_text(alice)


@pytest.fixture
def battle(dataset):
    judge = add_model("sim/judge:first=0")
    board = model_board(dataset, judge, prompt="text_quality", prompt_version="1", params={})
    left, right = dataset.contestants.order_by("pk")[:2]
    return Battle.objects.create(board=board, winner="left", sample=dataset.samples.first(), left=left, right=right)


def test_who_sees_a_dataset_is_its_owners_to_decide(api, charlies, dataset, is_problem):
    path = f"datasets/{dataset.slug}/visibility/"

    assert api.post(path, {"visibility": "lab"}).json() == {"visibility": "lab"}
    is_problem(charlies.post(path, {"visibility": "public"}), 403, "owner")

    assert Dataset.objects.get().visibility == "lab"


def test_a_dataset_is_deleted_unless_something_rests_on_it(api, dataset, battle, is_problem):
    is_problem(api.send("DELETE", f"datasets/{dataset.slug}/"), 403)
    Battle.objects.all().delete()

    assert api.send("DELETE", f"datasets/{dataset.slug}/").status_code in {204, 403}


def test_a_battle_is_left_out_with_a_reason_and_taken_in_again(api, battle, is_problem):
    path = f"battles/{battle.pk}/"

    assert api.post(path, {"deed": "void", "reason": "The sample is wrong."}).json()["void_reason"] != ""
    assert api.get(path).json()["void_reason"] == "The sample is wrong."
    assert api.post(path, {"deed": "restore"}).json()["void_reason"] == ""
    is_problem(api.post(path, {"deed": "void"}), 400, "reason")


def test_a_contestant_is_described_left_out_and_rated_again(api, dataset, is_problem):
    path = f"datasets/{dataset.slug}/contestants/{dataset.contestants.first().pk}/"

    assert api.post(path, {"deed": "describe", "label": "The first"}).json()["label"] == "The first"
    assert api.post(path, {"deed": "void", "reason": "It is a copy."}).json()["void_reason"] == "It is a copy."
    assert api.post(path, {"deed": "restore"}).json()["void_reason"] == ""
    assert Contestant.objects.exclude(void_reason="").count() == 0


def test_a_council_is_kept_listed_and_deleted(api, charlies, provider, is_problem):
    model = add_model("sim/neutral:first=0").slug
    cast = {seat: {"model": model} for seat in ("member-1", "member-2", "chair")}

    kept = api.post("council/presets/", {"name": "Three", "cast": cast, "config": {"system_prompt": "Be brief."}})

    assert kept.status_code == 201, kept.content
    assert [one["name"] for one in api.get("council/presets/").json()["results"]] == ["Three"]
    assert charlies.get("council/presets/").json()["results"] == []
    is_problem(api.post("council/presets/", {"name": "One", "cast": {"chair": {"model": model}}}), 400)
    is_problem(api.post("council/presets/", {"name": "Odd", "cast": cast, "config": {"question": "?"}}), 400, "config")
    assert api.send("DELETE", f"council/presets/{kept.json()['id']}/").status_code == 204
    assert Preset.objects.count() == 0


def test_a_queue_is_changed_closed_and_filled_by_whoever_looks_after_it(api, charlies, alice, played, is_problem):
    played(max_turns=1)
    queue = reviewed.queue(alice)
    path = f"review/queues/{queue.pk}/"

    changed = api.post(f"{path}change/", {"name": "Another", "members": ["alice"], "state": "closed"}).json()

    assert (changed["name"], changed["members"], changed["state"]) == ("Another", ["alice"], "closed")
    assert ReviewQueue.objects.get().lock_minutes == queue.lock_minutes
    assert api.post(f"{path}fill/").json() == {"new": 0}
    is_problem(charlies.post(f"{path}change/", {"name": "Mine"}), 404)
    is_problem(api.post(f"{path}change/", {"members": ["nobody"]}), 400)


def test_a_rubric_is_kept_and_revised_once(api, is_problem):
    scale = {"name": "clarity", "title": "Clarity", "low": 1, "high": 5}
    asked = {"title": "Clear", "content": {"scales": [scale], "labels": []}}

    first = api.post("review/rubrics/", asked)
    assert first.status_code == 201, first.content
    path = f"review/rubrics/{first.json()['id']}/"
    second = api.post(path, {**asked, "title": "Clearer"}).json()

    assert (second["version"], second["family"]) == (2, first.json()["family"])
    is_problem(api.post(path, asked), 409, "newer version")
    is_problem(api.post("review/rubrics/", {**asked, "content": {"scales": 1}}), 400)
    assert ReviewRubric.objects.filter(family=first.json()["family"]).count() == 2
