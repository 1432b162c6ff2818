"""A contest as a page, and the page of a cycle: each phase, solution and vote in its place, and what went wrong."""

import re
import threading

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from experiments.models import Cycle, Execution
from experiments.runs import actions
from tests.experiments import contest_rows
from tests.experiments.contest_rows import NO_SOLUTION, votes_of
from tests.experiments.contests import WRONG, coder, contest, judgment, problem, solution
from tests.experiments.pages.contested import assert_every_fragment_finds_its_place, assert_same_page, squeezed
from tests.experiments.pages.driving import drive
from tests.fixtures import wait_until
from tests.parts import stepped_engine

NOISY = "def spread(values):\n    print('looking')\n    return max(values) - min(values)\n"


@pytest.fixture
def cycle_of(browser, read):
    return lambda run, turn=1: read(browser.get(reverse("coding-cycle", args=[run.pk, turn])))


def test_everything_about_a_cycle_stands_on_its_page_and_what_went_wrong_where_it_did(
    play, page_of, cycle_of, browser, charlies
):
    """A first problem and a first solution that could not be taken, models without a key, a judge without a vote."""
    run = play(
        {"problem": problem(test_cases=[]), "problem_repair": problem(), "judgment": judgment(8)},
        {"solution": "I would sort it.", "solution_repair": solution(WRONG), "judgment": judgment(4, overall_score=9)},
        {"solution": solution(NOISY, "Both **ends**."), "judgment": "I like it."},
        {"solution": 401},
        {"health": 401},
        health_check=True,
    )
    page = page_of(run)
    set_slot, solved, failed = (
        page.by_id(f"slot-{name}") for name in ("problem-1-coder-1", "solution-1-coder-2", "solution-1-coder-4")
    )
    missing = page.by_id("vote-1-coder-1-coder-3")
    assert "4 of 5 models take part." in page.by_id("pool").text
    assert "scripted failure" in page.by_id("pool").text
    assert "coder-5" in page.by_id("latest").text
    assert "Spread of readings" in set_slot[-1].text
    assert "I would sort it." in solved.text
    assert "defspread" in squeezed(solved[-1])
    assert "key refused" in failed.text
    assert "coder-4 is not rated in this cycle" in page.by_id("slot-outcome-1").text
    assert missing.get("class") == "vote missing"
    assert "could not be read" in missing.get("title")
    assert_same_page(run, "pool_checked", "message_parsed", "call_failed", "solution_executed", "solution_judged")
    assert_every_fragment_finds_its_place(run)

    Execution.objects.filter(run=run, seat="coder-2").update(is_unsafe=True)
    page = cycle_of(run)
    first, second, third = (page.by_id(f"solver-coder-{number}") for number in (1, 2, 3))

    assert "Cycle 1: Spread of readings" in page.find("h1")[0].text
    assert "reference, again: 10/10" in page.text
    assert "1 of 3" in page.find(class_="cycle-figures")[0].text
    assert "2 missing" in page.find(class_="cycle-figures")[0].text
    assert "run without isolation" in second.text
    assert "run without isolation" not in first.text
    assert "looking" in third.text
    assert "ValueError" in third.text
    assert [e.text for e in third.findall(".//strong")] == ["ends"]
    assert "named another overall than the mean" in first.text
    assert "no vote: Its judgment could not be read" in first.text
    assert "Right. Short. Clear." in first.text
    [radar] = [e for e in first.findall(".//svg") if e.get("class") == "radar"]
    assert "Correctness 5.50, Efficiency 5.50" in radar.get("aria-label")
    for link in page.find("a"):
        if (link.get("href") or "").startswith("/calls/"):
            assert browser.get(link.get("href")).status_code == 200
    assert charlies.get(reverse("coding-cycle", args=[run.pk, 1])).status_code == 404
    assert browser.get(reverse("coding-cycle", args=[run.pk, 2])).status_code == 404


def test_a_void_cycle_says_why_and_the_next_one_goes_on(play, page_of):
    wrong = problem(reference_solution="def spread(values):\n    return 1\n")
    run = play({"problem": wrong})
    page = page_of(run)

    assert [cycle.state for cycle in run.cycles.all()] == [Cycle.State.VOID] * 2
    assert [e.get("id") for e in page.find(class_="cycle")] == ["turn-2"], "the page shows the latest"
    assert "does not pass test 1" in page.by_id("slot-outcome-2").text
    assert [e.get("data-state") for e in page.find(class_="phase")][:3] == ["void", "void", "waiting"]
    assert_same_page(run, "cycle_void", "experiment_stopped")


