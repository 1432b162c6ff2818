"""Exports: CSV and JSON lines without an invented number, and logs that Inspect AI and Inspect Scout read."""

import csv
import io
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from inspect_ai.log import EvalLog, read_eval_log, read_eval_log_sample_summaries, write_eval_log
from inspect_ai.model import ChatMessageAssistant, ChatMessageUser

from accounts.csv_cells import BOM, cell
from experiments.library.imports import inspect
from experiments.library.instruments import services
from experiments.models import Annotation, Judgment, Message, Run
from experiments.runs.reports.csv_export import COLUMNS, SCORES, table
from experiments.runs.reports.document import json_lines
from experiments.runs.reports.inspect_log import inspect_archive, inspect_log, log_name
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION, NO_VOTE, votes_of
from tests.experiments.reports.deliberations import council
from tests.experiments.scans.conftest import DEFINITION, talk
from tests.making import maker


@maker
def rows(with_totals, /, run):
    text = b"".join(table(with_totals(run))).decode("utf-8-sig")
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_what_is_unknown_superseded_or_edited_shows_in_its_row(played, rows, with_totals):
    run = played(max_turns=1)
    run.calls.update(cost=None, input_tokens=None, output_tokens=None)
    edited = {"kind": "altered", "by": "alice", "original": "=before"}
    Message.objects.filter(run=run, seat="A").update(superseded=True, operator=edited)

    first, second, *left = rows(run)

    unknown = {(row["cost"], row["input_tokens"], row["output_tokens"]) for row in (first, second)}
    assert unknown == {("", "", "")}
    assert first["superseded"] == "true"
    assert {first[name] for name in SCORES} == {""}, "the score is of the answer in its place"
    assert second["score_cooperation"] != ""
    assert [(row["id"], row["seat"], row["judge"] != "") for row in left] == [("", "A", True)]
    shown = (first["operator_kind"], first["operator_by"], first["operator_original"])
    assert shown == ("altered", "alice", "'=before")
    data = b"".join(table(with_totals(run)))
    assert data.startswith(BOM)
    assert data.decode("utf-8-sig").splitlines()[0] == ",".join(f'"{name}"' for name in COLUMNS)


@pytest.mark.databases
def test_the_table_has_each_ballot_beside_its_review_and_a_row_for_an_abstention_and_every_vote(alice, rows):
    reviews = {row["seat"]: row for row in rows(council(alice).run) if row["purpose"] == "review"}
    assert (reviews["member-2"]["ballot_order"], reviews["member-2"]["ballot_flags"]) == ("member-1 = member-3", "ties")
    assert (reviews["member-3"]["id"], reviews["member-3"]["ballot_order"]) == ("", "")
    assert "could not be read" in reviews["member-3"]["ballot_abstained_reason"]

    contest = contest_rows.flawed(alice).run
    contest.cycles.filter(turn=1).update(voided="2026-01-01T00:00:00Z", void_reason="Two answers were right.")

    found = rows(contest)

    assert [len([row for row in found if row["cycle"] == str(turn)]) for turn in (1, 2, 3, 4)] == [12, 12, 10, 1]
    missing = next(row for row in found if row["unscored_reason"])
    assert (missing["judge"], missing["solver"], missing["overall"]) == ("coder-2", "coder-1", "")
    assert found[0]["counts"] == "false"
    assert found[-1]["reason"] == "It repeats an earlier problem."
    silent = next(row for row in found if row["cycle"] == "3" and row["solver"] == "coder-3")
    assert (silent["mean"], silent["unrated"], silent["code"]) == ("", NO_SOLUTION, "")


FORMULAS = [
    *("=CMD()", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\t harmless", "\rharmless"),
    *("＝1", "＋1", "－1", "＠A", "﹦1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u2028=1", "\x00=1", "\x1f=1"),
    *('"=1', "'=1", '"" =1', "“=1”", "\u3000＝cmd|' /C calc'!A0", "-2 + 3 + cmd|' /C calc'!A0"),
]


def test_no_cell_of_a_hostile_run_is_a_formula_other_texts_stay_and_each_of_its_lines_is_one(played, with_totals):
    assert [cell(text) for text in FORMULAS] == [f"'{text}" for text in FORMULAS]
    texts = ["Half each?", "1 = 1", "a\t=1", "2", "", "<script>alert(1)</script>"]
    values = (-1, -0.5, 0, 0.0, Decimal("-1E-7"), None, True)
    assert [cell(text) for text in texts] == texts
    assert [cell(value) for value in values] == ["-1", "-0.5", "0", "0.0", "-0.0000001", "", "true"]

    run = played(max_turns=1)
    hostile = '=HYPERLINK("http://x")";=1\n=2,=3\r\n\t=4'
    Message.objects.filter(run=run).update(
        text=hostile,
        raw_text=hostile,
        reasoning=hostile,
        model=hostile,
        finish_reason="=1",
        flags=["=1"],
        filter={"status": "=1", "changed": True, "removed": ["=1", "@x"], "confidence": -0.5, "reasoning": "+1"},
        operator={"kind": "=1", "by": "=1", "original": "=1"},
    )
    Judgment.objects.filter(run=run).update(judge="=1", rationale=hostile, unscored_reason="@1")
    said = "one\u2028two\u2029three\x85four\nfive\r\x0bsix \U0001f600 </script>"
    Message.objects.filter(run=run, seat="A").update(raw_text=said)
    lines = b"".join(json_lines(with_totals(run))).decode()
    assert len(lines.splitlines()) == lines.count("\n"), "a line is a line"
    spoken = {one["seat"]: one["raw_text"] for one in map(json.loads, lines.splitlines()) if one["kind"] == "message"}
    assert spoken == {"A": said, "B": hostile}

    text = b"".join(table(with_totals(run))).decode("utf-8-sig")

    for row in csv.reader(io.StringIO(text, newline="")):
        for value in row:
            assert value == "" or (value[0] not in "=+@\t\r\n" and (value[0] != "-" or float(value) < 0)), value


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


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_a_scan_finds_every_message_call_span_and_score_of_three_workflows(played, alice, with_totals, tmp_path):
    contest = contest_rows.contest(alice, 1)
    contest.cycle(votes_of())
    runs = {run.experiment.workflow: run for run in (played(), council(alice).run, contest.run)}
    logs = tmp_path / "logs"
    logs.mkdir()
    for run in runs.values():
        (logs / log_name(run, "eval")).write_bytes(inspect_archive(with_totals(run)))

    scouted = Path(__file__).parents[2] / "interop" / "scouted.py"
    command = [sys.executable, scouted, logs, tmp_path / "results"]
    scanned = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert scanned.returncode == 0, scanned.stderr[-3000:]
    found = {row["task"].rpartition("/")[2]: row for row in json.loads(scanned.stdout.splitlines()[-1]).values()}

    assert found.keys() == runs.keys()
    for workflow, run in runs.items():
        assert found[workflow]["messages"] == list(run.messages.order_by("pk").values_list("raw_text", flat=True))
        assert found[workflow]["calls"] == sorted(run.calls.values_list("text", flat=True))
        seats = set(run.calls.values_list("step__seat", flat=True))
        assert seats <= set(found[workflow]["spans"])
    judged = runs["arena"].judgments.order_by("created")
    assert found["arena"]["scores"] == [judgment.scores for judgment in judged]
    assert len(found["coding"]["scores"]) >= runs["coding"].judgments.exclude(scores=None).count() > 0
