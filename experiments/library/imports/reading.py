"""From a file to the runs in it, one after the other: whose file it is shows in what it says."""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from django.utils.translation import gettext as _

from experiments.library.imports import files, inspect, own
from experiments.library.imports.files import Allowance, Entry
from experiments.library.imports.formats import DatasetFormat, RunFormat, dataset_formats, run_formats
from experiments.library.imports.values import Taken, Unreadable, mapping, mappings
from experiments.models.imports import ImportSource

WRAPPERS = ("experiments", "runs", "results", "conversations", "experiment", "state", "data")
NOT_RUNS = ("manifest.json", "leaderboard.json", "config.json", "state.json", "elo_snapshot.json")
OWN = RunFormat(ImportSource.OWN, 0, own.is_document, own.read)


class Found(NamedTuple):
    """A run, or why there is none at this place."""

    source: ImportSource | None
    place: str
    taken: Taken | None
    refused: str = ""


class HoldsDataset(Exception):
    """The file has something in it of which a dataset is made, and no runs."""

    def __init__(self, format_: DatasetFormat) -> None:
        super().__init__(format_.source)
        self.format = format_


def runs(path: Path, name: str, source: str = "") -> Iterator[Found]:
    """What is in the file. source: whose it is, where the sender says so. Raises Unreadable and HoldsDataset."""
    for other in dataset_formats():
        if source == other.source:
            raise HoldsDataset(other)
    allowed = files.allowance(path.stat().st_size)
    with files.entries(path, name) as entries:
        names = {entry.name for entry in entries if entry.archive is not None}
        is_log_of_inspect = bool({"header.json", "_journal/start.json"} & names)  # an .eval file
        for found in _of_inspect(entries, allowed) if is_log_of_inspect else _of_entries(entries, allowed):
            if source and found.taken and found.source != source:
                said = _("This is a file of %(found)s.") % {"found": found.source.label if found.source else "?"}
                yield Found(found.source, found.place, None, said)
            else:
                yield found


def of_value(value: Any, place: str) -> Iterator[Found]:
    """The runs of one JSON value. Raises HoldsDataset."""
    if inspect.is_log(value):
        samples = mappings(value.get("samples"))
        if not samples:
            yield Found(ImportSource.INSPECT, place, None, _("The log has no samples in it."))
        for number, sample in enumerate(samples):
            at = f"{place} samples[{number}]"
            yield _taken(ImportSource.INSPECT, at, partial(inspect.read, value, sample, at))
        return
    for other in dataset_formats():
        if other.fits(value):
            raise HoldsDataset(other)
    if own.is_bare_message(value):
        yield Found(ImportSource.OWN, place, None, _("This is a message without its run. Export the runs instead."))
        return
    for one in (OWN, *run_formats()):
        if one.fits(value):
            yield _taken(one.source, place, partial(one.read, value, place))
            return
    inner = _within(value, place)
    if inner is None:
        yield Found(None, place, None, _("The format is not known."))
        return
    for at, item in inner:
        yield from of_value(item, at)


def _within(value: Any, place: str) -> list[tuple[str, Any]] | None:
    """The runs that a list or a wrapper holds, with their places; None where it is neither."""
    if isinstance(value, list):
        return [(f"{place} [{number}]", item) for number, item in enumerate(value) if isinstance(item, dict)] or None
    for one in run_formats():
        if several := one.several(value):
            return [(f"{place} [{number}]", item) for number, item in enumerate(several)]
    said = mapping(value)
    for name in WRAPPERS:
        held = said.get(name)
        if isinstance(held, dict) and name in ("experiment", "state", "data"):
            return [(place, {**_about(said, name), **held})]
        if mappings(held):
            shared = _about(said, name)
            return [(f"{place} {name}[{number}]", {**shared, **item}) for number, item in enumerate(mappings(held))]
    return None


