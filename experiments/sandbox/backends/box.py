"""What a backend says about one box: how it is started and what it is made of."""

import os
import random
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from experiments.sandbox.inside.allowed import BY_MACHINE

DEVICES = ("/dev/null", "/dev/urandom")
TEMPORARY = "/tmp"  # noqa: S108 — the box's own, fresh and empty
# One that nobody has, drawn for each box: the kernel counts threads by user, and no box can signal another.
FIRST_USER, LAST_USER = 52_000, 60_000


INFO = "{info}"  # in a command, stands for the channel that `Box` describes


@dataclass(frozen=True, slots=True)
class Box:
    """`command` holds INFO where the number of the channel goes on which the launcher says which process is the
    box's first; without it that is the launched process itself. `request` is added to what the box is told, `layers`
    are those that the launcher puts up, `ending` is a command that ends a box which does not die with its launcher, and
    `prefix` goes to its stdin before the request. Without `has_own_files` it starts in a folder that is removed."""

    command: tuple[str, ...]
    request: dict[str, Any]
    layers: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    prefix: bytes = field(default=b"", repr=False)
    environment: tuple[tuple[str, str], ...] = ()
    has_own_files: bool = True


def ordinary_user() -> int | None:
    """Who the candidate is to be when root starts the box; None when an ordinary user does."""
    return random.randrange(FIRST_USER, LAST_USER) if os.geteuid() == 0 else None


def why_impossible() -> str:
    """Why no box of ours can be made on this machine; empty when one might."""
    if sys.platform != "linux":
        return "The walls are Linux's: elsewhere use the docker backend."
    machine = os.uname().machine
    return "" if machine in BY_MACHINE else f"The walls know no {machine} processors, only {' and '.join(BY_MACHINE)}."


def folders_above(paths: Iterable[str]) -> list[str]:
    """Every folder that one of the paths lies in, the root left out, outer ones first."""
    above = {str(folder) for path in paths for folder in Path(path).parents}
    return sorted(above - {"/"})
