"""Contests for the engine's tests: a problem that is proved with few boxes, and a sandbox that is only played."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

from experiments.engine import executions, run_execution
from experiments.gateway import retry
from experiments.gateway.retry import Wait
from experiments.models import Execution, Run
from tests.experiments import contests
from tests.experiments.contests import asked_for, coder, contest, example, play
from tests.parts import stepped_engine

Answer = Callable[[dict[str, Any]], Any]

# Nothing in the reference can be changed, so that there are no mutants to run.
ORDERED = "def ordered(values):\n    return sorted(values)\n"
LISTS = [[3, 1, 2], [2, 1], [9, 8, 7], [0, -4], [5, 5, 1], [6, 2], [4, 4, 3], [10, 0], [1, 0], [3, 2]]


def ordered(**changes: Any) -> dict[str, Any]:
    tests = [example(values, sorted(values)) for values in LISTS]
    said = {
        "title": "Queue by height",
        "description": "Given a list of whole numbers, return a list of the same numbers, the smallest first.",
        "function_name": "ordered",
        "test_cases": tests[:5],
        "hidden_test_cases": tests[5:],
        "reference_solution": ORDERED,
    }
    return contests.problem(**{**said, **changes})


def quick(**answers: Any) -> Answer:
    """A coder whose problem and solution are those that are run quickly."""
    return coder(**{"problem": ordered(), "solution": contests.solution(ORDERED), **answers})


def models(scripted: Any, *answers: Answer) -> list[str]:
    """A model for each of the answers; of `None`, one that does everything well."""
    return [scripted.model(f"maker/model-{number}", answer or quick()) for number, answer in enumerate(answers, 1)]


def begun(alice: Any, start: Any, slugs: list[str], *, seed: int = 7, **config: Any) -> Run:
    """A contest that waits for its driver. Its setters take turns, and nobody is asked whether they are there."""
    run: Run = start(contest(alice, slugs, **{"setters": "in_turn", "health_check": False, **config}), seed)
    return run


def played(alice: Any, start: Any, slugs: list[str], **config: Any) -> Run:
    return play(begun(alice, start, slugs, **config))


def asked(scripted: Any, kind: str = "", slug: str = "") -> list[dict[str, Any]]:
    """The requests for this kind of answer, of one model or of all."""
    bodies = [body for _headers, body in scripted.received if not slug or body["model"] == slug]
    return [body for body in bodies if not kind or asked_for(body) == kind]


def verdicts(run: Run, key: str) -> list[str]:
    execution = run.executions.get(step__key=key)
    return [result["verdict"] for result in execution.results]


@contextmanager
def sandbox_as_played(found: Callable[[Execution], Mapping[str, Any] | str] | None = None) -> Iterator[None]:
    """A worker that claims and settles as the real one does, and has no boxes: what its programs do is said by `found`;
    a text is why they cannot be run. Without, references and solutions pass everything, and what has to fail fails.
    """

    def step() -> None:
        for execution in executions.take(8):
            said = (found or as_expected)(execution)
            if isinstance(said, str):
                executions.fail(execution, executions.UNAVAILABLE, said)
            else:
                executions.settle(execution, dict(said))

    with stepped_engine.beside(step):
        yield


def as_expected(execution: Execution) -> dict[str, Any]:
    fails = execution.until_failure
    quiet = {"error": "", "stdout": "", "stderr": "", "seconds": 0.01, "peak_memory": None, "has_value": True}
    verdict = "failed" if fails else "passed"
    results = [
        {"name": test["name"], "verdict": verdict, "value": None if fails else test["expected"], **quiet}
        for test in execution.tests
    ]
    box = {"backend": "namespaces", "layers": [], "is_unsafe": False, "seconds": 0.1}
    return {"results": results, "complaint": "", **box}


def assert_told_once(run: Run) -> None:
    """Every step has one end, every execution one event, and events are numbered without a gap."""
    events = list(run.events.order_by("seq"))
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    told = [event.data["key"] for event in events if event.type == "solution_executed"]
    over = run.executions.filter(state__in=[Execution.State.DONE, Execution.State.FAILED])
    assert sorted(told) == sorted(over.values_list("step__key", flat=True))


@pytest.fixture
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pauses before further attempts are cut short; whether there is one is decided as ever."""
    monkeypatch.setattr(retry, "COOLDOWN_SECONDS", 0.01)
    wait_after = run_execution.wait_after
    monkeypatch.setattr(run_execution, "wait_after", lambda call, report: wait_after(call, report) and Wait(0.01))
