"""What was uploaded, as names and bytes: one file, a folder, or a zip archive that is not trusted in anything."""

import os
import shutil
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.limits import Limits
from experiments.library.datasets.reader.names import ARCHIVES, is_hidden, suffix_of

SPOILED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1


class Tree(Protocol):
    """files: sizes in bytes by name, with / between folders."""

    files: dict[str, int]

    def read(self, name: str) -> bytes: ...

    def on_disk(self, name: str) -> AbstractContextManager[Path]: ...


def open_tree(path: Path, spool: Path, limits: Limits) -> "Folder | Archive":
    """Raises CannotRead for what is no such thing, or breaks a limit."""
    if path.is_dir():
        return Folder(path, limits)
    if suffix_of(path.name) == ".zip":
        return Archive(path, spool, limits)
    if suffix_of(path.name) in ARCHIVES:
        raise CannotRead("other_archive", file=path.name)
    return Folder(path.parent, limits, only=path.name)


class Folder:
    """A folder on this machine, or one file of it. Links to files are followed, links to folders are not."""

    def __init__(self, root: Path, limits: Limits, only: str | None = None) -> None:
        self._root = root
        self.files: dict[str, int] = {}
        for name in [only] if only else self._walk():
            if len(self.files) >= limits.entries:
                raise CannotRead("too_many_files", most=limits.entries)
            if only or (root / name).is_file():  # no pipe, and no link that leads nowhere
                self.files[name] = (root / name).stat().st_size

    def read(self, name: str) -> bytes:
        return (self._root / name).read_bytes()

    @contextmanager
    def on_disk(self, name: str) -> Iterator[Path]:
        yield (self._root / name).resolve()

    def _walk(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self._root):
            folders[:] = sorted(name for name in folders if not is_hidden(name))
            relative = Path(folder).relative_to(self._root)
            yield from ((relative / name).as_posix() for name in sorted(files) if not is_hidden(name))


class Archive:
    """A zip. Everything about it is checked before anything of it is unpacked."""

    def __init__(self, path: Path, spool: Path, limits: Limits) -> None:
        self._spool, self._name = spool, path.name
        try:
            self._zip = zipfile.ZipFile(path)
        except SPOILED as error:
            raise CannotRead("no_zip", file=path.name) from error
        if len(self._zip.infolist()) > limits.entries:
            raise CannotRead("too_many_files", most=limits.entries)
        self.files: dict[str, int] = {}
        for entry in self._zip.infolist():
            self._take(entry)
        self._check_bulk(path.stat().st_size, limits)

    def read(self, name: str) -> bytes:
        try:
            return self._zip.read(name)
        except SPOILED as error:
            raise CannotRead("broken_entry", file=name) from error

    @contextmanager
    def on_disk(self, name: str) -> Iterator[Path]:
        """Unpacked for as long as it is needed."""
        path = self._spool / f"table{suffix_of(name)}"
        try:
            with self._zip.open(name) as packed, path.open("wb") as file:
                shutil.copyfileobj(packed, file, 1 << 20)
        except SPOILED as error:
            raise CannotRead("broken_entry", file=name) from error
        try:
            yield path
        finally:
            path.unlink(missing_ok=True)

    def _take(self, entry: zipfile.ZipInfo) -> None:
        name = entry.filename
        _check_name(name)
        kind = stat.S_IFMT(entry.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise CannotRead("link_in_zip", file=name)
        if entry.is_dir() or is_hidden(name):
            return
        if entry.flag_bits & ENCRYPTED:
            raise CannotRead("locked_entry", file=name)
        if entry.compress_type not in READABLE:
            raise CannotRead("odd_compression", file=name)
        if suffix_of(name) in ARCHIVES:
            raise CannotRead("nested_archive", file=name)
        if name in self.files:
            raise CannotRead("named_twice", file=name)
        self.files[name] = entry.file_size

    def _check_bulk(self, packed: int, limits: Limits) -> None:
        unpacked = sum(self.files.values())
        if unpacked > limits.unpacked:
            raise CannotRead("too_bulky", file=self._name, most=limits.unpacked)
        if unpacked > limits.bulk and unpacked > packed * limits.ratio:
            raise CannotRead("bomb", file=self._name, times=unpacked // max(packed, 1))


def _check_name(name: str) -> None:
    parts = name.replace("\\", "/").split("/")
    has_drive = len(parts[0]) > 1 and parts[0][1] == ":"
    if name.startswith(("/", "\\")) or "\\" in name or has_drive or ".." in parts or "\x00" in name:
        raise CannotRead("unsafe_name", file=name)
