"""A time of day that can be set for some processes: a small library that is preloaded into them."""

import struct
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")


class Clock:
    """The clock of those who were started with its `environment`."""

    def __init__(self, file: Path, library: Path) -> None:
        self._file, self._library = file, library
        self.set(0)

    @property
    def environment(self) -> dict[str, str]:
        return {"LD_PRELOAD": str(self._library), "ARENA_CLOCK": str(self._file)}

    def set(self, seconds: int) -> None:
        """Shift it by so many seconds against the machine's. The file is written in place: it is mapped."""
        mode = "r+b" if self._file.exists() else "w+b"
        with self._file.open(mode) as file:
            file.write(struct.pack("=q", seconds))
