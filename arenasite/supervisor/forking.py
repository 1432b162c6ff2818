"""A Python command that runs in a copy of this process. It need not load what this one has loaded, which takes seconds,
and shares the memory of it.
"""

import atexit
import ctypes
import os
import runpy
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

IS_POSSIBLE = sys.platform == "linux"  # elsewhere, libraries of the system fail in a copy
PR_SET_NAME = 15
DESCRIPTORS = Path("/proc/self/fd")


@dataclass(frozen=True, slots=True)
class Order:
    """argv: an interpreter, which is not started, and its arguments: a file or `-m` and a module, and what these are
    told. name: of the process, as `top` shows it. output: a descriptor. kept: those that the copy keeps open, under
    their numbers. first: called by the copy.
    """

    argv: Sequence[str]
    name: str
    environment: Mapping[str, str]
    output: int
    kept: Sequence[int]
    first: Callable[[], None] | None


class Fork:
    """As much of subprocess.Popen as a supervisor needs. Made by the main thread alone. Nothing may be open that two
    processes must not share, as a connection of the database.
    """

    def __init__(self, order: Order) -> None:
        """Raises OSError."""
        self._code: int | None = None
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()  # or both would write what is kept
        blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # the copy has none of our handlers
        try:
            self.pid = os.fork()
            if self.pid == 0:
                _end(_run(order, blocked))
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
        with suppress(OSError):  # the copy was faster
            os.setpgid(self.pid, self.pid)

    def poll(self) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code

    def wait(self) -> int:
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def terminate(self) -> None:
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        self._send(signal.SIGKILL)

    def _send(self, number: signal.Signals) -> None:
        if self.poll() is None:  # the number may be somebody else's by then
            os.kill(self.pid, number)


# --- in the copy ---


def _run(order: Order, blocked: Collection[int]) -> int:
    """The exit code of the command."""
    try:
        os.setpgid(0, 0)
        _forget_signals(blocked)
        if order.first:
            order.first()
        _leave_descriptors(order.output, order.kept)
        ctypes.CDLL(None).prctl(PR_SET_NAME, order.name.encode(), 0, 0, 0)
        os.environ.clear()
        os.environ.update(order.environment)
        _run_command(order.argv[1:])
    except SystemExit as end:
        if isinstance(end.code, str):
            sys.stderr.write(f"{end.code}\n")
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # as an interpreter does
        traceback.print_exc()
        return 1
    return 0


def _forget_signals(blocked: Collection[int]) -> None:
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _leave_descriptors(output: int, kept: Sequence[int]) -> None:
    """What was open here is open no more, but its numbers stay taken: whoever closes one later closes nothing else."""
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    for number in (1, 2):
        os.dup2(output, number)
    for entry in list(DESCRIPTORS.iterdir()):
        number = int(entry.name)
        if number > 2 and number not in kept:
            with suppress(OSError):  # that of this very list
                os.fstat(number)
                os.dup2(nothing, number)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]  # they are text over a file


def _run_command(words: Sequence[str]) -> None:
    if words[0] == "-m":
        sys.argv = list(words[1:])
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = list(words)
        runpy.run_path(words[0], run_name="__main__")


def _end(code: int) -> None:
    """As an interpreter ends: threads that are no daemons are waited for, and what was to be done at exit is done."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # as multiprocessing does
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BaseException:  # nothing of it may go on in this process's own way
        traceback.print_exc()
    finally:
        os._exit(code)
