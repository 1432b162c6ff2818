"""Ratings of models that set, solve and judge problems: of one run's cycles, or of those of all runs.

They are computed from the stored votes whenever they are asked for, so that a cycle that is left out is as if it had
never been: the others are played again from the first one.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from django.core.cache import caches
from django.db.models import QuerySet

from experiments.models import Cycle as CycleRow
from experiments.models import Judgment, ProviderModel, Run
from experiments.workflows.coding.pages.counted import Counted, read
from experiments.workflows.coding.pages.placing import by_strength
from experiments.workflows.coding.pages.rated import Figure, JudgeRow, Moment, RunRatings, SetterRow, Solver
from leaderboard.ratings.cycles import Cycle, Snapshot, SolverRatings, compatible_elo, replay, scores, solver_ratings
from leaderboard.ratings.cycles import Moment as Replayed
from leaderboard.ratings.judging import Judge, judging, setters
from leaderboard.ratings.statistics import Estimate, mean_estimate
from leaderboard.ratings.values import Reason, Undefined

HIGHEST = 10.0  # of a score
KEPT_SECONDS = 3600  # the figures of judges take seconds where there are hundreds of cycles

Names = Mapping[str, tuple[str, bool]]  # by slug: the label, and whether the model is simulated


def of_run(run: Run) -> RunRatings | None:
    """What the run's own cycles say, as if there were no others. None as long as none counts."""
    counted = read(_rows_of(run))
    if not counted:
        return None
    void = CycleRow.objects.filter(run=run, state=CycleRow.State.VOID).count()
    state = hashlib.sha256(repr(([one.pk for one in counted], void)).encode()).hexdigest()
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
    counted = read(CycleRow.objects.counted())
    return _moments(counted, replay([one.rated for one in counted]))


def history_of(run: Run) -> tuple[Moment, ...]:
    """The boards after each cycle of the run, as if there were no others: cheap, for nothing of it is drawn by lot."""
    counted = read(_rows_of(run))
    return _moments(counted, replay([one.rated for one in counted]))


def _rows_of(run: Run) -> QuerySet[CycleRow]:
    rows = CycleRow.objects.filter(run=run, state=CycleRow.State.RATED, voided__isnull=True)
    return rows.order_by("ended", "pk")


def _of(counted: Sequence[Counted], runs: QuerySet[Run]) -> RunRatings:
    """runs: those in which judgments that are missing, and cycles without a problem, are looked for."""
    names = _named({name for one in counted for name in one.cycle.contestants})
    void = _void_by(runs, names)
    missing = _missing_by(counted, runs)
    return computed(counted, names, void=void, missing=missing)


def computed(
    counted: Sequence[Counted], names: Names, *, void: Mapping[str, int], missing: Mapping[str, int]
) -> RunRatings:
    """From values alone. void: cycles without a problem, by their setter; missing: votes not given, by judge."""
    cycles = [one.rated for one in counted]
    backwards = [replace(cycle, contestants=cycle.contestants[::-1]) for cycle in cycles]
    replayed = replay(cycles)
    boards = replayed[-1].compatible, compatible_elo(backwards).snapshots[-1], replayed[-1].solvers
    strengths = solver_ratings(cycles)
    found = judging([one.cycle for one in counted])
    solvers = _solvers(counted, names, boards, strengths)
    ratings = strengths.intervals.ratings
    return RunRatings(
        solvers=solvers,
        setters=_setters(cycles, names, void),
        judges=tuple(_judge(judge, names, missing.get(judge.name, 0)) for judge in found.judges),
        history=_moments(counted, replayed),
        alpha=figure(found.alpha),
        tests=figure(found.consensus),
        order_moves=max(abs(solver.compatible - solver.reverse) for solver in solvers),
        cycles=len(cycles),
        votes=found.votes,
        solutions=found.solutions,
        battles=int(strengths.battles.sum()) // 2,
        ties=int(strengths.ties.sum()) // 2,
        components=len(ratings.components),
    )


def figure(estimate: Estimate) -> Figure:
    """An estimate as pages and files show it."""
    value, interval = estimate.value, estimate.interval
    found = Figure(units=estimate.units, cycles=estimate.clusters)
    if isinstance(value, Undefined):
        return replace(found, reason=str(value.reason))
    if isinstance(interval, Undefined):
        return replace(found, value=value, no_interval=str(interval.reason))
    return replace(found, value=value, low=interval[0], high=interval[1])


def _solvers(
    counted: Sequence[Counted], names: Names, boards: tuple[Snapshot, Snapshot, Snapshot], strengths: SolverRatings
) -> tuple[Solver, ...]:
    compatible, backwards, batch = boards
    placed = by_strength(strengths)
    fared = _fared(counted)
    rows = [
        Solver(
            name=name,
            label=names[name][0],
            is_simulated=names[name][1],
            compatible=rating,
            change=compatible.changes.get(name),
            reverse=backwards.ratings[name],
            elo=batch.ratings[name] if batch.played[name] else None,
            elo_change=batch.changes.get(name) if batch.played[name] else None,
            **vars(placed[name]),
            **fared[name],
        )
        for name, rating in compatible.ratings.items()
    ]
    return tuple(sorted(rows, key=lambda row: (-row.compatible, row.name)))


