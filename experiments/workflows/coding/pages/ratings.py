"""Ratings of models that set, solve and judge problems: of one run's cycles, or of those of all runs.

They are computed from the stored votes whenever they are asked for, so that a cycle that is left out is as if it had
never been: the others are played again from the first one.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from django.core.cache import caches
from django.db.models import QuerySet

from experiments.models import Cycle as CycleRow
from experiments.models import Judgment, ProviderModel, Run
from experiments.workflows.coding.pages.rated import Figure, JudgeRow, Moment, RunRatings, SetterRow, Solver
from leaderboard.ratings.cycles import (
    Cycle,
    Estimate,
    Judge,
    Reason,
    Setter,
    SolverRatings,
    Undefined,
    Vote,
    compatible_elo,
    judging,
    replay,
    scores,
    setters,
    solver_ratings,
)
from leaderboard.ratings.cycles import Moment as Replayed
from leaderboard.ratings.ranks import ranks
from leaderboard.ratings.statistics import mean_estimate
from leaderboard.ratings.values import NORMAL

HIGHEST = 10.0  # of a score
KEPT_SECONDS = 3600  # the figures of judges take seconds where there are hundreds of cycles
DRAWS = 2000  # of the probability of being the strongest: its standard error is at most 1.1 %
SEED = 1
WIDEST = 400.0  # Elo to one side: odds of ten to one
FEW_CYCLES = "few_cycles"
FEW_SAMPLES = "few_samples"
BOUNDED = (Reason.UNDEFEATED, Reason.WINLESS, Reason.ABOVE, Reason.BELOW)  # ranked from two cycles on

Names = Mapping[str, tuple[str, bool]]  # by slug: the label, and whether the model is simulated


# --- cycles as they are stored, read as what ratings are computed from ---


@dataclass(frozen=True, slots=True)
class Counted:
    """A cycle on which ratings rest. number: its place among those it was read with, from 1.

    cycle: every valid vote. rated: without the votes on solutions that have fewer of them than the cycle's quorum,
    which count in no rating. Models are named by their slugs.
    """

    number: int
    row: CycleRow
    cycle: Cycle
    rated: Cycle


def read(rows: Iterable[CycleRow]) -> tuple[Counted, ...]:
    """The rows in their sequence. Raises ValueError and LookupError for one that holds no cycle."""
    return tuple(_read(row, number) for number, row in enumerate(rows, 1))


def _read(row: CycleRow, number: int) -> Counted:
    found, name = row.found, dict(row.contestants)
    votes = tuple(
        Vote(name[solver], name[judge], float(overall))
        for solver, given in found["votes"].items()
        for judge, overall in given.items()
    )
    cycle = Cycle(
        contestants=tuple(name[seat] for seat, _slug in row.contestants),
        setter=name[row.setter],
        votes=votes,
        passed={name[seat]: float(share) for seat, share in found.get("passed", {}).items()},
    )
    count, quorum = Counter(vote.solver for vote in votes), int(found.get("quorum", 1))
    enough = tuple(vote for vote in votes if count[vote.solver] >= quorum)
    return Counted(number, row, cycle, replace(cycle, votes=enough))


# --- what is asked for ---


def of_run(run: Run) -> RunRatings | None:
    """What the run's own cycles say, as if there were no others. None as long as none counts."""
    counted = read(_rows_of(run))
    if not counted:
        return None
    void = CycleRow.objects.filter(run=run, state=CycleRow.State.VOID).count()
    state = hashlib.sha256(repr(([one.row.pk for one in counted], void)).encode()).hexdigest()
    place = f"ratings:{run.pk}:{state}"
    found: RunRatings | None = caches["memory"].get(place)
    if found is None:
        found = _of(counted, Run.objects.filter(pk=run.pk))
        caches["memory"].set(place, found, KEPT_SECONDS)
    return found


def of_all() -> RunRatings | None:
    """What all cycles that count say, in the order in which they were rated. None as long as there is none."""
    counted = read(CycleRow.objects.counted())
    return _of(counted, Run.objects.filter(origin=Run.Origin.LIVE, cycles__isnull=False)) if counted else None


def history() -> tuple[Moment, ...]:
    """The boards after each cycle that counts, played again from the first one."""
    return _moments(read(CycleRow.objects.counted()))


def history_of(run: Run) -> tuple[Moment, ...]:
    """The boards after each cycle of the run, as if there were no others: cheap, for nothing of it is drawn by lot."""
    return _moments(read(_rows_of(run)))


