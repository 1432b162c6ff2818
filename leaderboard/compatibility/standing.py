"""Standings in the shapes that GenArena's viewer knows. What is not rated is null, never 1000."""

import math
from collections.abc import Collection, Sequence
from typing import Any, TypedDict

import numpy as np

from experiments.models import Board, Contestant
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.boards import compute
from leaderboard.boards.ranking import MOST_READ, Counts, counts_of, kept_widths, ranking_of, rows_of, to_read
from leaderboard.boards.standings import Row, Standings
from leaderboard.boards.tables import Cell, pair_matrix
from leaderboard.models import Ladder, RatingPoint
from leaderboard.ratings import Intervals, Table
from leaderboard.ratings.intervals import as_wide_as, by_items

ALL = "__all__"
MOST_POINTS = 50


def standings_of(ladder: Ladder, category: str = "") -> Standings:
    return compute.current(ladder, "", category).standings


def info(ladder: Ladder) -> dict[str, object]:
    found = standings_of(ladder)
    return {
        "name": ladder.slug,
        "models": [row.name for row in found.rows],
        "experiments": [ALL],
        "total_battles": found.battles,
        "prompt_sources": list(found.categories),
    }


def stats(ladder: Ladder) -> dict[str, object]:
    found = standings_of(ladder)
    return {
        "subset": ladder.slug,
        "models": [row.name for row in found.rows],
        "experiments": [ALL],
        "total_battles": found.battles,
        "consistent_battles": found.consistent,
        "tie_battles": found.ties,
        "consistency_rate": found.consistency,
    }


def leaderboard(ladder: Ladder, models: Collection[str] = (), category: str = "") -> list[dict[str, object]]:
    return [entry(row) for row in standings_of(ladder, category).rows if not models or row.name in models]


def entry(row: Row) -> dict[str, object]:
    return {
        "model": row.name,
        "elo": row.rating,
        "ci_lower": row.lower,
        "ci_upper": row.upper,
        "rank": row.rank,
        "reason": row.reason,
        "wins": row.wins,
        "losses": row.losses,
        "ties": row.ties,
        "total_battles": row.battles,
        "total": row.battles,
        "win_rate": row.win_rate,
    }


def by_source(ladder: Ladder) -> dict[str, object]:
    """A source is a category of samples here."""
    sources = list(standings_of(ladder).categories)
    slices = {source: standings_of(ladder, source) for source in sources}
    return {
        "sources": sorted(sources, key=lambda source: -slices[source].battles),
        "leaderboards": {source: [entry(row) for row in found.rows] for source, found in slices.items()},
        "battle_counts": {source: found.battles for source, found in slices.items()},
    }


def model_stats(ladder: Ladder, model: str) -> dict[str, object] | None:
    """One contestant, and how it fared against each other one; None for one that is not on the ladder."""
    mine, others = _met(ladder, model)
    if mine is None:
        return None
    against = [
        {
            "opponent": row.name,
            "opponent_elo": row.rating,
            "opponent_ci_lower": row.lower,
            "opponent_ci_upper": row.upper,
            "wins": cell.wins,
            "losses": cell.losses,
            "ties": cell.ties,
            "total": cell.battles,
            "win_rate": cell.win_rate,
        }
        for row, cell in others
    ]
    return {**entry(mine), "vs_stats": against}


def _met(ladder: Ladder, model: str) -> tuple[Row | None, list[tuple[Row, Cell]]]:
    """A contestant, and those that it has met with what came of it."""
    found = pair_matrix(ladder, compute.current(ladder), whole=True)
    lines = found.lines if found else ()
    mine = next((line for line in lines if line.row.name == model), None)
    if mine is None:
        return None, []
    return mine.row, [(line.row, cell) for line, cell in zip(lines, mine.cells, strict=True) if cell]


def head_to_head(ladder: Ladder, model_a: str, model_b: str) -> dict[str, object]:
    """A tie counts half for each, as it does in the ratings."""
    _one, others = _met(ladder, model_a)
    met = next((cell for row, cell in others if row.name == model_b), None)
    wins, losses, ties = (met.wins, met.losses, met.ties) if met else (0, 0, 0)
    total = wins + losses + ties
    return {
        "model_a": model_a,
        "model_b": model_b,
        "wins_a": wins,
        "wins_b": losses,
        "ties": ties,
        "total": total,
        "win_rate_a": (wins + ties / 2) / total if total else None,
        "win_rate_b": (losses + ties / 2) / total if total else None,
        "tie_rate": ties / total if total else None,
    }


def win_matrix(ladder: Ladder, models: Collection[str] = ()) -> dict[str, object]:
    """Null where two have not met, on the diagonal, too."""
    found = pair_matrix(ladder, compute.current(ladder), whole=True)
    lines = found.lines if found else ()
    kept = [place for place, line in enumerate(lines) if not models or line.row.name in models]
    cells = [[lines[i].cells[j] for j in kept] for i in kept]
    return {
        "models": [lines[place].row.name for place in kept],
        "matrix": [[cell.win_rate if cell else None for cell in row] for row in cells],
        "counts": [[cell.battles if cell else 0 for cell in row] for row in cells],
        "wins": [[cell.wins + cell.ties / 2 if cell else 0 for cell in row] for row in cells],
    }


