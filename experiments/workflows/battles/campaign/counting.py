"""The counts of pairs: moved in the transaction that moves a battle, and made anew from the battles on demand."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, Protocol

from django.db import connection, transaction
from django.db.models import Count, F, Q, Sum

from experiments.models import Battle, Board, PairCount, Sample
from experiments.models.signals import board_changed

COLUMNS = ("left_wins", "right_wins", "ties", "both_bad", "consistent", "inconsistent")
BY_WINNER: dict[str, str] = {
    Battle.Winner.LEFT: "left_wins",
    Battle.Winner.RIGHT: "right_wins",
    Battle.Winner.TIE: "ties",
    Battle.Winner.BOTH_BAD: "both_bad",
}
COUNTS = {
    **{column: Count("pk", filter=Q(winner=winner)) for winner, column in BY_WINNER.items()},
    "consistent": Count("pk", filter=Q(is_consistent=True)),
    "inconsistent": Count("pk", filter=Q(is_consistent=False)),
}


class Slice(NamedTuple):
    """What a row of counts is about."""

    left: int
    right: int
    subset: str
    category: str


class Counted(Protocol):
    """A battle as far as counts need it: a row, or what will be one."""

    left_id: int
    right_id: int
    sample: Sample
    winner: str
    is_consistent: bool | None
    void_reason: str


def count(board_id: int, battles: Iterable[Counted], by: int = 1) -> None:
    """Add battles to their pairs' counts, or with by=-1 take them away. Those that do not count change nothing.

    Call inside the transaction that writes the battles, with `sample` at hand. Rows are taken in one sequence, the
    board first and then its pairs, so that transactions side by side do not wait for each other in a circle.
    """
    changes: dict[Slice, dict[str, int]] = {}
    for battle in battles:
        if battle.winner and not battle.void_reason:
            place = Slice(battle.left_id, battle.right_id, battle.sample.subset, battle.sample.category)
            columns = changes.setdefault(place, dict.fromkeys(COLUMNS, 0))
            columns[BY_WINNER[battle.winner]] += by
            if battle.is_consistent is not None:
                columns["consistent" if battle.is_consistent else "inconsistent"] += by
    if not changes:
        return
    with transaction.atomic():
        note_change(board_id)
        _move(board_id, changes)


def _move(board_id: int, changes: Mapping[Slice, Mapping[str, int]]) -> None:
    """Row by row in one sequence, each made where there is none: the ORM cannot say “add to what is there”."""
    quoted, table = connection.ops.quote_name, connection.ops.quote_name(PairCount._meta.db_table)
    keys = ", ".join(quoted(name) for name in ("board_id", "left_id", "right_id", "subset", "category"))
    counts = [quoted(name) for name in COLUMNS]
    places = ", ".join(["%s"] * (1 + len(Slice._fields) + len(counts)))
    added = ", ".join(f"{name} = {table}.{name} + EXCLUDED.{name}" for name in counts)
    into = f"INSERT INTO {table} ({keys}, {', '.join(counts)}) VALUES ({places})"  # noqa: S608 - all of it is ours
    rows: list[list[int | str]] = [
        [board_id, *place, *(changes[place][name] for name in COLUMNS)] for place in sorted(changes)
    ]
    with connection.cursor() as cursor:
        cursor.executemany(f"{into} ON CONFLICT ({keys}) DO UPDATE SET {added}", rows)


def note_change(board_id: int) -> None:
    """What the board counts has changed: ratings computed before are out of date. Call inside the transaction."""
    Board.objects.filter(pk=board_id).update(changes=F("changes") + 1)
    transaction.on_commit(partial(board_changed.send, Board, board_id=board_id))


def recount(board: Board) -> int:
    """Make the counts anew from the battles. Returns how many battles they hold; nothing changes where all is well."""
    with transaction.atomic():
        Board.objects.select_for_update().get(pk=board.pk)
        wanted = _wanted(board)
        if wanted != _kept(board):
            board.pairs.all().delete()
            PairCount.objects.bulk_create(
                (
                    PairCount(board=board, left_id=left, right_id=right, subset=subset, category=category, **columns)
                    for (left, right, subset, category), columns in sorted(wanted.items())
                ),
                batch_size=500,
            )
            note_change(board.pk)
    return sum(sum(columns[name] for name in set(BY_WINNER.values())) for columns in wanted.values())


def pair_totals(board: int, subsets: Sequence[str]) -> dict[tuple[int, int], int]:
    """How many battles of each pair (left, right) are decided on a board, void ones included."""
    rows = PairCount.objects.filter(board=board)
    void = Battle.objects.filter(board=board, voided__isnull=False, ballot="").order_by()
    if subsets:
        rows, void = rows.filter(subset__in=subsets), void.filter(sample__subset__in=subsets)
    decided = F("left_wins") + F("right_wins") + F("ties") + F("both_bad")
    found = {(row[0], row[1]): row[2] for row in rows.values_list("left", "right").annotate(decided=Sum(decided))}
    for pair, count in Counter(void.values_list("left_id", "right_id").iterator()).items():  # few: grouped here
        found[pair] = found.get(pair, 0) + count
    return found


def differences(board: Board) -> int:
    """How many pairs of slices have other counts than their battles say; nothing is changed. 0 where all is well."""
    with transaction.atomic():
        wanted, kept = _wanted(board), _kept(board)
    return sum(wanted.get(place) != kept.get(place) for place in wanted.keys() | kept.keys())


def _wanted(board: Board) -> dict[Slice, dict[str, int]]:
    """What the battles say."""
    fields = ("left", "right", "sample__subset", "sample__category")
    return _by_slice(Battle.objects.filter(board=board).counted().order_by().values(*fields).annotate(**COUNTS), fields)


def _kept(board: Board) -> dict[Slice, dict[str, int]]:
    """What is kept of them."""
    found = _by_slice(board.pairs.values(*Slice._fields, *COLUMNS), Slice._fields)
    return {place: columns for place, columns in found.items() if any(columns.values())}


def _by_slice(rows: Iterable[Any], fields: Sequence[str]) -> dict[Slice, dict[str, int]]:
    return {Slice(*(row[name] for name in fields)): {name: row[name] for name in COLUMNS} for row in rows}
