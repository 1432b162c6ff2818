"""What a workflow declares of the files in which another system keeps its runs, or what a dataset is made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from experiments.library.imports.values import Taken
from experiments.models import RunImport
from experiments.models.imports import ImportSource
from experiments.tasks.waiting import Progress
from experiments.workflows import REGISTRY, surface_of


@dataclass(frozen=True, slots=True)
class RunFormat:
    """Runs as a system wrote them. precedence: where several fit, the lowest reads the value. fits: whether a JSON
    value is one run; read: of the value and its place, raises Unreadable. several: the runs of a value that holds many.

    folder: name of a file whose folder is one run as a whole, read by `read_folder` with the contents of the folder's
    other files. number: what tells the run in such a file from others; a line of a log with the same is left out.
    """

    source: ImportSource
    precedence: int
    fits: Callable[[Any], bool]
    read: Callable[[Any, str], Taken]
    several: Callable[[Any], Sequence[Any]] = lambda value: ()
    folder: str = ""
    read_folder: Callable[[Any, str, Mapping[str, Any]], Taken] | None = None
    number: Callable[[Any], Any] = lambda value: None


@dataclass(frozen=True, slots=True)
class DatasetFormat:
    """A file that becomes a dataset as a whole. fits: whether a JSON value belongs to one; folder: name of a folder
    that only these have. beside_runs: why such a file cannot hold runs, too. store: make the dataset of the row's
    file, and return what is to be written into the row; discard: take away what was made of one that could not be
    stored.
    """

    source: ImportSource
    folder: str
    fits: Callable[[Any], bool]
    beside_runs: Callable[[], str]
    store: Callable[[RunImport, Progress], Mapping[str, Any]]
    discard: Callable[[RunImport], None]


@cache
def _formats() -> tuple[RunFormat | DatasetFormat, ...]:
    modules = (surface.formats for surface in map(surface_of, REGISTRY) if surface.formats)
    return tuple(import_module(module).FORMAT for module in modules)


def run_formats() -> list[RunFormat]:
    found = (one for one in _formats() if isinstance(one, RunFormat))
    return sorted(found, key=lambda one: one.precedence)


def dataset_formats() -> Iterator[DatasetFormat]:
    return (one for one in _formats() if isinstance(one, DatasetFormat))
