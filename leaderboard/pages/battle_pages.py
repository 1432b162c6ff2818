"""A page of battles, and the neighbours of one battle in what somebody looks for."""

from dataclasses import dataclass

from experiments.models import Battle, Board
from leaderboard.pages.battle_filters import Filter
from leaderboard.pages.battle_search import Place, keys
from leaderboard.pages.totals import total

PER_PAGE = 20
COUNTED = 200  # so many are counted where the counts of pairs do not tell


@dataclass(frozen=True, slots=True)
class BattlePage:
    """battles: newest first. total: how many there are in all, or at least where `is_exact` is not; None on a further
    page of what cannot be told.
    """

    battles: tuple[Battle, ...]
    has_newer: bool
    has_older: bool
    total: int | None
    is_exact: bool

    @property
    def newest(self) -> int:
        return int(self.battles[0].pk)

    @property
    def oldest(self) -> int:
        return int(self.battles[-1].pk)


def battle_page(board: Board, chosen: Filter, place: Place) -> BattlePage:
    known = total(board, chosen)
    if known == 0:
        return BattlePage((), False, False, 0, True)
    is_first = place == Place()
    found = keys(board, chosen, place, (COUNTED if is_first and known is None else PER_PAGE) + 1)
    shown = found[:PER_PAGE]
    if place.is_ascending and place.key is not None and len(shown) < PER_PAGE:
        return battle_page(board, chosen, Place())  # so near to the newest that the first page is meant
    counted = min(len(found), COUNTED) if is_first and known is None else known
    goes_on, came_from = len(found) > PER_PAGE, place.key is not None
    newer, older = (goes_on, came_from) if place.is_ascending else (came_from, goes_on)
    is_exact = known is not None or (is_first and len(found) <= COUNTED)
    return BattlePage(rows(shown), newer, older, counted, is_exact)


def rows(found: list[int]) -> tuple[Battle, ...]:
    """The battles of these keys, newest first, with what a line of a list says."""
    battles = Battle.objects.filter(pk__in=found).select_related("sample", "left", "right")
    return tuple(battles.order_by("-pk"))


def neighbours(board: Board, chosen: Filter, battle: Battle) -> tuple[int | None, int | None]:
    """The keys of the next newer and the next older battle."""
    newer = keys(board, chosen, Place(battle.pk, is_ascending=True), 1)
    older = keys(board, chosen, Place(battle.pk), 1)
    return (newer[0] if newer else None), (older[0] if older else None)
