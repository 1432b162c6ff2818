"""What is curated over HTTP: datasets and their voters, battles, councils, queues, rubrics and cycles of contests."""

import pytest

from accounts.tokens import create_token
from experiments.library.datasets import demonstration
from experiments.models import Battle, Cycle, Dataset, Preset, ReviewQueue, ReviewRubric
from experiments.workflows.battles.campaign import boards
from experiments.workflows.battles.campaign.boards import model_board
from leaderboard.votes import voter_report
from tests.experiments import contest_rows
from tests.experiments.api.conftest import Api
from tests.experiments.api.test_runs import rows
from tests.experiments.battles.duels import BALLOT, voted_on
from tests.experiments.reviews import reviewed
from tests.fixtures import add_model


def test_a_dataset_its_contestants_and_battles_are_its_owners_to_curate(api, charlies, alice, provider, is_problem):
    dataset = demonstration.make_text(alice)
    board = model_board(dataset, add_model("sim/judge:first=0"), prompt="text_quality", prompt_version="1", params={})
    left, right = dataset.contestants.order_by("pk")[:2]
    pair = {"sample": dataset.samples.first(), "left": left, "right": right}
    battle = Battle.objects.create(board=board, winner="left", **pair)
    whole = f"datasets/{dataset.slug}/"

    path = f"{whole}contestants/{left.pk}/"
    assert api.post(path, {"deed": "describe", "label": "The first"}).json()["label"] == "The first"
    assert api.post(path, {"deed": "void", "reason": "It is a copy."}).json()["void_reason"] == "It is a copy."
    assert api.post(path, {"deed": "restore"}).json()["void_reason"] == ""

    path = f"battles/{battle.pk}/"
    assert api.post(path, {"deed": "void", "reason": "The sample is wrong."}).json()["void_reason"] != ""
    assert api.get(path).json()["void_reason"] == "The sample is wrong."
    assert api.post(path, {"deed": "restore"}).json()["void_reason"] == ""
    is_problem(api.post(path, {"deed": "void"}), 400, "reason")

    assert api.post(f"{whole}visibility/", {"visibility": "public"}).json() == {"visibility": "public"}
    is_problem(charlies.post(f"{whole}visibility/", {"visibility": "lab"}), 403, "owner")
    assert Dataset.objects.get().visibility == "public"
    is_problem(api.delete(whole), 403)  # as a battle rests on it
    battle.delete()
    assert api.delete(whole).status_code == 204
    is_problem(api.get(whole), 404)


def test_a_council_is_kept_listed_and_deleted(api, provider, is_problem):
    model = add_model("sim/neutral:first=0").slug
    cast = {seat: {"model": model} for seat in ("member-1", "member-2", "chair")}

    kept = api.post("council/presets/", {"name": "Three", "cast": cast, "config": {"system_prompt": "Be brief."}})

    assert kept.status_code == 201, kept.content
    assert [one["name"] for one in api.get("council/presets/").json()["results"]] == ["Three"]
    is_problem(api.post("council/presets/", {"name": "One", "cast": {"chair": {"model": model}}}), 400)
    is_problem(api.post("council/presets/", {"name": "Odd", "cast": cast, "config": {"question": "?"}}), 400, "config")
    assert api.delete(f"council/presets/{kept.json()['id']}/").status_code == 204
    assert Preset.objects.count() == 0


def test_a_queue_is_changed_closed_and_filled_by_whoever_looks_after_it(api, alice, is_problem):
    queue = reviewed.queue(alice)
    path = f"review/queues/{queue.pk}/"

    changed = api.post(f"{path}change/", {"name": "Another", "members": ["alice"], "state": "closed"}).json()

    assert (changed["name"], changed["members"], changed["state"]) == ("Another", ["alice"], "closed")
    assert ReviewQueue.objects.get().lock_minutes == queue.lock_minutes
    assert api.post(f"{path}fill/").json() == {"new": 0}
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


