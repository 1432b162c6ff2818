"""The page of a contest that is built from the rows equals the one that is built by replaying the events."""

import threading

import pytest

from experiments import actions
from experiments.engine.driver import Driver
from experiments.models import Execution
from tests.experiments.contests import WRONG, coder, contest, judgment, problem, solution
from tests.experiments.pages.contested import assert_every_fragment_finds_its_place, assert_same_page, play
from tests.fixtures import wait_until
from tests.parts import stepped_engine

__all__ = ["play"]

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
@pytest.mark.system
def test_of_two_cycles_of_which_the_page_shows_the_latest(play):
    """The setter of the first one fails for good as a solver of the second."""
    run = play(
        {"solution": solution("def spread(values:")},
        {"problem": problem(title="Another", description="Sum of all but the first value. " * 9)},
        {"solution": 401},
        cycles=2,
        setters="random",
    )
    assert_same_page(run, "cycles_planned", "cycle_begun", "message_parsed", "solution_executed", "problem_set")
    assert_every_fragment_finds_its_place(run)


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
    places = {t.get("id"): t.get("data-place") for t in page.find("template") if "data-place" in t.attrib}

    assert len(places) == 3
    for seat, purpose in (("coder-1", "solution"), ("coder-3", "solution"), (setter, "problem")):
        place = places[f"live-{seat}"].replace("PURPOSE", purpose).replace("TURN", "1")
        assert page.find(id=place), place


def drive_until(condition):
    with stepped_engine.driving(threading.Event()):
        wait_until(condition, "the run to come so far")
