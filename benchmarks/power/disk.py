"""A disk after a loss of power, out of the record of what was asked of it.

The model is the strictest that POSIX allows, with two concessions that all journaling file systems make: names change
in their order, and a sector (512 bytes) is written as a whole or not at all. Waiting for a file does not save its name:
that takes waiting for a folder.
"""

import copy
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

HEAD = struct.Struct("<IcQQ")  # length of what follows it, kind, inode, offset
SECTOR = 512
Change = tuple[bytes, int, bytes]  # b"w": write at an offset; b"t": cut or extend to a length
Name = tuple[bytes, int, list[str]]  # kind, inode of a new file, one or two paths


@dataclass(slots=True)
class File:
    """safe: what a program has waited for; loose: the changes since then, in their order."""

    safe: bytearray = field(default_factory=bytearray)
    loose: list[Change] = field(default_factory=list)

    def settle(self) -> None:
        for change in self.loose:
            apply(self.safe, change)
        self.loose.clear()

    def after_cut(self, rng: Random, share: float) -> bytes:
        """Of the loose changes each sector is there with this probability."""
        content = bytearray(self.safe)
        for kind, at, data in self.loose:
            if kind == b"t":
                if rng.random() < share:
                    apply(content, (kind, at, data))
                continue
            for place in range(0, len(data), SECTOR):
                if rng.random() < share:
                    apply(content, (kind, at + place, data[place : place + SECTOR]))
        return bytes(content)


def apply(content: bytearray, change: Change) -> None:
    kind, at, data = change
    end = at if kind == b"t" else at + len(data)
    if end > len(content):
        content.extend(bytes(end - len(content)))
    if kind == b"t":
        del content[at:]
    else:
        content[at:end] = data


class Disk:
    """root: where the disk was mounted while it was recorded. What is there now is safe."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._files: dict[int, File] = {}
        self._names: dict[str, int | None] = {}  # None: a folder
        self._loose_names: list[Name] = []  # that nobody has waited for
        for path in sorted(root.rglob("*")):
            self._names[str(path)] = None if path.is_dir() else path.stat().st_ino
            if path.is_file() and not path.is_symlink():
                self._files[path.stat().st_ino] = File(bytearray(path.read_bytes()))

    def note(self, kind: bytes, inode: int, offset: int, data: bytes) -> None:
        """One more record of the log."""
        if kind in b"wt":
            self._files.setdefault(inode, File()).loose.append((kind, offset, data))
        elif kind == b"s":
            self._files.setdefault(inode, File()).settle()
        elif kind == b"d":
            for name in self._loose_names:
                rename(self._names, name)
            self._loose_names.clear()
        else:
            self._loose_names.append((kind, inode, data.decode().split("\0")[:-1]))

    def leave(self, to: Path, rng: Random) -> None:
        """Write what is left when the power is cut now into the folder. Which part of what nobody waited for is left is
        chosen by chance; now and then nothing and all of it.
        """
        share = rng.choice((0.0, 0.5, 1.0, rng.random()))
        names = copy.copy(self._names)
        for name in self._loose_names[: round(len(self._loose_names) * rng.choice((0.0, 1.0, rng.random())))]:
            rename(names, name)
        for path, inode in sorted(names.items()):
            place = to / Path(path).relative_to(self._root)
            if inode is None:
                place.mkdir(parents=True, exist_ok=True)
            elif not path.endswith("-shm"):  # in the memory of the machine
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(self._files.get(inode, File()).after_cut(rng, share))


def rename(names: dict[str, int | None], change: Name) -> None:
    kind, inode, paths = change
    match kind:
        case b"c":
            names[paths[0]] = inode
        case b"k":
            names[paths[0]] = None
        case b"u":
            names.pop(paths[0], None)
        case b"l" if paths[0] in names:
            names[paths[1]] = names[paths[0]]
        case b"r" if paths[0] in names:
            below = {path: value for path, value in names.items() if path.startswith(f"{paths[0]}/")}
            for path, value in below.items():
                names[paths[1] + path[len(paths[0]) :]] = value
                del names[path]
            names[paths[1]] = names.pop(paths[0])


def records(log: Path) -> Iterator[tuple[int, bytes, int, int, bytes]]:
    """Of each the bytes of the log up to its end, kind, inode, offset and the rest."""
    at = 0
    with log.open("rb") as file:
        while head := file.read(HEAD.size):
            length, kind, inode, offset = HEAD.unpack(head)
            data = file.read(length - (HEAD.size - 4))
            at += length + 4
            yield at, kind, inode, offset, data
