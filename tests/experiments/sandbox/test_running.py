"""run(): what is called, in one box for each test, nothing of it left afterwards, and what a program may use up."""

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from experiments.sandbox import Limits, Test, run
from tests.experiments.sandbox.conftest import NAMESPACED, SAFE, execution, first_of, outcome
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


MIB = 1 << 20


@pytest.mark.parametrize("backend", first_of(SAFE))
def test_whoever_wants_more_memory_than_there_is_dies_of_memory(backend):
    result = outcome("def solve(n): return bytearray(n)", 8 << 30, backend=backend)

    assert (result.verdict, result.error) == ("memory", "MemoryError")


def test_the_memory_that_is_allowed_can_be_used_its_peak_is_told_and_taken_little_by_little_it_ends_the_same():
    code = "def solve(n):\n    len(bytearray(n))\n    return 42"
    small, large = (outcome(code, size, memory=256 * MIB) for size in (1, 200 * MIB))
    growing = outcome("def solve():\n    kept = []\n    while True: kept.append(bytearray(100_000))", memory=64 * MIB)

    assert [one.verdict for one in (small, large, growing)] == ["passed", "passed", "memory"]
    assert MIB < (small.peak_memory or 0) < 40 * MIB
    assert 200 * MIB < (large.peak_memory or 0) < 256 * MIB
    assert 50 * MIB < (growing.peak_memory or 0) < 128 * MIB


def test_whoever_prints_too_much_is_stopped_and_the_beginning_is_kept():
    for descriptor, channel in ((1, "stdout"), (2, "stderr")):
        result = outcome(f"import os\ndef solve():\n    while True: os.write({descriptor}, b'tick ' * 2000)")

        assert result.verdict == "output_limit"
        kept = getattr(result, channel)
        assert kept.startswith("tick tick")
        assert "[...]" in kept
        assert len(kept.encode()) <= 4096

    result = outcome("def solve():\n    print('x' * 999_000)\n    return 42")
    assert (result.verdict, len(result.stdout.encode()) <= 4096) == ("passed", True), "up to the limit"


def test_whoever_hands_over_or_opens_too_much_is_told_so():
    for body, limits, error in (
        ("return 'x' * 2_000_000", {}, "the value is too long"),
        ("while True: __import__('os').write(3, b'x' * 10_000)", {}, "the value is longer than 1048576 bytes"),
        ("open('/tmp/x', 'wb').write(bytes(3 << 20))", {"file_size": 2 * MIB}, "File too large"),
        ("kept = [open('/dev/null') for _ in range(1_000)]", {}, "Too many open files"),
    ):
        result = outcome(f"def solve():\n    {body}", **limits)
        assert (result.verdict, error in result.error) == ("error", True), result


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_the_disk_is_small_fresh_for_each_test_and_holds_so_many_files_even_empty_ones(backend):
    body = """
import os
def solve():
    found, written = os.listdir("/tmp"), 0
    try:
        for number in range(1_000):
            with open(f"/tmp/{number}", "wb") as file:
                written += file.write(bytes(1 << 20))
    except OSError as error:
        return [found, error.strerror, written >> 20]
"""
    result = outcome(body, backend=backend, disk=8 * MIB)
    assert result.value == [[], "No space left on device", 8]

    code = """
def solve():
    for number in range(100_000):
        try:
            open(f"/tmp/{number}", "w").close()
        except OSError as error:
            return [number < 500, error.strerror]
"""
    assert outcome(code, backend=backend, entries=500).value == [True, "No space left on device"]


def test_threads_are_allowed_but_not_many():
    code = """
import threading
def solve(n):
    ready = threading.Barrier(n + 1)
    for _ in range(n):
        threading.Thread(target=ready.wait, daemon=True).start()
    ready.wait()
    return 42
"""
    assert outcome(code, 8).verdict == "passed"
    assert outcome(code, 400).error == "RuntimeError: can't start new thread"


def only(code, arguments=(1, 2), expected=3, **options):
    execution = run(code, [Test("only", list(arguments), expected)], **options)
    assert execution.complaint == ""
    return execution.results[0]


