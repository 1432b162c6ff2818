"""Milestones: a ladder as it stood when it was published, and what later ratings are on its scale."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from accounts.errors import ActionUnavailable, Forbidden, Invalid
from accounts.models import User
from experiments.library.datasets.making import may_curate
from experiments.models import Board
from leaderboard.counts import Counts, counts_of
from leaderboard.models import Ladder, Milestone
from leaderboard.placing import WIDEST, placed
from leaderboard.ratings import Intervals
from leaderboard.ratings.values import NORMAL, FloatArray
from leaderboard.spread import intervals_of, lasting

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}_(\d{8})")
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rating with its 95 % interval, in Elo."""

    rating: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Line:
    """then: as it was published, with the interval of then in published. now: the whole ladder fitted anew, its scale
    moved so that the mean of those who were in the milestone is what it was. fixed: what a newcomer's rating would be
    if the milestone's ratings never moved.
    """

    name: str
    then: float | None
    now: Estimate | None
    fixed: Estimate | None
    published: Estimate | None = None

    @property
    def moved(self) -> float | None:
        return self.now.rating - self.then if self.now and self.then is not None else None


@dataclass(frozen=True, slots=True)
class Compared:
    """shift: what was added to every rating. common: how many of the milestone's contestants are still rated."""

    lines: tuple[Line, ...]
    shift: float
    common: int


def may_take(ladder: Ladder, by: object) -> bool:
    """Curators and admins, and whoever owns the dataset."""
    return isinstance(by, User) and ladder.board is not None and may_curate(by, ladder.board.dataset)


def take(ladder: Ladder, *, name: str, by: User, note: str = "") -> Milestone:
    """Keep the ladder as it stands now, for good. name: words and a date, "release_20260131".

    Raises Forbidden for somebody who may not, Invalid for a name that is taken or has no real date, and where
    nobody is rated.
    """
    if not may_take(ladder, by):
        raise Forbidden(_("Curators, admins and the dataset's owner may take milestones of a board's ladder."))
    _check_name(name)
    found, battles = _fitted(ladder, lasting)
    part = _rated(found)
    if not part.size:
        raise ActionUnavailable(_("Nobody is rated yet: a milestone needs battles that link contestants."))
    kept = {
        "contestants": [found.ratings.contestants[index] for index in part],
        "ratings": _rounded(found.ratings.values[part]),
        "covariance": _rounded(found.covariance[np.ix_(part, part)]),
    }
    try:
        with transaction.atomic():
            plain = note.replace("\0", "")
            return Milestone.objects.create(ladder=ladder, name=name, by=by, battles=battles, note=plain, **kept)
    except IntegrityError:
        raise Invalid(name=_("There is a milestone of this name already, and milestones never change.")) from None


def compared(milestone: Milestone) -> Compared:
    """Everybody on the milestone's scale, as the ladder stands now, and with the milestone's ratings held fixed.

    Both carry the uncertainty of the milestone's contestants: the first through the joint covariance of today's fit,
    the second through the covariance that was kept.
    """
    found, _battles = _fitted(milestone.ladder)
    then = dict(zip(milestone.contestants, milestone.ratings, strict=True))
    names, part = found.ratings.contestants, _rated(found)
    common = [index for index in part.tolist() if names[index] in then]
    now, shift = _on_scale(found, part, common, then)
    fixed = _held(milestone, then)
    everybody = sorted({*then, *now, *fixed}, key=lambda name: (-(now[name].rating if name in now else -1e9), name))
    kept = _published(milestone)
    lines = tuple(Line(name, then.get(name), now.get(name), fixed.get(name), kept.get(name)) for name in everybody)
    return Compared(lines, shift, len(common))


def _published(milestone: Milestone) -> dict[str, Estimate]:
    """The ratings of then with their intervals, from the covariance that was kept."""
    errors = np.sqrt(np.maximum(np.diag(np.array(milestone.covariance, dtype=np.float64)), 0.0)).tolist()
    kept = zip(milestone.contestants, milestone.ratings, errors, strict=True)
    return {name: _estimate(rating, NORMAL * error) for name, rating, error in kept}


def _fitted(ladder: Ladder, spread: Callable[[Board, Counts], Intervals] = intervals_of) -> tuple[Intervals, int]:
    """The free fit, those with few battles left unrated, and how many battles there are."""
    if ladder.board is None:
        raise ActionUnavailable(_("Milestones are taken of boards."))
    counts = counts_of(ladder.board)
    found = placed(spread(ladder.board, counts), counts.table)
    errors = np.where(found.is_uncertain, np.nan, found.intervals.errors)
    battles = counts.wins.sum() + (counts.ties + counts.both_bad).sum() / 2
    return replace(found.intervals, errors=errors), int(battles)


def _rated(found: Intervals) -> "np.ndarray[tuple[int], np.dtype[np.intp]]":
    """The rated of the largest component."""
    inside = ~np.isnan(found.errors) & (found.ratings.component_of == 0)
    return np.flatnonzero(inside)


def _on_scale(
    found: Intervals, part: "np.ndarray[tuple[int], np.dtype[np.intp]]", common: list[int], then: dict[str, float]
) -> tuple[dict[str, Estimate], float]:
    """Ratings whose mean over the common ones is the milestone's; their errors are those of the difference to it."""
    if not common:
        return {}, 0.0
    names, values = found.ratings.contestants, found.ratings.values
    shift = float(np.mean([then[names[index]] for index in common]) - values[common].mean())
    weights = np.isin(part, common) / len(common)
    centred = np.eye(len(part)) - weights[None, :]
    covariance = centred @ found.covariance[np.ix_(part, part)] @ centred.T
    reach = NORMAL * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return {
        names[index]: _estimate(values[index] + shift, far) for index, far in zip(part.tolist(), reach, strict=True)
    }, shift


def _held(milestone: Milestone, then: dict[str, float]) -> dict[str, Estimate]:
    """The newcomers' ratings with the milestone's fixed."""
    board = milestone.ladder.board
    if board is None:
        return {}
    counts = counts_of(board)
    table = counts.table
    anchors = {name: rating for name, rating in then.items() if name in table.contestants}
    kept = [milestone.contestants.index(name) for name in anchors]
    covariance = np.array(milestone.covariance, dtype=np.float64)[np.ix_(kept, kept)]
    found = intervals_of(board, counts, anchors=anchors, errors=covariance)
    return {
        name: _estimate(value, NORMAL * error)
        for name, value, error in zip(table.contestants, found.ratings.values, found.errors, strict=True)
        if name not in anchors and np.isfinite(value) and NORMAL * error <= WIDEST
    }


def _estimate(rating: float, reach: float) -> Estimate:
    return Estimate(float(rating), float(rating - reach), float(rating + reach))


def _rounded(values: FloatArray) -> object:
    return np.round(values, DIGITS).tolist()


def _check_name(name: str) -> None:
    dated = NAME.fullmatch(name)
    try:
        if not dated:
            raise ValueError
        datetime.strptime(dated[1], "%Y%m%d")
    except ValueError:
        raise Invalid(name=_("A milestone's name ends in a date: letters and digits, then _yyyymmdd.")) from None
