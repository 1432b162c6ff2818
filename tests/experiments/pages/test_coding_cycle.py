"""The page of a cycle: its problem, everybody's solution with its tests and judges, and how it came to its end."""

import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from experiments.models import Cycle, Execution, Judgment
from tests.experiments.contests import WRONG, coder, contest, judgment, problem, solution
from tests.experiments.pages.contested import play

__all__ = ["play"]

NOISY = "def spread(values):\n    print('looking')\n    return max(values) - min(values)\n"


@pytest.fixture
def cycle_of(browser, read):
    return lambda run, turn=1: read(browser.get(reverse("coding-cycle", args=[run.pk, turn])))


@pytest.mark.django_db(transaction=True)
@pytest.mark.system
def test_everything_about_a_cycle_stands_on_its_page(play, cycle_of, browser, read, charlies):
    run = play(
        {"problem": problem(test_cases=[]), "problem_repair": problem(), "judgment": judgment(8)},
        {"solution": solution(WRONG), "judgment": judgment(4, overall_score=9)},
        {"solution": solution(NOISY, "Both **ends**."), "judgment": "I like it."},
    )
    Execution.objects.filter(run=run, seat="coder-2").update(is_unsafe=True)
    page = cycle_of(run)
    first, second, third = (page.by_id(f"solver-coder-{number}") for number in (1, 2, 3))

    assert "Cycle 1: Spread of readings" in page.find("h1")[0].text
    assert "Comparison" not in page.text
    assert "exactly equal" in page.text
    assert "5 shown tests" in page.text
    assert "5 hidden tests" in page.text
    assert "It handles the empty list." in page.text
    assert "First version" in page.text
    assert "reference, again: 10/10" in page.text
    assert "1 of 3" in page.find(class_="cycle-figures")[0].text
    assert "2 missing" in page.find(class_="cycle-figures")[0].text
    assert "run without isolation" in second.text
    assert "wrong result" in second.text
    assert "run without isolation" not in first.text
    assert "What it printed" in third.text
    assert "looking" in third.text
    assert "ValueError" in third.text
    assert [e.text for e in third.findall(".//strong")] == ["ends"]
    assert "named another overall than the mean" in first.text
    assert "no vote: Its judgment could not be read" in first.text
    assert "Right. Short. Clear." in first.text
    [radar] = [e for e in first.findall(".//svg") if e.get("class") == "radar"]
    assert "Correctness 4.00, Efficiency 4.00" in radar.get("aria-label")
    assert "Ratings after this cycle" in page.text
    for link in page.find("a"):
        if (link.get("href") or "").startswith("/calls/"):
            assert browser.get(link.get("href")).status_code == 200
    assert charlies.get(reverse("coding-cycle", args=[run.pk, 1])).status_code == 404
    assert browser.get(reverse("coding-cycle", args=[run.pk, 2])).status_code == 404


@pytest.mark.django_db
def test_solvers_stand_by_their_mean(alice, scripted, start, cycle_of):
    run = rows_of(alice, scripted, start, 4, {"coder-3": 9.5, "coder-1": 4.0, "coder-4": 7.0}, {"coder-2": "No votes."})
    page = cycle_of(run)

    order = [e.get("id") for e in page.find(class_="part solver")]
    assert order == ["solver-coder-3", "solver-coder-4", "solver-coder-1", "solver-coder-2"]
    assert "No votes." in page.by_id("solver-coder-2").text


@pytest.mark.django_db
def test_a_cycle_under_way_and_one_that_was_cut_short_say_so(alice, scripted, start, cycle_of):
    run = start(contest(alice, [scripted.model(f"lab/m{n}", coder()) for n in range(3)]))
    run.cycles.create(turn=1, setter="coder-1", contestants=[[f"coder-{n}", f"lab/m{n - 1}"] for n in (1, 2, 3)])

    page = cycle_of(run)
    assert "This cycle is under way" in page.text
    assert "The setter has given no problem." in page.text
    run.state = "stopped"
    run.save()
    assert "The run ended before this cycle was rated" in cycle_of(run).text


@pytest.mark.django_db
def test_a_void_cycle_and_one_that_an_administrator_left_out_say_why(alice, scripted, start, cycle_of):
    run = rows_of(alice, scripted, start, 3, {"coder-1": 5.0}, {})
    Cycle.objects.filter(run=run).update(voided=timezone.now(), voided_by=alice, void_reason="The tests were wrong.")
    run.cycles.create(turn=2, setter="coder-2", state="void", reason="It repeats “Spread”.\nIt is too weak.")

    assert "Left out of ratings by alice" in cycle_of(run).text
    assert "The tests were wrong." in cycle_of(run).text
    page = cycle_of(run, 2)
    assert "This cycle is void: m1 set no problem" in page.text
    assert "It is too weak." in page.text
    assert [e.get("href") for e in page.find("a") if e.get("rel") == "prev"] == [
        reverse("coding-cycle", args=[run.pk, 1])
    ]


