"""Boxes that are started ahead: each is good for one test, and is as much of a box as any other."""

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from experiments.sandbox import Limits, Test, run, sufficient
from experiments.sandbox.backends import backend_named
from experiments.sandbox.isolation import PROGRAM, attacks
from experiments.sandbox.languages import PYTHON
from experiments.sandbox.standby import Standby
from experiments.sandbox.trial import Program, tried
from tests.experiments.sandbox.conftest import SAFE, first_of
from tests.experiments.sandbox.machines import adopting_orphans, descendants, has_ended
from tests.fixtures import wait_until

pytestmark = pytest.mark.system

READY = [backend for backend in SAFE if backend_named(backend).can_wait()]
LEAVING = """
import builtins, os
def solve():
    found = [os.path.exists("/tmp/left"), hasattr(builtins, "left"), "left" in os.environ]
    open("/tmp/left", "w").close()
    builtins.left, os.environ["left"] = 1, "1"
    return found
"""
WAITING = """
import time
from experiments.sandbox.backends import backend_named
from experiments.sandbox.standby import Standby
with Standby() as standby:
    standby.keep(2, backend_named({backend!r}))
    time.sleep(600)
"""


@contextmanager
def started(count, backend="bubblewrap"):
    """So many boxes that wait, and none that is started in their place while the test lasts."""
    with adopting_orphans(), Standby() as standby:
        standby.keep(count, backend_named(backend))
        wait_until(lambda: standby.waiting == count, "the boxes to be up")
        standby._not_before = time.monotonic() + 600
        yield standby


def ran(standby, code, *arguments, expected=42, backend="bubblewrap", **limits):
    test = Test("only", list(arguments), expected)
    return run(code, [test], Limits(**limits), backend=backend, started_ahead=standby.take).results[0]


@pytest.mark.parametrize("backend", first_of(READY))
def test_each_test_has_a_box_of_its_own_also_when_it_was_started_ahead(backend):
    code = LEAVING.replace('open("/tmp/left", "w").close()', "pass") if backend == "landlock" else LEAVING
    with started(2, backend) as standby:
        found = [ran(standby, code, backend=backend, expected=[False] * 3) for _ in range(3)]

        assert standby.waiting == 0

    assert [result.verdict for result in found] == ["passed"] * 3, "the last was started when it was needed"


@pytest.mark.parametrize("backend", first_of(READY))
def test_every_attack_fails_on_a_box_that_was_started_ahead(backend):
    chosen, required = sufficient(backend)
    with attacks() as planned, started(len(planned), backend) as standby:
        for each in planned:
            program = Program(PROGRAM, "solve", Limits(seconds=each.seconds), required)
            kind = {"backend": chosen, "language": PYTHON, "started_ahead": standby.take}
            result = tried(program, each.test, **kind, seconds=each.seconds).result
            assert result.verdict == each.verdict if each.verdict else result.value is not True, each.name
        assert standby.waiting == 0


def test_the_limits_count_from_when_a_box_is_given_its_program():
    with started(4) as standby:
        time.sleep(1.5)
        quick = ran(standby, "def solve(): return 42", seconds=1)
        hanging = ran(standby, "def solve():\n    while True: pass", seconds=1)
        large = ran(standby, "def solve(n): return bytearray(n)", 300 << 20, memory=256 << 20)
        small_disk = ran(standby, "def solve(): open('/tmp/x', 'wb').write(bytes(2 << 20))", disk=1 << 20)

        assert standby.waiting == 0

    assert (quick.verdict, quick.seconds < 1) == ("passed", True)
    assert (hanging.verdict, 0.9 < hanging.seconds < 5) == ("timeout", True)
    assert large.verdict == "memory"
    assert "No space left" in small_disk.error


def test_a_box_that_has_died_is_replaced_by_one_that_is_started_now():
    with started(2) as standby:
        for launch in standby._waiting:
            os.killpg(launch.process.pid, signal.SIGKILL)
            launch.process.wait()

        assert ran(standby, "def solve(): return 42").verdict == "passed"


@pytest.mark.parametrize("backend", first_of(READY))
def test_no_process_and_no_descriptor_of_a_box_that_waited_is_left(backend):
    before, descriptors = descendants(), len(os.listdir("/proc/self/fd"))
    with started(3, backend) as standby:
        waiting = descendants() - before
        assert len(waiting) >= 3
        standby.keep(1, backend_named(backend))
        assert standby.waiting == 1
        ran(standby, "def solve(): return 42", backend=backend)

    assert [process for process in descendants() - before if not has_ended(process)] == []
    assert len(os.listdir("/proc/self/fd")) == descriptors


@pytest.mark.parametrize("backend", first_of(READY))
def test_no_box_waits_on_when_its_worker_is_killed(backend):
    worker = subprocess.Popen([sys.executable, "-c", WAITING.format(backend=backend)])
    try:
        least = 2 if backend == "landlock" else 4
        boxes = wait_until(lambda: len(found := descendants(worker.pid)) >= least and found, "the boxes")
    finally:
        worker.send_signal(signal.SIGKILL)
        worker.wait()

    wait_until(lambda: all(has_ended(process) for process in boxes), "the end of the boxes")


def test_a_box_that_depends_on_what_runs_there_is_not_started_ahead():
    for backend in map(backend_named, ("docker", "unsafe")):
        with Standby() as standby:
            standby.keep(2, backend)

            assert (standby._most, standby.take(backend, PYTHON)) == (0, None)
