"""Contests that are played for the tests of their pages, and what holds for every one of these pages."""

import contextlib
import copy
import io

from experiments.models import Run
from experiments.runs import actions, timeline
from experiments.workflows.coding.pages import run_page
from experiments.workflows.coding.pages.run_page import slot_of
from tests.experiments.contesting import sandbox_as_played
from tests.experiments.contests import coder, contest
from tests.experiments.deliberating import fresh
from tests.experiments.pages import painted
from tests.experiments.pages.driving import drive
from tests.making import maker

OF_NO_CYCLE = ("pool", "plan", "ending")


@maker
def play(scripted, alice, /, *answers, setters="in_turn", cycles=1, health_check=False, **config):
    """A contest played to its end by models that say what a test has written down; the first sets the problem."""
    said = [*answers, *[{}] * (3 - len(answers))]
    models = [scripted.model(f"lab/coder-{number}", coder(**one)) for number, one in enumerate(said, 1)]
    asked = {"cycles": cycles, "setters": setters, "health_check": health_check, **config}
    [run] = actions.start(contest(alice, models, **asked), by=alice, seed=1)
    with sandbox_as_played(executed):
        drive()
    return fresh(run)


def executed(execution):
    """What a box would find, in this process: programs of these tests harm nobody and come to their end."""
    space, results = {}, []
    exec(compile(execution.code, "given", "exec"), space)
    for test in execution.tests:
        if execution.until_failure and any(one["verdict"] != "passed" for one in results):
            break
        results.append({"name": test["name"], **_called(space[execution.entry], test)})
    box = {"backend": "namespaces", "layers": [], "is_unsafe": False, "seconds": 0.1}
    left = [test["name"] for test in execution.tests[len(results) :]]
    results += [{"name": name, "verdict": "not_run", "value": None, "error": "", **_quiet()} for name in left]
    return {"results": results, "complaint": "", **box}


def _called(function, test):
    said, value, error = io.StringIO(), None, ""
    with contextlib.redirect_stdout(said):
        try:
            value = function(*copy.deepcopy(test["arguments"]))
        except Exception as problem:
            error = f"{type(problem).__name__}: {problem}"
    verdict = "error" if error else "passed" if value == test["expected"] else "failed"
    return {"verdict": verdict, "value": value, "error": error, **_quiet(said.getvalue(), has_value=not error)}


def _quiet(stdout="", *, has_value=False):
    return {"stdout": stdout, "stderr": "", "seconds": 0.01, "peak_memory": None, "has_value": has_value}


def squeezed(element):
    return "".join(element.text.split())


def assert_same_page(run, *kinds):
    """The whole contest, and the page, which shows its latest cycle and what belongs to none."""
    painted.assert_same_page(run, *kinds)
    run = Run.objects.get(pk=run.pk)
    latest = max((cycle.turn for cycle in run.cycles.all()), default=0)
    events = timeline.replayed(run.events.order_by("seq"))
    shown = [one for one in events if slot_of(one.type, one.data) in OF_NO_CYCLE or one.data.get("turn") == latest]
    assert painted.painted(run, run_page.entries(run)) == painted.painted(run, shown)


def assert_every_fragment_finds_its_place(run):
    painted.assert_every_fragment_finds_its_place(run, "slot-pool", "slot-plan", "slot-aside", "slot-ending")
