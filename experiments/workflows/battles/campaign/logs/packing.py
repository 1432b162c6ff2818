"""A board as a zip in the layout of GenArena's arena folder, made while it is sent: never held as a whole.

Beside the logs are ratings, in the shapes of GenArena's elo_snapshot.json and state.json.
"""

import hashlib
import json
import re
import zipfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
from django.db.models import Count, Max, QuerySet
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrPromise
from numpy.typing import NDArray

from experiments.models import Battle, Board, Experiment, Verdict
from experiments.runs import zipping
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.logs.exporting import Log, audit_lines, encoded, full_lines, slim_lines
from experiments.workflows.battles.campaign.logs.files import AUDITS, LOGS, SNAPSHOT, date_of
from experiments.workflows.battles.campaign.logs.hub import board_zip
from experiments.workflows.battles.campaign.logs.records import stamp
from experiments.workflows.battles.campaign.sampled import AT_ONCE, DOUBLED
from leaderboard.ratings import Battles, Shared, by_items, tally

UNSAFE = re.compile(r'[/\\:*?"<>|\x00-\x1f\x7f]')
JOINT = "_vs_"
LONGEST = 80  # bytes: two of them, the joint and the ending fit into what file systems allow
ROUNDED = 6
SCALE = {"scale": 400.0, "base": 10.0, "init_rating": 1000.0}


class Group(NamedTuple):
    """The battles of a pair that belong together in one file. experiment_id: None for those that were imported."""

    left: int
    right: int
    experiment_id: Any


Groups = dict[str, Counter[Group]]  # by experiment, in the sequence of their days: how many battles each group has


def zipped(board: Board) -> Iterator[bytes]:
    """Slim and audit logs by pair, snapshots by experiment, and the state. The same board gives the same bytes."""
    log = Log(board)
    has_verdicts = Verdict.objects.filter(battle__board=board).exists()
    last = log.results().aggregate(last=Max("judged"))["last"]

    def write(archive: zipfile.ZipFile) -> Iterator[None]:
        for subset, experiments in _groups(log).items():
            yield from _entries(archive, log, subset, experiments, last=last, has_verdicts=has_verdicts)

    return zipping.zipped(write)


def _entries(
    archive: zipfile.ZipFile,
    log: Log,
    subset: str,
    experiments: Groups,
    *,
    last: datetime | None,
    has_verdicts: bool,
) -> Iterator[None]:
    """Writes the files of a subset; gives way after each piece."""
    folder = f"{_folder(subset)}/" if subset else ""
    files = file_names({row.name for row in log.contestants.values()})
    fought = _fought(log, subset, experiments)
    for number, (experiment, groups) in enumerate(experiments.items()):
        place = f"{folder}{LOGS}/{_folder(experiment)}"
        _write_json(archive, f"{place}/config.json", _config(log, experiment, groups))
        shared = _shared(log, fought[fought[:, 4] <= number])
        _write_json(archive, f"{place}/{SNAPSHOT}", snapshot(experiment, shared, last))
        for rows, name in _pairs(log, groups, subset, files):
            yield from _write(archive, f"{place}/{name}", log.slims(rows, tells_subset=False))
            if has_verdicts:
                yield from _write(archive, f"{place}/{AUDITS}/{name}", log.audits(rows, tells_subset=False))
    _write_json(archive, f"{folder}arena/state.json", state(_shared(log, fought), last))
    yield


# --- which battles belong together ---


def _groups(log: Log) -> dict[str, Groups]:
    """By subset. A battle without an experiment of a name belongs to the later of those with which its two
    contestants joined: every battle has somebody who was new then.
    """
    named = Experiment.objects.filter(battles__board=log.board).distinct()
    versions = {row.pk: row.config.get("version") for row in named}
    joined = {pk: one.version for pk, one in log.contestants.items() if date_of(one.version)}
    otherwise = f"{log.board.slug}_{log.board.created:%Y%m%d}"
    found: dict[str, Groups] = defaultdict(lambda: defaultdict(Counter))
    rows = log.results().order_by().values_list("sample__subset", "left", "right", "experiment")
    for subset, left, right, experiment, battles in rows.annotate(battles=Count("pk")):
        both = [joined[pk] for pk in (left, right) if pk in joined]
        version = str(versions.get(experiment) or "") or max(both, key=_day, default=otherwise)
        found[subset][version][Group(left, right, experiment)] = battles
    return {subset: {name: found[subset][name] for name in sorted(found[subset], key=_day)} for subset in sorted(found)}


