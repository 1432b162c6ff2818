"""Coding: one model sets a problem, all solve it, a sandbox executes the solutions, all judge those of the others.

A cycle is a turn. Within it nobody waits for anybody: a solution is executed and judged as soon as it is there.
"""

from collections.abc import Generator
from statistics import fmean
from typing import Any

from experiments.workflows.base import measuring
from experiments.workflows.base.records import Record, TurnCompleted, TurnStarted
from experiments.workflows.base.steps import Cast, End, Outcome, Play
from experiments.workflows.base.workflow import Branching, Workflow
from experiments.workflows.coding.config import CODERS, SEATS, Config, Earlier
from experiments.workflows.coding.contest import Contest, Round, gather, look_again, shortened
from experiments.workflows.coding.problems import fingerprint
from experiments.workflows.coding.records import (
    EVENTS,
    RECORDS,
    CycleBegun,
    CycleRated,
    CyclesPlanned,
    CycleVoid,
    ProblemSet,
    ProblemsKnown,
)
from experiments.workflows.coding.setting import Setters, set_problem
from experiments.workflows.coding.solving import solve

__all__ = ["KNOWN", "SEATS", "WORKFLOW", "Config", "run"]

KNOWN = "known"  # the key of what may not be set again, written down when the run begins


def run(config: Config, cast: Cast) -> Play:
    play = _run(config, cast)
    return measuring.measured_beside(play, cast, config.asked_live, purposes=("solution",), speakers=CODERS)


def _run(config: Config, cast: Cast) -> Play:
    known: Outcome = yield Record(KNOWN, ProblemsKnown())
    contest = Contest(config, cast, earlier=[Earlier.model_validate(one) for one in known.found.get("problems", ())])
    yield from gather(contest)
    contest.check_pool()
    if contest.end:
        return contest.end
    setters, turn = Setters(contest), 1
    planned = CyclesPlanned(cycles=config.cycles, setters=setters.mode, pool=list(contest.pool))
    yield Record("cycles", planned)
    while contest.end is None and (chosen := setters.next(turn)):
        seat, is_second = chosen
        if seat not in contest.pool and not is_second:  # it may be back by the end
            setters.failed(seat, is_second=False)
            continue
        is_void = yield from _cycle(contest, turn, seat)
        if is_void:
            setters.failed(seat, is_second=is_second)
        turn += 1
        if contest.end is None and setters.are_left:
            yield from look_again(contest, turn)
            contest.check_pool()
    return contest.end or End("completed")


def _cycle(contest: Contest, turn: int, setter: str) -> Generator[Any, Any, bool]:
    """Play one cycle. Whether it is void: nothing in it counts."""
    round_ = Round(contest, turn, setter, contest.pool)
    yield Record(round_.base, TurnStarted(turn=turn), turn=turn)
    begun = CycleBegun(turn=turn, setter=setter, coders=list(round_.coders))
    yield Record(f"{round_.base}/begun", begun, turn=turn)
    if setter not in contest.pool:
        yield _void(round_, shortened(f"The setter takes no part any more. {contest.left[setter]}"))
        return True
    wrong = yield from set_problem(round_)
    if contest.end:
        return True
    if wrong or round_.problem is None:
        yield _void(round_, wrong)
        return True
    problem = round_.problem
    contest.remember(problem)
    told = ProblemSet(turn=turn, setter=setter, title=problem.title, fingerprint=fingerprint(problem))
    yield Record(f"{round_.base}/set", told, turn=turn)
    yield [solve(round_, problem, seat) for seat in round_.coders]
    if contest.end:
        return True
    yield _rated(round_)
    yield Record(f"{round_.base}/completed", TurnCompleted(turn=turn), turn=turn)
    return False


def _void(round_: Round, reason: str) -> Record:
    void = CycleVoid(turn=round_.turn, setter=round_.setter, reason=reason)
    return Record(f"{round_.base}/void", void, turn=round_.turn)


def _rated(round_: Round) -> Record:
    """The votes on which ratings rest. A solution with fewer votes than the quorum is not rated, whoever voted."""
    quorum = round_.contest.config.quorum
    unrated = dict(round_.unrated)
    means = {}
    all_votes = {seat: dict(sorted(round_.votes.get(seat, {}).items())) for seat in round_.coders}
    for seat, votes in all_votes.items():
        if len(votes) >= quorum:
            means[seat] = fmean(votes.values())
        elif seat not in unrated:
            unrated[seat] = shortened(f"{len(votes)} of at least {quorum} votes were given.")
    rated = CycleRated(
        turn=round_.turn,
        setter=round_.setter,
        coders=list(round_.coders),
        quorum=quorum,
        votes=all_votes,
        means=means,
        overall=fmean(means.values()) if means else None,
        passed={seat: round_.passed[seat] for seat in round_.coders if seat in round_.passed},
        unrated=unrated,
    )
    return Record(f"{round_.base}/rated", rated, turn=round_.turn)


WORKFLOW = Workflow(
    slug="coding",
    config=Config,
    seats=SEATS,
    run=run,
    place=8,
    leads="coder-1",
    ranked=CODERS,
    branches=Branching.NOWHERE,
    executes=True,
    records=(*RECORDS, *measuring.RECORDS),
    events=EVENTS,
    surface=f"{__name__}.surface",
    rows=f"{__name__}.rows",
    services=f"{__name__}.services",
)
