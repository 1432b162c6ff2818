"""Keeps the children alive until somebody asks for the end."""

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

from arenasite.supervisor.children import LONGEST_PAUSE, STEADY_SECONDS, Child, stop_together
from arenasite.supervisor.errors import CannotStart, GaveUp, Stopped
from arenasite.supervisor.logs import cut

MOST_DEATHS = 5
LOOK_SECONDS = 0.1
QUICK_LOOK_SECONDS = 0.02


class Supervisor:
    """Used by one thread. A first signal asks for an orderly end, a second one for an immediate end."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self._children: list[Child] = []
        self._signals = 0
        self._asked = threading.Event()

    @property
    def should_stop(self) -> bool:
        return self._asked.is_set()

    def listen(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def start(self, *children: Child) -> None:
        for child in children:
            self._children.append(child)
            child.start()

    def wait_for(self, is_true: Callable[[], bool], seconds: float) -> bool:
        """Watch until it is true, somebody asks for the end, or the time is over. Raises GaveUp."""
        until = time.monotonic() + seconds
        while not is_true():
            if self.should_stop or time.monotonic() > until:
                return False
            self._look()
            self._asked.wait(QUICK_LOOK_SECONDS)
        return True

    def require(self, is_true: Callable[[], bool], seconds: float, otherwise: str) -> None:
        """Wait until it is true. Raises CannotStart with the sentence, Stopped, GaveUp."""
        if self.wait_for(is_true, seconds):
            return
        raise Stopped if self.should_stop else CannotStart(otherwise)

    def watch(self) -> None:
        """Until somebody asks for the end. Raises GaveUp."""
        while not self._asked.wait(LOOK_SECONDS):
            self._look()

    def stop(self) -> None:
        """End everything, rank by rank. Returns when nothing is left."""
        for rank in sorted({child.rank for child in self._children}):
            group = [child for child in self._children if child.rank == rank]
            stop_together(group, hurry=lambda: self._signals > 1)
        self._children.clear()

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self._signals += 1
        self._asked.set()

    def _look(self) -> None:
        for child in self._children:
            self._look_at(child, time.monotonic())

    def _look_at(self, child: Child, now: float) -> None:
        for line in child.tail.alarms() if child.tail else []:
            self._say(f"[{child.name}] {line}")
        cut(child.log)
        if child.has_ended:
            self._on_death(child, now)
        elif child.due is not None and now >= child.due:
            self._start_again(child, now)

    def _start_again(self, child: Child, now: float) -> None:
        try:
            child.start()
        except OSError as error:  # no memory or no process is left: for a while, perhaps
            child.due = now + LONGEST_PAUSE
            self._say(f"{child.name} cannot be started: {error.strerror}. It is tried again.")

    def _on_death(self, child: Child, now: float) -> None:
        has_succeeded, how = child.has_succeeded, child.bury(now)
        if not child.is_kept:
            if not has_succeeded:
                self._say(f"{child.name} {how}; {child.log} says why.")
            return
        if len(child.deaths) >= MOST_DEATHS:
            raise GaveUp(
                f"{child.name} {how}, the {MOST_DEATHS}th time within {STEADY_SECONDS:.0f} seconds. Everything is "
                f"stopped; {child.log} says why."
            )
        child.schedule(now)
        self._say(f"{child.name} {how}; it is started again.")
