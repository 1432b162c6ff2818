"""Contests of coding as reports, files for programs, and back again."""

import copy
import csv
import io
import json

import pytest
from inspect_ai.log import read_eval_log

from experiments import timeline
from experiments.contests import ratings
from experiments.models import Cycle, Execution, Run
from experiments.reports import shapes
from experiments.reports.csv_export import table
from experiments.reports.exports import json_lines
from experiments.reports.html import render_html
from experiments.reports.importing import import_document
from experiments.reports.inspect_log import inspect_log, log_name
from experiments.reports.json_values import InvalidDocument
from experiments.reports.markdown import render_markdown
from experiments.reports.pdf import render_pdf
from experiments.workflows.coding import config
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION, NO_VOTE, UNREADABLE, votes_of
from tests.experiments.reports.html_pages import section
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


def test_the_largest_contest_that_can_be_set_up_is_not_too_long_for_an_import():
    cycles, coders = config.MOST_CYCLES, config.MOST_CODERS
    solutions, judgments = cycles * coders, cycles * coders * (coders - 1)
    problems, played = 2 * 2 * cycles, 2 * cycles  # each asked for twice; a void one in turn set twice
    calls = problems + 2 * solutions + 2 * judgments + played * coders

    assert played <= shapes.MOST_CYCLES
    assert problems + 2 * solutions <= shapes.MOST_MESSAGES
    assert judgments <= shapes.MOST_JUDGMENTS
    assert 8 * problems + solutions <= shapes.MOST_EXECUTIONS
    assert calls <= shapes.MOST_CALLS
    assert calls + judgments + 8 * problems + 4 * solutions + 6 * played <= shapes.MOST_STEPS


@pytest.fixture
def run(alice):
    """A contest with a judge without a vote, a solver without a solution, and a cycle without a problem."""
    made = contest_rows.contest(alice, 1)
    made.cycle(votes_of((1, 2)), passed={4: 3}, title="Widest | gap")
    made.cycle(silent=(3,))
    made.void_cycle("It repeats an earlier problem.")
    Cycle.objects.filter(turn=1).update(voided="2026-01-01T00:00:00Z", void_reason="Two answers were right.")
    return made.run


def test_a_report_tells_what_was_set_solved_run_and_judged(run, with_totals):
    told = section(render_html(with_totals(run), "en"), "cycles")

    found = (
        *("Widest | gap", contest_rows.DESCRIPTION, "def spread ( values ):", "It handles the empty list."),
        *("It passed 3 of 10 tests.", "wrong result", "Clear, says coder-1.", "5 shown, 5 hidden"),
    )
    for words in found:
        assert words in told, words


def test_a_report_says_why_something_is_missing(run, with_totals):
    told = section(render_html(with_totals(run), "en"), "cycles")

    found = (
        *(f"Coder 2 gave no vote: {NO_VOTE}", NO_SOLUTION, UNREADABLE),
        *("There was no problem: It repeats an earlier problem.", "left out of the ratings", "Two answers were right."),
    )
    for words in found:
        assert words in told, words


def test_a_report_rates_the_cycles_that_count(run, with_totals):
    told = section(render_html(with_totals(run), "en"), "ratings")
    found = ratings.of_run(run)

    assert found.cycles == 2
    for solver in found.solvers:
        assert f"{solver.compatible:.0f}" in told
    assert "Severity" in told
    assert "Calibration" in told


def test_the_set_up_names_the_rules(run, with_totals):
    told = section(render_html(with_totals(run), "en"), "setup")

    for words in ("Cycles planned", "Quorum", "256 MiB", "coder-4 model"):
        assert words in told


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_form_of_the_report_can_be_made(run, with_totals, language):
    shown = with_totals(run)

    assert "Widest" in render_markdown(shown, language)
    assert render_pdf(shown, language, lambda _done: None).startswith(b"%PDF")
    assert "Spread of readings 3" in render_html(shown, language)


def test_a_contest_that_has_not_begun_and_one_under_way_can_be_told(alice, with_totals):
    made = contest_rows.Contest(alice, state="running", ended=None)
    assert "No cycle was begun in this run." in render_html(with_totals(made.run), "en")
    Cycle.objects.create(run=made.run, turn=1, setter="coder-1", contestants=[["coder-1", "lab/coder-1"]])

    assert "No problem has been set yet." in render_html(with_totals(made.run), "en")


