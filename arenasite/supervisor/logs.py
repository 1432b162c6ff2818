"""The log file of a process: kept small, and its errors brought to the terminal."""

import os
import re
import shutil
from contextlib import suppress
from pathlib import Path

LARGEST_LOG = 10 << 20
ALARMING = re.compile(r"\b(ERROR|CRITICAL)\b|^Traceback ")
OUR_OWN_QUESTION = "/api/health/"  # answered with 503 until the workers have come
READ_AT_ONCE = 1 << 20


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
        return [
            line for line in self._new_text().splitlines() if ALARMING.search(line) and OUR_OWN_QUESTION not in line
        ]

    def _new_text(self) -> str:
        try:
            size = self._path.stat().st_size
            self._position = self._position if size >= self._position else 0
            if size == self._position:
                return ""
            with self._path.open("rb") as file:
                file.seek(self._position)
                new = file.read(READ_AT_ONCE)
        except OSError:
            return ""
        whole = new[: new.rfind(b"\n") + 1] if len(new) < READ_AT_ONCE else new
        self._position += len(whole)
        return whole.decode("utf-8", "replace")
