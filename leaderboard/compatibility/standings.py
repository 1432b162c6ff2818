"""Standings in the shapes that GenArena's viewer knows. What is not rated is null, never 1000."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
from django.http import Http404
from django.utils.translation import gettext as _
from rest_framework.exceptions import ValidationError

from experiments.models import Board, Contestant
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.boards import compute
from leaderboard.boards.ranking import MOST_READ, Counts, counts_of, kept_widths, ranking_of, rows_of, to_read
from leaderboard.boards.standings import WHOLE, Row, Slice, Standings
from leaderboard.boards.tables import Cell, pair_matrix
from leaderboard.compatibility.views import ALL, MOST_TOGETHER, OF_EXPERIMENT, OF_SUBSET, ReadView, route
from leaderboard.models import Ladder, RatingPoint
from leaderboard.ratings import Intervals, Table
from leaderboard.ratings.intervals import as_wide_as, by_items

MOST_POINTS = 50


@route("subsets", "subsets", "subsets")
def subsets(view: ReadView) -> object:
    """The slugs of boards that you can see."""
    return {"subsets": [ladder.slug for ladder in view.ladders()]}


@route(f"{OF_SUBSET}info", "subset", "subset")
def info(view: ReadView, subset: str) -> object:
    """The contestants of a board and the sources of its prompts."""
    found = _standings(view.ladder(subset))
    return {
        "name": subset,
        "models": [row.name for row in found.rows],
        "experiments": [ALL],
        "total_battles": found.battles,
        "prompt_sources": list(found.sources),
    }


@route(f"{OF_SUBSET}stats", "subset-stats", "subset_stats")
def stats(view: ReadView, subset: str) -> object:
    """The number of battles and ties of a board, and the consistency of its judges."""
    found = _standings(view.ladder(subset))
    return {
        "subset": subset,
        "models": [row.name for row in found.rows],
        "experiments": [ALL],
        "total_battles": found.battles,
        "consistent_battles": found.consistent,
        "tie_battles": found.ties,
        "consistency_rate": found.consistency,
    }


@route(f"{OF_SUBSET}leaderboard", "subset-leaderboard", "subset_leaderboard", "models")
def leaderboard(view: ReadView, subset: str) -> object:
    """The ratings of a board, best first."""
    models = view.names()
    rows = _standings(view.ladder(subset)).rows
    return {"leaderboard": [_entry(row) for row in rows if not models or row.name in models]}


@route(f"{OF_SUBSET}leaderboard/by-source", "subset-by-source", "subset_by_source")
def by_source(view: ReadView, subset: str) -> object:
    """The ratings by source of prompts."""
    ladder = view.ladder(subset)
    every = {source: _standings(ladder, Slice(source=source)) for source in _standings(ladder).sources}
    slices = {source: found for source, found in every.items() if found.battles}
    return {
        "sources": sorted(slices, key=lambda source: -slices[source].battles),
        "leaderboards": {source: [_entry(row) for row in found.rows] for source, found in slices.items()},
        "battle_counts": {source: found.battles for source, found in slices.items()},
    }


@route(f"{OF_SUBSET}models/<path:model>/stats", "subset-model", "subset_model")
def model_stats(view: ReadView, subset: str, model: str) -> object:
    """The rating and results of one contestant."""
    mine, others = _met(view.ladder(subset), model)
    if mine is None:
        raise Http404
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
    return {**_entry(mine), "vs_stats": against}


@route(f"{OF_EXPERIMENT}h2h", "h2h", "subset_h2h", "model_a", "model_b")
def head_to_head(view: ReadView, subset: str, exp_name: str) -> object:
    """The results of two contestants against each other."""
    ladder = view.ladder(subset, exp_name)
    model_a, model_b = (view.request.query_params.get(name, "") for name in ("model_a", "model_b"))
    if not (model_a and model_b):
        raise ValidationError({"model_a": [_("Name two models: model_a and model_b.")]})
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


@route(f"{OF_SUBSET}matrix", "subset-matrix", "subset_matrix", "models")
def matrix(view: ReadView, subset: str) -> object:
    """The win counts of every pair of contestants."""
    models, ladder = view.names(), view.ladder(subset)
    found = pair_matrix(ladder, compute.current(ladder), whole=True)
    lines = found.lines if found else ()
    kept = [place for place, line in enumerate(lines) if not models or line.row.name in models]
    cells = [[lines[i].cells[j] for j in kept] for i in kept]
    return {  # null where two have not met, on the diagonal, too
        "models": [lines[place].row.name for place in kept],
        "matrix": [[cell.win_rate if cell else None for cell in row] for row in cells],
        "counts": [[cell.battles if cell else 0 for cell in row] for row in cells],
        "wins": [[cell.wins + cell.ties / 2 if cell else 0 for cell in row] for row in cells],
    }


@route(f"{OF_SUBSET}elo-history", "subset-history", "subset_history", "models")
def history(view: ReadView, subset: str) -> object:
    """The ratings over time."""
    models, ladder = view.names(), view.ladder(subset)
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


@route("overview/leaderboards", "overview", "overview")
def overview(view: ReadView) -> object:
    """The ratings of all boards that you can see, side by side."""
    found = {ladder.slug: _standings(ladder) for ladder in view.ladders()}
    boards = {slug: {row.name: row for row in one.rows} for slug, one in found.items()}
    names = {name for board in boards.values() for name in board}

    def mean(name: str) -> float:
        ratings = [board[name].rating for board in boards.values() if name in board]
        known = [rating for rating in ratings if rating is not None]
        return sum(known) / len(known) if known else -math.inf

    return {
        "subsets": list(boards),
        "models": sorted(names, key=lambda name: (-mean(name), name)),
        "data": {slug: {name: _entry(row) for name, row in board.items()} for slug, board in boards.items()},
        "subset_info": {
            slug: {"total_battles": found[slug].battles, "model_count": len(board)} for slug, board in boards.items()
        },
    }


class CrossInfo(TypedDict):
    """Who stands on several ladders: on all, on any, and on each."""

    common_models: list[str]
    all_models: list[str]
    per_subset_models: dict[str, list[str]]
    per_subset_battles: dict[str, int]
    total_battles: int


@route("cross-subset/info", "cross-info", "cross_info", "subsets")
def cross_info(view: ReadView) -> object:
    """Contestants that several boards have in common."""
    return _cross_info(_chosen(view))


@route("cross-subset/elo", "cross-elo", "cross_elo", "subsets", "model_scope")
def cross_elo(view: ReadView) -> object:
    """Ratings fitted to the battles of several boards together."""
    scope = "common" if view.request.query_params.get("model_scope") == "common" else "all"
    return joint_fit(_chosen(view), scope)


def joint_fit(ladders: Sequence[Ladder], scope: str) -> dict[str, object]:
    """It mixes judges and tasks: each ladder's own fit is the better one. scope: contestants of all ladders, or common
    to them.
    """
    about = _cross_info(ladders)
    names = about["common_models"] if scope == "common" else about["all_models"]
    boards = [ladder.board for ladder in ladders if ladder.board]
    counts = [counts_of(board) for board in boards]
    table = _together(counts, names)
    found = ranking_of(_intervals(boards, counts, table), table)
    described = {name: Row(name=name, label="") for name in names}
    rows = rows_of(table, found, described) if names else []
    there = about["per_subset_models"]
    board = [{**_entry(row), "subset_presence": [slug for slug in there if row.name in there[slug]]} for row in rows]
    return {
        "subsets": [ladder.slug for ladder in ladders],
        "model_scope": scope,
        "common_models": about["common_models"],
        "all_models": about["all_models"],
        "total_battles": int(table.games.sum() / 2),
        "leaderboard": board,
        **{
            f"per_subset_{field}": {
                ladder.slug: {row.name: getattr(row, column) for row in _standings(ladder).rows} for ladder in ladders
            }
            for field, column in (("elo", "rating"), ("ci_lower", "lower"), ("ci_upper", "upper"))
        },
    }


def _chosen(view: ReadView) -> list[Ladder]:
    slugs = view.names("subsets")
    if not slugs:
        raise ValidationError({"subsets": [_("Name the subsets.")]})
    return [view.ladder(slug) for slug in dict.fromkeys(slugs[:MOST_TOGETHER])]


def _cross_info(ladders: Sequence[Ladder]) -> CrossInfo:
    models = {ladder.slug: {row.name for row in _standings(ladder).rows} for ladder in ladders}
    battles = {ladder.slug: _standings(ladder).battles for ladder in ladders}
    return {
        "common_models": sorted(set.intersection(*models.values())) if models else [],
        "all_models": sorted(set().union(*models.values())),
        "per_subset_models": {slug: sorted(names) for slug, names in models.items()},
        "per_subset_battles": battles,
        "total_battles": sum(battles.values()),
    }


def _standings(ladder: Ladder, of: Slice = WHOLE) -> Standings:
    found = compute.current(ladder, of).standings
    return replace(found, rows=tuple(map(_ranked, found.rows)))


def _ranked(row: Row) -> Row:
    """Who has no rank has no rating here."""
    return row if row.rank is not None else replace(row, rating=None, lower=None, upper=None)


def _entry(row: Row) -> dict[str, object]:
    row = _ranked(row)
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


def _met(ladder: Ladder, model: str) -> tuple[Row | None, list[tuple[Row, Cell]]]:
    """A contestant, and those that it has met with what came of it."""
    found = pair_matrix(ladder, compute.current(ladder), whole=True)
    lines = found.lines if found else ()
    mine = next((line for line in lines if line.row.name == model), None)
    if mine is None:
        return None, []
    return mine.row, [(line.row, cell) for line, cell in zip(lines, mine.cells, strict=True) if cell]


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
