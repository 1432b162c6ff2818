"""A board as a zip in the layout of GenArena's arena folder, made while it is sent: never held as a whole."""

import json
import zipfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count as CountOf
from django.db.models import Max, QuerySet
from numpy.typing import NDArray

from experiments.models import Battle, Board, Experiment, Verdict
from experiments.runs import zipping
from experiments.workflows.battles.campaign.logs.exporting import Log, encoded, pages, results
from experiments.workflows.battles.campaign.logs.names import file_names, pair_file
from experiments.workflows.battles.campaign.logs.sources import AUDITS, LOGS, SNAPSHOT, date_of
from experiments.workflows.battles.campaign.logs.standings import Count, Met, snapshot, state
from experiments.workflows.battles.campaign.sampled import AT_ONCE, DOUBLED


class Group(NamedTuple):
    """The battles of a pair that belong together in one file. experiment_id: None for those that were imported."""

    left: int
    right: int
    experiment_id: Any
    winner: str
    battles: int


Groups = dict[str, dict[str, list[Group]]]  # by subset, then by experiment, in the sequence of their days


def zipped(board: Board) -> Iterator[bytes]:
    """Slim and audit logs by pair, snapshots by experiment, and the state. The same board gives the same bytes."""
    log = Log(board)
    has_verdicts = Verdict.objects.filter(battle__board=board).exists()
    last = results(log).aggregate(last=Max("judged"))["last"]

    def write(archive: zipfile.ZipFile) -> Iterator[None]:
        for subset, experiments in _groups(log).items():
            yield from _entries(archive, log, subset, experiments, last=last, has_verdicts=has_verdicts)

    return zipping.zipped(write)


def _entries(
    archive: zipfile.ZipFile,
    log: Log,
    subset: str,
    experiments: dict[str, list[Group]],
    *,
    last: datetime | None,
    has_verdicts: bool,
) -> Iterator[None]:
    """Writes the files of a subset; gives way after each piece."""
    folder = f"{_folder(subset)}/" if subset else ""
    files = file_names({row.name for row in log.contestants.values()})
    counts: list[Count] = []
    names, fought = {key: one.name for key, one in log.contestants.items()}, _met(log, subset, experiments)
    for number, (experiment, groups) in enumerate(experiments.items()):
        place = f"{folder}{LOGS}/{_folder(experiment)}"
        counts += [_count(log, group) for group in groups]
        met = Met(fought[fought[:, 4] <= number, :4], names)
        _write_json(archive, f"{place}/config.json", _config(log.board, experiment, groups))
        _write_json(archive, f"{place}/{SNAPSHOT}", snapshot(experiment, counts, met, last))
        for rows, name in _pairs(log, groups, subset, files):
            yield from _write(
                archive, f"{place}/{name}", (log.slim(b, tells_subset=False) for p in pages(rows) for b in p)
            )
            if has_verdicts:
                audits = (row for page in pages(rows) for row in log.audits(page, tells_subset=False))
                yield from _write(archive, f"{place}/{AUDITS}/{name}", audits)
    _write_json(archive, f"{folder}arena/state.json", state(counts, Met(fought[:, :4], names), last))
    yield


def _groups(log: Log) -> Groups:
    """How many battles of each pair ended how, by subset and experiment."""
    versions = {row.pk: row.config for row in Experiment.objects.filter(battles__board=log.board).distinct()}
    found: dict[str, dict[str, list[Group]]] = defaultdict(lambda: defaultdict(list))
    rows = results(log).order_by().values_list("sample__subset", "left", "right", "experiment", "winner")
    for subset, left, right, experiment, winner, battles in rows.annotate(battles=CountOf("pk")):
        version = str(versions.get(experiment, {}).get("version") or "") or _joined(log, left, right)
        found[subset][version].append(Group(left, right, experiment, winner, battles))
    return {
        subset: {name: sorted(found[subset][name], key=_place) for name in sorted(found[subset], key=_day)}
        for subset in sorted(found)
    }


def _met(log: Log, subset: str, experiments: dict[str, list[Group]]) -> NDArray[np.int64]:
    """Sample, left, right, twice the left one's score, and the number of its experiment, one row per battle."""
    number = {group[:3]: place for place, groups in enumerate(experiments.values()) for group in groups}
    fields = ("sample", "left", "right", "winner", "experiment")
    rows = results(log).filter(sample__subset=subset).order_by().values_list(*fields)
    told = (
        value
        for sample, left, right, winner, experiment in rows.iterator(chunk_size=AT_ONCE)
        if (left, right, experiment) in number
        for value in (sample, left, right, DOUBLED[winner], number[left, right, experiment])
    )
    return np.fromiter(told, dtype=np.int64).reshape(-1, 5)


def _joined(log: Log, left: int, right: int) -> str:
    """The later of the experiments with which the two joined: every battle has somebody who was new then."""
    versions = [log.contestants[pk].version for pk in (left, right) if date_of(log.contestants[pk].version)]
    return max(versions, key=_day, default=f"{log.board.slug}_{log.board.created:%Y%m%d}")


def _pairs(
    log: Log, groups: Iterable[Group], subset: str, files: dict[str, str]
) -> Iterator[tuple[QuerySet[Battle], str]]:
    """The battles of each pair, with the name of their file."""
    experiments: dict[tuple[int, int], set[Any]] = defaultdict(set)
    for group in groups:
        experiments[group.left, group.right].add(group.experiment_id)
    for (left, right), chosen in experiments.items():
        names = sorted(log.contestants[pk].name for pk in (left, right))
        rows = results(log).filter(left=left, right=right, sample__subset=subset)
        ids = [pk for pk in chosen if pk is not None]
        found = (
            rows.filter(experiment__in=ids) if None not in chosen else rows.exclude(experiment__in=_others(rows, ids))
        )
        yield found, pair_file(names[0], names[1], files)


def _others(rows: QuerySet[Battle], ids: list[Any]) -> list[Any]:
    """Experiments of the pair that have a file of their own."""
    found = rows.exclude(experiment=None).order_by().values_list("experiment", flat=True).distinct()
    return [pk for pk in found if pk not in ids]


def _config(board: Board, experiment: str, groups: Iterable[Group]) -> dict[str, Any]:
    """By whom and how it was judged. Addresses and keys are not told."""
    return {
        "exp_name": experiment,
        "board": board.slug,
        "judged_by": board.kind,
        "judge_model": board.judge,
        "prompt": board.prompt,
        "prompt_version": board.prompt_version,
        "params": board.params,
        "battles": sum(group.battles for group in groups),
    }


def _count(log: Log, group: Group) -> Count:
    return Count(log.contestants[group.left].name, log.contestants[group.right].name, group.winner, group.battles)


def _write(archive: zipfile.ZipFile, name: str, rows: Iterator[dict[str, Any]]) -> Iterator[None]:
    """An entry line by line; none where there is no line."""
    first = next(rows, None)
    if first is None:
        return
    with archive.open(zipping.entry(name), "w") as file:
        file.write(encoded(first))
        for number, row in enumerate(rows):
            file.write(encoded(row))
            if number % 100 == 0:
                yield
    yield


def _write_json(archive: zipfile.ZipFile, name: str, content: Mapping[str, object]) -> None:
    archive.writestr(zipping.entry(name), json.dumps(content, ensure_ascii=False, indent=2))


def _folder(name: str) -> str:
    return file_names([name])[name]


def _place(group: Group) -> tuple[int, int, str, str]:
    return (group.left, group.right, str(group.experiment_id or ""), group.winner)


def _day(experiment: str) -> tuple[date, str]:
    return (date_of(experiment) or date.min, experiment)
