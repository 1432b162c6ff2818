"""Ratings of a board from unseen samples alone: those that were not public before either contestant was released."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from itertools import islice

import numpy as np
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.models import Board, Dataset
from experiments.workflows.battles.campaign.sampled import read_battles
from leaderboard.boards import ranking
from leaderboard.boards.caching import memoize
from leaderboard.boards.standings import WHOLE, Slice, finite
from leaderboard.boards.style import MOST_ADJUSTED, Adjusted, adjusted_rows
from leaderboard.models import Ladder
from leaderboard.ratings import Battles, Reason, Shared, by_items, moved, tally

PUBLISHED = "published"  # the column of a dataset's file
LONGEST_DAY = len("2026-01-31")
NEVER = 0  # the day of a sample, or of a contestant, that is not known
MOST_NAMED = 200  # samples


@dataclass(frozen=True, slots=True)
class UnseenRow(Adjusted):
    """released: a day as 2026-01-31, empty where no curator has entered it. battles: with others on unseen samples.

    moves, moves_lower, moves_upper: by how much its rating is higher than on all samples, with its 95 % interval; None
    where it is not rated on both. Ratings are on the scale of the whole board: contestants rated on both have
    the same mean on both.
    """

    released: str = ""
    battles: int = 0
    moves: float | None = None
    moves_lower: float | None = None
    moves_upper: float | None = None


@dataclass(frozen=True, slots=True)
class Unseen:
    """battles: on unseen samples; seen: on samples that were public before one of the two was released; unknown: with a
    sample or a contestant without a date; together `of`, all that ratings are made of. undated: how many of the
    `samples` on which these were fought have no date, by name the first MOST_NAMED of them; undated_contestants: names
    of those without one. reason: why there are no ratings from unseen samples, a code of `Reason`; empty otherwise.
    """

    rows: tuple[UnseenRow, ...]
    battles: int
    seen: int
    unknown: int
    of: int
    samples: int
    undated: int
    undated_samples: tuple[str, ...]
    undated_contestants: tuple[str, ...]
    reason: str = ""

    def row(self, name: str) -> UnseenRow | None:
        return next((row for row in self.rows if row.name == name), None)


def published(dataset: Dataset) -> Mapping[int, date]:
    """When its samples were published, by their keys: of those that say it in the further field PUBLISHED."""

    def find() -> Mapping[int, date]:
        rows = dataset.samples.filter(metadata__has_key=PUBLISHED).values_list("pk", f"metadata__{PUBLISHED}")
        found = ((key, _day(said[:LONGEST_DAY])) for key, said in rows.iterator() if isinstance(said, str))
        return {key: day for key, day in found if day}

    return memoize("published", dataset.pk, find)  # samples never change


def _day(text: str) -> date | None:
    """None for what is no day, written as 2026-01-31."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def is_dated(board: Board) -> bool:
    """Whether it is known of any sample and any contestant when it became public."""
    return board.dataset.contestants.filter(released__isnull=False).exists() and bool(published(board.dataset))


def unseen(ladder: Ladder, of: Slice = WHOLE) -> Unseen:
    """A board, or a slice of it, from unseen samples alone. A battle is on one where the sample was published on the
    day when each of the two was released, or later. Samples are clusters, as of the plain ratings.

    Raises Invalid for a board of runs, without any date of samples or contestants, and for more battles than a page
    has time for.
    """
    board = ladder.board
    if board is None:
        raise Invalid({"unseen": [_("This board is made from runs, so it has no samples that could have been seen.")]})
    if not is_dated(board):
        said = _(
            "No dates are known. Give the dataset a column “published” (2026-01-31), and enter the dates of "
            "contestants at Variants."
        )
        raise Invalid({"unseen": [said]})
    counts = ranking.counts_of(board, of)
    if ranking.to_read(counts) > MOST_ADJUSTED:
        said = _("Boards of more than %(n)s battles cannot be told by seen samples here. Filter by subset or period.")
        raise Invalid({"unseen": [said % {"n": f"{MOST_ADJUSTED:,}"}]})
    names = counts.table.contestants
    keys = {one.pk: place for place, one in enumerate(counts.contestants)}
    battles, rows = read_battles([board.pk], keys, names, only=of.battles)
    samples, of_sample = np.unique(rows[:, 0], return_inverse=True)
    days_of = published(board.dataset)
    days = np.array([days_of[key].toordinal() if key in days_of else NEVER for key in samples.tolist()], dtype=np.int64)
    released = np.array([one.released.toordinal() if one.released else NEVER for one in counts.contestants] or [NEVER])
    day = days[of_sample.reshape(-1)]
    both = np.stack([released[battles.left], released[battles.right]])
    is_seen = (day != NEVER) & (day < both).any(axis=0)  # a contestant without a date was never released before
    is_unseen = (day != NEVER) & (both != NEVER).all(axis=0) & ~is_seen
    at = np.flatnonzero(is_unseen)
    part = Shared(Battles(battles.left[at], battles.right[at], battles.score[at], names), rows[at, 0])
    told, reason = _rows(counts, part, Shared(battles, rows[:, 0]))
    undated = set(samples[days == NEVER].tolist())
    every = board.dataset.samples.order_by("subset", "index").only("pk", "subset", "index").iterator()
    return Unseen(
        rows=told,
        battles=len(at),
        seen=int(is_seen.sum()),
        unknown=int((~is_seen & ~is_unseen).sum()),
        of=len(battles),
        samples=len(samples),
        undated=len(undated),
        undated_samples=tuple(islice((str(one) for one in every if one.pk in undated), MOST_NAMED)) if undated else (),
        undated_contestants=tuple(one.name for one in counts.contestants if not one.released),
        reason=reason,
    )


def _rows(counts: ranking.Counts, part: Shared, whole: Shared) -> tuple[tuple[UnseenRow, ...], str]:
    """Contestants on the part, with how far that is from the whole; and why none of them is rated."""
    table = tally(part.battles)
    found = ranking.ranking_of(by_items(table, part), table)
    if not found.ranks.rank.size or np.isnan(found.ranks.rank).all():
        return (), str(Reason.SEPARATED if len(part.battles) else Reason.NO_BATTLES)
    apart, component = moved(part, whole), found.intervals.ratings.component_of
    games = table.games.sum(axis=1).astype(int).tolist()
    rows = []
    for place, (one, contestant) in enumerate(zip(adjusted_rows(found), counts.contestants, strict=True)):
        fields = asdict(one)
        if apart and component[place] == 0:
            ends = {name: fields[name] for name in ("rating", "lower", "upper")}
            fields |= {name: value if value is None else finite(value + apart.shift) for name, value in ends.items()}
        if apart and one.rank is not None:
            fields["moves"] = finite(apart.values[place])
            fields["moves_lower"], fields["moves_upper"] = finite(apart.lower[place]), finite(apart.upper[place])
        day = contestant.released.isoformat() if contestant.released else ""
        rows.append(UnseenRow(**fields, released=day, battles=games[place]))
    return tuple(rows), ""
