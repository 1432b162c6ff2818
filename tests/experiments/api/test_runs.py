"""Runs over HTTP: what was said and counted; stopped, resumed, answered where they wait; as files, and back again."""

import json

import pytest
from asgiref.sync import async_to_sync
from django.test import AsyncClient
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from experiments.models import Event, Experiment, Export, Run, Step
from tests.cases import each_case
from tests.experiments.reports import deliberations
from tests.experiments.reports.deliberations import counted


def ids(response):
    return [run["id"] for run in response.json()["results"]]


def queued(experiment, count=1):
    """Rows of runs, oldest first."""
    return Run.objects.bulk_create(Run(experiment=experiment, seed=seed) for seed in range(count))


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
def test_a_run_has_nothing_to_tell_until_a_driver_comes_and_then_what_it_took_in_the_order_it_was_played(
    api, arena, start, drive
):
    run = start(arena("sim/cooperative:first=0:cost", max_turns=2))
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

    drive()
    run.refresh_from_db()
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


def test_the_ranking_is_the_latest_count_with_every_methods_values_and_order(api, alice, is_problem):
    record = deliberations.council(alice)
    run = record.run
    found = api.get(f"runs/{run.pk}/ranking/").json()

    assert found == api.get(f"runs/{run.pk}/ranking/", turn=1).json()
    assert (found["turn"], found["count"], found["ballots"], found["best"]) == (1, 1, 2, ["member-3"])
    standings = {one["seat"]: one for one in found["standings"]}
    assert standings["member-3"]["mean_rank"] == {"value": 1.25, "reason": ""}
    assert standings["member-2"]["bradley_terry"] == {"value": None, "reason": "winless"}
    assert standings["member-1"]["self_preference"] == {"value": None, "reason": "own_not_shown"}
    orders = {one["method"]: one["groups"] for one in found["orders"]}
    assert set(orders) == {"mean_rank", "borda", "copeland", "schulze", "kemeny", "bradley_terry"}
    assert orders["borda"] == [["member-3"], ["member-1"], ["member-2"]]
    assert orders["kemeny"] == [["member-1", "member-3"], ["member-2"]]
    assert not found["agree_on_winner"]
    assert found["abstained"] == [{"reviewer": "member-3", "reason": deliberations.NO_BALLOT}]
    assert found["kendalls_w"] == {"value": None, "reason": "incomplete_ballots"}
    assert found["krippendorff_alpha"] == {"value": 0.0, "reason": ""}
    assert found["position_effect"] == [{"place": 1, "mean": 1.75, "n": 2}, {"place": 2, "mean": 1.25, "n": 2}]

    again, path = counted(count=2, ballots=[], best=[], skipped="no_ballots"), f"runs/{run.pk}/ranking/"
    record.step("turn/1/count/2", purpose="ballots_counted", turn=1, data=again)
    found = api.get(path).json()
    assert (found["count"], found["skipped"], found["ballots"]) == (2, "no_ballots", 0)
    assert all(one["groups"] is None and one["reason"] == "no_comparisons" for one in found["orders"])
    is_problem(api.get(path, turn=2), 404)
    is_problem(api.get(f"runs/{deliberations.debate(alice).run.pk}/ranking/"), 404)
    is_problem(api.get(path, turn="first"), 400, "whole number")


