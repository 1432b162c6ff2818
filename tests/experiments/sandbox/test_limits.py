"""What a program may use up, and what becomes of one that wants more."""

import pytest

from tests.cases import each_case
from tests.experiments.sandbox.boxes import NAMESPACED, SAFE, first_of, outcome

pytestmark = pytest.mark.system

MIB = 1 << 20


@pytest.mark.parametrize("backend", first_of(SAFE))
def test_whoever_wants_more_memory_than_there_is_dies_of_memory(backend):
    result = outcome("def solve(n): return bytearray(n)", 8 << 30, backend=backend)

    assert (result.verdict, result.error) == ("memory", "MemoryError")


def test_memory_taken_little_by_little_ends_the_same():
    result = outcome("def solve():\n    kept = []\n    while True: kept.append(bytearray(100_000))", memory=64 * MIB)

    assert result.verdict == "memory"
    assert 50 * MIB < (result.peak_memory or 0) < 128 * MIB


def test_the_memory_that_is_allowed_can_be_used_and_its_peak_is_told():
    result = outcome("def solve(n):\n    len(bytearray(n))\n    return 42", 200 * MIB, memory=256 * MIB)

    assert result.verdict == "passed", result
    assert 200 * MIB < (result.peak_memory or 0) < 256 * MIB


def test_a_small_program_has_a_small_peak():
    peak = outcome("def solve(): return 42").peak_memory

    assert peak is not None
    assert MIB < peak < 40 * MIB


@each_case("body", ["while True: pass", "import time; time.sleep(60)", "import signal; signal.pause()"])
def test_whoever_takes_too_long_is_stopped(body):
    result = outcome(f"def solve():\n    {body}", seconds=0.7)

    assert result.verdict == "timeout"
    assert result.seconds > 0.6


@pytest.mark.parametrize("descriptor", [1, 2])
def test_whoever_prints_too_much_is_stopped_and_the_beginning_is_kept(descriptor):
    result = outcome(f"import os\ndef solve():\n    while True: os.write({descriptor}, b'tick ' * 2000)")

    assert result.verdict == "output_limit"
    kept = result.stdout if descriptor == 1 else result.stderr
    assert kept.startswith("tick tick")
    assert "[...]" in kept
    assert len(kept.encode()) <= 4096


def test_output_up_to_the_limit_is_let_through():
    result = outcome("def solve():\n    print('x' * 999_000)\n    return 42")

    assert result.verdict == "passed"
    assert len(result.stdout.encode()) <= 4096


def test_a_value_that_is_too_long_is_an_error():
    assert outcome("def solve(): return 'x' * 2_000_000").error == "the value is too long"


def test_an_answer_that_never_ends_is_stopped():
    result = outcome("import os\ndef solve():\n    while True: os.write(3, b'x' * 10_000)")

    assert (result.verdict, result.error) == ("error", "the value is longer than 1048576 bytes")


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_the_disk_is_small_and_fresh_for_each_test(backend):
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


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_there_may_not_be_more_than_so_many_files_even_empty_ones(backend):
    code = """
def solve():
    for number in range(100_000):
        try:
            open(f"/tmp/{number}", "w").close()
        except OSError as error:
            return [number < 500, error.strerror]
"""
    assert outcome(code, backend=backend, entries=500).value == [True, "No space left on device"]


def test_a_file_may_not_grow_beyond_its_limit():
    result = outcome("def solve():\n    open('/tmp/x', 'wb').write(bytes(3 << 20))", file_size=2 * MIB)

    assert "File too large" in result.error


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


def test_files_are_allowed_but_not_many():
    result = outcome("def solve():\n    kept = [open('/dev/null') for _ in range(1_000)]")

    assert "Too many open files" in result.error
