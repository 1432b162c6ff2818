"""JSON lines and CSV: whole, in order, without an invented number, and harmless in a spreadsheet."""

import csv
import io
import json
from decimal import Decimal

import pytest

from accounts.csv_cells import BOM, cell
from experiments.models import Judgment, Message
from experiments.runs.reports.csv_export import COLUMNS, SCORES, table
from experiments.runs.reports.document import json_lines
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION
from tests.experiments.reports.deliberations import council
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
