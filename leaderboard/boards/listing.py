"""The ladders that a person may see: found on the index, summed up, and side by side over datasets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import get_language

from accounts.errors import NotFound
from experiments.models import Board, Dataset
from leaderboard.boards import compute
from leaderboard.boards.caching import memoize
from leaderboard.boards.jobs import boards_without_ladder
from leaderboard.boards.standings import Row
from leaderboard.boards.titles import is_simulated, judge_words, kind_of, ladder_title, question_of
from leaderboard.models import Ladder, LadderQuerySet

TOP = 5
MOST_COLUMNS = 12


@dataclass(frozen=True, slots=True)
class Entry:
    """A ladder in a list. kind: a key of `titles.KINDS`. top: the highest of the largest group that battles link.
    ratings: by name, of those who are rated in this group: others have a scale of their own.
    """

    ladder: Ladder
    kind: str
    title: str
    judge: str
    question: str
    dataset: Dataset | None
    battles: int
    contestants: int
    top: tuple[Row, ...]
    ratings: dict[str, Row]
    updated: datetime
    is_simulated: bool

    @property
    def name(self) -> str:
        """The heading: that of the dataset, whose boards are told apart by their judges."""
        return self.dataset.name if self.dataset else self.title


@dataclass(frozen=True, slots=True)
class Line:
    """A contestant on several ladders, None where it has no rating, and the mean of its ratings.

    lower, upper: the means of the intervals' ends, None where one has no bound. They hold at 95 % or more whatever the
    ladders share, such as samples.
    """

    name: str
    rows: tuple[Row | None, ...]
    mean: float
    lower: float | None
    upper: float | None


def visible_ladders(user: Any) -> LadderQuerySet:
    """With all that titles and standings need."""
    return Ladder.objects.visible_to(user).with_board().select_related("standing")


def ladder_of(user: Any, slug: str) -> Ladder:
    """One that the user may see. Raises NotFound."""
    ladder = visible_ladders(user).filter(slug=slug).first()
    if ladder is None:
        raise NotFound
    return ladder


def ladder_with_board(user: Any, slug: str) -> tuple[Ladder, Board]:
    """Raises NotFound also for a ladder of runs, which has no board, and for one that is withdrawn."""
    ladder = ladder_of(user, slug)
    if ladder.board is None or ladder.withdrawn_reason:
        raise NotFound
    return ladder, ladder.board


def others_of_dataset(user: Any, ladder: Ladder) -> list[Ladder]:
    """The other boards of a board's dataset that are shown to the user; none beside one of runs."""
    if ladder.board is None:
        return []
    same = visible_ladders(user).beside(ladder.board.dataset)
    return list(same.exclude(pk=ladder.pk).defer("standing__data"))


def index_ladders(user: Any) -> list[Ladder]:
    """Those on the index; a board that has battles and no ladder yet gets one."""
    for board in boards_without_ladder().filter(pk__in=Board.objects.visible_to(user)):
        compute.ensure_ladder(board)
    return list(visible_ladders(user).defer("standing__data"))


def entry(ladder: Ladder) -> Entry:
    def make() -> Entry:
        found, board = compute.current(ladder), ladder.board
        ranked, rated = found.standings.ranked, found.standings.rated
        return Entry(
            ladder=ladder,
            kind=kind_of(ladder),
            title=ladder_title(ladder),
            judge=judge_words(board) if board else "",
            question=str(question_of(board)) if board else "",
            dataset=board.dataset if board else None,
            battles=found.standings.battles,
            contestants=len(found.standings.rows),
            top=tuple(row for row in ranked if row.component == 0)[:TOP],
            ratings={row.name: row for row in rated if row.component == 0},
            updated=found.computed,
            is_simulated=is_simulated(board) or any(row.is_simulated for row in found.standings.rows),
        )

    return memoize("entry", (compute.state_of(ladder), get_language()), make)


def in_sequence(found: Iterable[Entry]) -> list[Entry]:
    """By name; those of one dataset with the most battles first."""
    return sorted(found, key=lambda one: (one.name.casefold(), -one.battles, one.title))


def matching(found: Iterable[Entry], *, kind: str = "", search: str = "") -> list[Entry]:
    """Those of a kind in whose names all words of the search are found, a contestant's at the top included."""
    words = search.casefold().split()

    def has_all(one: Entry) -> bool:
        told = " ".join([one.title, one.ladder.slug, *(row.shown for row in one.top), *one.ratings]).casefold()
        return all(word in told for word in words)

    return [one for one in found if kind in ("", one.kind) and has_all(one)]


def overview(found: Sequence[Entry], by: str = "") -> tuple[tuple[Entry, ...], list[Line]]:
    """Models down, ladders across: those with the most battles, one of each dataset first. by: the slug of the ladder
    whose ratings sort the lines; the mean of all when it is none of them.
    """
    seen: dict[object, int] = {}
    ranked = []
    for one in sorted(found, key=lambda one: (-one.battles, one.ladder.slug)):
        if one.ratings and one.dataset:
            seen[one.dataset.pk] = seen.get(one.dataset.pk, -1) + 1
            ranked.append((seen[one.dataset.pk], one))
    columns = tuple(one for _nth, one in sorted(ranked, key=lambda place: place[0])[:MOST_COLUMNS])
    if len(columns) < 2:
        return (), []
    lines = []
    for name in {name for one in columns for name in one.ratings}:
        rows = tuple(one.ratings.get(name) for one in columns)
        known = [row for row in rows if row]
        mean, lower, upper = (_mean([getattr(row, end) for row in known]) for end in ("rating", "lower", "upper"))
        lines.append(Line(name, rows, mean or 0.0, lower, upper))
    place = next((number for number, one in enumerate(columns) if one.ladder.slug == by), None)

    def strength(line: Line) -> tuple[bool, float, float, str]:
        row = None if place is None else line.rows[place]
        value = line.mean if place is None else row.rating if row else None
        return value is None, -(value or 0.0), -line.mean, line.name

    return columns, sorted(lines, key=strength)


def _mean(values: Sequence[float | None]) -> float | None:
    """None where one of them is not known."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def head_of(ladder: Ladder) -> dict[str, Any]:
    """What the head of each page of a ladder needs. Where its judge is not simulated, contestants may be."""
    board, by_judge = ladder.board, is_simulated(ladder.board)
    if board is None:
        competing = any(row.is_simulated for row in compute.current(ladder).standings.rows)
    else:
        competing = board.dataset.contestants.filter(model__provider__is_simulated=True).exists()
    return {
        "ladder": ladder,
        "board": board,
        "dataset": board.dataset if board else None,
        "title": ladder_title(ladder),
        "judge": judge_words(board) if board else "",
        "question": question_of(board) if board else "",
        "is_simulated": by_judge or competing,
        "judge_is_simulated": by_judge,
    }