def _fared(counted: Sequence[Counted]) -> dict[str, dict[str, Any]]:
    """What happened to each model's solutions."""
    means: dict[str, list[tuple[int, float]]] = {}
    passed: dict[str, list[tuple[int, float]]] = {}
    stood, votes = Counter[str](), Counter[str]()
    for one in counted:
        stood.update(one.cycle.contestants)
        votes.update(vote.solver for vote in one.cycle.votes)
        for name, mean in scores(one.rated).items():
            means.setdefault(name, []).append((one.number, mean))
        for name, share in one.cycle.passed.items():
            passed.setdefault(name, []).append((one.number, share))
    return {
        name: {
            "mean": _mean(means.get(name, []), HIGHEST, Reason.NO_VOTES),
            "passed": _mean(passed.get(name, []), 1.0, Reason.NOTHING_RUN),
            "cycles": cycles,
            "votes": votes[name],
            "unrated": cycles - len(means.get(name, [])),
        }
        for name, cycles in stood.items()
    }


def _mean(values: Sequence[tuple[int, float]], high: float, empty: Reason) -> Figure:
    clusters = np.array([number for number, _value in values], dtype=np.int64)
    found = np.array([value for _number, value in values], dtype=np.float64)
    return figure(mean_estimate(found, clusters, low=0.0, high=high, empty=empty))


def _setters(cycles: Sequence[Cycle], names: Names, void: Mapping[str, int]) -> tuple[SetterRow, ...]:
    rows = [
        SetterRow(
            name=one.name,
            label=names[one.name][0],
            problems=one.problems,
            scored=one.scored,
            void=void.get(one.name, 0),
            calibration=figure(one.calibration),
            by_others=figure(one.by_others),
            overall=figure(one.overall),
            passed=figure(one.passed),
        )
        for one in setters(cycles, others=void)
    ]
    return tuple(sorted(rows, key=_by_calibration))


def _by_calibration(row: SetterRow) -> tuple[bool, float, str]:
    return row.calibration.value is None, -(row.calibration.value or 0.0), row.name


def _judge(judge: Judge, names: Names, missing: int) -> JudgeRow:
    figures = ("mean", "severity", "consensus", "consensus_ranks", "passed")
    spread = Figure(reason=str(judge.spread.reason)) if isinstance(judge.spread, Undefined) else Figure(judge.spread)
    return JudgeRow(
        name=judge.name,
        label=names[judge.name][0],
        votes=judge.votes,
        missing=missing,
        cycles=judge.cycles,
        spread=spread,
        **{name: figure(getattr(judge, name)) for name in figures},
    )


def _moments(counted: Sequence[Counted], replayed: Sequence[Replayed]) -> tuple[Moment, ...]:
    return tuple(_moment(one, after) for one, after in zip(counted, replayed, strict=True))


def _moment(one: Counted, after: Replayed) -> Moment:
    return Moment(
        number=one.number,
        pk=one.pk,
        run=one.run,
        turn=one.turn,
        ended=one.ended,
        setter=one.cycle.setter,
        means=after.scores,
        overall=after.overall,
        calibration=after.calibration,
        compatible=after.compatible.ratings,
        changes=after.compatible.changes,
        elo={name: rating for name, rating in after.solvers.ratings.items() if after.solvers.played[name]},
        elo_changes=after.solvers.changes,
    )


def _named(slugs: Iterable[str]) -> dict[str, tuple[str, bool]]:
    """A model that has left the catalogue is called by its slug."""
    known = dict.fromkeys(slugs, ("", False))
    models = ProviderModel.objects.filter(slug__in=known).values_list("slug", "label", "provider__is_simulated")
    return {**known, **{slug: (label, is_simulated) for slug, label, is_simulated in models}}


def _void_by(runs: QuerySet[Run], names: Names) -> Counter[str]:
    """How often each model set nothing that could be played."""
    found = CycleRow.objects.filter(run__in=runs, state=CycleRow.State.VOID)
    setters_of = [dict(seated).get(seat, "") for seat, seated in found.values_list("setter", "contestants")]
    return Counter(name for name in setters_of if name in names)


def _missing_by(counted: Sequence[Counted], runs: QuerySet[Run]) -> Counter[str]:
    """How many judgments each model did not give, or gave so that nobody could read them."""
    seated = {(one.run, one.turn): one.seated for one in counted}
    lost = Judgment.objects.filter(run__in=runs, scores__isnull=True).exclude(judge_seat="").order_by()
    found = lost.values_list("run_id", "turn", "judge_seat")
    return Counter(seated[run, turn][seat] for run, turn, seat in found if seat in seated.get((run, turn), {}))
