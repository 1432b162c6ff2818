"""The data directory: made, found writable, and held by one platform at a time."""

import fcntl
import os
import stat
from pathlib import Path
from typing import IO

from arenasite.supervisor.errors import CannotStart

HOW_TO_CHOOSE = "Choose another with --data DIR or ARENA_DATA=DIR."


def prepare(data: Path) -> None:
    """Make the directory and its rooms. Raises CannotStart."""
    try:
        for directory in (data, data / "logs", data / "redis"):
            directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CannotStart(_not_writable(data, error)) from error


def lock(data: Path) -> IO[str]:
    """Hold the directory until the file is closed or this process ends, however it ends. Raises CannotStart."""
    path = data / "up.lock"
    try:
        file = path.open("a+")
    except OSError as error:
        raise CannotStart(_not_writable(data, error)) from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise CannotStart(
            f"The platform is running on {data} already (process {holder}). Stop that one first, or start a second one "
            "with --data DIR and --port N."
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file


def prepare_private(directory: Path) -> None:
    """A directory that nobody else can enter: whoever reaches a socket in it can make the workers run anything."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
            raise CannotStart(f"{directory} belongs to somebody else. Remove it, or choose another data directory.")
        directory.chmod(0o700)
    except OSError as error:
        raise CannotStart(_not_writable(directory, error)) from error


def _not_writable(directory: Path, error: OSError) -> str:
    return f"The data directory {directory} cannot be written: {error.strerror or error}. {HOW_TO_CHOOSE}"
