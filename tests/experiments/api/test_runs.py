"""Runs over HTTP: in lists and one by one, with what was said in them; stopped, resumed, answered where they wait."""

import pytest
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from experiments.models import Event, Run
from tests.cases import each_case


def ids(response):
    return [run["id"] for run in response.json()["results"]]


def queued(experiment, count=1):
    """Rows of runs, oldest first."""
    return Run.objects.bulk_create(Run(experiment=experiment, seed=seed) for seed in range(count))


def test_a_run_that_waits_for_a_driver_has_nothing_to_tell_yet_and_that_is_not_wrong(api, arena, start):
    run = start(arena())
    said, report = (api.get(f"runs/{run.pk}/{path}").json() for path in ("", "report/"))

    assert (said["id"], said["experiment"], said["workflow"]) == (str(run.pk), str(run.experiment_id), "arena")
    assert (said["state"], said["seed"], said["turn"], said["waiting_for"]) == ("queued", 7, 0, None)
    assert (said["cost"], said["started"], said["ended"], said["stop_reason"]) == (None, None, None, "")
    assert said["usage"] == {"input_tokens": 0, "output_tokens": 0, "reasoning_tokens": 0, "calls": 0}
    assert said["metrics"]["A"]["goal_deviation"] is None
    assert parse_datetime(said["created"]) is not None
    assert [rows(api, run, what) for what in ("messages", "judgments", "calls")] == [[], [], []]
    assert [event["type"] for event in rows(api, run, "events")] == ["experiment_created"]
    assert (report["run"]["state"], report["messages"], report["judgments"], report["calls"]) == ("queued", [], [], [])


@pytest.mark.databases
def test_a_run_that_has_ended_says_what_it_took(api, played):
    run = played("sim/cooperative:first=0:cost", max_turns=2)
    said = api.get(f"runs/{run.pk}/").json()

    calls = list(run.calls.all())
    assert (said["state"], said["turn"], said["stop_reason"]) == ("completed", 2, "max_turns")
    assert said["usage"]["calls"] == len(calls) == 10
    assert said["usage"]["input_tokens"] == sum(call.input_tokens for call in calls)
    assert said["usage"]["output_tokens"] == sum(call.output_tokens for call in calls)
    assert isinstance(said["cost"], str), "so that no digit is lost"
    assert float(said["cost"]) == pytest.approx(float(sum(call.cost or 0 for call in calls)))
    assert said["created"] <= said["started"] <= said["ended"]
    assert [point["turn"] for point in said["metrics"]["A"]["turns"]] == [1, 2]
    run.calls.update(cost=None)
    assert api.get(f"runs/{run.pk}/").json()["cost"] is None, "unknown is not zero"


def test_runs_are_listed_newest_first_by_what_is_asked_for_fifty_on_a_page(api, arena, django_assert_max_num_queries):
    experiment, other = arena(prompt="Solar panels"), arena(prompt="Another answer")
    runs = queued(experiment, len(Run.State))
    [elsewhere] = queued(other)
    for run, state in zip(runs, Run.State.values, strict=True):
        Run.objects.filter(pk=run.pk).update(state=state)
    newest_first = [str(run.pk) for run in reversed(runs)]

    assert ids(api.get("runs/")) == [str(elsewhere.pk), *newest_first]
    assert ids(api.get("runs/", experiment=str(experiment.pk))) == newest_first
    for run, state in zip(runs, Run.State.values, strict=True):
        assert ids(api.get("runs/", experiment=str(experiment.pk), state=state, search="solar")) == [str(run.pk)]
    assert len(ids(api.get("runs/", workflow="arena"))) == len(runs) + 1
    assert ids(api.get("runs/", workflow="council")) == []
    queued(other, 54 - len(runs))
    for asked, given in (("0", 50), ("x", 50), ("60", 55), ("100000", 55)):
        with django_assert_max_num_queries(6):  # as many as for one run
            assert len(ids(api.get("runs/", page_size=asked))) == given, asked


@pytest.mark.databases
def test_pages_hold_every_run_of_a_filter_once_there_and_back_and_a_new_one_does_not_shift_them(api, arena):
    experiment = arena()
    runs = queued(experiment, 8)
    Run.objects.filter(pk=runs[5].pk).update(state=Run.State.FAILED)

    forth, url = [], "/api/runs/?page_size=3&state=queued"
    while url:
        page = api.client.get(url, headers=api.headers).json()
        forth.append([run["seed"] for run in page["results"]])
        url, back_url = page["next"], page["previous"]
        queued(experiment)
    back = api.client.get(back_url, headers=api.headers).json()

    assert forth == [[7, 6, 4], [3, 2, 1], [0]]
    assert [run["seed"] for run in back["results"]] == forth[1]


