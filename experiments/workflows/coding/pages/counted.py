"""Cycles as they are stored, read as what ratings are computed from: models by their slugs, votes, tests passed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from experiments.models import Cycle as CycleRow
from leaderboard.ratings.cycles import Cycle, Vote


@dataclass(frozen=True, slots=True)
class Counted:
    """A cycle on which ratings rest. number: its place among those it was read with, from 1; turn: within its run.

    cycle: every valid vote. rated: without the votes on solutions that have fewer of them than the cycle's quorum,
    which count in no rating. unrated: why a solver has no score, by slug. seated: the slug of each seat.
    """

    number: int
    pk: int
    run: UUID
    turn: int
    ended: datetime | None
    quorum: int
    cycle: Cycle
    rated: Cycle
    unrated: Mapping[str, str]
    seated: Mapping[str, str]


def read(rows: Iterable[CycleRow]) -> tuple[Counted, ...]:
    """The rows in their sequence. Raises ValueError and LookupError for one that holds no cycle."""
    return tuple(_read(row, number) for number, row in enumerate(rows, 1))


def _read(row: CycleRow, number: int) -> Counted:
    found, name = row.found, dict(row.contestants)
    cycle = Cycle(
        contestants=tuple(name[seat] for seat, _slug in row.contestants),
        setter=name[row.setter],
        votes=_votes(found["votes"], name),
        passed={name[seat]: float(share) for seat, share in found.get("passed", {}).items()},
    )
    quorum = int(found.get("quorum", 1))
    return Counted(
        number=number,
        pk=row.pk,
        run=row.run_id,
        turn=row.turn,
        ended=row.ended,
        quorum=quorum,
        cycle=cycle,
        rated=_of_rated(cycle, quorum),
        unrated={name[seat]: str(reason) for seat, reason in found.get("unrated", {}).items()},
        seated=name,
    )


def _votes(given: Mapping[str, Mapping[str, Any]], name: Mapping[str, str]) -> tuple[Vote, ...]:
    return tuple(
        Vote(name[solver], name[judge], float(overall))
        for solver, votes in given.items()
        for judge, overall in votes.items()
    )


def _of_rated(cycle: Cycle, quorum: int) -> Cycle:
    solvers = [vote.solver for vote in cycle.votes]
    enough = {solver for solver in solvers if solvers.count(solver) >= quorum}
    return replace(cycle, votes=tuple(vote for vote in cycle.votes if vote.solver in enough))
