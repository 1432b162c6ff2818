"""What a program may use up, and what becomes of one that wants more."""

import pytest

from tests.experiments.sandbox.conftest import NAMESPACED, SAFE, first_of, outcome

pytestmark = pytest.mark.system

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
