"""The battles that a page shows, newest first, in time that does not grow with the board, and how many there are.

A filter is read from an address and written into one. What it asks for becomes streams: rows that share the first
columns of an index, so that the index gives them by key and the first few of each are enough. A condition on samples is
met from the samples' side where they are few.
"""

import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import reduce
from heapq import merge
from itertools import combinations, islice, product
from operator import add
from typing import Any

from django.db.models import F, Func, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum, TextField
from django.db.models.functions import Cast
from django.http import QueryDict
from django.utils.http import urlencode

from experiments.models import Battle, Board, Contestant, Dataset, PairCount, Sample
from experiments.models.battles import BattleQuerySet
from leaderboard.boards.caching import memoize

MOST_CONTESTANTS = 8
LONGEST_SEARCH = 200
RESULTS = ("won", "lost", "decisive", "tie", "both_bad")
CONSISTENCIES = {"yes": True, "no": False}
STATES = ("open", "void")
MOST_CHOICES = 200
OF_SAMPLES = ("subset", "category", "source", "images", "sample", "search")
PER_PAGE = 20
COUNTED = 200  # so many are counted where the counts of pairs do not tell
FEW_SAMPLES = 40  # so few, and their battles are fewer than those of a contestant
MOST_SAMPLES = 10_000  # of more, any stretch of battles holds some
COLUMN_OF_WINNER = {"left": "left_wins", "right": "right_wins", "tie": "ties", "both_bad": "both_bad"}
COLUMN_OF_CONSISTENCY = {"yes": "consistent", "no": "inconsistent"}
MIRRORED = {"won": "lost", "lost": "won"}


# --- the filter ---


@dataclass(frozen=True, slots=True)
class Filter:
    """contestants: with one, the battles it is in; with more, those among them. result: in terms of the first one.

    consistency: "yes", "no" or empty. state: empty for what counts, "open" or "void". images: how many pictures the
    sample has, sample: its key, both as digits. unknown: names of contestants that the dataset does not have.
    """

    contestants: tuple[Contestant, ...] = ()
    result: str = ""
    consistency: str = ""
    state: str = ""
    subset: str = ""
    category: str = ""
    source: str = ""
    images: str = ""
    sample: str = ""
    search: str = ""
    unknown: tuple[str, ...] = ()

    @property
    def keys(self) -> list[int]:
        return sorted(one.pk for one in self.contestants)

    @property
    def restricts_samples(self) -> bool:
        return any(getattr(self, name) for name in OF_SAMPLES)

    @property
    def is_empty(self) -> bool:
        return not self.address

    @property
    def address(self) -> str:
        """The query of a page that shows this; empty when nothing is looked for."""
        names = [one.name for one in self.contestants] + list(self.unknown)
        words = {"result": self.result, "consistent": self.consistency, "state": self.state}
        words |= {name: getattr(self, name) for name in OF_SAMPLES}
        pairs = [("contestant", name) for name in names] + [(name, word) for name, word in words.items() if word]
        return urlencode(pairs)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the samples of a dataset differ in, each in sequence. count: how many samples there are."""

    subsets: tuple[str, ...]
    categories: tuple[str, ...]
    sources: tuple[str, ...]
    images: tuple[int, ...]
    count: int


class JSONLength(Func):
    """How many entries a JSON list has."""

    output_field = IntegerField()
    function = "json_array_length"

    def as_postgresql(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(compiler, connection, function="jsonb_array_length")


def read_filter(query: QueryDict, board: Board) -> Filter:
    """What an address asks for. Words that mean nothing here are left out, unknown contestants are kept as such."""
    names = list(dict.fromkeys(name.replace("\0", "") for name in query.getlist("contestant") if name))
    known = {one.name: one for one in Contestant.objects.filter(dataset=board.dataset_id, name__in=names[:50])}
    contestants = tuple(known[name] for name in names if name in known)[:MOST_CONTESTANTS]
    words = {name: query.get(name, "").replace("\0", "").strip()[:LONGEST_SEARCH] for name in OF_SAMPLES}
    for name in ("images", "sample"):
        word = words[name]
        words[name] = word if word.isascii() and word.isdigit() and len(word) <= 18 else ""

    def one_of(name: str, offered: Collection[str]) -> str:
        return word if (word := query.get(name, "")) in offered else ""

    return Filter(
        contestants,
        # Winning and losing is said of one contestant, or of the first of two.
        one_of("result", RESULTS if len(contestants) in {1, 2} else ("decisive", "tie", "both_bad")),
        one_of("consistent", CONSISTENCIES),
        one_of("state", STATES),
        unknown=tuple(name[:LONGEST_SEARCH] for name in names if name not in known)[:MOST_CONTESTANTS],
        **words,
    )


def sample_choices(dataset: Dataset) -> Choices:
    """The samples of a dataset that is ready do not change, so that this is found out once."""

    def find() -> Choices:
        rows = Sample.objects.filter(dataset=dataset).order_by()

        def words(name: str) -> tuple[str, ...]:
            found = rows.exclude(**{name: ""}).order_by(name).values_list(name, flat=True).distinct()
            return tuple(found[:MOST_CHOICES])

        pictures = rows.annotate(pictures=JSONLength("images")).order_by("pictures")
        numbers = tuple(pictures.values_list("pictures", flat=True).distinct()[:MOST_CHOICES])
        return Choices(words("subset"), words("category"), words("source"), numbers, rows.count())

    return memoize("sample-choices", (str(dataset.pk), dataset.state), find)


def fitting_samples(dataset_id: Any, chosen: Filter) -> QuerySet[Sample]:
    """The samples that the filter lets through, in no sequence. The search finds a text in the instruction, category,
    source and further fields, in whatever case.
    """
    exact = {name: value for name in ("subset", "category", "source") if (value := getattr(chosen, name))}
    rows = Sample.objects.filter(dataset=dataset_id, **exact).order_by()
    if chosen.sample:
        rows = rows.filter(pk=int(chosen.sample))
    if chosen.images:
        rows = rows.alias(pictures=JSONLength("images")).filter(pictures=int(chosen.images))
    if text := chosen.search:
        # A database that keeps JSON as text writes what is not ASCII with escapes, so these are looked for as well.
        found = Q(instruction__icontains=text) | Q(category__icontains=text) | Q(source__icontains=text)
        found |= Q(further__icontains=text) | Q(further__icontains=json.dumps(text)[1:-1])
        rows = rows.alias(further=Cast("metadata", TextField())).filter(found)
    return rows


# --- pages of battles ---


@dataclass(frozen=True, slots=True)
class PageStart:
    """Where a page begins: after a key (newer) or before one (older); without a key at the newest, or the oldest."""

    key: int | None = None
    is_ascending: bool = False

    @property
    def order(self) -> str:
        return "pk" if self.is_ascending else "-pk"

    def beyond(self, rows: BattleQuerySet) -> BattleQuerySet:
        if self.key is not None:
            rows = rows.filter(pk__gt=self.key) if self.is_ascending else rows.filter(pk__lt=self.key)
        return rows.order_by(self.order)


@dataclass(frozen=True, slots=True)
class BattlePage:
    """battles: newest first. total: how many there are in all, or at least where `is_exact` is not; None on a further
    page of what cannot be counted.
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


