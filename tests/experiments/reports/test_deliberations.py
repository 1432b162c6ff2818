"""Reports of councils, debates and contests: who said what, how it was ranked, who stood in for whom."""

from dataclasses import replace

import pytest

from experiments.models import Cycle, Execution
from experiments.runs.reports import shapes
from experiments.runs.reports.formats import render_html
from experiments.runs.reports.importing import import_document
from experiments.runs.reports.messages import with_names
from experiments.runs.reports.pdf import render_pdf
from experiments.workflows.coding import config, rows
from experiments.workflows.coding.pages import ratings
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION, NO_VOTE, UNREADABLE
from tests.experiments.reports.deliberations import LABELS, council, counted, debate
from tests.experiments.reports.documents import assert_equal, assert_same_page, section
from tests.fixtures import signed_in


def log(record):
    return section(render_html(record.fetched(), "en"), "log")


def in_order(text, *parts):
    place = 0
    for part in parts:
        place = text.index(part, place) + len(part)
    return True


def test_a_missing_vote_a_tie_who_answered_instead_and_what_is_no_json_are_told_in_their_places(alice):
    told = log(council(alice))

    assert in_order(
        told,
        "Member 2 is thorough, see Response A in the code; Response Analysis is no label.",
        "Extracted ranking Member 1 = Member 3 (from the text)",
        *("Member 3 did not rank", "Extracted ranking no vote"),
        "Its ranking could not be read, nor could the second one.",
        *("The ranking 2 ballots", "Kemeny Member 1 = Member 3 > Member 2"),
        *("Chair: No answer arrived conclusion, attempt 1", "rate limited: Too many requests."),
        *("Chair: Chair 2 (chair-2 model) was asked instead", "chair model: rate limited: Too many requests."),
        *("Chair · conclusion chair-2 model", "Because of scattering."),
    )

    record = debate(alice)
    told = log(record)

    instead = "Model B: Model 1 of the pool (pool-1 model) was asked instead"
    assert in_order(told, instead, "shown as received: There is no JSON in it.", "I would rather say it in prose.")
    assert "Another summary was requested" not in told, "to go on to the first one is no intervention"
    record.offer("summary/next/2", 2, "concluded", "summarize", action="summarize", text="", by="alice")
    assert "Another summary was requested alice" in log(record)


def test_a_count_without_ballots_and_what_somebody_asked_for_afterwards_are_told(alice, exported):
    for skipped, said in (("one_answer", "Only one member answered"), ("no_ballots", "No ballot could be used")):
        record = council(alice)
        data = counted(ballots=[], best=[], skipped=skipped)
        record.run.steps.filter(purpose="ballots_counted").update(data=data)
        assert (said in log(record), "By method" in log(record)) == (True, False), "a count without ballots says why"

    record = council(alice, overrides={"limits": {"tokens": 5000}})
    record.offer("turn/1/next/2", 1, "your_turn", "retry_seat", action="retry_seat", text="member-2", by="alice")
    [deed] = exported(record.run)["interventions"]
    record.offer("turn/1/next/3", 1, "your_turn", "deliberate", action="deliberate", text="", by="alice")
    record.step("turn/1/count/2", purpose="ballots_counted", turn=1, data=counted(count=2))
    best = {"turn": 1, "seat": "member-3", "message": "turn/1/answer/member-3", "reason": "No chair."}
    record.step("turn/1/conclusion/by-rank", purpose="concluded_by_rank", turn=1, data=best)
    record.step("turn/2/answer/member-2", "ask", purpose="reply", seat="member-2", turn=2, state="failed",
                data={"outcome": {"ok": False, "error_kind": "limit"}})  # fmt: skip

    record.run.ballots.filter(reviewer="member-2").update(superseded=True)

    html = render_html(record.fetched(), "en")
    told = section(html, "log")

    assert told.count("replaced by a later ballot of this reviewer") == 1
    assert (deed["kind"], deed["seat"], deed["turn"], deed["by"]) == ("retry_seat", "member-2", 1, "alice")
    assert "Member 2 was asked again alice" in told
    assert "The answers were ranked again alice" in told
    assert told.count("superseded: the answers were ranked again") == 1
    assert "No chair could conclude. The best-ranked answer, by Member 3, is used instead" in told
    assert "Member 2 was not asked: the run reached a limit" in told
    assert "Changed during the run limits: none → 5,000 tokens" in section(html, "setup")


def test_names_take_the_place_of_whole_labels_alone():
    labels = {**LABELS["member-1"], "Response AA": "member-3"}
    named = with_names("**Response A**, Response AA, Response Analysis, `Response B`\n```\nResponse A\n```", labels)

    assert named == "**Member 2**, **Member 3**, Response Analysis, `Response B`\n```\nResponse A\n```"


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


def test_a_contest_that_has_not_begun_and_one_under_way_can_be_told(alice, with_totals):
    made = contest_rows.Contest(alice, state="running", ended=None)
    assert "No cycle started in this run." in render_html(with_totals(made.run), "en")
    Cycle.objects.create(run=made.run, turn=1, setter="coder-1", contestants=[["coder-1", "lab/coder-1"]])

    assert "There is no problem yet." in render_html(with_totals(made.run), "en")
    assert render_pdf(with_totals(made.run), "zh-hans", lambda _done: None).startswith(b"%PDF")


@pytest.mark.databases
def test_an_imported_contest_says_the_same_and_its_pages_show_it(run, alice, exported):
    before = exported(run)
    waiting = exported(run)
    waiting["executions"][0] |= {"state": "waiting", "results": None, "ended": None}
    again = import_document(waiting, by=alice)
    assert not Cycle.objects.counted().filter(run=again).exists()
    assert not Execution.objects.claimable().exists(), "what is imported is neither counted nor run"
    assert again.executions.get(step__key=waiting["executions"][0]["key"]).state == "cancelled"
    again = import_document(before, by=alice)
    after = exported(again)

    for side in (before, after):
        for cycle in side["cycles"]:
            cycle["voided_by"] = None  # whoever it was is nobody here
    assert_equal(before, after, "cycles", "executions", "judgments", "messages")
    found, keys = ratings.of_run(run), dict(again.cycles.values_list("turn", "pk"))
    history = tuple(replace(one, run=again.pk, pk=keys[one.turn]) for one in found.history)
    assert ratings.of_run(again) == replace(found, history=history)
    assert_same_page(again)
    browser = signed_in(alice)
    assert "Widest" in browser.get(f"/runs/{again.pk}/cycles/2/").content.decode()
    assert "Spread of readings 3" in browser.get(f"/runs/{again.pk}/").content.decode()