@each_case("before", Run.State.values)
def test_stopping_twice_or_after_the_end_changes_nothing_more_and_only_what_failed_is_resumed(
    api, arena, start, is_problem, nobody_is_woken, before
):
    run, ended = start(arena()), timezone.now() if before == Run.State.FAILED else None
    Run.objects.filter(pk=run.pk).update(
        state=before, error="B gave no answer.", stop_reason="unknown_model", ended=ended
    )
    if before != Run.State.FAILED:
        is_problem(api.post(f"runs/{run.pk}/resume/"), 409, "was paused")
        assert (Run.objects.get().state, run.events.count(), nobody_is_woken) == (before, 1, [run.pk])
    first = api.post(f"runs/{run.pk}/stop/").json()
    events = run.events.count()

    second = api.post(f"runs/{run.pk}/stop/")

    assert (second.status_code, second.json()) == (200, first)
    assert run.events.count() == events
    if before == Run.State.QUEUED:
        assert (first["state"], first["stop_reason"]) == ("stopped", "manual_stop")
        assert run.events.last().type == "experiment_stopped"
    if before in {Run.State.COMPLETED, Run.State.FAILED, Run.State.STOPPED}:
        assert (first["state"], events) == (before, 1)
    if before == Run.State.FAILED:
        assert (first["error"], first["stop_reason"]) == ("B gave no answer.", "unknown_model")
        resumed = api.post(f"runs/{run.pk}/resume/").json()
        assert [resumed[name] for name in ("state", "error", "stop_reason", "ended")] == ["queued", "", "", None]
        assert nobody_is_woken == [run.pk] * 2
    if before == Run.State.RUNNING:
        event = run.events.last()
        assert (event.type, event.data) == ("experiment_state", {"state": "stopping", "by": "alice"})


def test_what_is_waited_for_is_told_as_it_would_be_sent_and_what_makes_no_sense_asks_nobody(
    api, arena, start, drive, provider, is_problem
):
    waiting = start(arena(mode="manual", max_turns=1))
    drive()
    asked, path = api.get(f"runs/{waiting.pk}/").json()["waiting_for"], f"runs/{waiting.pk}/say/"
    assert (asked["key"], asked["reason"], asked["seat"]) == ("turn/1/A/prompt", "turn_start", "A")
    assert {"send", "default", "skip", "next", "end"} <= set(asked["actions"])
    for said, status in (
        ({"key": "turn/1/B/prompt", "action": "default"}, 409),
        ({"key": "turn/1/A/prompt", "action": "regenerate"}, 400),
        ({"key": "turn/1/A/prompt", "action": "send", "text": "a\u0000b"}, 400),
        ({"key": "turn/1/A/prompt"}, 400),
        ({"action": "default"}, 400),
    ):
        is_problem(api.post(path, said), status)
    drive()
    assert provider.ledger() == []
    assert api.get(f"runs/{waiting.pk}/").json()["waiting_for"] == asked

    api.post(path, {"key": asked["key"], "action": "default"})
    drive()
    sent = api.get(f"runs/{waiting.pk}/calls/").json()["results"][0]["request"]["messages"]
    assert sent == [{"role": "user", "content": asked["default"]}]


def rows(api, run, what, **params):
    """All rows, through pages of three."""
    found, response = [], api.get(f"runs/{run.pk}/{what}/", page_size=3, **params)
    while True:
        page = response.json()
        found += page["results"]
        if page["next"] is None:
            return found
        response = api.client.get(page["next"], headers=api.headers)


@pytest.mark.databases
def test_a_run_is_read_in_the_order_it_was_played(api, played):
    run = played()
    said, judged, calls = (rows(api, run, what) for what in ("messages", "judgments", "calls"))

    assert [(m["turn"], m["seat"]) for m in said] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert [(j["turn"], j["subject"]) for j in judged] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    steps = ("A", "A/filter", "B", "B/filter", "judge")
    assert [call["step"] for call in calls] == [f"turn/{turn}/{step}" for turn in (1, 2) for step in steps]
    assert rows(api, run, "events") == [event.envelope for event in Event.objects.filter(run=run)]
    for after in (0, 1, run.last_seq - 1, run.last_seq, run.last_seq + 5):
        seqs = [event["seq"] for event in rows(api, run, "events", after=after)]
        assert seqs == list(range(after + 1, run.last_seq + 1))

    report = api.get(f"runs/{run.pk}/report/", format="json").json()
    assert (report["messages"], report["judgments"], report["calls"]) == (said, judged, calls)
