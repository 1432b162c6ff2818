"""Creating, reading and starting experiments; statistics; and that a request which spends, sent twice, spends once."""

import csv
from uuid import UUID

import pytest

from accounts.models import AuditEntry
from accounts.scopes import Scope
from experiments.api import idempotency
from experiments.lab.keys import keyring
from experiments.library.datasets import demonstration
from experiments.models import Event, Experiment, IdempotentRequest, Provider, ProviderModel, Run, Step
from experiments.runs import actions
from experiments.workflows.battles.campaign import campaigns
from tests.cases import each_case
from tests.experiments import repeated
from tests.experiments.api.handlers import handlers
from tests.fixtures import add_model
from tests.rivals import at_once


def test_an_experiment_is_created_as_it_was_asked_for_and_starts_nothing_and_an_estimate_creates_nothing(
    api, body, alice, counts, nobody_is_woken
):
    body["cast"]["A"] |= {"persona": "Negotiator", "params": {"temperature": 0.2, "max_tokens": 300, "seed": 9}}
    response = api.post("experiments/", body)

    said = response.json()
    assert response.status_code == 201
    stored = Experiment.objects.get(pk=UUID(said["id"]))
    assert (stored.owner, stored.workflow, stored.title) == (alice, "arena", "Panels")
    assert said["config"] == stored.config
    assert stored.config["max_turns"] == 2
    assert said["cast"][0] == {
        "seat": "A",
        "model": "sim/cooperative:first=0",
        "label": "sim/cooperative:first=0",
        "persona": "Negotiator",
        "params": {"temperature": 0.2, "max_tokens": 300, "seed": 9},
    }
    assert (counts()["Run"], nobody_is_woken) == (0, [])
    assert api.get(f"experiments/{said['id']}/").json() == said

    ids = [api.post("experiments/", body).json()["id"], said["id"]]
    listed = api.get("experiments/", workflow="arena").json()
    assert [experiment["id"] for experiment in listed["results"]] == ids, "the newest first"
    assert (listed["next"], listed["previous"]) == (None, None)
    assert api.get("experiments/", workflow="council").json()["results"] == []

    listed, before = said["cast"], counts()["Experiment"]
    found = api.post("experiments/estimate/", {**body, "cast": listed, "repeats": 3}).json()
    twice = api.post("experiments/estimate/", {**body, "cast": [*listed, listed[0]]})

    assert (found["runs"], found["typical"]["calls"] > 0, counts()["Experiment"]) == (3, True, before)
    assert found["most"]["calls"] >= found["typical"]["calls"]
    assert (twice.status_code, list(twice.json()["errors"])) == (400, ["cast"])
    assert api.post("experiments/", {**body, "cast": listed}).json()["cast"] == listed


def test_what_is_left_out_is_filled_in_and_the_judge_and_the_filter_are_the_labs_unless_not_wanted(api, body):
    def made():
        said = api.post("experiments/", body).json()
        return said, {seat["seat"]: seat["model"] for seat in said["cast"]}

    del body["title"]
    body["config"] = {"prompt": "  Share\nseven   panels. " + "x" * 500}
    said, cast = made()
    config = said["config"]
    assert (config["mode"], config["max_turns"], config["filter"]) == ("automatic", 5, True)
    assert config["limits"] == {"tokens": None, "seconds": None, "cost": None}
    assert said["title"].startswith("Share seven panels. xxx")
    assert said["title"].endswith("…")
    assert len(said["title"]) == 200
    assert (cast["judge"][:9], cast["filter"][:10]) == ("sim/judge", "sim/filter")

    body["config"]["max_turns"] = None
    body["cast"]["judge"] = body["cast"]["B"] = body["cast"]["A"]
    said, cast = made()
    assert (said["config"]["max_turns"], said["config"]["limits"]["seconds"]) == (None, 3600.0)
    assert {model for seat, model in cast.items() if seat != "filter"} == {"sim/cooperative:first=0"}
    del body["cast"]["judge"]
    body["config"] |= {"judge": False, "filter": False}
    ProviderModel.objects.update(is_default_judge=False, is_default_filter=False)
    assert list(made()[1]) == ["A", "B"]