def _day(experiment: str) -> tuple[date, str]:
    return (date_of(experiment) or date.min, experiment)


def _pairs(
    log: Log, groups: Iterable[Group], subset: str, files: Mapping[str, str]
) -> Iterator[tuple[QuerySet[Battle], str]]:
    """The battles of each pair, with the name of their file."""
    experiments: dict[tuple[int, int], set[Any]] = defaultdict(set)
    for group in sorted(groups, key=lambda group: group[:2]):
        experiments[group.left, group.right].add(group.experiment_id)
    for (left, right), chosen in experiments.items():
        rows = log.results(subset).filter(left=left, right=right)
        if None in chosen:  # with those of experiments that have no file of their own
            known = rows.exclude(experiment=None).order_by().values_list("experiment", flat=True).distinct()
            rows = rows.exclude(experiment__in=[pk for pk in known if pk not in chosen])
        else:
            rows = rows.filter(experiment__in=chosen)
        first, second = sorted(log.contestants[pk].name for pk in (left, right))
        yield rows, pair_file(first, second, files)


def _config(log: Log, experiment: str, groups: Counter[Group]) -> JsonObject:
    """By whom, when and how it was judged, and who was compared. Addresses and keys are not told. temperature: None for
    the provider's own; sampling, began: of what was judged here.
    """
    board = log.board
    campaigns = Experiment.objects.filter(pk__in={group.experiment_id for group in groups}).order_by("created")
    configs = [one.config for one in campaigns]
    began = campaigns.first()
    return {
        "exp_name": experiment,
        "board": board.slug,
        "judged_by": board.kind,
        "judge_model": board.judge,
        "prompt": board.prompt,
        "prompt_version": board.prompt_version,
        "params": board.params,
        "temperature": board.params.get("temperature"),
        "sampling": [config["sampling"] for config in configs if "sampling" in config],
        "began": stamp(began.created) if began else None,
        "contestants": sorted({log.contestants[key].name for group in groups for key in group[:2]}),
        "battles": groups.total(),
    }


# --- ratings ---


def _fought(log: Log, subset: str, experiments: Groups) -> NDArray[np.int64]:
    """Sample, left, right, twice the left one's score, and the number of its experiment, one row per battle."""
    number = {group: place for place, groups in enumerate(experiments.values()) for group in groups}
    rows = log.results(subset).order_by().values_list("sample", "left", "right", "winner", "experiment")
    told = (
        value
        for sample, left, right, winner, experiment in rows.iterator(chunk_size=AT_ONCE)
        if (left, right, experiment) in number
        for value in (sample, left, right, DOUBLED[winner], number[Group(left, right, experiment)])
    )
    return np.fromiter(told, dtype=np.int64).reshape(-1, 5)


def _shared(log: Log, fought: NDArray[np.int64]) -> Shared:
    """The battles with their samples, between those who fought, in the sequence of their names."""
    samples, left, right, doubled = fought.T[:4]
    keys = sorted({*left.tolist(), *right.tolist()}, key=lambda key: log.contestants[key].name)
    places = np.zeros(max(keys, default=0) + 1, dtype=np.int64)
    places[keys] = np.arange(len(keys))
    names = [log.contestants[key].name for key in keys]
    return Shared(Battles(places[left], places[right], doubled / 2, names), samples)


