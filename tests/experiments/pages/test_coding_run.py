"""A contest as a page: each phase in its place, votes in their cells, void cycles with their reason."""

from experiments.models import Cycle
from tests.experiments.contests import problem, solution
from tests.experiments.pages.contested import assert_every_fragment_finds_its_place, assert_same_page, squeezed


def test_what_went_wrong_is_said_where_it_did(play, page_of):
    """A first problem and a first solution that could not be taken, a model without a key, a judge without a vote."""
    run = play(
        {"problem": problem(test_cases=[]), "problem_repair": problem(), "judgment": "I like it."},
        {"solution": "I would sort it.", "solution_repair": solution()},
        {"solution": 401},
        {},
        {"health": 401},
        health_check=True,
    )
    page = page_of(run)
    set_slot, solved, failed = (
        page.by_id(f"slot-{name}") for name in ("problem-1-coder-1", "solution-1-coder-2", "solution-1-coder-3")
    )
    missing = page.by_id("vote-1-coder-2-coder-1")

    assert "4 of 5 models take part." in page.by_id("pool").text
    assert "scripted failure" in page.by_id("pool").text
    assert "coder-5" in page.by_id("latest").text
    assert "Spread of readings" in set_slot[-1].text
    assert "I would sort it." in solved.text
    assert "defspread" in squeezed(solved[-1])
    assert "key refused" in failed.text
    assert "coder-3 is not rated in this cycle" in page.by_id("slot-outcome-1").text
    assert missing.get("class") == "vote missing"
    assert "could not be read" in missing.get("title")
    assert_same_page(run, "pool_checked", "message_parsed", "call_failed", "solution_executed", "solution_judged")
    assert_every_fragment_finds_its_place(run)


def test_a_void_cycle_says_why_and_the_next_one_goes_on(play, page_of):
    wrong = problem(reference_solution="def spread(values):\n    return 1\n")
    run = play({"problem": wrong})
    page = page_of(run)

    assert [cycle.state for cycle in run.cycles.all()] == [Cycle.State.VOID] * 2
    assert [e.get("id") for e in page.find(class_="cycle")] == ["turn-2"], "the page shows the latest"
    assert "does not pass test 1" in page.by_id("slot-outcome-2").text
    assert [e.get("data-state") for e in page.find(class_="phase")][:3] == ["void", "void", "waiting"]
    assert_same_page(run, "cycle_void", "experiment_stopped")