@pytest.fixture
def path(arena):
    return f"experiments/{arena().pk}/start/"


def seeds(response):
    return [run["seed"] for run in response.json()["runs"]]


@pytest.mark.databases
def test_a_start_queues_runs_with_successive_seeds_and_without_a_seed_draws_one(api, path, nobody_is_woken):
    response = api.post(path, {"seed": 7})
    [said] = response.json()["runs"]
    run = Run.objects.get()
    event = run.events.get()
    assert response.status_code == 201
    assert (said["id"], said["state"], said["seed"]) == (str(run.pk), "queued", 7)
    assert nobody_is_woken == [run.pk]
    assert (event.seq, event.type, event.data["seed"]) == (1, "experiment_created", 7)
    assert event.data["config"] == run.experiment.config
    assert [seat["seat"] for seat in event.data["cast"]] == ["A", "B", "judge", "filter"]

    for least in (0, 2**53, 40):
        assert seeds(api.post(path, {"seed": least, "repeats": 2})) == [least, least + 1]
        assert Run.objects.filter(seed=least).count() == 1
    assert len(nobody_is_woken) == 7
    without_body = api.client.generic("POST", f"/api/{path}", headers=api.headers)
    drawn = [seeds(without_body), seeds(api.post(path, {})), seeds(api.post(path, {"seed": None}))]
    assert len({seed for [seed] in drawn}) == 3
    assert all(0 <= seed < 2**31 for [seed] in drawn)


def test_more_live_runs_than_are_allowed_are_refused_and_ended_ones_do_not_count(api, arena, counts, is_problem):
    experiment = arena()
    Run.objects.bulk_create(Run(experiment=experiment, seed=n) for n in range(actions.MOST_LIVE_RUNS - 1))
    Run.objects.bulk_create(Run(experiment=experiment, seed=n, state="completed") for n in range(2))
    before, path = counts(), f"experiments/{experiment.pk}/start/"

    is_problem(api.post(path, {"repeats": 2}, Idempotency_Key="k"), 403, f"{actions.MOST_LIVE_RUNS} live runs")

    assert counts() == before
    assert api.post(path, {"repeats": 1}, Idempotency_Key="k").status_code == 201


def test_under_one_key_a_request_starts_once_and_another_is_a_conflict(api, path, counts, nobody_is_woken, is_problem):
    asked = {"seed": 5, "repeats": 3}
    first = api.post(path, asked, Idempotency_Key="key-1")
    before, woken = counts(), list(nobody_is_woken)

    again = api.post(path, asked, Idempotency_Key="key-1")

    assert (again.status_code, again.json()) == (first.status_code, first.json())
    for body in ({"seed": 6}, {"seed": 5, "repeats": 2}, {}):
        is_problem(api.post(path, body, Idempotency_Key="key-1"), 409, "Idempotency-Key")
    assert (counts(), nobody_is_woken) == (before, woken)
    Run.objects.update(state=Run.State.COMPLETED)
    assert api.post(path, asked, Idempotency_Key="key-1").json()["runs"][0]["state"] == "completed"
    for headers in ({"Idempotency_Key": "key-2"}, {}, {}):
        api.post(path, {"seed": 5}, **headers)
    assert (Run.objects.count(), IdempotentRequest.objects.count()) == (6, 2)


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_two_requests_racing_with_the_same_key_start_one_run(api, path):
    answers = at_once(*[lambda: api.post(path, {"seed": 5}, Idempotency_Key="key-1")] * 4)

    assert [answer.status_code for answer in answers] == [201] * 4
    assert {answer.json()["runs"][0]["id"] for answer in answers} == {str(Run.objects.get().pk)}
    assert (IdempotentRequest.objects.count(), Run.objects.get().events.count()) == (1, 1)