@pytest.mark.django_db
def test_the_number_of_queries_does_not_depend_on_the_votes(alice, scripted, start, browser):
    few = rows_of(alice, scripted, start, 3, {"coder-1": 5.0}, {})
    many = rows_of(alice, scripted, start, 12, {"coder-1": 5.0}, {})
    for address in (lambda run: reverse("coding-cycle", args=[run.pk, 1]), lambda run: run.get_absolute_url()):
        counts = []
        for run in (few, many):
            browser.get(address(run))
            with CaptureQueriesContext(connection) as queries:
                assert browser.get(address(run)).status_code == 200
            counts.append(len(queries))
        assert counts[0] == counts[1]
    html = browser.get(many.get_absolute_url()).content.decode()
    assert len(re.findall(r'class="vote score-', html)) == 12 * 11


@pytest.mark.django_db
def test_the_ratings_of_a_contest_stand_on_a_page_of_their_own(alice, scripted, start, browser, charlies, read):
    run = rows_of(alice, scripted, start, 4, dict.fromkeys(("coder-1", "coder-2", "coder-3", "coder-4"), 7.0), {})
    address = reverse("coding-ratings", args=[run.pk])
    part = browser.get(f"{address}?part=1")

    assert read(browser.get(run.get_absolute_url())).by_id("ratings-figures").get("data-address") == f"{address}?part=1"
    assert "<html" not in part.content.decode()
    assert len(read(part).find("g", class_="line line-nth-0")) == 1
    assert "Of the 1 rated cycle of this contest alone." in read(part).text
    assert read(browser.get(address)).find("h1")[0].text == "Ratings"
    assert charlies.get(address).status_code == 404
    Cycle.objects.filter(run=run).update(voided=timezone.now())
    assert "No cycle counts yet" in read(browser.get(address)).text


def rows_of(owner, scripted, start, size, means, unrated):
    """A rated cycle with a vote of everybody on everybody, as its rows say it."""
    slugs = [scripted.model(f"lab/m{number}", coder()) for number in range(size)]
    run = start(contest(owner, slugs))
    seats = [f"coder-{number}" for number in range(1, size + 1)]
    begun = {"turn": 1, "setter": "coder-1", "coders": seats}
    votes = {solver: {judge: 7.0 for judge in seats if judge != solver} for solver in seats}
    found = {**begun, "quorum": 1, "votes": votes, "means": means, "overall": 7.0, "passed": {}, "unrated": unrated}
    step(run, "cycle/1", "turn_started", {"turn": 1})
    step(run, "cycle/1/begun", "cycle_begun", begun)
    contestants = [list(pair) for pair in zip(seats, slugs, strict=True)]
    run.cycles.create(
        turn=1, setter="coder-1", state="rated", contestants=contestants, found=found, ended=timezone.now()
    )
    run.messages.create(
        step=step(run, "cycle/1/problem", "problem", {}, kind="ask"),
        seq=1,
        turn=1,
        seat="coder-1",
        parsed={**PARSED},
    )
    step(run, "cycle/1/problem/parsed", "message_parsed", {})
    for solver, given in votes.items():
        for judge in given:
            vote(run, solver, judge)
    return run


def step(run, key, purpose, data, kind="record"):
    return run.steps.create(key=key, kind=kind, purpose=purpose, turn=1, data=data, state="done")


def vote(run, solver, judge):
    scores = dict.fromkeys(("correctness", "efficiency", "readability", "robustness", "explanation", "overall"), 7.0)
    said = {"subject": solver, "judge_seat": judge, "scores": scores, "unscored_reason": "", "rationale": "Fine."}
    key = f"cycle/1/judge/{judge}/of/{solver}"
    made = step(run, f"{key}/vote", "solution_judged", {"key": key, "turn": 1, "judgment": said})
    Judgment.objects.create(run=run, step=made, turn=1, judge=judge, **said)


PARSED = {
    "kind": "problem",
    "title": "Spread",
    "description": "The spread.",
    "entry": "spread",
    "comparison": "exact",
    "shown": [],
    "hidden": [],
    "criteria": [],
    "reference": "",
    "checks": [],
    "wrong": [],
}