def snapshot(experiment: str, shared: Shared, last: datetime | None) -> dict[str, Any]:
    """elo_snapshot.json: of all battles up to and including an experiment's. Who has no finite rating is named with
    the reason.
    """
    table = tally(shared.battles)
    intervals = by_items(table, shared)
    lower, upper = _by_name(table.contestants, intervals.lower), _by_name(table.contestants, intervals.upper)
    reasons = zip(intervals.ratings.contestants, intervals.ratings.reasons, strict=True)
    return {
        "exp_name": experiment,
        "generated_at": stamp(last),
        "params": SCALE,
        "model_count": len(table.contestants),
        "battle_count": int(table.games.sum() / 2),
        "elo": _by_name(table.contestants, intervals.ratings.values),
        "ci_lower": lower,
        "ci_upper": upper,
        "ci_width": {name: round(upper[name] - lower[name], ROUNDED) for name in lower if name in upper},
        "std": _by_name(table.contestants, intervals.errors),
        "num_bootstrap": 0,
        "intervals": "sandwich",
        "unrated": {name: reason.sentence for name, reason in reasons if reason},
    }


def state(shared: Shared, last: datetime | None) -> dict[str, Any]:
    """state.json: where everybody stands."""
    taken, table = snapshot("", shared, last), tally(shared.battles)
    models: dict[str, dict[str, Any]] = {}
    for place, name in enumerate(table.contestants):
        models[name] = {
            "elo": taken["elo"].get(name),
            "wins": int(table.wins[place].sum()),
            "losses": int(table.wins[:, place].sum()),
            "ties": int(table.ties[place].sum()),
            "ci_lower": taken["ci_lower"].get(name),
            "ci_upper": taken["ci_upper"].get(name),
        }
    return {
        "models": models,
        "unrated": taken["unrated"],
        "total_battles": taken["battle_count"],
        "last_updated": stamp(last),
    }


def _by_name(names: Sequence[str], values: Any) -> dict[str, float]:
    """Only what is a finite number."""
    pairs = zip(names, values.tolist(), strict=True)
    return {name: round(value, ROUNDED) for name, value in pairs if np.isfinite(value)}


# --- files ---


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Names to names of files: without what file systems forbid, as earlier arenas wrote them, and with a mark of
    their own where that alone would not tell them apart.

    Marked is what comes out like another name (whatever the case of letters), what holds the joint of two names, what
    is too long and what would be empty. The mark depends on the name alone.
    """
    files = {name: re.sub("_+", "_", UNSAFE.sub("_", name)).strip("_. ") for name in names}
    alike = Counter(short.casefold() for short in files.values())
    for name, short in files.items():
        is_alike = alike[short.casefold()] > 1
        if not short or is_alike or JOINT in f"_{short}_" or len(short.encode()) > LONGEST:
            mark = hashlib.sha256(name.encode()).hexdigest()[:8]
            files[name] = f"{short.encode()[: LONGEST - 9].decode(errors='ignore')}~{mark}"
    return files


def pair_file(first: str, second: str, files: Mapping[str, str]) -> str:
    """The name of a pair's log. files: of `file_names`."""
    return f"{files[first]}{JOINT}{files[second]}.jsonl"


def _folder(name: str) -> str:
    return file_names([name])[name]


def _write(archive: zipfile.ZipFile, name: str, rows: Iterator[JsonObject]) -> Iterator[None]:
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


# --- formats ---


LINES = "application/x-ndjson; charset=utf-8"


class Format(NamedTuple):
    """chunks: of a board, and of one of its subsets where one is asked for (the zip holds them all)."""

    name: str
    title: StrPromise
    content_type: str
    ending: str
    chunks: Callable[[Board, str | None], Iterator[bytes]]

    def named(self, board: Board) -> str:
        return f"{board.slug}{self.ending}"


FORMATS = {
    format_.name: format_
    for format_ in (
        Format("slim", _("results (slim log)"), LINES, ".jsonl", slim_lines),
        Format("audit", _("results with the judge's words (audit log)"), LINES, "-audit.jsonl", audit_lines),
        Format("full", _("every battle with all that is known"), LINES, "-full.jsonl", full_lines),
        Format(
            "zip", _("logs by experiment and pair"), "application/zip", ".zip", lambda board, _subset: zipped(board)
        ),
        Format(
            "hub",
            _("battles and ratings as Parquet with a card (Hub)"),
            "application/zip",
            "-hub.zip",
            lambda board, _subset: board_zip(board),
        ),
    )
}