@pytest.mark.databases
def test_the_table_has_a_row_for_every_vote(run, with_totals):
    text = b"".join(table(with_totals(run))).decode("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))

    assert [len([row for row in rows if row["cycle"] == str(turn)]) for turn in (1, 2, 3, 4)] == [12, 12, 10, 1]
    missing = next(row for row in rows if row["unscored_reason"])
    assert (missing["judge"], missing["solver"], missing["overall"]) == ("coder-2", "coder-1", "")
    assert rows[0]["counts"] == "false"
    assert rows[-1]["reason"] == "It repeats an earlier problem."
    silent = next(row for row in rows if row["cycle"] == "3" and row["solver"] == "coder-3")
    assert (silent["mean"], silent["unrated"], silent["code"]) == ("", NO_SOLUTION, "")


@pytest.mark.databases
def test_lines_hold_cycles_and_executions(run, with_totals):
    lines = [json.loads(line) for line in json_lines(with_totals(run))]
    cycles = [line for line in lines if line["kind"] == "cycle"]

    assert [one["turn"] for one in cycles] == [1, 2, 3, 4]
    assert {one["run"] for one in cycles} == {str(run.pk)}
    assert sum(line["kind"] == "execution" for line in lines) == Execution.objects.count()


def test_inspect_reads_every_vote_and_the_shares_of_tests(run, with_totals, tmp_path):
    shown = with_totals(run)
    file = tmp_path / log_name(shown)
    file.write_bytes(inspect_log(shown))
    [sample] = read_eval_log(str(file)).samples

    assert sample.scores["coder-1 turn 1 by coder-2"].value["overall"] > 0
    assert "coder-1 turn 2 by coder-2" not in sample.scores
    assert sample.metadata["unscored"]["coder-1 turn 2 by coder-2"]["unscored_reason"] == NO_VOTE
    assert sample.scores["tests turn 2"].value["coder-4"] == 0.3
    assert len(sample.metadata["cycles"]) == 4


@pytest.mark.databases
def test_an_imported_contest_says_the_same(run, alice, exported):
    before = exported(run)
    again = import_document(before, by=alice)
    after = exported(again)
    own = {"id", "run", "voided_by", "call", "message"}

    for name in ("cycles", "executions", "judgments", "messages"):
        strip = [[{key: value for key, value in row.items() if key not in own} for row in side[name]]
                 for side in (before, after)]  # fmt: skip
        assert strip[0] == strip[1], name
    assert ratings.of_run(again) == ratings_of_another(ratings.of_run(run), again)
    rows, events = timeline.from_rows(again), timeline.replayed(again.events.all())
    assert {one.anchor: one.data for one in rows} == {one.anchor: one.data for one in events}


def ratings_of_another(found, run):
    """What the same cycles say in another run."""
    rows = {row.turn: row for row in run.cycles.all()}
    history = tuple(
        type(one)(**{**{name: getattr(one, name) for name in one.__slots__}, "run": run.pk, "pk": rows[one.turn].pk})
        for one in found.history
    )
    return type(found)(**{**{name: getattr(found, name) for name in found.__slots__}, "history": history})


def test_the_pages_of_an_imported_contest_show_it(run, alice, exported):
    again, browser = import_document(exported(run), by=alice), signed_in(alice)

    assert "Widest" in browser.get(f"/runs/{again.pk}/cycles/2/").content.decode()
    assert "Spread of readings 3" in browser.get(f"/runs/{again.pk}/").content.decode()


def test_what_is_imported_is_neither_counted_nor_run(run, alice, exported):
    document = exported(run)
    document["executions"][0] |= {"state": "waiting", "results": None, "ended": None}

    again = import_document(document, by=alice)

    assert not Cycle.objects.counted().filter(run=again).exists()
    assert not Execution.objects.claimable().exists()
    assert again.executions.get(step__key=document["executions"][0]["key"]).state == "cancelled"
    assert set(again.cycles.values_list("voided_by", flat=True)) == {None}


def changed(document, *path, value):
    document = copy.deepcopy(document)
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return document


@each_case(
    ("path", "value", "said"),
    [
        (("cycles", 1, "votes", "coder-1"), {"coder-1": 5.0}, "own solution"),
        (("cycles", 1, "votes", "coder-1"), {"coder-2": 11.0}, "less than or equal to 10"),
        (("cycles", 1, "votes", "coder-1"), {"coder-9": 5.0}, "not contestants"),
        (("cycles", 1, "setter"), "coder-9", "not a contestant"),
        (("cycles", 1, "turn"), 1, "twice"),
        (("cycles", 1, "passed"), {"coder-1": 1.5}, "less than or equal to 1"),
        (("executions", 0, "key"), "cycle/1/nowhere", "no step"),
        (("executions", 0, "results"), None, "has results"),
        (("executions", 0, "results", 0, "verdict"), "perfect", "passed"),
        (("judgments", 0, "scores"), {"overall": 1000.0}, "from 0 to 10"),
        (("messages", 0, "parsed", "shown"), "all", "list"),
    ],
    ids=str,
)
def test_what_could_not_be_rated_or_drawn_is_refused_with_its_place(run, alice, exported, path, value, said):
    with pytest.raises(InvalidDocument) as refused:
        import_document(changed(exported(run), *path, value=value), by=alice)

    assert {place.split(".")[0].split("[")[0] for place in refused.value.errors} == {path[0]}
    assert said in str(refused.value)
    assert not Run.objects.filter(origin="imported").exists()
