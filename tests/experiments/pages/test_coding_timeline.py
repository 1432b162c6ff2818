"""The page of a contest that is built from the rows equals the one that is built by replaying the events."""

import threading

import pytest
from django.db import connections

from experiments import actions, timeline
from experiments.contests import pages
from experiments.contests.slots import ASIDE, arranged, of_turn
from experiments.engine.driver import Driver
from experiments.fragments import render, render_envelope
from experiments.models import Execution, Run
from tests.experiments.contests import WRONG, coder, contest, judgment, problem, solution
from tests.experiments.pages.conftest import Page
from tests.experiments.pages.test_coding_run import play
from tests.fixtures import wait_until

__all__ = ["play"]

pytestmark = pytest.mark.django_db(transaction=True)

ALWAYS_THERE = {"transcript", "slot-pool", "slot-plan", "slot-aside", "slot-ending"}


def painted(run, entries):
    """What stands in each slot, rendered."""
    cast = run.experiment.labels
    shown = arranged(entries)
    return {name: [render(entry, run.pk, "coding", cast=cast) for entry in inside] for name, inside in shown.items()}


def assert_same_page(run, *kinds):
    """The whole contest, and the page, which shows its latest cycle alone."""
    run = Run.objects.get(pk=run.pk)
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.order_by("seq"))
    assert painted(run, rows) == painted(run, events)
    assert len({shown.anchor for shown in rows}) == len(rows)
    assert ASIDE not in arranged(rows)
    latest = max((cycle.turn for cycle in run.cycles.all()), default=0)
    assert painted(run, pages.entries(run)) == painted(run, of_turn(events, latest))
    for kind in kinds:
        assert kind in {shown.type for shown in rows}, kind


def test_of_contests_with_everything_that_can_go_wrong(play):
    run = play(
        {"problem": problem(test_cases=[]), "problem_repair": problem(), "judgment": "I like it."},
        {"solution": "I would sort it.", "solution_repair": solution()},
        {"solution": 401, "problem": problem(title="Another", description="Sum of all but the first value. " * 9)},
        {"solution": solution("def spread(values:")},
        {"health": 401},
        health_check=True,
        cycles=2,
    )
    kinds = ("pool_checked", "cycles_planned", "cycle_begun", "message_parsed", "message_completed", "call_failed")
    assert_same_page(run, *kinds, "solution_executed", "solution_judged", "cycle_rated", "problem_set")
    assert_every_fragment_finds_its_place(run)


def test_of_void_cycles_and_a_pool_that_is_too_small(play):
    run = play({"problem": problem(reference_solution="def spread(values):\n    return 1\n")})
    assert_same_page(run, "cycle_void", "experiment_stopped")
    assert_same_page(play({"health": 401}, health_check=True), "experiment_error")


def test_of_a_contest_at_each_of_its_steps(alice, scripted, start, browser, read):
    """Queued; then with a problem that waits for the sandbox, whose page is built from what there is."""
    models = [scripted.model(f"lab/m{n}", coder(solution=solution(WRONG), judgment=judgment(5))) for n in range(3)]
    run = start(contest(alice, models, health_check=False))
    assert_same_page(run)

    drive_until(lambda: Execution.objects.filter(run=run).count() > 5)
    assert_same_page(run, "cycle_begun", "message_completed")
    page = read(browser.get(run.get_absolute_url()))
    states = [e.get("data-state") for e in page.find(class_="phase")]
    assert states == ["active", "waiting", "waiting", "waiting", "waiting", "waiting"]
    assert "It is being read and checked." in page.by_id("latest").text
    assert_live_text_finds_its_place(page, run.cycles.get().setter)
    actions.stop(run, by=alice)
    Driver(threading.Event()).drive(0.1)
    assert_same_page(run, "experiment_stopped")


def assert_live_text_finds_its_place(page, setter):
    places = {t.get("id"): t.get("data-place") for t in page.find("template") if "data-place" in t.attributes}

    assert len(places) == 3
    for seat, purpose in (("coder-1", "solution"), ("coder-3", "solution"), (setter, "problem")):
        place = places[f"live-{seat}"].replace("PURPOSE", purpose).replace("TURN", "1")
        assert page.find(id=place), place


def drive_until(condition):
    stop = threading.Event()

    def drive():
        Driver(stop).drive(0.1)
        connections.close_all()

    driving = threading.Thread(target=drive)
    driving.start()
    try:
        wait_until(condition, "the run to come so far")
    finally:
        stop.set()
        driving.join()


def assert_every_fragment_finds_its_place(run):
    """What the page does with an event: it looks for what it replaces, then for the slot that it names."""
    cast, ids = run.experiment.labels, set(ALWAYS_THERE)
    for event in run.events.order_by("seq"):
        html = render_envelope(event.envelope, "en", "coding", cast)
        if html is None:
            continue
        [element] = Page(html).root.children
        slot = element.get("data-slot")
        places = {element.get("id"), slot if slot == "transcript" else f"slot-{slot}"}
        assert places & ids, event.type
        ids |= {part.get("id") for part in element.all()}
