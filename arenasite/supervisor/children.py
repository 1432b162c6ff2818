"""A process of the platform: how it is started, that it dies with its parent, what its log says, how it is ended."""

import ctypes
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from arenasite.supervisor.forking import Fork, Order

PR_SET_PDEATHSIG = 1
FIRST_PAUSE, LONGEST_PAUSE, STABLE_SECONDS = 0.2, 60.0, 60.0  # of restarts
MOST_DOUBLINGS = 32  # more would be beyond any cap
LARGEST_LOG = 10 << 20
ALARMING = re.compile(r"\b(ERROR|CRITICAL)\b|^Traceback ")
OUR_OWN_QUESTION = "/api/health/"  # answered with 503 until the workers have come
READ_AT_ONCE = 1 << 20


@dataclass(slots=True)
class Backoff:
    """Exponential backoff: each failure doubles the pause up to a cap, a stable period resets it. Times in seconds.

    failures: in a row, none of them after a stable period.
    """

    first: float
    longest: float
    stable: float
    failures: int = 0

    def pause(self, lasted: float) -> float:
        """The pause after a failure, of something that had worked for `lasted` seconds."""
        self.failures = 1 if lasted >= self.stable else self.failures + 1
        return min(self.longest, self.first * 2.0 ** min(self.failures - 1, MOST_DOUBLINGS))


@dataclass(slots=True)
class Child:
    """argv and environment may be changed between two starts.

    is_kept: restarted when it ends by itself. rank: children of the lowest rank are ended first. patience: seconds
    to end in when asked. goes_on: it is not forced to end then, and may outlive the supervisor. orphan_signal: what it
    gets when the supervisor has ended. handed: descriptors of ours that it has, under the same numbers. is_forked: it
    is a copy of the supervisor that runs argv, instead of a new interpreter.
    due: when it is restarted; None while it runs. started, due: of the monotonic clock.
    """

    name: str
    argv: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    rank: int = 0
    patience: float = 1.0
    is_kept: bool = True
    goes_on: bool = False
    orphan_signal: signal.Signals = signal.SIGKILL
    handed: tuple[int, ...] = ()
    is_forked: bool = False
    due: float | None = None
    started: float = 0.0
    how: str = ""
    restarts: Backoff = field(default_factory=lambda: Backoff(FIRST_PAUSE, LONGEST_PAUSE, STABLE_SECONDS))
    process: subprocess.Popen[bytes] | Fork | None = None
    tail: "Tail | None" = None

    def start(self) -> None:
        """Raises OSError. To be called by the main thread: the kernel ties a child to the thread that made it."""
        self.due, self.started = None, time.monotonic()
        if self.tail is None:
            self.tail = Tail(self.log)
        first = _dies_with(os.getpid(), self.orphan_signal)
        with self.log.open("ab") as log:
            if self.is_forked:
                order = Order(self.argv, self.name, self.environment, log.fileno(), self.handed, first)
                self.process = Fork(order)
                return
            self.process = subprocess.Popen(  # noqa: S603 — a command of our own words
                list(self.argv),
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                pass_fds=self.handed,
                process_group=0,  # Ctrl+C in the terminal is for the supervisor alone
                preexec_fn=first,
            )

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def has_ended(self) -> bool:
        """Ended, and nothing has been done about it yet."""
        return self.process is not None and self.process.poll() is not None

    def bury(self) -> None:
        """Take note of how it ended."""
        code = self.process.wait() if self.process else 0
        self.kill()
        self.process = None
        self.how = f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def schedule(self, now: float) -> float:
        """Restart after a pause, which is returned. It grows while the child keeps failing."""
        pause = self.restarts.pause(now - self.started)
        self.due = now + pause
        return pause

    @property
    def trouble(self) -> str:
        """Why it does not run, in words."""
        times = self.restarts.failures
        return f"{self.name} {self.how}" + (f", {times} times in a row" if times > 1 else "")

    def kill(self) -> None:
        """End the process and whatever it has started, which may have outlived it."""
        if self.process is None:
            return
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            self.process.kill()
        self.process.wait()


def stop_together(children: Sequence[Child], hurry: Callable[[], bool]) -> dict[str, int]:
    """Ask to end, wait, then force. Returns name and process id of those that go on, when all others are gone."""
    for child in children:
        child.due = None
        if child.process:
            child.process.terminate()
    until = time.monotonic() + max(child.patience for child in children)
    while any(child.is_alive for child in children) and time.monotonic() < until and not hurry():
        time.sleep(0.02)
    going_on = [child for child in children if child.goes_on and child.is_alive and not hurry()]
    for child in children:
        if child not in going_on:
            child.kill()
    return {child.name: child.process.pid for child in going_on if child.process}


def _dies_with(parent: int, number: signal.Signals) -> Callable[[], None] | None:
    """What a child does before it runs: ask the kernel (Linux) for `number` when its parent dies, even by SIGKILL, and
    for no image of its memory, secrets and all, should it crash.
    """
    if sys.platform != "linux":
        return None
    library = ctypes.CDLL(None)

    def tie() -> None:
        library.prctl(PR_SET_PDEATHSIG, int(number))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if os.getppid() != parent:
            os._exit(1)

    return tie


# --- its log ---


def cut(path: Path) -> None:
    """Keep one older file, also while a process writes to the end of this one: it is copied and emptied, so that what
    is written between the two, some milliseconds, is lost.
    """
    with suppress(OSError):  # a full disk, or it is not there yet: the next look finds it again
        if path.stat().st_size > LARGEST_LOG:
            shutil.copyfile(path, path.with_suffix(".log.1"))
            os.truncate(path, 0)


class Tail:
    """Reads what has been appended to a log since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._position = path.stat().st_size if path.exists() else 0

    def alarms(self) -> list[str]:
        """The new lines that report an error."""
        try:
            size = self._path.stat().st_size
            self._position = self._position if size >= self._position else 0
            if size == self._position:
                return []
            with self._path.open("rb") as file:
                file.seek(self._position)
                new = file.read(READ_AT_ONCE)
        except OSError:
            return []
        whole = new[: new.rfind(b"\n") + 1] if len(new) < READ_AT_ONCE else new
        self._position += len(whole)
        lines = whole.decode("utf-8", "replace").splitlines()
        return [line for line in lines if ALARMING.search(line) and OUR_OWN_QUESTION not in line]
