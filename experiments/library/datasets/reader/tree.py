"""What was uploaded: one file, a folder, or a zip archive that is not trusted in anything. Which of its files are
tables of samples, and which are contestants' pictures, is in their names.
"""

import os
import re
import shutil
import stat
import zipfile
import zlib
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import NamedTuple, TypeAlias

from experiments.library.datasets.reader.limits import CannotRead, Limits

PICTURES = (".png", ".jpg", ".jpeg", ".webp")  # in this order where two files have one number
KINDS = ((".parquet",), (".jsonl", ".ndjson"), (".csv", ".tsv"), (".json",))
SHARDS = ("data", "shard")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
NUMBERED = re.compile(r"(\d{1,9})(?!\d)")  # the digits that a file's name begins with: 12 for "000012_x.png"
VERSIONED = re.compile(r"\S{1,110}_\d{8}")
GENERIC = frozenset({"", "data", "data_dir", "dataset", "datasets", "models", "outputs", "arena_dir"})
SPOILED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
READABLE = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 1


def open_tree(path: Path, spool: Path, limits: Limits) -> "Tree":
    """Raises CannotRead for what is no such thing, or breaks a limit."""
    if path.is_dir():
        return Folder(path, limits)
    if suffix_of(path.name) == ".zip":
        return Archive(path, spool, limits)
    if suffix_of(path.name) in ARCHIVES:
        raise CannotRead("other_archive", file=path.name)
    return Folder(path.parent, limits, only=path.name)


class Folder:
    """A folder on this machine, or one file of it. Links to files are followed, links to folders are not. files: sizes
    in bytes by name, with / between folders.
    """

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
            folders[:] = sorted(name for name in folders if not _is_hidden(name))
            relative = Path(folder).relative_to(self._root)
            yield from ((relative / name).as_posix() for name in sorted(files) if not _is_hidden(name))


