"""Right programs pass all their tests, whatever their shape; wrong ones pass those that they get right, and no more."""

from dataclasses import replace

import pytest

from experiments.sandbox import Execution, run
from tests.experiments.sandbox.honest_list import CORRECT, FOLDER, WRONG, Solution
from tests.experiments.sandbox.problems import PROBLEMS
from tests.paces import PACES

BACKENDS = ("bubblewrap", "namespaces")


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("solution", CORRECT, ids=str)
def test_a_right_program_passes_all_its_tests(solution: Solution, backend: str) -> None:
    execution = run_patiently(solution, backend)

    assert execution.complaint == ""
    assert failures(execution) == []
    assert execution.passed == execution.total == len(solution.problem.cases)


@pytest.mark.parametrize("solution", WRONG, ids=str)
def test_a_wrong_program_passes_only_what_it_gets_right(solution: Solution) -> None:
    execution = run_patiently(solution, BACKENDS[0])  # what is right is no matter of the walls

    assert {result.name for result in execution.results if result.verdict == "passed"} == solution.passes, failures(
        execution
    )
    assert {result.verdict for result in execution.results} - {"passed"} <= solution.verdicts, failures(execution)


def run_patiently(solution: Solution, backend: str) -> Execution:
    """Its tests run; with more time where a busy machine was too slow for what the program gets right."""
    for pace in PACES:
        limits = replace(solution.limits, seconds=solution.limits.seconds * pace)
        execution = run(solution.code, solution.problem.tests, limits, entry=solution.problem.name, backend=backend)
        late = {result.name for result in execution.results if result.verdict == "timeout"}
        if not late & solution.passes:
            break
    return execution


def failures(execution: Execution) -> list[str]:
    return [
        f"{result.name}: {result.verdict} {result.value!r:.200} {result.error}"
        for result in execution.results
        if result.verdict != "passed"
    ]


def test_every_wrong_program_is_in_the_list_and_fails_somewhere() -> None:
    assert sorted(solution.name for solution in WRONG) == sorted(path.stem for path in (FOLDER / "wrong").glob("*.py"))
    assert [solution.name for solution in WRONG if not set(solution.problem.cases) - solution.passes] == []
    assert [solution.name for solution in WRONG if not solution.passes <= set(solution.problem.cases)] == []


def test_there_is_enough_of_everything() -> None:
    assert min(len(CORRECT), len(WRONG)) >= 32
    assert min(len(problem.cases) for problem in PROBLEMS) >= 6
    assert {solution.problem.name for solution in CORRECT} == {problem.name for problem in PROBLEMS}


def test_the_shapes_that_are_bytes_have_kept_them() -> None:
    """An editor or a checkout that mends line ends would take away what these programs are there for."""
    bytes_of = {path.stem: path.read_bytes() for path in (FOLDER / "correct").glob("*.py")}

    assert b"\r\n" in bytes_of["merge_intervals__windows_line_ends"]
    assert b"\n\t\t\t" in bytes_of["merge_intervals__tabs"]
    assert bytes_of["caesar__byte_order_mark"].startswith(b"\xef\xbb\xbf")
