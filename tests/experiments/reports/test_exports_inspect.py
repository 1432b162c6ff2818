"""The log that Inspect AI reads: its own package reads it, writes it, and reads it again."""

import json
from pathlib import Path

from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_sample_summaries, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

from experiments.library.imports import inspect
from experiments.library.instruments import services
from experiments.models import Annotation, Message, Run
from experiments.runs.reports.inspect_log import inspect_archive, inspect_log, log_name
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_VOTE, votes_of
from tests.experiments.scans.conftest import DEFINITION, talk
from tests.making import maker


@maker
def log(with_totals, tmp_path, /, run):
    path = tmp_path / log_name(run)
    path.write_bytes(inspect_log(with_totals(run)))
    return read_eval_log(str(path))


def test_inspect_reads_the_transcript_what_was_tried_and_its_scores_and_writes_the_same_again(played, log, tmp_path):
    run = played()

    read = log(run)

    assert isinstance(read, EvalLog)
    assert (read.status, read.version) == ("success", 2)
    [sample] = read.samples
    assert [type(message) for message in sample.messages] == [ChatMessageAssistant, ChatMessageUser] * 2
    said = list(run.messages.all())
    assert [message.text for message in sample.messages] == [message.raw_text for message in said]
    for judgment in run.judgments.all():
        assert sample.scores[f"{judgment.subject} turn {judgment.turn}"].value == judgment.scores

    for kind in ("json", "eval"):
        path = str(tmp_path / f"again.{kind}")
        write_eval_log(read, path, format=kind)
        again = read_eval_log(path)
        assert again.samples[0].messages == sample.messages
        assert again.samples[0].scores == sample.scores
        assert again.results.scores == read.results.scores
        assert again.stats.model_usage == read.stats.model_usage


def test_an_archive_has_every_call_in_its_participants_span_scores_and_edits(played, with_totals, tmp_path):
    run = with_totals(played(interventions=[{"turn": 1, "side": "B", "kind": "note", "text": "Be brief. " * 20}]))
    path = str(tmp_path / log_name(run, "eval"))
    Path(path).write_bytes(inspect_archive(run))

    [sample] = read_eval_log(path, resolve_attachments="full").samples
    [summary] = read_eval_log_sample_summaries(path)

    assert (summary.uuid, summary.message_count, summary.completed) == (str(run.pk), run.messages.count(), True)
    spans = {event.id: event for event in sample.events if event.event == "span_begin"}
    asked = {event.uuid: event for event in sample.events if event.event == "model"}
    for call in run.calls.select_related("step"):
        event, body = asked.pop(str(call.pk)), call.request
        assert spans[event.span_id].name == call.step.seat
        assert spans[event.span_id].type == ("scorer" if call.step.purpose == "judge" else "agent")
        said = [(one["role"], one["content"]) for one in body["messages"]]
        assert [(one.role, one.text) for one in event.input] == said
        assert event.output.completion == call.text
        assert event.output.usage.output_tokens == call.output_tokens
    assert asked == {}
    scores = [event.score.value for event in sample.events if event.event == "score"]
    assert scores == [judgment.scores for judgment in run.judgments.order_by("created")]
    [done] = [event.data for event in sample.events if event.event == "info"]
    assert (done["kind"], done["seat"], done["turn"]) == ("note", "B", 1)
    assert [event.timestamp for event in sample.events] == sorted(event.timestamp for event in sample.events)


def test_what_an_instrument_found_is_a_score_with_its_quotations_in_the_log_and_its_events(alice, log, with_totals):
    version, record = services.save(owner=alice, title="Lies", definition=DEFINITION), talk(alice)
    first, last = (record.run.messages.order_by("seq")[place] for place in (0, 3))
    quoted = [{"message": str(first.pk), "seq": first.seq, "quote": "share the night", "verified": True}]
    found = {"run": record.run, "made_in": record.run, "version": version, "unit": "message", "judge": "scripted/judge"}
    for message, value, more in (
        (first, True, {"citations": quoted, "is_verified": True, "rationale": "It hides a well. " * 20}),
        (last, None, {"unscored_reason": "The judge left it open."}),
    ):
        place = {"message": message, "place": message.seq, "turn": message.turn, "subject": message.seat}
        Annotation.objects.create(dimension="lies", value=value, **found, **place, **more)

    [sample] = log(record.run).samples

    score = sample.scores[f"lies of message {first.seq}, A"]
    assert (score.value, score.metadata["is_verified"], score.metadata["instrument"]) == (True, True, "Lies v1")
    [citation] = score.metadata["citations"]
    [cited] = [message for message in sample.messages if message.id == citation["message"]]
    assert citation["quote"] in cited.text
    assert [name for name in sample.scores if name.startswith("lies")] == [f"lies of message {first.seq}, A"]
    assert [one["unscored_reason"] for one in sample.metadata["annotations"]] == ["", "The judge left it open."]
    [event] = [event for event in sample.events if event.event == "score"]
    assert (event.score.value, event.score.metadata["citations"]) == (True, quoted)
    log_again = json.loads(inspect_log(with_totals(record.run)))
    taken = inspect.read(log_again, log_again["samples"][0])
    assert [one["citations"] for one in taken.kept["annotations"]] == [quoted, []]
    assert taken.notes[-1] == "What instruments found was kept beside the run."
    assert "judgments" not in taken.document


def test_what_is_special_about_a_run_under_way_is_told(played, log):
    run = played(max_turns=1)
    run.calls.update(input_tokens=None, output_tokens=None, cost=None)
    Message.objects.filter(run=run, seat="A").update(reasoning="First I think.")
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, ended=None)

    read = log(run)

    assert read.status == "started"
    assert (read.stats.model_usage, read.samples[0].output.usage) == ({}, None), "unknown is not zero"
    first = read.samples[0].messages[0]
    assert [part.type for part in first.content] == ["reasoning", "text"]
    assert first.content[0].reasoning == "First I think."

    Message.objects.filter(run=run, seat="A").update(superseded=True)
    [sample] = log(run).samples
    assert [message.metadata["seat"] for message in sample.messages] == ["B"]
    assert [row["seat"] for row in sample.metadata["superseded"]] == ["A"]


def test_inspect_reads_every_vote_of_a_contest_and_the_shares_of_tests(alice, log):
    made = contest_rows.contest(alice, 1)
    made.cycle(votes_of((1, 2)), passed={4: 3})

    [sample] = log(made.run).samples

    assert sample.scores["coder-1 turn 1 by coder-2"].value["overall"] > 0
    assert "coder-1 turn 2 by coder-2" not in sample.scores
    assert sample.metadata["unscored"]["coder-1 turn 2 by coder-2"]["unscored_reason"] == NO_VOTE
    assert sample.scores["tests turn 2"].value["coder-4"] == 0.3
    assert len(sample.metadata["cycles"]) == 2


def test_of_a_run_that_failed_and_one_that_came_to_a_limit(played, log):
    failed = log(played(a="sim/neutral:first=0:fail=404"))
    limited = log(played(limits={"tokens": 300}, max_turns=9))

    assert failed.status == "error"
    assert failed.samples[0].error.message == failed.error.message != ""
    assert (limited.samples[0].limit.type, limited.samples[0].limit.limit) == ("token", 300)
