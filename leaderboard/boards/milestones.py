"""Milestones: a ladder as it stood when it was published, and what later ratings are on its scale."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Annotated, Any, Literal, Self

import numpy as np
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    FiniteFloat,
    StringConstraints,
    ValidationError,
    model_validator,
)

from accounts.errors import ActionUnavailable, Forbidden, Invalid
from accounts.models import User
from experiments.library.datasets.making import may_curate
from experiments.models import Board
from leaderboard.boards.ranking import MOST_KEPT, WIDEST, Counts, board_intervals, counts_of, ranking_of
from leaderboard.models import Ladder, Milestone
from leaderboard.ratings import Intervals
from leaderboard.ratings.values import NORMAL, FloatArray, IntArray

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,100}_(\d{8})")
DIGITS = 6


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rating with its 95 % interval, in Elo. name: whose."""

    name: str
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
    """Curators, admins and the owner of the dataset."""
    return isinstance(by, User) and ladder.board is not None and may_curate(by, ladder.board.dataset)


def take(ladder: Ladder, *, name: str, by: User, note: str = "") -> Milestone:
    """Keep the ladder as it is now, for good. name: words and a date, "release_20260131".

    Raises Forbidden for users who may not, Invalid for a name that is taken or has no real date, and where
    nothing is rated.
    """
    if not may_take(ladder, by):
        raise Forbidden(_("Curators, administrators and the dataset's owner can publish milestones of a board."))
    try:
        _named(name)
    except ValueError:
        raise Invalid(name=_("A milestone's name ends in a date: letters and digits, then _yyyymmdd.")) from None
    board = _board(ladder)
    counts = counts_of(board)
    found, part = _fitted(board, counts, most=MOST_KEPT)
    battles = int(counts.table.wins.sum() + (counts.table.ties + counts.both_bad).sum() / 2)
    if not part.size:
        raise ActionUnavailable(_("No contestant is rated yet. A milestone needs battles that link contestants."))
    kept = {
        "contestants": [found.ratings.contestants[index] for index in part],
        "ratings": np.round(found.ratings.values[part], DIGITS).tolist(),
        "covariance": np.round(found.covariance[np.ix_(part, part)], DIGITS).tolist(),
    }
    try:
        with transaction.atomic():
            plain = note.replace("\0", "")
            return Milestone.objects.create(ladder=ladder, name=name, by=by, battles=battles, note=plain, **kept)
    except IntegrityError:
        raise Invalid(name=_("There is a milestone with this name, and milestones cannot be changed.")) from None


def _named(name: str) -> str:
    """The name. Raises ValueError where it does not end in a day that the calendar has."""
    dated = NAME.fullmatch(name)
    datetime.strptime(dated[1] if dated else "", "%Y%m%d")
    return name


class Published(BaseModel):
    """A milestone as a folder has it. covariance: of the contestants' ratings, in their sequence, in Elo²."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, AfterValidator(_named)]
    taken: AwareDatetime
    battles: Annotated[int, Field(ge=0)]
    note: Annotated[str, StringConstraints(pattern=r"^[^\x00]*$")] = ""
    contestants: Annotated[list[str], Field(min_length=1)]
    ratings: list[FiniteFloat]
    covariance: list[list[FiniteFloat]]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        count = len(self.contestants)
        if not {len(self.ratings), len(self.covariance), *map(len, self.covariance)} == {count}:
            raise ValueError("there is not one number for each contestant")
        return self


class Document(BaseModel):
    """The milestones of a board as a file."""

    format: Literal["arena-lab-milestones/1"] = "arena-lab-milestones/1"
    milestones: list[Published]


def document(ladder: Ladder) -> dict[str, object]:
    """The milestones of a ladder as `take_over` reads them, in the sequence in which they were published."""
    rows = ladder.milestones.order_by("taken", "pk").values(*Published.model_fields)
    return Document(milestones=[Published(**row) for row in rows]).model_dump(mode="json")


def take_over(ladder: Ladder, *, by: User, content: Any) -> list[str]:
    """Keep the milestones of a document beside those that the ladder has. Returns what was left out, and why."""
    try:
        found = Document.model_validate(content).milestones
    except ValidationError as error:
        place = ".".join(map(str, error.errors()[0]["loc"]))
        said = _("The milestones of the folder were left out: %(place)s cannot be used.")
        return [said % {"place": place or "the file"}]
    board, warnings = _board(ladder), []
    known = set(board.dataset.contestants.values_list("name", flat=True))
    for one in found:
        if unknown := sorted(set(one.contestants) - known):
            said = _("The milestone %(name)s was left out: the dataset has no contestant %(contestant)s.")
            warnings.append(said % {"name": one.name, "contestant": unknown[0]})
            continue
        kept = one.model_dump(exclude={"name", "taken"})
        if (told := _("Taken over from a folder.")) not in one.note:
            kept["note"] = f"{one.note} {told}".strip()
        milestone, is_new = ladder.milestones.get_or_create(name=one.name, defaults={**kept, "by": by})
        if is_new:
            ladder.milestones.filter(pk=milestone.pk).update(taken=one.taken)
        elif (milestone.contestants, milestone.ratings) != (one.contestants, one.ratings):
            said = _("The board has another milestone %(name)s. It was kept.")
            warnings.append(said % {"name": one.name})
    return warnings


def listed(ladder: Ladder, *, version: str = "", date: str = "") -> QuerySet[Milestone]:
    """Newest first. version: what their names begin with; date: what they end in, yyyymmdd or yyyy-mm-dd."""
    return ladder.milestones.filter(name__startswith=version, name__endswith=date.replace("-", ""))


def published(milestone: Milestone) -> list[Estimate]:
    """What was published, in the sequence of the milestone's contestants."""
    covariance = np.array(milestone.covariance, dtype=np.float64)
    return _estimates(milestone.contestants, np.array(milestone.ratings), covariance)


