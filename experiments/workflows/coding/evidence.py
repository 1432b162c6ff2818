"""What the sandbox found, as a share and in words for those who judge."""

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.workflows.base.steps import Outcome
from experiments.workflows.coding.contest import shortened
from experiments.workflows.coding.problems import Problem, Test, as_json

MOST_FAILURES = 6  # that are told one by one
LONGEST_VALUE = 200  # characters


def share_passed(ran: Outcome) -> float | None:
    """0 to 1; None when the sandbox could not run the solution, which says nothing about it."""
    if not ran.ok:
        return None
    results: Sequence[Mapping[str, Any]] = ran.found["results"]
    return _count(results) / len(results)


def in_words(ran: Outcome, problem: Problem) -> str:
    """What the program said or gave stands there as JSON, on one line: it cannot pass for what the sandbox says."""
    if not ran.ok:
        return f"The sandbox could not run it: {ran.error}. Trace the code by hand."
    if complaint := ran.found["complaint"]:
        return f"It could not be run at all: {as_json(shortened(complaint, LONGEST_VALUE))}"
    results: Sequence[Mapping[str, Any]] = ran.found["results"]
    failures = [
        (test, result) for test, result in zip(problem.tests, results, strict=True) if result["verdict"] != "passed"
    ]
    lines = [f"It passed {_count(results)} of {len(results)} tests."]
    lines += [_line(test, result) for test, result in failures[:MOST_FAILURES]]
    if len(failures) > MOST_FAILURES:
        lines.append(f"And {len(failures) - MOST_FAILURES} more.")
    return "\n".join(lines)


def value_of(result: Mapping[str, Any], longest: int = LONGEST_VALUE) -> str:
    """What a program gave, as JSON; of a value that was too long to be kept, its beginning."""
    if "value_sha256" in result:
        return f"{shortened(str(result['value']), longest)} (cut)"
    return shortened(as_json(result.get("value")), longest)


def _count(results: Sequence[Mapping[str, Any]]) -> int:
    return sum(result["verdict"] == "passed" for result in results)


def _line(test: Test, result: Mapping[str, Any]) -> str:
    given = shortened(as_json(test.arguments), LONGEST_VALUE)
    what = {
        "failed": f"it gave {value_of(result)}, and {shortened(as_json(test.expected), LONGEST_VALUE)} is right",
        "timeout": "it took too long",
        "memory": "it took too much memory",
        "output_limit": "it printed too much",
        "not_run": "there was no time left to run it",
        "error": f"it ended with the error {as_json(shortened(result['error'], LONGEST_VALUE))}",
    }
    return f"Test {test.name}, with {given}: {what[result['verdict']]}."
