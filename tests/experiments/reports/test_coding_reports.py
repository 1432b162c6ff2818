"""Contests of coding as reports, and imported again."""

from dataclasses import replace

import pytest

from experiments.models import Cycle, Execution
from experiments.runs.reports import shapes
from experiments.runs.reports.formats import render_html
from experiments.runs.reports.importing import import_document
from experiments.runs.reports.markdown import render_markdown
from experiments.runs.reports.pdf import render_pdf
from experiments.workflows.coding import config, rows
from experiments.workflows.coding.pages import ratings
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION, NO_VOTE, UNREADABLE
from tests.experiments.reports.documents import assert_equal, assert_same_page
from tests.experiments.reports.html_pages import section
from tests.fixtures import signed_in


def test_the_largest_contest_that_can_be_set_up_is_not_too_long_for_an_import():
    cycles, coders = config.MOST_CYCLES, config.MOST_CODERS
    solutions, judgments = cycles * coders, cycles * coders * (coders - 1)
    problems, played = 2 * 2 * cycles, 2 * cycles  # each asked for twice; a void one in turn set twice
    calls = problems + 2 * solutions + 2 * judgments + played * coders

    assert played <= rows.MOST_CYCLES
    assert problems + 2 * solutions <= shapes.MOST_MESSAGES
    assert judgments <= shapes.MOST_JUDGMENTS
    assert 8 * problems + solutions <= rows.MOST_EXECUTIONS
    assert calls <= shapes.MOST_CALLS
    assert calls + judgments + 8 * problems + 4 * solutions + 6 * played <= shapes.MOST_STEPS


@pytest.fixture
def run(alice):
    made = contest_rows.flawed(alice)
    Cycle.objects.filter(turn=1).update(voided="2026-01-01T00:00:00Z", void_reason="Two answers were right.")
    return made.run


def test_a_report_tells_what_was_found_why_something_is_missing_and_how_it_was_rated(run, with_totals):
    html = render_html(with_totals(run), "en")

    cycles, rated = section(html, "cycles"), section(html, "ratings")
    found = (
        *("Widest | gap", contest_rows.DESCRIPTION, "def spread ( values ):", "It handles the empty list."),
        *("It passed 3 of 10 tests.", "wrong result", "Clear, says coder-1.", "5 shown, 5 hidden"),
        *(f"Coder 2 gave no vote: {NO_VOTE}", NO_SOLUTION, UNREADABLE),
        *("There is no problem: It repeats an earlier problem.", "left out of ratings", "Two answers were right."),
    )
    for words in found:
        assert words in cycles, words
    ratings_found = ratings.of_run(run)
    assert ratings_found.cycles == 2
    for words in (*(f"{one.compatible:.0f}" for one in ratings_found.solvers), "Severity", "Calibration"):
        assert words in rated, words


@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_form_of_the_report_can_be_made(run, with_totals, language):
    shown = with_totals(run)

    assert "Widest" in render_markdown(shown, language)
    assert render_pdf(shown, language, lambda _done: None).startswith(b"%PDF")
    assert "Spread of readings 3" in render_html(shown, language)


def test_a_contest_that_has_not_begun_and_one_under_way_can_be_told(alice, with_totals):
    made = contest_rows.Contest(alice, state="running", ended=None)
    assert "No cycle started in this run." in render_html(with_totals(made.run), "en")
    Cycle.objects.create(run=made.run, turn=1, setter="coder-1", contestants=[["coder-1", "lab/coder-1"]])

    assert "There is no problem yet." in render_html(with_totals(made.run), "en")


@pytest.mark.databases
def test_an_imported_contest_says_the_same_and_its_pages_show_it(run, alice, exported):
    before = exported(run)
    again = import_document(before, by=alice)
    after = exported(again)

    for side in (before, after):
        for cycle in side["cycles"]:
            cycle["voided_by"] = None  # whoever it was is nobody here
    assert_equal(before, after, "cycles", "executions", "judgments", "messages")
    assert ratings.of_run(again) == ratings_of_another(ratings.of_run(run), again)
    assert_same_page(again)
    browser = signed_in(alice)
    assert "Widest" in browser.get(f"/runs/{again.pk}/cycles/2/").content.decode()
    assert "Spread of readings 3" in browser.get(f"/runs/{again.pk}/").content.decode()


def ratings_of_another(found, run):
    """What the same cycles say in another run."""
    keys = dict(run.cycles.values_list("turn", "pk"))
    return replace(found, history=tuple(replace(one, run=run.pk, pk=keys[one.turn]) for one in found.history))


def test_what_is_imported_is_neither_counted_nor_run(run, alice, exported):
    document = exported(run)
    document["executions"][0] |= {"state": "waiting", "results": None, "ended": None}

    again = import_document(document, by=alice)

    assert not Cycle.objects.counted().filter(run=again).exists()
    assert not Execution.objects.claimable().exists()
    assert again.executions.get(step__key=document["executions"][0]["key"]).state == "cancelled"
    assert set(again.cycles.values_list("voided_by", flat=True)) == {None}