def history(ladder: Ladder, models: Collection[str] = ()) -> dict[str, object]:
    """The last points of the ladder's history. ci_lower, ci_upper: the intervals of then, null where none was noted."""
    moments = sorted(ladder.points.order_by("-at").values_list("at", flat=True).distinct()[:MOST_POINTS])
    rows = ladder.points.filter(at__in=moments).order_by("at", "name")
    known: dict[str, dict[Any, RatingPoint]] = {}
    battles = dict.fromkeys(moments, 0)
    for point in rows:
        battles[point.at] += point.battles
        if not models or point.name in models:
            known.setdefault(point.name, {})[point.at] = point
    return {
        "timestamps": [moment.isoformat() for moment in moments],
        **{
            field: {name: [getattr(at.get(one), column, None) for one in moments] for name, at in known.items()}
            for field, column in (("models", "rating"), ("ci_lower", "lower"), ("ci_upper", "upper"))
        },
        "battle_counts": [count // 2 for count in battles.values()],  # a battle is one of both contestants'
    }


def overview(ladders: Sequence[Ladder]) -> dict[str, object]:
    boards = {ladder.slug: {row.name: row for row in standings_of(ladder).rows} for ladder in ladders}
    names = {name for board in boards.values() for name in board}

    def mean(name: str) -> float:
        ratings = [board[name].rating for board in boards.values() if name in board]
        known = [rating for rating in ratings if rating is not None]
        return sum(known) / len(known) if known else -math.inf

    totals = {ladder.slug: standings_of(ladder).battles for ladder in ladders}
    return {
        "subsets": list(boards),
        "models": sorted(names, key=lambda name: (-mean(name), name)),
        "data": {slug: {name: entry(row) for name, row in board.items()} for slug, board in boards.items()},
        "subset_info": {s: {"total_battles": totals[s], "model_count": len(boards[s])} for s in boards},
    }


class CrossInfo(TypedDict):
    """Who stands on several ladders: on all, on any, and on each."""

    common_models: list[str]
    all_models: list[str]
    per_subset_models: dict[str, list[str]]
    per_subset_battles: dict[str, int]
    total_battles: int


def cross_info(ladders: Sequence[Ladder]) -> CrossInfo:
    models = {ladder.slug: {row.name for row in standings_of(ladder).rows} for ladder in ladders}
    battles = {ladder.slug: standings_of(ladder).battles for ladder in ladders}
    return {
        "common_models": sorted(set.intersection(*models.values())) if models else [],
        "all_models": sorted(set().union(*models.values())),
        "per_subset_models": {slug: sorted(names) for slug, names in models.items()},
        "per_subset_battles": battles,
        "total_battles": sum(battles.values()),
    }


def cross_elo(ladders: Sequence[Ladder], scope: str) -> dict[str, object]:
    """One fit over the battles of several ladders. It mixes judges and tasks: each ladder's own is the better one."""
    about = cross_info(ladders)
    names = about["common_models"] if scope == "common" else about["all_models"]
    boards = [ladder.board for ladder in ladders if ladder.board]
    counts = [counts_of(board) for board in boards]
    table = _together(counts, names)
    found = ranking_of(_intervals(boards, counts, table), table)
    described = {name: Row(name=name, label="") for name in names}
    rows = rows_of(table, found, described) if names else []
    there = about["per_subset_models"]
    board = [{**entry(row), "subset_presence": [slug for slug in there if row.name in there[slug]]} for row in rows]
    return {
        "subsets": [ladder.slug for ladder in ladders],
        "model_scope": scope,
        "common_models": about["common_models"],
        "all_models": about["all_models"],
        "total_battles": int(table.games.sum() / 2),
        "leaderboard": board,
        **{
            f"per_subset_{field}": {
                ladder.slug: {row.name: getattr(row, column) for row in standings_of(ladder).rows} for ladder in ladders
            }
            for field, column in (("elo", "rating"), ("ci_lower", "lower"), ("ci_upper", "upper"))
        },
    }


def _intervals(boards: Sequence[Board], counts: Sequence[Counts], table: Table) -> Intervals:
    """Battles on one sample are one observation, whichever ladder's they are. Where they are many none is read."""
    if not table.contestants or sum(map(to_read, counts)) > MOST_READ:
        return as_wide_as(table, kept_widths(boards, table.contestants))
    place = {name: number for number, name in enumerate(table.contestants)}
    datasets = {board.dataset_id for board in boards}
    rows = Contestant.objects.filter(dataset__in=datasets, name__in=place, void_reason="").values_list("pk", "name")
    keys = {pk: place[name] for pk, name in rows}
    return by_items(table, shared_of([board.pk for board in boards], keys, table.contestants))


def _together(counts: Sequence[Counts], names: Sequence[str]) -> Table:
    place = {name: number for number, name in enumerate(names)}
    wins, ties = np.zeros((len(names), len(names))), np.zeros((len(names), len(names)))
    for table in (one.table for one in counts):
        kept = [number for number, name in enumerate(table.contestants) if name in place]
        where = np.ix_(*[[place[table.contestants[number]] for number in kept]] * 2)
        wins[where] += table.wins[np.ix_(kept, kept)]
        ties[where] += table.ties[np.ix_(kept, kept)]
    return Table(wins, ties, tuple(names))
