"""What the names of files and folders say: numbers, subsets, contestants, versions."""

import re
from datetime import date
from typing import NamedTuple

from experiments.library.datasets.reader.errors import CannotRead

PICTURES = (".png", ".jpg", ".jpeg", ".webp")  # in this order where two files have one number
TABLES = (".parquet", ".jsonl", ".ndjson", ".csv", ".tsv", ".json")
ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
NUMBERED = re.compile(r"(\d{1,9})(?!\d)")
VERSIONED = re.compile(r"\S{1,110}_\d{8}")
GENERIC = frozenset({"", "data", "data_dir", "dataset", "datasets", "models", "outputs", "arena_dir"})


class Place(NamedTuple):
    """Where a contestant's picture lies. version: of the experiment in whose folder it is; either may be empty."""

    subset: str
    version: str
    contestant: str


def suffix_of(name: str) -> str:
    stem, dot, suffix = name.rpartition("/")[2].rpartition(".")
    return f"{dot}{suffix.lower()}" if stem else ""


def stem_of(name: str) -> str:
    return name.rpartition("/")[2].rpartition(".")[0]


def is_hidden(name: str) -> bool:
    """Names with a dot first, and what macOS adds to archives."""
    return any(part.startswith(".") or part == "__MACOSX" for part in name.split("/"))


def number_of(name: str) -> int | None:
    """The digits that a file's name begins with: 12 for "000012_x.png". None when there are none."""
    match = NUMBERED.match(stem_of(name))
    return int(match[1]) if match else None


def subset_of(name: str) -> str:
    """The folder that a table lies in, unless its name says nothing."""
    folder = name.rpartition("/")[0].rpartition("/")[2]
    return "" if folder.lower() in GENERIC else folder


def place_of(name: str, alone: str) -> Place | None:
    """Reads [subset/][models/][experiment_yyyymmdd/]contestant/number.png. alone: who it is when no folder says it."""
    *folders, _file = name.split("/")
    contestant = alone or (folders.pop() if folders else "")
    if not contestant:
        return None
    version = _version(folders.pop()) if folders and VERSIONED.fullmatch(folders[-1]) else ""
    while folders and folders[-1].lower() in GENERIC:
        folders.pop()
    return Place(folders[-1] if folders else "", version, contestant)


def is_version(text: str) -> bool:
    """Whether it is a name, an underscore and a day that the calendar has: "solar_20260131"."""
    if not VERSIONED.fullmatch(text) or not text.isprintable():
        return False
    try:
        date(int(text[-8:-4]), int(text[-4:-2]), int(text[-2:]))
    except ValueError:
        return False
    return True


def _version(folder: str) -> str:
    if not is_version(folder):
        raise CannotRead("no_such_day", name=folder)
    return folder


def natural(name: str) -> list[tuple[int, str]]:
    """A key that puts shard_2 before shard_10."""
    return [(int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d{1,18})", name)]
