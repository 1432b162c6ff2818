"""The certain end of a box: when `end` returns, no process of it is left."""

import json
import os
import select
import signal
import subprocess
from contextlib import suppress

SECONDS = 30.0  # a machine under load may take long to take down a thousand threads
MOMENT = 1.0


class Ending:
    """Of the launched process and, once known, of the first process of its pid namespace, which takes all others with
    it: the kernel reports its death only after theirs."""

    def __init__(self, process: "subprocess.Popen[bytes]", command: tuple[str, ...]) -> None:
        self.process, self.command = process, command
        self.first: int | None = None

    def learn(self, told: bytes) -> None:
        """Takes `{"child-pid": …}`; the process is held by a descriptor, which no successor of its number inherits."""
        with suppress(ValueError, KeyError, OSError):
            self.first = os.pidfd_open(json.loads(told)["child-pid"])

    def end(self) -> None:
        if self.command and not self.has_ended():
            with suppress(OSError, subprocess.TimeoutExpired):
                subprocess.run(self.command, capture_output=True, timeout=SECONDS, check=False)  # noqa: S603 — a command of our own words
        if self.first is not None:
            self.end_first(self.first)
        if self.process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def has_ended(self) -> bool:
        """Of itself, or within a moment."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(MOMENT)
        return self.process.returncode is not None

    def end_first(self, first: int) -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(first, signal.SIGKILL)
        gone = select.poll()
        gone.register(first, select.POLLIN)
        gone.poll(SECONDS * 1000)
        os.close(first)
        self.first = None
