"""JSON lines and CSV: whole, in order, without an invented number, and harmless in a spreadsheet."""

import csv
import io
import json
from decimal import Decimal

import pytest

from experiments import actions
from experiments.models import Judgment, Message, Run
from experiments.reports.csv_export import BOM, COLUMNS, SCORES, cell, table
from experiments.reports.exports import json_lines
from tests.cases import each_case

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


@pytest.fixture
def lines(with_totals):
    return lambda run: [json.loads(line) for line in b"".join(json_lines(with_totals(run))).splitlines()]


@pytest.fixture
def rows(with_totals):
    def read(run):
        text = b"".join(table(with_totals(run))).decode("utf-8-sig")
        return list(csv.DictReader(io.StringIO(text, newline="")))

    return read


def test_the_first_line_says_what_the_run_is(played, lines):
    run = played(max_turns=1)

    head, *rest = lines(run)

    assert (head["kind"], head["id"], head["state"]) == ("run", str(run.pk), "completed")
    assert head["experiment"]["config"]["prompt"] == run.experiment.config["prompt"]
    assert {seat["seat"] for seat in head["experiment"]["cast"]} == {"A", "B", "judge", "filter"}
    assert {line["run"] for line in rest} == {str(run.pk)}


def test_then_come_the_rows_kind_by_kind_in_order(played, lines):
    run = played()

    kinds = [line["kind"] for line in lines(run)]

    assert list(dict.fromkeys(kinds)) == ["run", "message", "judgment", "call", "event"]
    said = [line["id"] for line in lines(run) if line["kind"] == "message"]
    assert said == [str(pk) for pk in run.messages.values_list("pk", flat=True)]
    seqs = [line["seq"] for line in lines(run) if line["kind"] == "event"]
    assert seqs == list(range(1, run.last_seq + 1))
    assert kinds.count("call") == run.calls.count()


def test_ids_are_the_same_in_every_export(played, lines):
    run = played(max_turns=1)

    assert lines(run) == lines(run)


def test_a_line_is_a_line_whatever_was_said(played, with_totals):
    run = played(max_turns=1)
    said = "one\u2028two\u2029three\x85four\nfive\r\x0bsix \U0001f600 </script>"
    Message.objects.filter(run=run).update(raw_text=said)

    text = b"".join(json_lines(with_totals(run))).decode()

    assert len(text.splitlines()) == text.count("\n")
    read = [line for line in map(json.loads, text.splitlines()) if line["kind"] == "message"]
    assert {line["raw_text"] for line in read} == {said}


def test_a_run_without_a_word(arena, start, alice, lines, rows):
    """Edge case 62."""
    run = start(arena())
    actions.stop(run, by=alice)

    assert [line["kind"] for line in lines(run)] == ["run", "event", "event"]
    assert lines(run)[0]["cost"] is None
    assert rows(run) == []


def test_a_run_under_way(played, lines, rows):
    run = played(max_turns=1)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, ended=None)

    assert lines(run)[0]["state"] == "running"
    assert len(rows(run)) == 2


def test_the_table_has_a_row_per_message_with_its_scores(played, rows):
    run = played()

    found = rows(run)

    assert [(row["turn"], row["seat"]) for row in found] == [("1", "A"), ("1", "B"), ("2", "A"), ("2", "B")]
    for row, message in zip(found, run.messages.select_related("call"), strict=True):
        judgment = run.judgments.get(turn=message.turn, subject=message.seat)
        assert row["raw_text"] == message.raw_text
        assert row["cost"] == ("" if message.call.cost is None else f"{message.call.cost:f}")
        assert int(row["output_tokens"]) == message.call.output_tokens
        assert {name: float(row[f"score_{name}"]) for name in judgment.scores} == judgment.scores
        assert row["judge"] == judgment.judge
        assert (row["superseded"], row["operator_kind"]) == ("false", "")


@each_case("manner", ["broken", "truncated", "prose", "missing"])
def test_a_missing_score_is_an_empty_cell_and_null(played, rows, lines, manner):
    run = played(judge_model=f"sim/judge:first=0:json={manner}")

    for row in rows(run):
        judgment = run.judgments.get(turn=row["turn"], subject=row["seat"])
        for name in SCORES:
            score = (judgment.scores or {}).get(name.removeprefix("score_"))
            assert row[name] == ("" if score is None else str(score))
        assert row["unscored_reason"] == judgment.unscored_reason
        assert judgment.unscored_reason or all(row[name] for name in SCORES)
    found = [line for line in lines(run) if line["kind"] == "judgment"]
    assert [line["scores"] for line in found] == [judgment.scores for judgment in run.judgments.all()]


def test_unknown_costs_are_empty_cells(played, rows):
    run = played(max_turns=1)
    run.calls.update(cost=None, input_tokens=None, output_tokens=None)

    assert {(row["cost"], row["input_tokens"], row["output_tokens"]) for row in rows(run)} == {("", "", "")}


def test_a_superseded_answer_does_not_get_the_score_of_the_one_in_its_place(played, rows):
    run = played(max_turns=1)
    Message.objects.filter(run=run, seat="A").update(superseded=True)

    first, second, *left = rows(run)

    assert first["superseded"] == "true"
    assert {first[name] for name in SCORES} == {""}
    assert second["score_cooperation"] != ""
    assert [(row["id"], row["seat"], row["judge"] != "") for row in left] == [("", "A", True)]


def test_an_edited_message_says_who_and_what_it_was(played, rows):
    run = played(max_turns=1)
    Message.objects.filter(run=run, seat="A").update(operator={"kind": "altered", "by": "alice", "original": "=before"})

    first = rows(run)[0]

    assert (first["operator_kind"], first["operator_by"], first["operator_original"]) == (
        "altered",
        "alice",
        "'=before",
    )


def test_the_table_begins_with_a_byte_order_mark_and_its_columns(played, with_totals):
    data = b"".join(table(with_totals(played(max_turns=1))))

    assert data.startswith(BOM)
    assert data.decode("utf-8-sig").splitlines()[0] == ",".join(f'"{name}"' for name in COLUMNS)


FORMULAS = [
    *("=CMD()", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\t harmless", "\rharmless"),
    *("＝1", "＋1", "－1", "＠A", "﹦1", " =1", "\u00a0=1", "\u200b=1", "\ufeff=1", "\u2028=1", "\x00=1", "\x1f=1"),
    *('"=1', "'=1", '"" =1', "“=1”", "\u3000＝cmd|' /C calc'!A0", "-2 + 3 + cmd|' /C calc'!A0"),
]


@each_case("text", FORMULAS, ids=ascii)
def test_a_formula_is_disarmed(text):
    """Edge case 61."""
    assert cell(text) == f"'{text}"


@each_case("text", ["Half each?", "1 = 1", "a\t=1", "2", "", "<script>alert(1)</script>", "\\end{document}"])
def test_other_text_stays_as_it_is(text):
    assert cell(text) == text


@each_case(
    ("value", "text"),
    [(-1, "-1"), (-0.5, "-0.5"), (0, "0"), (0.0, "0.0"), (Decimal("-1E-7"), "-0.0000001"), (None, ""), (True, "true")],
)
def test_numbers_stay_numbers(value, text):
    assert cell(value) == text


def test_no_cell_of_a_hostile_run_is_a_formula(played, with_totals):
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

    text = b"".join(table(with_totals(run))).decode("utf-8-sig")

    for row in csv.reader(io.StringIO(text, newline="")):
        for value in row:
            assert value == "" or (value[0] not in "=+@\t\r\n" and (value[0] != "-" or float(value) < 0)), value