def compared(milestone: Milestone) -> Compared:
    """All contestants on the milestone's scale, as the ladder is now, and with the milestone's ratings held fixed.

    Both carry the uncertainty of the milestone's contestants: the first through the joint covariance of today's fit,
    the second through the covariance that was kept.
    """
    board = _board(milestone.ladder)
    counts = counts_of(board)
    then = dict(zip(milestone.contestants, milestone.ratings, strict=True))
    covariance = np.array(milestone.covariance, dtype=np.float64)
    as_published = {one.name: one for one in published(milestone)}
    now, shift, common = _on_scale(*_fitted(board, counts), then)
    table = counts.table
    anchors = {name: rating for name, rating in then.items() if name in table.contestants}
    kept = [milestone.contestants.index(name) for name in anchors]
    newer = board_intervals(board, counts, anchors=anchors, errors=covariance[np.ix_(kept, kept)])
    fixed = {
        name: _estimate(name, value, NORMAL * error)
        for name, value, error in zip(table.contestants, newer.ratings.values, newer.errors, strict=True)
        if name not in anchors and np.isfinite(value) and NORMAL * error <= WIDEST
    }
    names = sorted({*then, *now, *fixed}, key=lambda name: (-(now[name].rating if name in now else -1e9), name))
    lines = (Line(name, then.get(name), now.get(name), fixed.get(name), as_published.get(name)) for name in names)
    return Compared(tuple(lines), shift, common)


def _board(ladder: Ladder) -> Board:
    if ladder.board is None:
        raise ActionUnavailable(_("Milestones are published for boards."))
    return ladder.board


def _fitted(board: Board, counts: Counts, *, most: float | None = None) -> tuple[Intervals, IntArray]:
    """The free fit, those with few battles left unrated; and the rated of the largest component."""
    found = ranking_of(board_intervals(board, counts, most=most), counts.table)
    errors = np.where(found.is_uncertain, np.nan, found.intervals.errors)
    part = np.flatnonzero(~np.isnan(errors) & (found.intervals.ratings.component_of == 0))
    return replace(found.intervals, errors=errors), part


def _on_scale(found: Intervals, part: IntArray, then: dict[str, float]) -> tuple[dict[str, Estimate], float, int]:
    """Ratings whose mean over the common ones is the milestone's, their errors those of the difference to it; by how
    much they were moved; and how many are common.
    """
    names, values = found.ratings.contestants, found.ratings.values
    common = [index for index in part.tolist() if names[index] in then]
    if not common:
        return {}, 0.0, 0
    shift = float(np.mean([then[names[index]] for index in common]) - values[common].mean())
    centred = np.eye(len(part)) - (np.isin(part, common) / len(common))[None, :]
    covariance = centred @ found.covariance[np.ix_(part, part)] @ centred.T
    estimates = _estimates([names[index] for index in part], values[part] + shift, covariance)
    return {one.name: one for one in estimates}, shift, len(common)


def _estimates(names: Sequence[str], ratings: FloatArray, covariance: FloatArray) -> list[Estimate]:
    reach = NORMAL * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return [_estimate(name, rating, far) for name, rating, far in zip(names, ratings, reach, strict=True)]


def _estimate(name: str, rating: float, reach: float) -> Estimate:
    return Estimate(name, float(rating), float(rating - reach), float(rating + reach))
