"""Where everything that was found is put: records line by line, each picture once under the hash of its bytes."""

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

from experiments.library.datasets.reader.cells import checked_picture
from experiments.library.datasets.reader.limits import CannotRead, Limits

RECORDS = "records.jsonl"
STEP = 0.01
LONGEST = 32 << 20  # characters of one record


class Spool:
    """warnings count what was found odd, by code. say: tells the parent how far the reading is, 0 to 1. given: bytes
    that were sent.
    """

    def __init__(self, folder: Path, limits: Limits, pipe: int) -> None:
        self.folder, self.limits = folder, limits
        self.warnings: Counter[str] = Counter()
        self.given, self.taken = 0, 0
        self._records = (folder / RECORDS).open("w", encoding="utf-8")
        self._pipe, self._told = pipe, 0.0

    def add(self, kind: str, **fields: Any) -> None:
        line = json.dumps({"kind": kind, **fields}, ensure_ascii=False, allow_nan=False)
        if len(line) > LONGEST:
            raise CannotRead("heavy_row", number=fields.get("index"), most=LONGEST)
        self._take(len(line))
        self._records.write(f"{line}\n")

    def picture(self, data: bytes, **place: Any) -> str:
        """Its hash. place: what a complaint about it names. Raises CannotRead."""
        found = checked_picture(data, self.limits, **place)
        path = self.folder / str(found["sha256"])
        if not path.exists():
            self._take(len(data))
            path.write_bytes(data)
            self.add("picture", **found)
        return str(found["sha256"])

    def _take(self, count: int) -> None:
        """A table of a few megabytes may say the same text a million times. Raises CannotRead."""
        self.taken += count
        if self.taken > max(self.limits.taken, self.given * self.limits.ratio):
            raise CannotRead("swells", times=self.limits.ratio)

    def progress(self, share: float) -> None:
        if share - self._told >= STEP:
            self._told = share
            self.say(progress=round(share, 4))

    def say(self, **said: Any) -> None:
        os.write(self._pipe, json.dumps(said).encode() + b"\n")

    def close(self) -> None:
        self._records.close()
