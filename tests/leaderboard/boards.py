"""Boards with many battles, made quickly: the battles as rows, and the counts from them.

board = boards.filled(owner, contestants=20, battles=10_000)        a league of a known order
board = boards.board_of(owner, [("a", "b", "left"), ("b", "c", "tie")])   exactly these battles
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, cycle, islice
from typing import Any

import numpy as np
from django.db import connection, transaction
from django.utils import timezone

from experiments.models import Battle, Board, Contestant, Dataset, ProviderModel, Sample
from experiments.workflows.battles.campaign import boards, counting

CHUNK = 20_000
COLUMNS = (
    *("board_id", "sample_id", "left_id", "right_id", "winner", "is_consistent"),
    *("open_reason", "ballot", "void_reason", "judged", "created"),
)
Rows = Iterator[tuple[Any, ...]]


def dataset_of(owner: Any, name: str = "A league", **fields: Any) -> Dataset:
    """A dataset that is ready; private unless `visibility` says otherwise."""
    count = Dataset.objects.count()
    made = {"slug": f"league-{count}", "state": "ready", **fields}
    return Dataset.objects.create(owner=owner, name=name, **made)


def contestants_of(dataset: Dataset, names: Iterable[str]) -> list[Contestant]:
    """In the sequence of their names' keys, which is that of `names`."""
    Contestant.objects.bulk_create(Contestant(dataset=dataset, name=name) for name in names)
    return list(dataset.contestants.order_by("pk"))


def samples_of(dataset: Dataset, count: int, subsets: Sequence[str] = ("",), categories: Sequence[str] = ("",)) -> None:
    rows = zip(range(count), cycle(subsets), cycle(categories), strict=False)
    made = (
        Sample(dataset=dataset, subset=subset, category=category, index=number, instruction=f"Task {number}")
        for number, subset, category in rows
    )
    Sample.objects.bulk_create(made, batch_size=CHUNK)


def csv_rows(answer: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))


def judged_by(dataset: Dataset, judge: str = "a judge") -> Board:
    """The dataset's board of a judge of elsewhere; "people" is that of the votes."""
    return boards.people_board(dataset) if judge == boards.PEOPLE else boards.imported_board(dataset, judge)


def judged_here(dataset: Dataset, model: ProviderModel) -> Board:
    return boards.model_board(dataset, model, prompt="text_quality", prompt_version="abc", params={})


def board_of(owner: Any, battles: Sequence[tuple[str, str, str]], board: Board | None = None, **fields: Any) -> Board:
    """A board with these battles: two names, and "left" (the first named won), "right", "tie", "both_bad" or "" (open).

    Each stands on a sample of its own, in the sequence given; contestants join in the sequence of their first battles.
    """
    board = board or judged_by(dataset_of(owner, **fields))
    dataset = board.dataset
    names = dict.fromkeys(name for first, second, _winner in battles for name in (first, second))
    known = set(dataset.contestants.values_list("name", flat=True))
    contestants_of(dataset, [name for name in names if name not in known])
    key = dict(dataset.contestants.values_list("name", "pk"))
    taken = dataset.samples.count()
    Sample.objects.bulk_create(
        Sample(dataset=dataset, index=taken + number, instruction=f"Task {taken + number}")
        for number in range(len(battles))
    )
    samples = dataset.samples.order_by("index").values_list("pk", flat=True)[taken:]
    rows = (_sorted(key[a], key[b], winner, sample) for (a, b, winner), sample in zip(battles, samples, strict=True))
    _insert(board, ((sample, left, right, winner, None) for left, right, winner, sample in rows))
    counting.recount(board)
    board.refresh_from_db()
    return board


def filled(
    owner: Any,
    *,
    contestants: int = 6,
    battles: int = 600,
    subsets: Sequence[str] = ("",),
    categories: Sequence[str] = ("",),
    seed: int = 1,
    gap: float = 12,
    judge: str = "a judge",
    **fields: Any,
) -> Board:
    """A board of a league in which a lower number is stronger: model-001 the strongest, the others `gap` points apart.

    Every pair meets as often as the others, give or take one; a battle in five is a tie, one in ten inconsistent.
    """
    dataset = dataset_of(owner, **fields)
    keys = [one.pk for one in contestants_of(dataset, [f"model-{n:03}" for n in range(1, contestants + 1)])]
    pairs = list(combinations(keys, 2))
    samples_of(dataset, math.ceil(battles / len(pairs)), subsets, categories)
    board = judged_by(dataset, judge)
    samples = list(dataset.samples.order_by("pk").values_list("pk", flat=True))
    met = islice(((sample, *pair) for sample in samples for pair in pairs), battles)
    _insert(board, _drawn(met, {key: gap * place for place, key in enumerate(keys)}, np.random.default_rng(seed)))
    counting.recount(board)
    board.refresh_from_db()
    return board


def _drawn(met: Iterator[tuple[int, int, int]], below: dict[int, float], random: np.random.Generator) -> Rows:
    while chunk := list(islice(met, CHUNK)):
        chance, consistent = random.random(len(chunk)), random.random(len(chunk)) > 0.1
        for (sample, left, right), drawn, is_consistent in zip(chunk, chance, consistent.tolist(), strict=True):
            wins = 0.8 / (1 + 10 ** ((below[left] - below[right]) / 400))
            winner = "left" if drawn < wins else "tie" if drawn < wins + 0.2 else "right"
            yield sample, left, right, winner if is_consistent else "tie", is_consistent


def _sorted(first: int, second: int, winner: str, sample: int) -> tuple[int, int, str, int]:
    if first < second:
        return first, second, winner, sample
    return second, first, {"left": "right", "right": "left"}.get(winner, winner), sample


def _insert(board: Board, rows: Rows) -> None:
    """Rows of (sample, left, right, winner, is_consistent), written without making an object of each."""
    table, now = Battle._meta.db_table, timezone.now()
    left, right = connection.ops.quote_name("left_id"), connection.ops.quote_name("right_id")
    columns = ", ".join(COLUMNS).replace("left_id", left).replace("right_id", right)
    places = ", ".join(["%s"] * len(COLUMNS))
    with transaction.atomic(), connection.cursor() as cursor:
        while chunk := list(islice(rows, CHUNK)):
            values = [
                (board.pk, sample, one, other, winner, agreed, "" if winner else "timeout", "", "", now, now)
                for sample, one, other, winner, agreed in chunk
            ]
            cursor.executemany(f"INSERT INTO {table} ({columns}) VALUES ({places})", values)
