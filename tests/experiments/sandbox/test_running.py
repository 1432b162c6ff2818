"""run(): one box for each test, and nothing of it left afterwards."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from experiments.sandbox import Limits, Test, run
from tests.experiments.sandbox.conftest import SAFE, execution, first_of, outcome
from tests.experiments.sandbox.machines import adopting_orphans, descendants, has_ended
from tests.fixtures import wait_until

pytestmark = pytest.mark.system


BUSY = "def solve(*arguments):\n    while True: pass"
GONE = "import os\ndef solve():\n    os._exit(0)"
SLEEPING = "import time\ndef solve(*arguments):\n    time.sleep(600)"


@pytest.mark.parametrize("backend", first_of([*SAFE, "unsafe"]))
def test_right_is_passed_wrong_is_failed_and_each_says_what_it_answered(backend):
    tests = [Test("right", [1, 2], 3), Test("wrong", [1, 2], 4), Test("other", ["a", "b"], "ab")]

    found = run("def solve(a, b):\n    print('adding')\n    return a + b", tests, backend=backend)

    assert [result.verdict for result in found.results] == ["passed", "failed", "passed"]
    assert [result.value for result in found.results] == [3, 3, "ab"]
    assert [result.name for result in found.results] == ["right", "wrong", "other"]
    assert {result.stdout for result in found.results} == {"adding\n"}
    assert all(result.seconds > 0 for result in found.results)
    assert (found.passed, found.total, found.backend, found.is_unsafe) == (2, 3, backend, backend == "unsafe")


def test_an_error_is_its_last_line_and_whatever_does_not_answer_is_one():
    result = outcome("def solve():\n    return 1 / 0")

    assert (result.verdict, result.error, result.has_value) == ("error", "ZeroDivisionError: division by zero", False)
    assert 'File "solution.py", line 2, in solve' in result.stderr
    assert "harness" not in result.stderr

    for body, error in (
        ("import os; os._exit(0)", "it ended before it answered (exit code 0)"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("import os; os.abort()", "it was ended by signal 6 (SIGABRT)"),
        ("import ctypes; ctypes.string_at(0)", "it was ended by signal 11 (SIGSEGV)"),
        ("return solve()", "RecursionError: maximum recursion depth exceeded"),
        ("import os; os.write(3, b'{}\\n'); os._exit(0)", "it wrote something else where its answer should be"),
        ("class E(Exception):\n        def __str__(self): raise self\n    raise E", "E: an error that cannot be shown"),
    ):
        result = outcome(f"def solve():\n    {body}")
        assert (result.verdict, result.error) == ("error", error)


def test_what_is_left_when_the_time_for_all_tests_is_over_is_not_run():
    found = run(BUSY, [Test(str(n), [], None) for n in range(3)], Limits(seconds=60, total_seconds=1))

    assert [result.verdict for result in found.results] == ["timeout", "not_run", "not_run"]
    assert found.results[1].error == "the time for all tests was over"


def test_a_cancelled_run_ends_at_once_and_keeps_what_it_has():
    cancelled = threading.Event()
    code = "import time\ndef solve(n):\n    time.sleep(600 * n)\n    return n"
    threading.Timer(2.0, cancelled.set).start()

    found = run(code, [Test(str(n), [n], n) for n in (0, 1, 2)], Limits(seconds=300), is_cancelled=cancelled.is_set)

    assert [result.verdict for result in found.results][1:] == ["not_run", "not_run"]
    assert found.results[0].verdict in ("passed", "not_run")  # a busy machine may be cancelled sooner
    assert found.results[1].error == "the run was stopped"


@pytest.mark.parametrize("backend", first_of([*SAFE, "unsafe"]))
def test_no_process_and_no_file_descriptor_is_left(backend):
    outcome("def solve(): return 42", backend=backend)
    processes, descriptors = descendants(), len(os.listdir("/proc/self/fd"))

    with adopting_orphans():
        for code in (BUSY, SLEEPING, GONE, "def solve(): return 42", "def solve(:"):
            execution(code, backend=backend, seconds=0.7)

        assert [process for process in descendants() - processes if not has_ended(process)] == []
        assert len(os.listdir("/proc/self/fd")) == descriptors


@pytest.mark.parametrize("backend", first_of([*SAFE, "unsafe"]))
def test_no_process_is_left_when_whoever_runs_it_is_killed(backend, tmp_path):
    environment = {**os.environ, "TMPDIR": str(tmp_path)}  # a killed process tidies nothing up
    told = f"from experiments.sandbox import *; run({SLEEPING!r}, [Test('only', [], 1)], Limits(seconds=500), "
    runner = subprocess.Popen([sys.executable, "-c", f"{told}backend={backend!r})"], env=environment)
    try:
        boxed = wait_until(lambda: deepest(runner.pid), "the sleeping program")
    finally:
        runner.send_signal(signal.SIGKILL)
        runner.wait()

    wait_until(lambda: all(has_ended(process) for process in boxed), "the end of the box")


def deepest(process):
    """The processes of a box that has been sleeping for a moment, none before."""
    first = descendants(process)
    time.sleep(0.5)
    return first if len(first) > 1 and first == descendants(process) else None


def test_many_boxes_at_once_do_not_disturb_each_other():
    def squared(number):
        return run("def solve(n): return n * n", [Test("only", [number], number * number)]).passed

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(squared, range(8))) == [1] * 8


def test_arguments_of_megabytes_arrive():
    result = run("def solve(a): return len(a)", [Test("only", ["x" * 8_000_000], 8_000_000)]).results[0]

    assert result.verdict == "passed", result