def moment_of(cycle: CycleRow) -> Moment | None:
    """This cycle in the history of its run; None where it does not count."""
    return next((moment for moment in history_of(cycle.run) if moment.turn == cycle.turn), None)


def _rows_of(run: Run) -> QuerySet[CycleRow]:
    rows = CycleRow.objects.filter(run=run, state=CycleRow.State.RATED, voided__isnull=True)
    return rows.order_by("ended", "pk")


def _moments(counted: Sequence[Counted], replayed: Sequence[Replayed] | None = None) -> tuple[Moment, ...]:
    after = replay([one.rated for one in counted]) if replayed is None else replayed
    return tuple(
        Moment(
            number=one.number,
            pk=one.row.pk,
            run=one.row.run_id,
            turn=one.row.turn,
            ended=one.row.ended,
            setter=one.cycle.setter,
            means=left.scores,
            overall=left.overall,
            calibration=left.calibration,
            compatible=left.compatible.ratings,
            changes=left.compatible.changes,
            elo={name: rating for name, rating in left.solvers.ratings.items() if left.solvers.played[name]},
            elo_changes=left.solvers.changes,
        )
        for one, left in zip(counted, after, strict=True)
    )


# --- all figures ---


def _of(counted: Sequence[Counted], runs: QuerySet[Run]) -> RunRatings:
    """runs: those in which judgments that are missing, and cycles without a problem, are looked for."""
    known = dict.fromkeys((name for one in counted for name in one.cycle.contestants), ("", False))
    models = ProviderModel.objects.filter(slug__in=known).values_list("slug", "label", "provider__is_simulated")
    names = {**known, **{slug: (label, is_simulated) for slug, label, is_simulated in models}}
    cycles = [one.rated for one in counted]
    replayed, strengths = replay(cycles), solver_ratings(cycles)
    found = judging([one.cycle for one in counted])
    missing = _missing_by(counted, runs)
    solvers = _solvers(counted, names, replayed[-1], strengths)
    return RunRatings(
        solvers=solvers,
        setters=_setters(cycles, names, _void_by(runs, names)),
        judges=tuple(_judge(judge, names, missing[judge.name]) for judge in found.judges),
        history=_moments(counted, replayed),
        alpha=_figure(found.alpha),
        tests=_figure(found.consensus),
        order_moves=max(abs(solver.compatible - solver.reverse) for solver in solvers),
        cycles=len(cycles),
        votes=found.votes,
        solutions=found.solutions,
        battles=int(strengths.battles.sum()) // 2,
        ties=int(strengths.ties.sum()) // 2,
        components=len(strengths.intervals.ratings.components),
    )


def _void_by(runs: QuerySet[Run], names: Names) -> Counter[str]:
    """How often each model set nothing that could be played."""
    found = CycleRow.objects.filter(run__in=runs, state=CycleRow.State.VOID)
    setters_of = [dict(seated).get(seat, "") for seat, seated in found.values_list("setter", "contestants")]
    return Counter(name for name in setters_of if name in names)


def _missing_by(counted: Sequence[Counted], runs: QuerySet[Run]) -> Counter[str]:
    """How many judgments each model did not give, or gave so that nobody could read them."""
    seated = {(one.row.run_id, one.row.turn): dict(one.row.contestants) for one in counted}
    lost = Judgment.objects.filter(run__in=runs, scores__isnull=True).exclude(judge_seat="").order_by()
    found = lost.values_list("run_id", "turn", "judge_seat")
    return Counter(seated[run, turn][seat] for run, turn, seat in found if seat in seated.get((run, turn), {}))


def _figure(estimate: Estimate) -> Figure:
    """An estimate as pages and files show it."""
    value, interval = estimate.value, estimate.interval
    found = Figure(units=estimate.units, cycles=estimate.clusters)
    if isinstance(value, Undefined):
        return replace(found, reason=str(value.reason))
    if isinstance(interval, Undefined):
        return replace(found, value=value, no_interval=str(interval.reason))
    return replace(found, value=value, low=interval[0], high=interval[1])


def _shown(one: Setter | Judge) -> dict[str, Any]:
    """Its fields, estimates as figures."""
    values = {field.name: getattr(one, field.name) for field in fields(one)}
    return {name: _figure(value) if isinstance(value, Estimate) else value for name, value in values.items()}


def _setters(cycles: Sequence[Cycle], names: Names, void: Counter[str]) -> tuple[SetterRow, ...]:
    """The best calibrated first."""
    found = setters(cycles, others=void)
    rows = [SetterRow(label=names[one.name][0], void=void[one.name], **_shown(one)) for one in found]
    return tuple(
        sorted(rows, key=lambda row: (row.calibration.value is None, -(row.calibration.value or 0.0), row.name))
    )