def battle_page(board: Board, chosen: Filter, place: PageStart) -> BattlePage:
    known = battle_count(board, chosen)
    if known == 0:
        return BattlePage((), False, False, 0, True)
    is_first = place == PageStart()
    found = battle_keys(board, chosen, place, (COUNTED if is_first and known is None else PER_PAGE) + 1)
    shown = found[:PER_PAGE]
    if place.is_ascending and place.key is not None and len(shown) < PER_PAGE:
        return battle_page(board, chosen, PageStart())  # so near to the newest that the first page is meant
    counted = min(len(found), COUNTED) if is_first and known is None else known
    goes_on, came_from = len(found) > PER_PAGE, place.key is not None
    newer, older = (goes_on, came_from) if place.is_ascending else (came_from, goes_on)
    is_exact = known is not None or (is_first and len(found) <= COUNTED)
    return BattlePage(battles_of_keys(shown), newer, older, counted, is_exact)


def battles_of_keys(found: list[int]) -> tuple[Battle, ...]:
    """The battles of these keys, newest first, with what a line of a list says."""
    battles = Battle.objects.filter(pk__in=found).select_related("sample", "left", "right")
    return tuple(battles.order_by("-pk"))


def neighbours(board: Board, chosen: Filter, battle: Battle) -> tuple[int | None, int | None]:
    """The keys of the next newer and the next older battle."""
    newer, older = (battle_keys(board, chosen, PageStart(battle.pk, is_ascending=up), 1) for up in (True, False))
    return next(iter(newer), None), next(iter(older), None)


def battle_keys(board: Board, chosen: Filter, place: PageStart, limit: int) -> list[int]:
    """Up to `limit` keys from the place on, in its direction."""
    if chosen.unknown:
        return []
    rows: Iterable[BattleQuerySet] = streams(board, chosen)
    if chosen.restricts_samples:
        fitting = fitting_samples(board.dataset_id, chosen)
        samples = list(fitting.values_list("pk", flat=True)[: MOST_SAMPLES + 1])
        if not samples:
            return []
        if len(samples) <= {0: MOST_SAMPLES, 1: FEW_SAMPLES}.get(len(chosen.contestants), 0):
            return _keys_by_samples(board, chosen, samples, place, limit)
        within: Any = samples if len(samples) <= MOST_SAMPLES else fitting.values("pk")
        # The sum keeps the database from going through the samples' own index.
        rows = (one.alias(on=F("sample_id") + 0).filter(on__in=within) for one in rows)
    found = [list(place.beyond(one).values_list("pk", flat=True)[:limit]) for one in rows]
    return list(islice(merge(*found, reverse=not place.is_ascending), limit))


