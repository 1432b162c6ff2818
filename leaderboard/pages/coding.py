"""What the pages of the ladder of coding show: the boards side by side, and their history cycle by cycle."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import QueryDict

from accounts.models import User
from experiments.models import Cycle, Run
from experiments.runs.drawings import charts
from experiments.workflows.coding.pages import voiding
from experiments.workflows.coding.pages.rated import Moment, RunRatings, Solver
from leaderboard.boards import coding
from leaderboard.boards.standings import Row, Standings
from leaderboard.pages.charts import axis_of

MOST_LINES = 8
MOST_CYCLES = 200  # that are drawn: the latest
BOARDS = ("compatible", "elo")
MOST_VOID = 50  # that are listed: the latest


@dataclass(frozen=True, slots=True)
class Line:
    """A model on the order-free boards."""

    row: Row
    solver: Solver


@dataclass(frozen=True, slots=True)
class Drawn:
    """A cycle of the chart. number: its place among those that count. values: ratings after it, None of who had none.

    cycle: for who may see its run, None for everybody else.
    """

    number: int
    ended: datetime | None
    values: tuple[float | None, ...]
    changes: tuple[float | None, ...]
    cycle: Cycle | None
    band: charts.Band


@dataclass(frozen=True, slots=True)
class History:
    """names, labels: of those who are drawn; everybody: who could be, with their labels. earlier: cycles not drawn."""

    chart: charts.Chart
    board: str
    names: tuple[str, ...]
    labels: tuple[str, ...]
    everybody: tuple[tuple[str, str], ...]
    cycles: tuple[Drawn, ...]
    earlier: int


def boards(found: Standings) -> dict[str, object]:
    """Both kinds of boards, and whom they are of."""
    contest = found.contest
    if contest is None:
        return {"contest": None}
    solver = {one.name: one for one in contest.solvers}
    return {"contest": contest, "free": [Line(row, solver[row.name]) for row in found.rows]}


def left_out(user: "User | Any") -> dict[str, object]:
    """Cycles that somebody left out of the ratings, the latest first: when and why, but not what they were; and by
    whom, for people who have signed in. Why a whole run was left out is read by those who may see the run.
    """
    rated = Cycle.objects.filter(state=Cycle.State.RATED, run__origin=Run.Origin.LIVE)
    void = rated.filter(voided__isnull=False).select_related("voided_by", "run__review").order_by("-voided", "-pk")
    rows = list(void[:MOST_VOID])
    visible = set(Run.objects.visible_to(user).filter(pk__in={row.run_id for row in rows}).values_list("pk", flat=True))
    shown = [_void(row, is_named=user.is_authenticated, is_seen=row.run_id in visible) for row in rows]
    return {"void": shown, "void_count": void.count()}


def history(contest: RunRatings, asked: QueryDict, user: "User | Any") -> History | None:
    """Of the models that `name` chooses, or else the highest; `board` is one of BOARDS. None without a cycle."""
    moments = coding.history()
    if not moments:
        return None
    board = asked.get("board", "") if asked.get("board", "") in BOARDS else BOARDS[0]
    latest = getattr(moments[-1], board)
    label = {one.name: one.shown for one in contest.solvers}
    ranked = sorted(latest, key=lambda name: (-latest[name], name))
    names = _chosen(ranked, asked.getlist("name"))
    drawn = moments[-MOST_CYCLES:]
    chart = _chart(drawn, board, names, label)
    return History(
        chart=chart,
        board=board,
        names=names,
        labels=tuple(label.get(name, name) for name in names),
        everybody=tuple((name, label.get(name, name)) for name in ranked),
        cycles=_cycles(drawn, board, names, chart.bands, user),
        earlier=len(moments) - len(drawn),
    )


def _chosen(ranked: Sequence[str], asked: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in ranked if name in asked)[:MOST_LINES] or tuple(ranked[:MOST_LINES])


def _cycles(
    drawn: Sequence[Moment], board: str, names: Sequence[str], bands: Sequence[charts.Band], user: Any
) -> tuple[Drawn, ...]:
    """Titles, times and addresses are those of the runs that the person may see."""
    visible = Cycle.objects.visible_to(user).filter(state=Cycle.State.RATED).in_bulk([one.pk for one in drawn])
    moved = {"compatible": "changes", "elo": "elo_changes"}[board]
    return tuple(
        Drawn(
            number=one.number,
            ended=one.ended if one.pk in visible else None,
            values=tuple(getattr(one, board).get(name) for name in names),
            changes=tuple(getattr(one, moved).get(name) for name in names),
            cycle=visible.get(one.pk),
            band=band,
        )
        for one, band in zip(drawn, bands, strict=True)
    )


def _chart(drawn: Sequence[Moment], board: str, names: Sequence[str], label: Mapping[str, str]) -> charts.Chart:
    found = {name: tuple(getattr(one, board).get(name) for one in drawn) for name in names}
    series = [
        charts.Series(f"nth-{place}", label.get(name, name)[:24], found[name]) for place, name in enumerate(names)
    ]
    rows = [Row(name, "", rating=value) for name, values in found.items() for value in values if value is not None]
    axis = axis_of(rows)
    low, high, ticks = (axis.low, axis.high, axis.ticks) if axis else (1100.0, 1300.0, ())
    scale = charts.Scale(low, high, tuple(float(rating) for _place, rating in ticks))
    return charts.chart([one.number for one in drawn], series, scale, charts.OF_RATINGS)


def _void(row: Cycle, *, is_named: bool, is_seen: bool) -> dict[str, Any]:
    models = dict(row.contestants)
    by = row.voided_by.get_username() if is_named and row.voided_by else ""
    review = getattr(row.run, "review", None)
    is_of_run = review is not None and review.excluded and review.reason == row.void_reason
    reason = row.void_reason if is_seen or not is_of_run else ""
    return {"setter": models.get(row.setter, ""), "reason": reason, "at": row.voided, "by": by}


def listed(rows: Sequence[Cycle]) -> list[dict[str, object]]:
    """Cycles as administrators choose among them, with what was done to each so far."""
    done = voiding.deeds(rows)
    return [
        {
            "cycle": row,
            "models": [slug for _seat, slug in row.contestants],
            "setter": dict(row.contestants).get(row.setter, ""),
            "overall": row.found.get("overall"),
            "deeds": done.get(row.pk, []),
        }
        for row in rows
    ]
