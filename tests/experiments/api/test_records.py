"""What was said and found in a run, read over HTTP."""

import json

import pytest

from experiments.models import Call, Event, Judgment, Message, Provider

pytestmark = pytest.mark.django_db

MESSAGE = {
    *("id", "turn", "seat", "model", "text", "raw_text", "reasoning", "filter", "logprobs", "finish_reason"),
    *("usage", "cost", "call", "created"),
}
JUDGMENT = {"id", "turn", "subject", "judge", "scores", "unscored_reason", "rationale", "confidence"}


def rows(api, run, what, **params):
    """All rows, through pages of three."""
    found, response = [], api.get(f"runs/{run.pk}/{what}/", page_size=3, **params)
    while True:
        page = response.json()
        assert set(page) == {"next", "previous", "results"}
        found += page["results"]
        if page["next"] is None:
            return found
        response = api.client.get(page["next"], headers=api.headers)


@pytest.mark.databases
def test_a_run_is_read_in_the_order_it_was_played(api, played):
    run = played()
    said, judged, events = (rows(api, run, what) for what in ("messages", "judgments", "events"))

    assert [(m["turn"], m["seat"]) for m in said] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert all(set(message) >= MESSAGE for message in said)
    stored = list(Message.objects.filter(run=run))
    assert [(m["text"], m["raw_text"]) for m in said] == [(m.text, m.raw_text) for m in stored]
    assert {m["call"] for m in said} <= {str(pk) for pk in run.calls.values_list("pk", flat=True)}
    assert all(m["usage"]["output_tokens"] > 0 for m in said)
    assert {m["logprobs"] for m in said} == {None}, "nobody asked for them"
    for message in said:
        assert set(message["filter"]) >= {"changed", "removed", "confidence", "reasoning", "status"}
        assert message["filter"]["changed"] == (message["text"] != message["raw_text"])
        assert message["filter"]["changed"] == bool(message["filter"]["removed"])

    assert [(j["turn"], j["subject"]) for j in judged] == [(1, "A"), (1, "B"), (2, "A"), (2, "B")]
    assert all(set(judgment) >= JUDGMENT for judgment in judged)
    assert all(len(judgment["scores"]) == 9 for judgment in judged)
    assert {judgment["judge"] for judgment in judged} == {"sim/judge:tps=0:first=0"}

    assert [event["seq"] for event in events] == list(range(1, run.last_seq + 1))
    assert {frozenset(event) for event in events} == {frozenset({"v", "run", "seq", "type", "data", "at"})}
    assert events == [event.envelope for event in Event.objects.filter(run=run)]
    assert (events[0]["type"], events[-1]["type"]) == ("experiment_created", "experiment_stopped")
    for after in (0, 1, run.last_seq - 1, run.last_seq, run.last_seq + 5):
        seqs = [event["seq"] for event in rows(api, run, "events", after=after)]
        assert seqs == list(range(after + 1, run.last_seq + 1))

    report = api.get(f"runs/{run.pk}/report/", format="json").json()
    assert report["run"]["id"] == str(run.pk)
    assert report["experiment"]["config"] == run.experiment.config
    assert (report["messages"], report["judgments"]) == (said, judged)
    assert report["calls"] == rows(api, run, "calls")
    assert set(report["metrics"]) == {"A", "B"}
    assert report["report_version"] == 1


def test_calls_show_what_was_sent_and_what_came_back_and_no_key(api, played, monkeypatch):
    monkeypatch.setenv("A_KEY_OF_THE_LAB", "sk-very-secret-key")
    run = played(max_turns=1)
    Provider.objects.update(api_key_env="A_KEY_OF_THE_LAB")
    calls = rows(api, run, "calls")

    steps = [f"turn/1/{step}" for step in ("A", "A/filter", "B", "B/filter", "judge")]
    assert [call["step"] for call in calls] == steps
    assert {call["state"] for call in calls} == {Call.State.COMPLETED}
    first = calls[0]
    assert first["request"]["messages"][0]["role"] == "system"
    assert first["request"]["model"] == "sim/cooperative:first=0"
    assert (first["attempt"], first["seat"], first["turn"], first["simulated"]) == (1, "A", 1, True)
    assert first["text"] == run.messages.first().raw_text
    for what in ("calls", "events", "messages"):
        assert "sk-very-secret-key" not in json.dumps(rows(api, run, what))
    assert "sk-very-secret-key" not in api.get(f"runs/{run.pk}/report/").content.decode()


def test_every_attempt_has_its_call_and_without_a_filter_there_is_null(api, played):
    run = played("sim/cooperative:first=0:fail=503:times=1:retry_after=0", max_turns=1, judge=False, filter=False)
    calls = [call for call in rows(api, run, "calls") if call["seat"] == "A"]

    assert [(call["attempt"], call["state"]) for call in calls] == [(1, "failed"), (2, "completed")]
    assert calls[0]["error_kind"] == "overloaded"
    assert calls[0]["error"]
    assert [message["filter"] for message in rows(api, run, "messages")] == [None, None]


def test_a_score_that_was_not_given_is_null_with_its_reason(api, played):
    found = rows(api, played(judge_model="sim/judge:first=0:json=broken", max_turns=1), "judgments")

    assert [judgment["scores"] for judgment in found] == [None, None]
    assert all("could not be used" in judgment["unscored_reason"] for judgment in found)
    assert [judgment["confidence"] for judgment in found] == [None, None]


def test_numbers_out_of_range_are_absent_and_the_others_stay(api, played):
    found = rows(api, played(judge_model="sim/judge:first=0:json=range", max_turns=1), "judgments")

    stored = list(Judgment.objects.filter(turn=1))
    assert all(judgment.scores is None or len(judgment.scores) < 9 for judgment in stored)
    assert all(judgment["unscored_reason"] for judgment in found)


def test_of_a_run_that_has_not_begun_lists_and_report_are_empty_and_not_wrong(api, arena, start):
    run = start(arena())
    report = api.get(f"runs/{run.pk}/report/").json()

    assert [rows(api, run, what) for what in ("messages", "judgments", "calls")] == [[], [], []]
    assert [event["type"] for event in rows(api, run, "events")] == ["experiment_created"]
    assert (report["run"]["state"], report["messages"], report["judgments"], report["calls"]) == ("queued", [], [], [])
