"""Boxes that are started ahead, while nothing is to be run: each waits for one test, and is thrown away after it.

Nothing of a program is in a box that waits; its limits count from when it is given one. Its walls are those of any
other box: the same start, with a pause in the middle.
"""

import threading
import time
from collections import deque
from contextlib import suppress
from types import TracebackType

from experiments.sandbox.backends import Backend
from experiments.sandbox.languages import PYTHON, Language
from experiments.sandbox.trial import Launch
from experiments.sandbox.values import Limits, NotStarted, Unavailable

QUIET_SECONDS = 0.3  # without a test, before boxes are started: until then the processors are for those at work
REST_SECONDS = 5.0  # after a box that did not come up


class Standby:
    """The boxes that wait in this process. `keep` says how many; as a context manager it starts the thread that starts
    them, which outlives them all: a box ends with the thread that has started it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._waiting: deque[Launch] = deque()
        self._backend: Backend | None = None
        self._most = 0
        self._not_before = 0.0  # by the monotonic clock
        self._is_closed = False
        self._thread = threading.Thread(target=self._start_boxes, name="standby", daemon=True)

    def __enter__(self) -> "Standby":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        self._thread.join()
        self._end_all_but(0)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def keep(self, count: int, backend: Backend | None = None) -> None:
        """From now on so many boxes of the backend wait, for Python; none of one whose boxes cannot."""
        is_possible = backend is not None and backend.can_wait()
        with self._changed:
            is_other = self._backend != backend
            self._backend, self._most = backend, count if is_possible else 0
            self._changed.notify_all()
        self._end_all_but(0 if is_other else self._most)

    def take(self, backend: Backend, language: Language) -> Launch | None:
        """A box that waits, if there is one. The caller ends it."""
        with self._changed:
            self._not_before = max(self._not_before, time.monotonic() + QUIET_SECONDS)
            self._changed.notify_all()
            is_ours = backend == self._backend and language == PYTHON
            launch = self._waiting.popleft() if is_ours and self._waiting else None
        if launch is None or launch.is_waiting():
            return launch
        _end(launch)
        return None

    def _end_all_but(self, count: int) -> None:
        with self._changed:
            surplus = [self._waiting.popleft() for _ in range(len(self._waiting) - count)]
        for launch in surplus:
            _end(launch)

    # --- in a thread of its own ---

    def _start_boxes(self) -> None:
        while backend := self._needed():
            launch = None
            try:
                launch = Launch(backend.box(PYTHON, Limits()))
                launch.come_up(lambda: self._is_closed)
            except (NotStarted, Unavailable, OSError):  # whoever needs a box says why there is none
                self._rest()
            with self._changed:
                is_wanted = backend == self._backend and len(self._waiting) < self._most and not self._is_closed
                if launch and launch.is_up and is_wanted:
                    self._waiting.append(launch)
                    launch = None
            if launch:
                _end(launch)

    def _needed(self) -> Backend | None:
        """Of which the next box is to be, once it is to be started; None at the end."""
        with self._changed:
            while not self._is_closed:
                if len(self._waiting) >= self._most:
                    self._changed.wait()
                elif (left := self._not_before - time.monotonic()) > 0:
                    self._changed.wait(left)
                else:
                    return self._backend
            return None

    def _rest(self) -> None:
        with self._changed:
            self._not_before = time.monotonic() + REST_SECONDS


def _end(launch: Launch) -> None:
    """It has run nothing."""
    with suppress(OSError), launch:
        pass