def test_it_is_found_whatever_it_is_and_may_have_another_name():
    for shape, code in {
        "an imported function": "from operator import add as solve",
        "a callable object": "class Adder:\n    def __call__(self, a, b):\n        return a + b\nsolve = Adder()",
        "a coroutine": "import asyncio\nasync def solve(a, b):\n    await asyncio.sleep(0)\n    return a + b",
        "an asynchronous generator": "import asyncio\nasync def solve(a, b):\n    await asyncio.sleep(0)\n"
        "    yield a + b",
        "a generator": "def solve(a, b):\n    yield from [a + b]",
        "a function that prints on both channels": "import sys\nprint('loading …')\nprint('debug', file=sys.stderr)\n"
        "def solve(a, b):\n    print('{\"value\": false}', flush=True)\n    return a + b",
        "a function with state of its own": "calls = 0\ndef solve(a, b):\n    global calls\n    calls += 1\n"
        "    assert calls == 1, 'each test begins anew'\n    return a + b",
        "a deep recursion": "import sys\nsys.setrecursionlimit(20_000)\n"
        "def deep(n):\n    return n and 1 + deep(n - 1)\ndef solve(a, b):\n    return deep(5_000) - 5_000 + a + b",
        "Solution's method": "class Other:\n    def solve(self):\n        return 0\n"
        "class Solution:\n    def solve(self, a, b):\n        return a + b",
        "a derived class's method": "class Base:\n    def solve(self, a, b):\n        return 0\nclass Adder(Base):\n"
        "    def solve(self, a, b):\n        return a + b",
        "a function made by a call": "def make():\n    global solve\n    def solve(a, b): return a + b\nmake()",
        "a function beside a main guard": "def solve(a, b):\n    return a + b\n"
        "if __name__ == '__main__':\n    print(input())",
        "a function that the program also tries out": "import json, sys\ndef solve(a, b):\n    return a + b\n"
        "print(solve(*json.load(sys.stdin)))",
        "a script": "import json, sys\na, b = json.load(sys.stdin)\nprint(a + b)",
        "a script under a main guard": "def main():\n    a, b = eval(input())\n    print(a + b)\n"
        "if __name__ == '__main__':\n    main()",
        "a script that prints at its exit": "import atexit, json, sys\na, b = json.load(sys.stdin)\n"
        "atexit.register(print, a + b)",
        "a script whose thread prints": "import json, sys, threading\na, b = json.load(sys.stdin)\n"
        "threading.Thread(target=lambda: print(a + b)).start()",
        "a byte order mark": "\ufeffdef solve(a, b):\n    return a + b",
        "lines as Windows ends them": "def solve(a, b):\r\n    return a + b\r\n",
    }.items():
        result = only(code, expected=[3] if "generator" in shape else 3)
        assert result.verdict == "passed", (shape, result)
    assert only("def add(a, b):\n    return a + b", entry="add").verdict == "passed"


def test_what_cannot_be_called_or_fails_is_an_error():
    for code, error in (
        ("solve = 3", "solve is not a function"),
        ("class A:\n    def solve(self): ...\nclass B:\n    def solve(self): ...", "2 classes have a method solve"),
        ("def solve(a, b):\n    return input()", "EOFError: EOF when reading a line"),
        ("def solve():\n    return 3", "TypeError"),
        ("def another(a, b):\n    return a + b", ""),
        ("print(3)\nraise SystemExit('no')", "SystemExit: no"),
    ):
        result = only(code)
        assert (result.verdict, result.error.startswith(error)) == ("error", True), result


def test_a_script_that_prints_more_than_its_answer_has_no_value():
    result = only("print('debug')\nprint(3)")

    assert (result.verdict, result.has_value) == ("error", False)
    assert result.error.startswith("what it printed is not one JSON document")
    assert result.stdout == "debug\n3\n"


def test_each_test_finds_a_fresh_process_and_its_own_arguments():
    code = "seen = []\ndef solve(items):\n    seen.append(1)\n    items.append(len(seen))\n    return items"
    shared = [7]

    execution = run(code, [Test("first", [shared], [7, 1]), Test("second", [shared], [7, 1])])

    assert [result.verdict for result in execution.results] == ["passed", "passed"]
    assert shared == [7]


def test_a_program_that_does_not_compile_is_run_with_no_test():
    for code, complaint in (
        *((empty, "there is no program") for empty in ("", "\n \n")),
        ("def solve(:\n    pass", "SyntaxError: invalid syntax (line 1)"),
        ("x = 1\n\tif x:", "IndentationError: unexpected indent (line 2)"),
        ("return 1", "SyntaxError: 'return' outside function (line 1)"),
        ("x = '\ud800'", "the program is not valid Unicode: surrogates not allowed"),
        ("x = 1\0", "null bytes"),
        ("(" * 5_000 + ")" * 5_000, "too many nested parentheses"),
    ):
        execution = run(code, [Test("first", [], 1), Test("second", [], 2)])

        assert complaint in execution.complaint
        assert [result.verdict for result in execution.results] == ["not_run", "not_run"], complaint


def test_an_unknown_language_and_arguments_that_are_not_json_are_refused():
    with pytest.raises(ValueError, match="no language 'cobol'; there are python"):
        run("", [], language="cobol")
    with pytest.raises(ValueError, match="arguments that are not JSON"):
        run("def solve(a): ...", [Test("only", [{1, 2}], None)])  # type: ignore[list-item]
