"""Right programs pass all their tests, whatever their shape; wrong ones pass those that they get right, and no more."""

from dataclasses import replace

import pytest

from experiments.sandbox import Execution, run
from tests.experiments.sandbox.honest_list import CORRECT, FOLDER, WRONG, Solution
from tests.paces import PACES

pytestmark = pytest.mark.system
BEST = "bubblewrap"
each_problem = pytest.mark.parametrize("problem", sorted({solution.problem.name for solution in CORRECT}))


@each_problem
@pytest.mark.parametrize("backend", [BEST, pytest.param("namespaces", marks=pytest.mark.exhaustive)])
def test_a_right_program_passes_all_its_tests(problem: str, backend: str, subtests: pytest.Subtests) -> None:
    for solution in of(problem, CORRECT):
        with subtests.test(solution.name):
            execution = run_patiently(solution, backend)
            assert execution.complaint == ""
            assert failures(execution) == []
            assert execution.passed == execution.total == len(solution.problem.cases)


@each_problem
def test_a_wrong_program_passes_only_what_it_gets_right(problem: str, subtests: pytest.Subtests) -> None:
    for solution in of(problem, WRONG):
        with subtests.test(solution.name):
            found = run_patiently(solution, BEST).results
            assert {result.name for result in found if result.verdict == "passed"} == solution.passes, found
            assert {result.verdict for result in found} - {"passed"} <= solution.verdicts, found


def of(problem: str, solutions: tuple[Solution, ...]) -> list[Solution]:
    return [solution for solution in solutions if solution.problem.name == problem]


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


def test_the_shapes_that_are_bytes_have_kept_them() -> None:
    """An editor or a checkout that mends line ends would take away what these programs are there for."""
    bytes_of = {path.stem: path.read_bytes() for path in (FOLDER / "correct").glob("*.py")}

    assert b"\r\n" in bytes_of["merge_intervals__windows_line_ends"]
    assert b"\n\t\t\t" in bytes_of["merge_intervals__tabs"]
    assert bytes_of["caesar__byte_order_mark"].startswith(b"\xef\xbb\xbf")