def streams(board: Board, chosen: Filter) -> list[BattleQuerySet]:
    """Together all battles that the filter lets through, its conditions on samples aside; none is in two."""
    rows = Battle.objects.filter(board=board)
    mirrored = MIRRORED.get(chosen.result, chosen.result)
    if len(chosen.contestants) == 1:
        key = chosen.keys[0]
        sides = ((rows.filter(left=key), chosen.result), (rows.filter(right=key), mirrored))
        return [_conditions(side, chosen, result) for side, result in sides]
    if chosen.contestants:
        among = (rows.filter(left=left, right=right) for left, right in combinations(chosen.keys, 2))
        result = chosen.result if chosen.contestants[0].pk == chosen.keys[0] else mirrored
        return [_conditions(pair, chosen, result) for pair in among]
    if chosen.state == "void":
        return [_conditions(rows.filter(voided__isnull=False), chosen, chosen.result)]
    counted = rows.filter(voided__isnull=True, void_reason="")

    def alike(winner: str, consistent: bool | None) -> BattleQuerySet:
        # `in`, because the column alone as a condition would not be looked up in an index.
        judged = {"is_consistent__isnull": True} if consistent is None else {"is_consistent__in": [consistent]}
        found = counted.filter(winner=winner).filter(**judged)
        return found if winner else found.revealed()

    winners = ("",) if chosen.state == "open" else winners_of(chosen.result)
    judged = [CONSISTENCIES[chosen.consistency]] if chosen.consistency else [True, False, None]
    return [alike(winner, consistent) for winner, consistent in product(winners, judged)]


def winners_of(result: str) -> tuple[str, ...]:
    """What the winner may be; `won` and `lost` are said of the left one."""
    named = {"won": ("left",), "lost": ("right",), "decisive": ("left", "right")}
    return named.get(result, (result,) if result else tuple(COLUMN_OF_WINNER))


def battle_count(board: Board, chosen: Filter) -> int | None:
    """The exact number of battles, from the counts of pairs, or None where these do not tell."""
    untold = (chosen.state, chosen.source, chosen.images, chosen.sample, chosen.search, chosen.unknown)
    if any(untold) or (chosen.result and chosen.consistency):
        return None
    slices = {name: value for name in ("subset", "category") if (value := getattr(chosen, name))}
    rows = PairCount.objects.filter(board=board, **slices)
    if len(chosen.contestants) == 1:
        rows = rows.filter(Q(left=chosen.keys[0]) | Q(right=chosen.keys[0]))
    elif chosen.contestants:
        rows = rows.filter(left__in=chosen.keys, right__in=chosen.keys)

    def summed(found: QuerySet[PairCount], *columns: str) -> int:
        return int(found.order_by().aggregate(total=Sum(reduce(add, map(F, columns))))["total"] or 0)

    def won(found: QuerySet[PairCount], result: str) -> int:
        return summed(found, *(COLUMN_OF_WINNER[winner] for winner in winners_of(result)))

    def count() -> int:
        if chosen.consistency:
            return summed(rows, COLUMN_OF_CONSISTENCY[chosen.consistency])
        if not chosen.contestants or len(chosen.contestants) > 2:
            return won(rows, chosen.result)
        first = chosen.contestants[0].pk
        mirrored = MIRRORED.get(chosen.result, chosen.result)
        return won(rows.filter(left=first), chosen.result) + won(rows.filter(right=first), mirrored)

    return memoize("battles-total", (board.pk, board.changes, chosen.address), count)


def _conditions(rows: BattleQuerySet, chosen: Filter, result: str) -> BattleQuerySet:
    """Everything but who battled and on what, as conditions on rows that another index has found."""
    if chosen.state == "open":
        rows = rows.filter(winner="", void_reason="").revealed()
    elif chosen.state == "void":
        rows = rows.exclude(void_reason="")
    else:
        rows = rows.filter(void_reason="").exclude(winner="")
    if result and chosen.state != "open":
        rows = rows.filter(winner__in=winners_of(result))
    return rows.filter(is_consistent=CONSISTENCIES[chosen.consistency]) if chosen.consistency else rows


def _keys_by_samples(board: Board, chosen: Filter, samples: list[int], place: PageStart, limit: int) -> list[int]:
    """The newest battle of each sample says which samples the page can come from: at most as many as it has rows."""
    rows = Battle.objects.filter(board=board)
    if not chosen.contestants:
        rows = _conditions(rows, chosen, chosen.result)
    elif chosen.result in MIRRORED:
        key, [on_left], [on_right] = chosen.keys[0], winners_of(chosen.result), winners_of(MIRRORED[chosen.result])
        rows = _conditions(rows.filter(Q(left=key, winner=on_left) | Q(right=key, winner=on_right)), chosen, "")
    else:
        rows = _conditions(rows.filter(Q(left=chosen.keys[0]) | Q(right=chosen.keys[0])), chosen, chosen.result)
    rows = place.beyond(rows)
    head = Subquery(rows.filter(sample=OuterRef("pk")).values("pk")[:1])
    first = F("head").asc(nulls_last=True) if place.is_ascending else F("head").desc(nulls_last=True)
    heads = Sample.objects.filter(pk__in=samples).annotate(head=head).order_by(first)
    nearest = [pk for pk, found in heads.values_list("pk", "head")[:limit] if found is not None]
    return list(rows.filter(sample__in=nearest).values_list("pk", flat=True)[:limit]) if nearest else []
