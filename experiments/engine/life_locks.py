"""Which processes of this machine have died: each keeps a file locked as long as it lives, and the kernel gives the
lock up with the process, however it ends. Whoever gets the lock has proof, and need not wait for a lease to end.
"""

import fcntl
import logging
from contextlib import suppress
from pathlib import Path
from typing import IO

from accounts.logs import HOST

logger = logging.getLogger(__name__)

_BOOT = Path("/proc/sys/kernel/random/boot_id")  # of one kernel: containers of a machine have it in common


class LifeLock:
    """The lock of one process. name: unlike that of any other. The methods may be called by any thread."""

    def __init__(self, directory: Path, name: str) -> None:
        self._directory, self._name = directory, name
        self._file: IO[str] | None = None

    def take(self) -> None:
        """From now on others know that this process lives. Without a directory to write to nobody can know."""
        try:
            self._directory.mkdir(parents=True, exist_ok=True)
            self._forget_earlier_boots()
            unseen = self._directory / f".{self._name}"  # others see it only once it is locked
            self._file = unseen.open("w")
            fcntl.flock(self._file, fcntl.LOCK_EX)
            unseen.rename(self._path(self._name))
        except OSError as error:
            logger.warning("nobody can tell whether this process lives: %s", error)

    def give_back(self, *, is_known: bool) -> None:
        """is_known: that it has ended is known where that matters. If not, others find it dead, and tell."""
        if self._file is not None:
            if is_known:
                self.forget([self._name])
            self._file.close()
            self._file = None

    def dead(self) -> list[str]:
        """The names of processes of this machine that have died, until they are forgotten."""
        suffix, found = self._path("").name, []
        with suppress(OSError):
            for path in self._directory.glob(f"*{suffix}"):
                name = path.name.removesuffix(suffix)
                if name != self._name and not name.startswith(".") and _is_free(path):
                    found.append(name)
        return found

    def forget(self, names: list[str]) -> None:
        for name in names:
            with suppress(OSError):
                self._path(name).unlink()

    def _forget_earlier_boots(self) -> None:
        for path in self._directory.glob("*.lock"):
            if not path.name.endswith(self._path("").name) and _is_free(path):
                path.unlink(missing_ok=True)

    def _path(self, name: str) -> Path:
        return self._directory / f"{name}@{_machine()}.lock"


def _is_free(path: Path) -> bool:
    with suppress(OSError), path.open() as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _machine() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return HOST.replace("/", "-")
