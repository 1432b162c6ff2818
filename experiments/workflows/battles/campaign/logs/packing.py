"""A board as a zip in the layout of GenArena's arena folder, made while it is sent: never held as a whole.

Beside the logs are ratings, in the shapes of GenArena's elo_snapshot.json and state.json, and what makes the folder
whole: samples and outputs with a card for `load_dataset`, and every battle with all that is known for `import_battles`.
"""

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

from experiments.library.datasets.hub import OUTPUT_COLUMNS, SAMPLE_COLUMNS, About, Table, card
from experiments.library.datasets.reader.card import CARD, OUTPUTS, SAMPLES
from experiments.models import Battle, Board, Experiment, Output, Verdict
from experiments.models.signals import board_packed
from experiments.runs import zipping
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign.logs.exporting import Log, audit_lines, full_lines, slim_lines
from experiments.workflows.battles.campaign.logs.files import AUDITS, BESIDE, LOGS, SNAPSHOT, WHOLE, date_of
from experiments.workflows.battles.campaign.logs.folder import (
    SAMPLES_FILE,
    file_names,
    folder_name,
    models_folder,
    pair_file,
    subset_folder,
    write_json,
    write_lines,
    write_outputs,
    write_samples,
)
from experiments.workflows.battles.campaign.logs.hub import board_zip, described, ratings_table
from experiments.workflows.battles.campaign.logs.records import stamp
from experiments.workflows.battles.campaign.sampled import AT_ONCE, DOUBLED
from leaderboard.ratings import Battles, Shared, by_items, tally

ROUNDED = 6
CONTENTS = f"""
## Files

| file | what it is |
|---|---|
| `{SAMPLES_FILE}`, `models/` | the samples, and the outputs of each model: `load_dataset` reads them by this card |
| `{WHOLE}` | every battle with all that is known of it: `import_battles` reads it |
| `{LOGS}/` | results by experiment and pair, with what was set up (`config.json`), ratings of then (`{SNAPSHOT}`) |
| `{BESIDE}/state.json` | where each model stands |
| `{BESIDE}/milestones.json` | published milestones, where there are any |"""
SCALE = {"scale": 400.0, "base": 10.0, "init_rating": 1000.0}


class Group(NamedTuple):
    """The battles of a pair that belong together in one file. experiment_id: None for those that were imported."""

    left: int
    right: int
    experiment_id: Any


Groups = dict[str, Counter[Group]]  # by experiment, in the sequence of their days: how many battles each group has


def zipped(board: Board) -> Iterator[bytes]:
    """README.md, samples, outputs, slim and audit logs by pair, snapshots by experiment, the state, every battle as in
    the full log, and what receivers of `board_packed` add. The same board gives the same bytes.
    """
    log = Log(board)
    kept = [one for one in log.contestants.values() if not one.void_reason]
    has_verdicts = Verdict.objects.filter(battle__board=board).exists()
    last = log.results().aggregate(last=Max("judged"))["last"]

    def write(archive: zipfile.ZipFile) -> Iterator[None]:
        archive.writestr(zipping.entry(CARD), _readme(log))
        yield from write_samples(archive, board.dataset)
        for subset in board.dataset.samples.order_by("subset").values_list("subset", flat=True).distinct():
            yield from write_outputs(archive, subset, kept)
        for subset, experiments in _groups(log).items():
            yield from _entries(archive, log, subset, experiments, last=last, has_verdicts=has_verdicts)
        yield from write_lines(archive, WHOLE, log.lines(board.battles.revealed()))
        added: list[tuple[Any, Any]] = board_packed.send(Board, board=board)
        for _receiver, files in added:
            for name, content in files.items():
                write_json(archive, f"{BESIDE}/{name}", content)
        yield

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
    folder = subset_folder(subset)
    files = file_names({row.name for row in log.contestants.values()})
    fought = _fought(log, subset, experiments)
    for number, (experiment, groups) in enumerate(experiments.items()):
        place = f"{folder}{LOGS}/{folder_name(experiment)}"
        write_json(archive, f"{place}/config.json", _config(log, experiment, groups))
        shared = _shared(log, fought[fought[:, 4] <= number])
        write_json(archive, f"{place}/{SNAPSHOT}", snapshot(experiment, shared, last))
        for rows, name in _pairs(log, groups, subset, files):
            yield from write_lines(archive, f"{place}/{name}", log.slims(rows, tells_subset=False))
            if has_verdicts:
                yield from write_lines(archive, f"{place}/{AUDITS}/{name}", log.audits(rows, tells_subset=False))
    write_json(archive, f"{folder}arena/state.json", state(_shared(log, fought), last))
    yield


def _readme(log: Log) -> str:
    """The card: which tables are samples and outputs, who is rated how, and what else is in the folder."""
    dataset = log.board.dataset
    outputs = Output.objects.filter(sample__dataset=dataset, contestant__void_reason="")
    places = outputs.order_by().values_list("sample__subset", "contestant__version").distinct()
    patterns = sorted(f"{models_folder(*place)}/*.jsonl" for place in places)
    tables = [Table(SAMPLES, SAMPLE_COLUMNS, path=SAMPLES_FILE)]
    tables += [Table(OUTPUTS, OUTPUT_COLUMNS, path=patterns)] if patterns else []
    rows = sorted(ratings_table(log).rows, key=lambda row: (row["rating"] is None, -(row["rating"] or 0), row["model"]))
    lines = [
        f"{described(log.board)}\n",
        f"{len(rows)} models, {log.results().count()} battles.\n",
        "| model | rating | 95 % interval | won | lost | tied |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        held = [None if row[name] is None else f"{row[name]:.0f}" for name in ("rating", "lower", "upper")]
        interval = f"{held[1]} to {held[2]}" if held[1] and held[2] else ""
        name = row["model"].replace("|", "\\|")
        lines.append(
            f"| {name} | {held[0] or row['reason']} | {interval} | {row['wins']} | {row['losses']} | {row['ties']} |"
        )
    text = "\n".join([*lines, CONTENTS])
    return card(
        About(dataset.name, log.board.slug, text), tables, {SAMPLES: dataset.samples.count(), OUTPUTS: outputs.count()}
    )


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
        "intervals": "cluster_robust",
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
            "zip",
            _("arena folder: logs, outputs, milestones"),
            "application/zip",
            ".zip",
            lambda board, _subset: zipped(board),
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