class Archive:
    """A zip. Everything about it is checked before anything of it is unpacked. files: as of a folder."""

    def __init__(self, path: Path, spool: Path, limits: Limits) -> None:
        self._spool = spool
        try:
            self._zip = zipfile.ZipFile(path)
        except SPOILED as error:
            raise CannotRead("no_zip", file=path.name) from error
        entries = self._zip.infolist()
        if len(entries) > limits.entries:
            raise CannotRead("too_many_files", most=limits.entries)
        self.files: dict[str, int] = {}
        for entry in entries:
            if _is_wanted(entry):
                if entry.filename in self.files:
                    raise CannotRead("named_twice", file=entry.filename)
                self.files[entry.filename] = entry.file_size
        unpacked, packed = sum(self.files.values()), path.stat().st_size
        if unpacked > limits.unpacked:
            raise CannotRead("too_bulky", file=path.name, most=limits.unpacked)
        if unpacked > limits.bulk and unpacked > packed * limits.ratio:
            raise CannotRead("bomb", file=path.name, times=unpacked // max(packed, 1))

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


Tree: TypeAlias = Folder | Archive


def _is_wanted(entry: zipfile.ZipInfo) -> bool:
    """Whether an entry of a zip is a file to be read. Raises CannotRead for what no upload may hold."""
    name = entry.filename
    parts = name.replace("\\", "/").split("/")
    has_drive = len(parts[0]) > 1 and parts[0][1] == ":"
    if name.startswith(("/", "\\")) or "\\" in name or has_drive or ".." in parts or "\x00" in name:
        raise CannotRead("unsafe_name", file=name)
    if stat.S_IFMT(entry.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise CannotRead("link_in_zip", file=name)
    if entry.is_dir() or _is_hidden(name):
        return False
    if entry.flag_bits & ENCRYPTED:
        raise CannotRead("locked_entry", file=name)
    if entry.compress_type not in READABLE:
        raise CannotRead("odd_compression", file=name)
    if suffix_of(name) in ARCHIVES:
        raise CannotRead("nested_archive", file=name)
    return True


def _is_hidden(name: str) -> bool:
    """Names with a dot first, and what macOS adds to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def suffix_of(name: str) -> str:
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    return f"{dot}{suffix.lower()}" if stem else ""


def stem_of(name: str) -> str:
    return name.rpartition("/")[2].rpartition(".")[0]


def subset_of(name: str) -> str:
    """The folder that a table lies in, unless its name says nothing."""
    folder = name.rpartition("/")[0].rpartition("/")[2]
    return "" if folder.lower() in GENERIC else folder


def is_version(text: str) -> bool:
    """Whether it is a name, an underscore and a day that the calendar has: "solar_20260131"."""
    if not VERSIONED.fullmatch(text) or not text.isprintable():
        return False
    try:
        date(int(text[-8:-4]), int(text[-4:-2]), int(text[-2:]))
    except ValueError:
        return False
    return True


class Chosen(NamedTuple):
    """Names of tables in the order of their numbers, and of tables that are left aside."""

    tables: list[str]
    ignored: list[str]


def tables_of(files: Collection[str]) -> Chosen:
    """Tables of one kind: Parquet if there is any, and of those `data…` and `shard…` before others."""

    def natural(name: str) -> list[tuple[int, str]]:  # puts shard_2 before shard_10
        return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d{1,18})", name)]

    tables = sorted((name for name in files if any(suffix_of(name) in kind for kind in KINDS)), key=natural)
    kind = next((kind for kind in KINDS if any(suffix_of(name) in kind for name in tables)), ())
    chosen = [name for name in tables if suffix_of(name) in kind]
    if named := [name for name in chosen if kind == KINDS[0] and stem_of(name).lower().startswith(SHARDS)]:
        chosen = named
    return Chosen(chosen, [name for name in tables if name not in set(chosen)])


class Picture(NamedTuple):
    """A contestant's picture of the sample of this number. version: of the experiment in whose folder it is, or empty.
    subset None: its folder does not say.
    """

    subset: str | None
    contestant: str
    version: str
    number: int
    file: str


def pictures_of(
    files: Mapping[str, int], subsets: Collection[str] | None, alone: str = "", without: Collection[str] = ()
) -> list[Picture]:
    """Contestants' pictures by contestant and number. subsets: those that exist, None where folders decide.

    alone: who has made all of them, if no folder says it. without: folders that hold other pictures. Of two files with
    one number the PNG counts, then the plainer name. Raises CannotRead when a contestant is in two experiments.
    """

    def better_first(name: str) -> tuple[int, bool, str]:
        return PICTURES.index(suffix_of(name)), not stem_of(name).isdigit(), name

    found: dict[tuple[str | None, str, int], Picture] = {}
    versions: dict[tuple[str | None, str], str] = {}
    names = (name for name in files if suffix_of(name) in PICTURES and name.rpartition("/")[0] not in without)
    for name in sorted(names, key=better_first):
        picture = _picture(name, alone)
        if picture is None:
            continue
        if versions.setdefault((picture.subset, picture.contestant), picture.version) != picture.version:
            raise CannotRead("two_experiments", contestant=picture.contestant, file=name)
        found.setdefault((picture.subset, picture.contestant, picture.number), picture)
    named = {picture.subset for picture in found.values()}
    real = set(subsets) if subsets is not None else (named if len(named) > 1 else set())
    pictures = [one if one.subset in real else one._replace(subset=None) for one in found.values()]
    return sorted(pictures, key=lambda one: (one.contestant, one.subset or "", one.number))


def _picture(name: str, alone: str) -> Picture | None:
    """Reads [subset/][models/][experiment_yyyymmdd/]contestant/number.png."""
    *folders, _file = name.split("/")
    number = NUMBERED.match(stem_of(name))
    contestant = alone or (folders.pop() if folders else "")
    if number is None or not contestant:
        return None
    version = folders.pop() if folders and VERSIONED.fullmatch(folders[-1]) else ""
    if version and not is_version(version):
        raise CannotRead("no_such_day", name=version)
    while folders and folders[-1].lower() in GENERIC:
        folders.pop()
    return Picture(folders[-1] if folders else "", contestant, version, int(number[1]), name)
