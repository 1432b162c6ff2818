"""Files that outlast a loss of power, as a committed row does: whoever has been told of one finds it afterwards."""

import os
from pathlib import Path


def settle(path: Path) -> None:
    """Return once the content of a finished file and its name are on the disk. Raises OSError."""
    _wait_for(path)
    for folder in path.absolute().parents:
        if not os.access(folder, os.R_OK | os.W_OK):  # nothing of ours is new there
            return
        _wait_for(folder)


def place(draft: Path, path: Path) -> None:
    """Give a finished file its name, which it has as a whole or not at all. Raises OSError."""
    _wait_for(draft)
    draft.replace(path)
    settle(path)


def _wait_for(place: Path) -> None:
    handle = os.open(place, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
