"""Keeps the children alive until the end is asked for. One that keeps dying is restarted with growing pauses, and the
others go on. Health asks the web server how the platform is, without making the supervisor wait.
"""

import http.client
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType

from arenasite.supervisor import Stopped
from arenasite.supervisor.children import Child, cut, stop_together

LOOK_SECONDS = 0.1
QUICK_LOOK_SECONDS = 0.02
HEALTH_SECONDS = 10.0  # for an answer
PAUSE_SECONDS, PAUSE_WHEN_SERVED = 0.05, 0.15  # between two questions


class Supervisor:
    """Used by one thread. A first signal asks for an orderly end, a second one for an immediate end."""

    def __init__(
        self, say: Callable[[str], None], missing: Path, before_start: Callable[[], None] = lambda: None
    ) -> None:
        """missing: a file for the health page, with our process id and a line for each part that does not run.
        before_start: called before a child is started, which may be a copy of this process.
        """
        self._say, self._missing, self._before_start = say, missing, before_start
        self._noted: str | None = None
        self._children: list[Child] = []
        self._signals = 0
        self._asked = threading.Event()

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        self._asked.set()

    def start(self, *children: Child) -> None:
        for child in children:
            self._children.append(child)
            self._start(child)

    def wait_for(self, is_true: Callable[[], bool], seconds: float) -> bool:
        """Watch until it is true; False when the time is over first. Raises Stopped when the end is asked for."""
        until = time.monotonic() + seconds
        while not is_true():
            if self._asked.is_set():
                raise Stopped
            if time.monotonic() > until:
                return False
            self._look()
            self._asked.wait(QUICK_LOOK_SECONDS)
        return True

    def watch(self) -> None:
        """Until the end is asked for."""
        while not self._asked.wait(LOOK_SECONDS):
            self._look()

    def stop(self) -> None:
        """End everything, rank by rank. Returns when nothing runs but what goes on until it ends by itself."""
        for rank in sorted({child.rank for child in self._children}):
            group = [child for child in self._children if child.rank == rank]
            for name, pid in stop_together(group, hurry=lambda: self._signals > 1).items():
                self._say(f"{name} goes on with what it has begun, and then ends by itself (process {pid}).")
        self._children.clear()

    def _look(self) -> None:
        for child in self._children:
            now = time.monotonic()
            for line in child.tail.alarms() if child.tail else []:
                self._say(f"[{child.name}] {line}")
            cut(child.log)
            if child.has_ended:
                self._on_death(child, now)
            elif child.due is not None and now >= child.due:
                self._start(child)
        self._note_missing()

    def _start(self, child: Child) -> None:
        self._before_start()
        try:
            child.start()
        except OSError as error:  # no memory or no process is left: for a while, perhaps
            child.how = f"could not be started ({error.strerror})"
            self._schedule(child, time.monotonic())

    def _on_death(self, child: Child, now: float) -> None:
        has_succeeded = child.process is not None and child.process.poll() == 0
        child.bury()
        if child.is_kept:
            self._schedule(child, now)
        elif not has_succeeded:
            self._say(f"{child.name} {child.how}; {child.log} says why.")

    def _schedule(self, child: Child, now: float) -> None:
        pause = child.schedule(now)
        why = f" {child.log} says why." if child.restarts.failures > 1 else ""
        self._say(f"{child.trouble}; it is restarted in {pause:.1f} s.{why}")

    def _note_missing(self) -> None:
        """In one step, so that a reader never sees half of it."""
        text = "\n".join([str(os.getpid()), *(child.trouble for child in self._children if child.due is not None)])
        if text == self._noted:
            return
        draft = self._missing.with_suffix(".draft")
        with suppress(OSError):  # a full disk: the next look tries again
            draft.write_text(text)
            draft.replace(self._missing)
            self._noted = text


class Health(threading.Thread):
    """`is_serving` is true from the first answer on, whatever it says; `is_well` when all parts answer."""

    is_serving = is_well = False

    def __init__(self, host: str, port: int, names: Sequence[str]) -> None:
        """host: at which the server listens. names: under which the platform is served (ARENA_HOSTS):
        `.example.org` stands for the domain itself too, and `*` for any.
        """
        super().__init__(name="health", daemon=True)
        self._host, self._port = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port  # noqa: S104
        name = next((name.lstrip(".") for name in names if name != "*"), "localhost")
        self._headers = {"Host": name, "X-Forwarded-Proto": "https"}  # as behind TLS: no redirect
        self._is_asking = True

    def end(self) -> None:
        self._is_asking = False

    def run(self) -> None:
        while self._is_asking and not self.is_well:
            connection = http.client.HTTPConnection(self._host, self._port, timeout=HEALTH_SECONDS)
            try:
                connection.request("GET", "/api/health/", headers=self._headers)
                self.is_well = connection.getresponse().status == http.HTTPStatus.OK
                self.is_serving = True
            except (OSError, http.client.HTTPException):
                pass  # not yet, or not now
            finally:
                connection.close()
            time.sleep(PAUSE_WHEN_SERVED if self.is_serving else PAUSE_SECONDS)
