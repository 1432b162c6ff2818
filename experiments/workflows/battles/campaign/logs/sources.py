"""Where logs are: a folder, a zip or a single file; which of its files are logs of battles, and of which experiment."""

import re
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from typing import IO

from django.utils.translation import gettext as _

from experiments.library.imports.files import refuse_endless_directory
from experiments.library.imports.values import Unreadable

LOGS, AUDITS, SNAPSHOT = "pk_logs", "raw_outputs", "elo_snapshot.json"
ENDINGS = (".jsonl", ".json", ".csv", ".parquet")
NOT_LOGS = ("config.json", "state.json", "config_history.json", SNAPSHOT)
MOST_FILES = 60_000
DATED = re.compile(r"_(\d{4})(\d{2})(\d{2})$")


@dataclass(frozen=True, slots=True)
class Source:
    """A file. name: its path. subset: None where none is told. path: where it lies, None within a zip."""

    name: str
    open: Callable[[], IO[bytes]]
    experiment: str = ""
    subset: str | None = None
    is_audit: bool = False
    path: Path | None = None

    @property
    def ending(self) -> str:
        return PurePosixPath(self.name).suffix.lower()

    @property
    def is_snapshot(self) -> bool:
        return PurePosixPath(self.name).name == SNAPSHOT


@contextmanager
def opened(path: Path, name: str = "") -> Iterator[list[Source]]:
    """The files that matter, in the sequence of experiments, and of a pair first the log that tells more. name: what
    the file was called, where path says something else. Raises Unreadable.
    """
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())
        yield _chosen([_source(file.relative_to(path).as_posix(), _opener(file), file) for file in files])
    elif zipfile.is_zipfile(path):
        refuse_endless_directory(path)
        with _archive(path) as archive:
            members = [entry for entry in archive.infolist() if not entry.is_dir()]
            yield _chosen([_source(entry.filename, _member(archive, entry)) for entry in members])
    elif path.is_file():
        yield _chosen([_source(name or path.name, _opener(path), path)])
    else:
        raise Unreadable(_("There is no such file or folder."))


def date_of(experiment: str) -> date | None:
    """The day that an experiment's name ends in, "name_yyyymmdd"; None when there is no such day."""
    found = DATED.search(experiment)
    try:
        return date(*map(int, found.groups())) if found else None
    except ValueError:
        return None


def _source(name: str, opener: Callable[[], IO[bytes]], path: Path | None = None) -> Source:
    """What a path says: <subset>/pk_logs/<experiment>/[raw_outputs/]<a>_vs_<b>.jsonl"""
    *folders, _file = PurePosixPath(name).parts
    if LOGS not in folders:
        return Source(name, opener, is_audit=AUDITS in folders, path=path)
    at = len(folders) - 1 - folders[::-1].index(LOGS)
    experiment = folders[at + 1] if len(folders) > at + 1 else ""
    return Source(
        name,
        opener,
        experiment=experiment if experiment != AUDITS else "",
        subset=folders[at - 1][:100] if at else "",
        is_audit=AUDITS in folders[at:],
        path=path,
    )


def _chosen(found: list[Source]) -> list[Source]:
    """Raises Unreadable when nothing is left."""
    logs = [source for source in found if _is_log(source.name)]
    if any(LOGS in PurePosixPath(source.name).parts for source in logs):
        logs = [source for source in logs if LOGS in PurePosixPath(source.name).parts]
    if not any(not source.is_snapshot for source in logs):
        raise Unreadable(_("There are no logs in it: files ending in .jsonl, .json, .csv or .parquet are read."))
    if len(logs) > MOST_FILES:
        raise Unreadable(_("There are more than %(most)s files in it: send them in parts.") % {"most": MOST_FILES})
    return sorted(logs, key=_place)


def _is_log(name: str) -> bool:
    path = PurePosixPath(name)
    is_hidden = any(part.startswith(".") or part == "__MACOSX" for part in path.parts)
    is_wanted = path.name == SNAPSHOT or (path.suffix.lower() in ENDINGS and path.name not in NOT_LOGS)
    return is_wanted and not is_hidden


def _place(source: Source) -> tuple[str, date, str, str, bool]:
    day = date_of(source.experiment) or date.min
    folder = PurePosixPath(source.name).name
    return (source.subset or "", day, source.experiment, folder, not source.is_audit)


def _opener(path: Path) -> Callable[[], IO[bytes]]:
    return lambda: path.open("rb")


@contextmanager
def _archive(path: Path) -> Iterator[zipfile.ZipFile]:
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (zipfile.BadZipFile, NotImplementedError, UnicodeDecodeError) as error:
        raise Unreadable(_("The zip cannot be read: %(error)s.") % {"error": error}) from error


def _member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Callable[[], IO[bytes]]:
    def opener() -> IO[bytes]:
        if entry.flag_bits & 1:
            raise Unreadable(_("%(name)s is encrypted: send it without a password.") % {"name": entry.filename})
        return archive.open(entry)

    return opener