def _about(said: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a wrapper says of what is in it: the configuration alone, once, so that nothing grows on the way down."""
    config = said.get("config")
    return {"config": config} if isinstance(config, dict) and name != "config" else {}


def _of_entries(found: list[Entry], allowed: Allowance) -> Iterator[Found]:
    for other in dataset_formats():
        if any(other.folder in PurePosixPath(entry.name).parts for entry in found):
            raise HoldsDataset(other)
    whole = {one.folder: one for one in run_formats() if one.folder}
    paths = {entry.name: PurePosixPath(entry.name) for entry in found}
    folders = {path.parent: whole[path.name] for path in paths.values() if path.name in whole}
    read: set[Any] = set()  # the numbers of runs that were read from their folders
    for folder in sorted(folders, key=str):
        within = [one for one in found if paths[one.name].parent == folder and one.name.endswith(".json")]
        yield from _of_folder(str(folder), folders[folder], within, allowed, read)
    for entry in found:
        path = paths[entry.name]
        is_read = any(path.parent == folder or (folder.parts and folder in path.parents) for folder in folders)
        if is_read or (len(found) > 1 and path.name in NOT_RUNS):
            continue
        if len(found) > 1 and path.suffix.lower() not in (".json", ".jsonl"):
            yield Found(None, entry.name, None, _("Within a zip, only .json and .jsonl files are read."))
            continue
        try:
            yield from _of_entry(entry, allowed, read)
        except Unreadable as error:
            if len(found) == 1:
                raise
            yield Found(None, entry.name, None, error.said)


def _of_folder(
    folder: str, whole: RunFormat, within: list[Entry], allowed: Allowance, read: set[Any]
) -> Iterator[Found]:
    """A folder whose files together are one run."""
    contents: dict[str, Any] = {}
    for entry in within:
        try:
            contents[PurePosixPath(entry.name).name] = files.whole(entry, allowed)
        except Unreadable as error:
            yield Found(whole.source, entry.name, None, error.said)
    summary = contents.pop(whole.folder, None)
    if summary is not None and whole.read_folder:
        read.add(whole.number(summary))
        yield _taken(whole.source, folder, partial(whole.read_folder, summary, folder, contents))


def _of_entry(entry: Entry, allowed: Allowance, read: set[Any]) -> Iterator[Found]:
    """The runs of a file, value by value; the lines of one run of our own are gathered until the next begins."""
    gathered: own.Lines | None = None
    for value in files.values(entry, allowed):
        said = value.content
        if value.refused:
            yield Found(None, value.place, None, value.refused)
        elif own.is_line(said) and said["kind"] == "run":
            if gathered:
                yield Found(ImportSource.OWN, gathered.place, gathered.taken())
            gathered = own.Lines(said, value.place)
        elif own.is_line(said):
            reason = _("The line of the run itself has to come first.")
            if reason := gathered.add(said) if gathered else reason:
                yield Found(ImportSource.OWN, value.place, None, reason)
        elif not any(one.folder and one.fits(said) and one.number(said) in read for one in run_formats()):
            yield from of_value(said, value.place)  # where its folder was read, that tells more
    if gathered:
        yield Found(ImportSource.OWN, gathered.place, gathered.taken())


def _of_inspect(found: list[Entry], allowed: Allowance) -> Iterator[Found]:
    by_name = {entry.name: entry for entry in found}
    header = files.whole(by_name.get("header.json") or by_name["_journal/start.json"], allowed)

    def sample_of(entry: Entry) -> Taken:
        return inspect.read(header, files.whole(entry, allowed), entry.name)

    for entry in found:
        if entry.name.startswith("samples/") and entry.name.endswith(".json"):
            yield _taken(ImportSource.INSPECT, entry.name, partial(sample_of, entry))


def _taken(source: ImportSource, place: str, read: Callable[[], Taken]) -> Found:
    try:
        return Found(source, place, read())
    except Unreadable as error:
        return Found(source, place, None, error.said)