@pytest.mark.databases
def test_the_estimates_are_told_with_their_intervals_and_missing_is_null_and_many_runs_take_no_more_queries_than_few(
    api, arena, is_problem, django_assert_max_num_queries
):
    experiment = arena(counterbalance=True)
    for seed, (a, b) in enumerate([((10, 30), (0, 0)), ((20, 20), (0, None)), ((30, 50), (0, 10))], start=1):
        run = repeated.ended(experiment, seed)
        repeated.judged(run, "A", *a)
        repeated.judged(run, "B", *b)
    repeated.judged(repeated.ended(experiment, 4, state="stopped"), "A", 90)

    def statistics(**params):
        return api.get(f"experiments/{experiment.pk}/statistics/", **params)

    said = statistics().json()
    a, b = (said["subjects"][seat] for seat in "AB")
    final = a["measures"]["final_deviation"]

    assert (said["confidence"], len(said["counted"]), said["switched_on"]) == (0.95, 3, [])
    assert [left["reason"] for left in said["left_out"]] == ["stopped"]
    assert (final["n"], final["missing"], final["mean"]) == (3, 0, pytest.approx(100 / 3))
    assert final["low"] < final["mean"] < final["high"]
    assert a["deviated"]["count"] == 2
    assert said["difference"]["final_deviation"]["n"] == 2
    assert said["beginning"]["A"]["final_deviation"]["second"]["n"] == 2
    assert said["beginning"]["A"]["final_deviation"]["no_interval"] == "one_value"
    [unscored] = [row for row in said["values"] if row["seed"] == 2 and row["subject"] == "B"]
    assert unscored["final_deviation"] is None
    assert b["turns"][1]["goal_deviation"]["missing"] == 1
    assert (a["measures"]["anger"]["mean"], a["measures"]["tokens"]["mean"]) == (None, None)

    response = statistics(format="csv")
    assert response["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(response.content.decode().splitlines()))
    found = [(row["seed"], row["subject"], row["final_deviation"]) for row in rows]
    assert found[2:4] == [("2", "A", "20.0"), ("2", "B", "")]

    said = statistics(**{"with": ["stopped", "branch"]}).json()
    assert (len(said["counted"]), said["left_out"], said["switched_on"]) == (4, [], ["stopped", "branch"])
    is_problem(statistics(**{"with": "everything"}), 400, "everything", "stopped")
    is_problem(statistics(format="xlsx"), 400, "csv")

    for seed in range(5, 14):
        repeated.judged(repeated.ended(experiment, seed), "A", 10, 30)

    with django_assert_max_num_queries(11):
        assert len(statistics().json()["counted"]) == 12


def effects():
    return Run.objects.count(), Step.objects.count(), Event.objects.count(), AuditEntry.objects.count()


SPENDING = """
    api-experiment-start api-run-say api-run-resume api-run-mode api-run-extend api-run-ask api-run-lift api-run-judge
    api-branch api-campaign-resume api-key-test compat-start compat-status compat-turn compat-manual-continue
    api-study-start api-study-resume api-study-repeats compat-next-turn compat-starchamber-start compat-starchamber-turn
    compat-message compat-stream compat-llm-test
"""


def test_because_of_these_models_may_be_asked_and_they_need_the_scope_to_spend():
    spending = {one.name: one.does.scope for one in handlers() if getattr(one.does, "spends", False)}

    assert set(spending) == set(SPENDING.split())
    assert set(spending.values()) == {Scope.SPEND}


@pytest.fixture
def queued(arena, start):
    return start(arena(mode="automatic"))


@pytest.fixture
def ended(played):
    return played(max_turns=1)


@pytest.fixture
def campaign(alice, provider):
    """It has been stopped."""
    dataset, judge = demonstration.make_text(alice), add_model("sim/judge:first=0")
    asked = {"config": {"dataset": dataset.slug, "prompt": "text_quality"}, "cast": {"judge": {"model": judge.slug}}}
    experiment = actions.create(owner=alice, workflow="battles", **asked)
    actions.start(experiment, by=alice)
    campaigns.stop(experiment, by=alice)
    return experiment


SENT = {
    "say": {"key": "turn/1/note", "action": "send", "text": "Yes."},
    "extend": {"max_turns": 9},
    "mode": {"mode": "manual"},
    "lift": {"limits": {"tokens": 100_000}},
    "branch": {"text": "No."},
}


@each_case("name", ["say", "resume", "mode", "extend", "lift", "judge", "branch", "campaign"])
def test_the_same_request_under_the_same_key_has_one_effect(
    api, ended, campaign, queued, is_problem, nobody_is_woken, name
):
    run, body = queued, SENT.get(name, {})
    message = ended.messages.exclude(call=None).first()
    if name == "say":  # at a pause that was written row by row
        offered = {"default": "Go on.", "actions": ["send", "default"], "error": ""}
        run.steps.create(key="turn/1/note", kind="listen", turn=1, seat="person", data=offered)
    changed = {
        "say": {"state": Run.State.WAITING},
        "resume": {"is_held": True},
        "lift": {"state": Run.State.STOPPED, "stop_reason": "limit_tokens"},
    }
    Run.objects.filter(pk=run.pk).update(**changed.get(name, {"is_held": False}))
    path = f"runs/{ended.pk if name == 'judge' else run.pk}/{name}/"
    path = {"campaign": f"experiments/{campaign.pk}/resume/", "branch": f"messages/{message.pk}/branch/"}.get(
        name, path
    )
    if name == "extend":  # a key is free after a refusal
        is_problem(api.post(path, {"max_turns": 101}, Idempotency_Key="once"), 400)
    if name == "lift":
        is_problem(api.post(path, {"limits": {"tokens": -1}}, Idempotency_Key="once"), 400, "limits")
    first = api.post(path, body, Idempotency_Key="once")
    before, woken = effects(), list(nobody_is_woken)

    again = api.post(path, body, Idempotency_Key="once")

    assert first.status_code in {200, 201}, first.content
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert (effects(), nobody_is_woken) == (before, woken)
    made = first.json()
    if name == "branch":
        assert (made["origin"], made["parent"], made["branched_from"]) == ("branch", str(ended.pk), str(message.pk))
        is_problem(api.post(path, {"text": " "}), 400)
        is_problem(api.post(f"runs/{ended.pk}/mode/", {"mode": "manual"}), 409)
        is_problem(api.post(f"runs/{ended.pk}/pause/"), 409)
    if name == "lift":
        assert (made["state"], Run.objects.get(pk=run.pk).config["limits"]["tokens"]) == ("queued", 100_000)
        is_problem(api.post(path, {"limits": {}}), 409, "not stopped by a limit")
    if name == "judge":
        assert (made["workflow"], made["parent"]) == ("judging", str(ended.pk))
    if name == "mode":
        assert made["mode"] == "manual"
        is_problem(api.post(path, {"mode": "sideways"}), 400)
    if name in {"extend", "branch"}:
        other = {"text": "Something else."} if name == "branch" else {"max_turns": 7}
        is_problem(api.post(path, other, Idempotency_Key="once"), 409, "Idempotency-Key")
    if name == "extend":  # and is for one address
        is_problem(api.post(f"runs/{run.pk}/mode/", {"mode": "manual"}, Idempotency_Key="once"), 409)
        assert Run.objects.get(pk=run.pk).mode == "automatic"


@pytest.mark.databases
def test_a_provider_is_asked_about_a_key_once_unless_the_process_was_killed(api, alice, provider, is_problem):
    key = keyring.add(by=alice, provider=Provider.objects.get(), key="sk-nobody-reads-this-key")
    path, tested = f"keys/{key.pk}/test/", AuditEntry.objects.filter(action="key_tested")
    first = api.post(path, Idempotency_Key="once")
    again = api.post(path, Idempotency_Key="once")
    assert (again.status_code, again.json(), tested.count()) == (first.status_code, first.json(), 1)

    IdempotentRequest.objects.update(answer={idempotency.BEGUN: True})
    is_problem(api.post(path, Idempotency_Key="once"), 409, "being processed")
    assert tested.count() == 1

    begun = IdempotentRequest.objects.get().created - idempotency.GIVEN_UP
    IdempotentRequest.objects.update(created=begun)
    assert api.post(path, Idempotency_Key="once").status_code == 200
    assert tested.count() == 2