@pytest.mark.databases
def test_cycles_come_in_order_with_all_that_was_found_and_a_curator_leaves_one_out_and_takes_it_in_again(
    api, alice, django_user_model, django_assert_max_num_queries, is_problem
):
    run = contest_rows.flawed(alice).run
    found = rows(api, run, "cycles")

    assert [(one["turn"], one["state"], one["counts"]) for one in found] == [
        *((turn, "rated", True) for turn in (1, 2, 3)),
        (4, "void", False),
    ]
    assert found[0]["contestants"][0] == {"seat": "coder-1", "model": "lab/coder-1"}
    assert set(found[1]["votes"]["coder-1"]) == {"coder-3", "coder-4"}
    assert found[1]["passed"]["coder-4"] == 0.3
    assert "coder-3" not in found[2]["means"]
    assert found[2]["unrated"]["coder-3"].startswith("It gave no solution.")
    assert (found[3]["reason"], found[3]["overall"], found[3]["votes"]) == ("It repeats an earlier problem.", None, {})

    found = api.get(f"runs/{run.pk}/cycles/2/").json()

    assert found["problem"]["entry"] == "spread"
    assert len(found["problem"]["hidden"]) == 5
    assert [one["seat"] for one in found["solutions"]] == ["coder-1", "coder-2", "coder-3", "coder-4"]
    assert "max(values)" in found["solutions"][0]["code"]
    assert {one["purpose"] for one in found["executions"]} == {"check", "execution"}
    missing = [one for one in found["judgments"] if one["scores"] is None]
    assert [(one["judge_seat"], one["subject"]) for one in missing] == [("coder-2", "coder-1")]
    assert missing[0]["unscored_reason"]
    assert len(found["judgments"]) == 12
    assert set(found["after"]["compatible"]) == {f"lab/coder-{n}" for n in range(1, 5)}
    silent = api.get(f"runs/{run.pk}/cycles/3/").json()["solutions"][2]
    assert (silent["code"], silent["reason"]) == (None, "It gave no solution. The provider is overloaded.")
    void = api.get(f"runs/{run.pk}/cycles/4/").json()
    assert (void["problem"], void["after"]) == (None, None)
    assert api.get(f"runs/{run.pk}/cycles/5/").status_code == 404

    for path, most in (("cycles/", 8), ("executions/", 8), ("cycles/1/", 16)):
        with django_assert_max_num_queries(most):
            api.get(f"runs/{run.pk}/{path}")

    keepers = Api(create_token(django_user_model.objects.create(username="curator", role="curator")))
    cycle = Cycle.objects.get(run=run, turn=2)

    left = keepers.post(f"cycles/{cycle.pk}/void/", {"reason": "Two answers were right."}).json()
    assert (left["counts"], left["void_reason"], left["voided_by"]) == (False, "Two answers were right.", "curator")
    is_problem(keepers.post(f"cycles/{cycle.pk}/void/", {"reason": "Again."}), 409, "already")
    is_problem(api.post(f"cycles/{cycle.pk}/void/", {"reason": "I lost."}), 403, "curators")
    assert api.get(f"runs/{run.pk}/cycles/2/").json()["after"] is None
    again = keepers.post(f"cycles/{cycle.pk}/restore/").json()
    assert (again["counts"], again["void_reason"], again["voided"]) == (True, "", None)
    is_problem(keepers.post(f"cycles/{cycle.pk}/restore/"), 409, "not left out")
    deeds = api.get(f"runs/{run.pk}/cycles/2/").json()["deeds"]
    assert [(one["is_void"], one["by"]) for one in deeds] == [(True, "curator"), (False, "curator")]


def test_the_api_tells_the_report_page_by_page_and_leaves_a_voter_out_and_takes_them_in_again(
    alice, api, charlies, settings, is_problem
):
    settings.PUBLIC_VOTES = True
    path, word = "datasets/duels/voters/", voter_report.pseudonym_of(boards.people_board(voted_on(alice)), BALLOT)
    body = api.get(path).json()

    assert (body["votes"], body["counted"], body["is_whole"], len(body["results"])) == (5, 5, True, 2)
    visitor = next(one for one in body["results"] if one["is_visitor"])
    assert (visitor["voter"], visitor["votes"], visitor["pace"], visitor["marks"]) == (word, 3, None, [])
    assert visitor["pace_reason"] != ""
    assert visitor["neither"]["part"] == 1
    assert 0 < visitor["neither"]["lower"] < visitor["neither"]["share"] < visitor["neither"]["upper"] < 1
    assert (visitor["agreement"]["share"] is None) == (visitor["agreement_reason"] != "")
    assert (body["widening"] is None) == (body["widening_reason"] != "")
    assert body["bounds"]["largest_share"] == 0.25
    first = api.get(path, page_size=1).json()
    second = api.client.get(first["next"], headers=api.headers).json()
    assert len({first["results"][0]["voter"], second["results"][0]["voter"]}) == 2
    assert second["next"] is None

    is_problem(charlies.post(path, {"deed": "restore", "voter": word}), 403, "curators")
    is_problem(api.post(path, {"deed": "leave_out", "voter": word}), 400, "reason")
    is_problem(api.post(path, {"deed": "leave_out", "voter": "nobody", "reason": "Spam."}), 400, "voter")
    for votes in (3, 0):
        assert api.post(path, {"deed": "leave_out", "voter": word, "reason": "Spam."}).json() == {"votes": votes}
    left = next(one for one in api.get(path).json()["results"] if one["voter"] == word)
    assert (left["left_out"], left["left_out_reason"], left["counted"]) == (3, "Spam.", 0)
    assert api.post(path, {"deed": "restore", "voter": word}).json() == {"votes": 3}