def test_a_council_is_asked_further_in_words_while_it_listens(api, council, debate, start, nobody_is_woken, is_problem):
    run = start(council())
    Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETED, stop_reason="your_turn")
    data = {"default": "", "actions": ["send", "deliberate"], "error": ""}
    Step.objects.create(run=run, key="turn/1/next", kind="offer", purpose="your_turn", turn=1, data=data)
    said, path = api.get(f"runs/{run.pk}/").json(), f"runs/{run.pk}/ask/"
    assert (said["state"], said["waiting_for"], said["mode"]) == ("completed", None, None)
    assert (said["offer"]["key"], said["offer"]["reason"]) == ("turn/1/next", "your_turn")
    assert "send" in said["offer"]["actions"]
    for body in ({"text": "  "}, {}, {"text": "a\x00"}):
        is_problem(api.post(path, body), 400, "text")
    is_problem(api.post(f"runs/{start(debate()).pk}/ask/", {"text": "And now?"}), 409)
    Run.objects.filter(pk=run.pk).update(origin=Run.Origin.IMPORTED)
    assert api.get(f"runs/{run.pk}/").json()["offer"] is None
    is_problem(api.post(path, {"text": "And now?"}), 409)
    is_problem(api.post(f"runs/{run.pk}/say/", {"key": "turn/1/next", "action": "deliberate"}), 409)
    Run.objects.filter(pk=run.pk).update(state=Run.State.STOPPED, origin=Run.Origin.LIVE)
    is_problem(api.post(path, {"text": "And now?"}), 409, "ended")
    assert run.steps.get(key="turn/1/next").state == Step.State.OPEN

    Run.objects.filter(pk=run.pk).update(state=Run.State.COMPLETED)
    asked = api.post(path, {"text": "And at sunset?"})
    assert (asked.status_code, asked.json()["state"]) == (200, "queued"), asked.content
    assert nobody_is_woken[-1] == run.pk
    assert [step.data["text"] for step in run.steps.filter(kind="offer")] == ["And at sunset?"]


def test_a_draft_is_kept_while_its_pause_is_open_and_not_said(api, debate, start, is_problem):
    run, path = start(debate()), "runs/{}/{}/"
    Run.objects.filter(pk=run.pk).update(state=Run.State.WAITING)
    data = {"default": "Share it.", "actions": ["send", "default"], "error": ""}
    step = Step.objects.create(run=run, key="prompt", kind="listen", purpose="final_prompt", turn=0, data=data)
    draft, kept = path.format(run.pk, "draft"), {"key": "prompt", "text": " Share it well.\n"}

    response = api.put(draft, kept)

    assert (response.status_code, response.json()) == (200, kept)
    step.refresh_from_db()
    assert (step.state, step.draft) == (Step.State.OPEN, " Share it well.\n")
    is_problem(api.put(draft, {"key": "round/9/next", "text": "x"}), 409)
    is_problem(api.put(draft, {"key": "prompt", "text": "\ud800"}), 400)
    api.post(path.format(run.pk, "say"), {"key": "prompt", "action": "send", "text": "Share it."})
    is_problem(api.put(draft, {"key": "prompt", "text": "x"}), 409, "another answer")


FORMATS = {
    "html": ("report", "text/html; charset=utf-8", b"<!doctype html>"),
    "pdf": ("report", "application/pdf", b"%PDF-"),
    "json": ("report", "application/json", b'{"report_version":'),
    "jsonl": ("export", "application/jsonl", b'{"kind":"run"'),
    "csv": ("export", "text/csv; charset=utf-8", b'\xef\xbb\xbf"run"'),
    "inspect": ("export", "application/json", b'{"version":2'),
}


def body(response):
    return b"".join(response)


@pytest.fixture
def run(played):
    return played(max_turns=1)