def _judge(judge: Judge, names: Names, missing: int) -> JudgeRow:
    spread = Figure(reason=str(judge.spread.reason)) if isinstance(judge.spread, Undefined) else Figure(judge.spread)
    return JudgeRow(label=names[judge.name][0], missing=missing, **{**_shown(judge), "spread": spread})


# --- solvers: three boards, ranks, and what happened to their solutions ---


def _solvers(counted: Sequence[Counted], names: Names, after: Replayed, strengths: SolverRatings) -> tuple[Solver, ...]:
    backwards = [replace(one.rated, contestants=one.rated.contestants[::-1]) for one in counted]
    compatible, reverse, batch = after.compatible, compatible_elo(backwards).snapshots[-1], after.solvers
    placed, fared = _placed(strengths), _fared(counted)
    rows = [
        Solver(
            name=name,
            label=names[name][0],
            is_simulated=names[name][1],
            compatible=rating,
            change=compatible.changes.get(name),
            reverse=reverse.ratings[name],
            elo=batch.ratings[name] if batch.played[name] else None,
            elo_change=batch.changes.get(name) if batch.played[name] else None,
            **placed[name],
            **fared[name],
        )
        for name, rating in compatible.ratings.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.compatible, row.name)))


def _fared(counted: Sequence[Counted]) -> dict[str, dict[str, Any]]:
    """Fields of each solver about what happened to its solutions."""
    means: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    passed: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    stood, votes = Counter[str](), Counter[str]()
    for one in counted:
        stood.update(one.cycle.contestants)
        votes.update(vote.solver for vote in one.cycle.votes)
        for name, mean in scores(one.rated).items():
            means[name].append((one.number, mean))
        for name, share in one.cycle.passed.items():
            passed[name].append((one.number, share))
    return {
        name: {
            "mean": _mean(means[name], HIGHEST, Reason.NO_VOTES),
            "passed": _mean(passed[name], 1.0, Reason.NOTHING_RUN),
            "cycles": cycles,
            "votes": votes[name],
            "unrated": cycles - len(means[name]),
        }
        for name, cycles in stood.items()
    }


def _mean(values: Sequence[tuple[int, float]], high: float, empty: Reason) -> Figure:
    clusters = np.array([number for number, _value in values], dtype=np.int64)
    found = np.array([value for _number, value in values], dtype=np.float64)
    return _figure(mean_estimate(found, clusters, low=0.0, high=high, empty=empty))


def _placed(found: SolverRatings) -> dict[str, dict[str, Any]]:
    """Fields of each solver: its Bradley-Terry rating with interval and rank, one-sided bounds, or the reason."""
    intervals, ratings = found.intervals, found.intervals.ratings
    reasons = [_why_unrated(found, index) for index in range(len(ratings.contestants))]
    is_wide = np.array([reason == FEW_SAMPLES for reason in reasons], dtype=bool)
    order = ranks(intervals, draws=DRAWS, seed=SEED, is_known=(np.asarray(found.cycles) > 1) & ~is_wide)
    components = ratings.component_of.tolist()
    rows: dict[str, dict[str, Any]] = {}
    for index, name in enumerate(ratings.contestants):
        battles, wins, ties = (int(counts[index]) for counts in (found.battles, found.wins, found.ties))
        reason, has_rank = reasons[index], not np.isnan(order.rank[index])
        row = rows[name] = {
            "battles": battles,
            "wins": wins,
            "ties": ties,
            "losses": battles - wins - ties,
            "component": components[index],
            "reason": reason if has_rank or reason not in BOUNDED else FEW_CYCLES,
        }
        if has_rank:
            bounds = intervals.one_sided if reason else intervals
            real = {"rating": ratings.values, "lower": bounds.lower, "upper": bounds.upper, "first": order.first}
            row |= {key: float(of[index]) if np.isfinite(of[index]) else None for key, of in real.items()}
            whole = {"rank": order.rank, "best": order.best, "worst": order.worst, "group": order.group}
            row |= {key: int(of[index]) for key, of in whole.items()}
    return rows


def _why_unrated(found: SolverRatings, index: int) -> str:
    """Too little is known of one cycle, and where a rating could be wrong by more than 400 points."""
    if reason := found.intervals.ratings.reasons[index]:
        return str(reason)
    if no_interval := found.no_interval[index]:
        return FEW_CYCLES if no_interval == Reason.TOO_FEW_UNITS else str(no_interval)
    return FEW_SAMPLES if NORMAL * float(found.intervals.errors[index]) > WIDEST else ""