def test_a_cycle_under_way_and_one_that_was_cut_short_say_so(alice, scripted, start, cycle_of):
    run = start(contest(alice, [scripted.model(f"lab/m{n}", coder()) for n in range(3)]))
    run.cycles.create(turn=1, setter="coder-1", contestants=[[f"coder-{n}", f"lab/m{n - 1}"] for n in (1, 2, 3)])

    page = cycle_of(run)
    assert "This cycle is in progress" in page.text
    assert "The setter gave no problem." in page.text
    run.state = "stopped"
    run.save()
    assert "The run ended before this cycle was rated" in cycle_of(run).text


def test_solvers_stand_by_their_mean_and_cycles_that_do_not_count_say_why(alice, cycle_of):
    made = contest_rows.Contest(alice)
    made.cycle(votes_of(levels=(4.0, 3.0, 9.5, 7.0)), silent=(2,))
    Cycle.objects.update(voided=timezone.now(), voided_by=alice, void_reason="The tests were wrong.")
    made.void_cycle("It repeats “Spread”.\nIt is too weak.", setter=2)
    first, second = cycle_of(made.run), cycle_of(made.run, 2)

    order = [e.get("id") for e in first.find(class_="part solver")]
    assert order == ["solver-coder-3", "solver-coder-4", "solver-coder-1", "solver-coder-2"]
    assert NO_SOLUTION in first.by_id("solver-coder-2").text
    assert "Left out of ratings by alice" in first.text
    assert "The tests were wrong." in first.text
    assert "It is too weak." in second.text
    assert [e.get("href") for e in second.find("a") if e.get("rel") == "prev"] == [
        reverse("coding-cycle", args=[made.run.pk, 1])
    ]


def test_the_number_of_queries_does_not_depend_on_the_votes(alice, browser):
    counts = []
    for seats in (3, 4):
        made = contest_rows.Contest(alice)
        made.cycle(votes_of(seats=seats), seats=seats)
        for address in (reverse("coding-cycle", args=[made.run.pk, 1]), made.run.get_absolute_url()):
            browser.get(address)
            with CaptureQueriesContext(connection) as queries:
                html = browser.get(address).content.decode()
            counts.append(len(queries))
        assert len(re.findall(r'class="vote score-', html)) == seats * (seats - 1)

    assert counts[:2] == counts[2:]


def test_the_ratings_of_a_contest_stand_on_a_page_of_their_own(alice, browser, read):
    run = contest_rows.contest(alice, 1).run
    address = reverse("coding-ratings", args=[run.pk])
    part = browser.get(f"{address}?part=1")

    assert read(browser.get(run.get_absolute_url())).by_id("ratings-figures").get("data-address") == f"{address}?part=1"
    assert "<html" not in part.content.decode()
    assert len(read(part).find("g", class_="line line-nth-0")) == 1
    assert read(browser.get(address)).find("h1")[0].text == "Ratings"
    Cycle.objects.filter(run=run).update(voided=timezone.now())
    assert "No cycle counts yet" in read(browser.get(address)).text


def test_of_a_contest_at_each_of_its_steps(alice, scripted, start, browser, read):
    """Queued; then with a problem that waits for the sandbox, whose page is built from what there is."""
    models = [scripted.model(f"lab/m{n}", coder(solution=solution(WRONG), judgment=judgment(5))) for n in range(3)]
    run = start(contest(alice, models, health_check=False))
    assert_same_page(run)

    with stepped_engine.driving(threading.Event()):
        wait_until(lambda: Execution.objects.filter(run=run).count() > 5, "the run to come so far")
    assert_same_page(run, "cycle_begun", "message_completed")
    page = read(browser.get(run.get_absolute_url()))
    states = [e.get("data-state") for e in page.find(class_="phase")]
    assert states == ["active", "waiting", "waiting", "waiting", "waiting", "waiting"]
    assert "It is being read and checked." in page.by_id("latest").text
    places = {t.get("id"): t.get("data-place") for t in page.find("template") if "data-place" in t.attrib}

    assert len(places) == 3
    for seat, purpose in (("coder-1", "solution"), ("coder-3", "solution"), (run.cycles.get().setter, "problem")):
        place = places[f"live-{seat}"].replace("PURPOSE", purpose).replace("TURN", "1")
        assert page.find(id=place), place
    actions.stop(run, by=alice)
    drive()
    assert_same_page(run, "experiment_stopped")