def test_each_format_is_a_file_to_be_saved_and_an_unknown_one_is_named(api, run, is_problem):
    for format_, (where, type_, beginning) in FORMATS.items():
        response = api.get(f"runs/{run.pk}/{where}/", format=format_)

        assert response.status_code == 200, format_
        assert response["Content-Type"] == type_
        assert response["Content-Disposition"].startswith('attachment; filename="')
        assert run.experiment.workflow in response["Content-Disposition"]
        assert response["X-Content-Type-Options"] == "nosniff"
        assert response["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
        assert body(response)[: len(beginning)].lower() == beginning.lower()
    for where in ("report", "export"):
        for format_ in ("exe", "", "HTML", "\u0000"):
            problem = is_problem(api.get(f"runs/{run.pk}/{where}/", format=format_), 400, "format")
            assert list(problem["errors"]) == ["format"], (where, format_)
    is_problem(api.get(f"runs/{run.pk}/export/"), 400, "jsonl", "csv", "inspect")
    assert json.loads(body(api.get(f"runs/{run.pk}/report/")))["run"]["id"] == str(run.pk), "a report is JSON by itself"


@pytest.mark.django_db(transaction=True)
def test_the_real_server_sends_it_piece_by_piece(alice, run, recwarn):
    """Under ASGI an ordinary iterator would be gathered as a whole; Django warns of it."""
    client = AsyncClient()
    client.force_login(alice)

    async def fetch():
        response = await client.get(f"/api/runs/{run.pk}/export/", {"format": "jsonl"})
        assert response.is_async
        return b"".join([chunk async for chunk in response.streaming_content])

    text = async_to_sync(fetch)()

    assert json.loads(text.splitlines()[0])["id"] == str(run.pk)
    assert not [warning for warning in recwarn if "synchronous iterator" in str(warning.message)]


def test_a_file_waits_as_one_however_often_it_is_asked_for_and_is_fetched_until_it_is_removed(
    api, run, bells, make_files, is_problem
):
    for wrong in ({}, {"format": "exe"}, {"format": "csv", "language": "xx"}, {"format": ["csv"]}, []):
        is_problem(api.post(f"runs/{run.pk}/files/", wrong), 400)
    assert not Export.objects.exists()
    response = api.post(f"runs/{run.pk}/files/", {"format": "csv"})

    assert response.status_code == 202
    asked = response.json()
    assert (asked["state"], asked["progress"], asked["download"]) == ("queued", 0, None)
    assert asked["name"].endswith(".csv")
    assert bells == [1]
    assert api.get(f"files/{asked['id']}/").json() == asked
    is_problem(api.get(f"files/{asked['id']}/download/"), 409, "not ready")
    assert api.post(f"runs/{run.pk}/files/", {"format": "csv"}).json()["id"] == asked["id"]
    assert api.post(f"runs/{run.pk}/files/", {"format": "csv", "language": "zh-hans"}).json()["id"] != asked["id"]
    assert Export.objects.count() == 2
    make_files()

    done = api.get(f"files/{asked['id']}/").json()
    response = api.client.get(done["download"], headers=api.headers)

    assert (done["state"], done["progress"]) == ("done", 1)
    assert response["Content-Disposition"] == f'attachment; filename="{done["name"]}"'
    assert int(response["Content-Length"]) == done["size"] == len(body(response))
    Export.objects.get(pk=asked["id"]).path.unlink()
    is_problem(api.get(f"files/{asked['id']}/download/"), 404, "Request it again")
    assert api.post(f"runs/{run.pk}/files/", {"format": "csv"}).json()["state"] == "queued"


def test_garbage_is_refused_with_its_place_and_a_report_of_megabytes_becomes_a_run_whose_models_are_not_offered(
    api, alice, run, is_problem, counts
):
    report, before, seed = body(api.get(f"runs/{run.pk}/report/")).decode(), counts(), '"seed":7'
    for sent in (
        report[: len(report) // 2],
        b"\xff\xfe\x00",
        *(report.replace(seed, f'"seed":{other}') for other in ("NaN", '7,"seed":8', "9" * 5000, '7,"x":"\\u0000"')),
        report.replace(seed, '"seed":' + "[" * 100_000 + "]" * 100_000),
        report.replace('"workflow":"arena"', '"workflow":"poker"'),
    ):
        assert sent != report
        assert is_problem(api.post("runs/import/", sent), 400)["errors"], sent[:100]
    is_problem(api.post("runs/import/", '"' + "x" * (20 << 20) + '"'), 413, "too large")
    assert counts() == before

    large = json.loads(report.replace("sim/cooperative:first=0", "elsewhere/one"))
    large["messages"][0]["raw_text"] = large["messages"][1]["reasoning"] = "long " * 390_000
    response = api.post("runs/import/", large)
    assert response.status_code == 201
    assert Run.objects.get(pk=response.json()["id"]).origin == Run.Origin.IMPORTED
    assert "elsewhere/one" not in [model["slug"] for model in api.get("models/").json()["results"]]
    type(alice).objects.filter(pk=alice.pk).update(role="reviewer")
    is_problem(api.post("runs/import/", report), 403, "role")
    assert Experiment.objects.count() == 2
