"""Which files of an upload are tables of samples, and which are contestants' pictures."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from experiments.library.datasets.reader.errors import CannotRead
from experiments.library.datasets.reader.names import (
    PICTURES,
    TABLES,
    Place,
    natural,
    number_of,
    place_of,
    stem_of,
    suffix_of,
)

KINDS = ((".parquet",), (".jsonl", ".ndjson"), (".csv", ".tsv"), (".json",))
SHARDS = ("data", "shard")


class Chosen(NamedTuple):
    """Names of tables in the order of their numbers, and of tables that are left aside."""

    tables: list[str]
    ignored: list[str]


class Picture(NamedTuple):
    """A contestant's picture of the sample of this number. subset None: its folder does not say."""

    subset: str | None
    contestant: str
    version: str
    number: int
    file: str


def tables_of(files: Collection[str]) -> Chosen:
    """Tables of one kind: Parquet if there is any, and of those `data…` and `shard…` before others."""
    tables = sorted((name for name in files if suffix_of(name) in TABLES), key=natural)
    kind = next((kind for kind in KINDS if any(suffix_of(name) in kind for name in tables)), ())
    chosen = [name for name in tables if suffix_of(name) in kind]
    if named := [name for name in chosen if kind == KINDS[0] and stem_of(name).lower().startswith(SHARDS)]:
        chosen = named
    return Chosen(chosen, [name for name in tables if name not in set(chosen)])


def pictures_of(
    files: Mapping[str, int], subsets: Collection[str] | None, alone: str = "", without: Collection[str] = ()
) -> list[Picture]:
    """Contestants' pictures by contestant and number. subsets: those that exist, None where folders decide.

    without: folders that hold other pictures. Of two files with one number the PNG counts, then the plainer name.
    Raises CannotRead when a contestant is in two experiments.
    """
    found = _placed(files, alone, without)
    told = {place.subset for place, _name in found.values()}
    real = set(subsets) if subsets is not None else (told if len(told) > 1 else set())
    return sorted(
        (
            Picture(place.subset if place.subset in real else None, place.contestant, place.version, number, name)
            for (_subset, _contestant, number), (place, name) in found.items()
        ),
        key=lambda picture: (picture.contestant, picture.subset or "", picture.number),
    )


def _placed(
    files: Mapping[str, int], alone: str, without: Collection[str]
) -> dict[tuple[str, str, int], tuple[Place, str]]:
    """The place and the file that counts, by subset, contestant and number."""
    found: dict[tuple[str, str, int], tuple[Place, str]] = {}
    versions: dict[tuple[str, str], str] = {}
    for name in sorted(files, key=_better_first):
        number = number_of(name)
        if suffix_of(name) not in PICTURES or number is None or name.rpartition("/")[0] in without:
            continue
        if place := place_of(name, alone):
            if versions.setdefault((place.subset, place.contestant), place.version) != place.version:
                raise CannotRead("two_experiments", contestant=place.contestant, file=name)
            found.setdefault((place.subset, place.contestant, number), (place, name))
    return found


def _better_first(name: str) -> tuple[int, bool, str]:
    suffix = suffix_of(name)
    rank = PICTURES.index(suffix) if suffix in PICTURES else len(PICTURES)
    return rank, not stem_of(name).isdigit(), name
