"""The counts of pairs: moved in the transaction that moves a battle, and made anew from the battles on demand."""

from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Count, F, Q

from experiments.models import Battle, Board, PairCount
from experiments.signals import board_changed

COLUMNS = ("left_wins", "right_wins", "ties", "both_bad", "consistent", "inconsistent")
BY_WINNER = {
    Battle.Winner.LEFT: "left_wins",
    Battle.Winner.RIGHT: "right_wins",
    Battle.Winner.TIE: "ties",
    Battle.Winner.BOTH_BAD: "both_bad",
}


class Pair(NamedTuple):
    """A row of counts."""

    left: int
    right: int
    subset: str
    category: str


def count(board_id: int, battles: Iterable[Battle], by: int = 1) -> None:
    """Add battles to their pairs' counts, or with by=-1 take them away. Those that do not count change nothing.

    Call inside the transaction that writes the battles, with `sample` at hand. Rows are taken in one sequence, so that
    transactions side by side do not wait for each other in a circle.
    """
    changes: dict[Pair, dict[str, int]] = {}
    for battle in battles:
        if battle.winner and not battle.void_reason:
            pair = Pair(battle.left_id, battle.right_id, battle.sample.subset, battle.sample.category)
            columns = changes.setdefault(pair, dict.fromkeys(COLUMNS, 0))
            for column in _columns(battle):
                columns[column] += by
    if not changes:
        return
    with transaction.atomic():
        for pair in sorted(changes):
            _move(board_id, pair, changes[pair])
        note_change(board_id)


def note_change(board_id: int) -> None:
    """What the board counts has changed: ratings computed before are out of date. Call inside the transaction."""
    Board.objects.filter(pk=board_id).update(changes=F("changes") + 1)
    transaction.on_commit(partial(board_changed.send, Board, board_id=board_id))


def recount(board: Board) -> int:
    """Make the counts anew from the battles. Returns how many battles they hold; nothing changes where all is well."""
    with transaction.atomic():
        Board.objects.select_for_update().get(pk=board.pk)
        found = {
            Pair(row["left"], row["right"], row["sample__subset"], row["sample__category"]): row for row in _rows(board)
        }
        kept = {
            Pair(row["left"], row["right"], row["subset"], row["category"]): {name: row[name] for name in COLUMNS}
            for row in board.pairs.values("left", "right", "subset", "category", *COLUMNS)
            if any(row[name] for name in COLUMNS)
        }
        wanted = {pair: {name: row[name] for name in COLUMNS} for pair, row in found.items()}
        if wanted != kept:
            board.pairs.all().delete()
            PairCount.objects.bulk_create(
                (PairCount(board=board, **_keys(pair), **columns) for pair, columns in sorted(wanted.items())),
                batch_size=500,
            )
            note_change(board.pk)
    return sum(sum(columns[name] for name in set(BY_WINNER.values())) for columns in wanted.values())


def _rows(board: Board) -> Any:
    counts = {column: Count("pk", filter=Q(winner=winner)) for winner, column in BY_WINNER.items()}
    counts |= {"consistent": Count("pk", filter=Q(is_consistent=True))}
    counts |= {"inconsistent": Count("pk", filter=Q(is_consistent=False))}
    slices = Battle.objects.filter(board=board).counted().order_by()
    return slices.values("left", "right", "sample__subset", "sample__category").annotate(**counts)


def _columns(battle: Battle) -> list[str]:
    columns = [BY_WINNER[Battle.Winner(battle.winner)]]
    if battle.is_consistent is not None:
        columns.append("consistent" if battle.is_consistent else "inconsistent")
    return columns


def _keys(pair: Pair) -> dict[str, Any]:
    return {"left_id": pair.left, "right_id": pair.right, "subset": pair.subset, "category": pair.category}


def _move(board_id: int, pair: Pair, changes: dict[str, int]) -> None:
    moved = {name: F(name) + change for name, change in changes.items() if change}
    rows = PairCount.objects.filter(board_id=board_id, **_keys(pair))
    if not rows.update(**moved):
        PairCount.objects.get_or_create(board_id=board_id, **_keys(pair))
        rows.update(**moved)
