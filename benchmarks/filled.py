"""A database with a million battles in it: 100 contestants, 2,000 samples, a judge's board and one of people.

ARENA_DATA=/tmp/filled DATABASE_URL=… .venv/bin/python -m benchmarks.filled
"""

import os
import random
import sys
import time
from collections.abc import Iterator
from itertools import combinations, islice
from typing import Any

import django
from django.core.management import call_command
from django.db import connection, transaction
from django.utils import timezone

SUBSETS, CATEGORIES, SOURCES = ("basic", "hard", "long", "odd"), ("code", "edit", "law", "maths", "story"), 10
ROWS_AT_ONCE = 20_000
COLUMNS = "board_id sample_id left_id right_id winner is_consistent ballot shown_left_first judged created"
FIXED = {"open_reason": "", "void_reason": ""}
WORDS = [
    "amber",
    "birch",
    "cedar",
    "delta",
    "ember",
    "fjord",
    "grove",
    "harbour",
    "island",
    "jungle",
    "kelp",
    "lagoon",
    "meadow",
    "nectar",
    "orchid",
]


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "arenasite.settings")
    django.setup()
    call_command("migrate", verbosity=0)
    began = time.monotonic()
    slug = fill()
    print(f"filled in {time.monotonic() - began:.0f} s: /leaderboard/{slug}/battles/", file=sys.stderr)


def fill(contestants: int = 100, samples: int = 2_000, battles: int = 1_000_000, seed: int = 1) -> str:
    """Fill the database; returns the slug of the judge's board, which its ladder has as well."""
    from django.contrib.auth import get_user_model  # noqa: PLC0415 - models exist after the set-up alone

    from experiments.models import Contestant, Dataset, Output, Sample  # noqa: PLC0415
    from experiments.workflows.battles.campaign import boards, counting  # noqa: PLC0415
    from leaderboard.boards import compute  # noqa: PLC0415

    lots = random.Random(seed)
    owner = get_user_model().objects.create_user("filled", password=None)
    dataset = Dataset.objects.create(
        owner=owner, name="Filled", slug="filled", modality="text", visibility="public", state="ready"
    )
    names = [Contestant(dataset=dataset, name=f"lab/model-{n:03}") for n in range(contestants)]
    made = [one.pk for one in Contestant.objects.bulk_create(names)]
    rows = Sample.objects.bulk_create(_samples(dataset, samples, lots, Sample), batch_size=500)
    keys = [one.pk for one in rows]
    Output.objects.bulk_create(
        (Output(sample_id=s, contestant_id=c, text=f"**{lots.choice(WORDS)}** " * 40) for s in keys for c in made),
        batch_size=2_000,
    )
    judged = boards.imported_board(dataset, "judge/large")
    people = boards.people_board(dataset)
    _insert(_battles(judged.pk, made, keys, battles, lots))
    _insert(_votes(people.pk, made, keys, battles // 50, lots))
    for board in (judged, people):
        counting.recount(board)
        compute.refresh(compute.ensure_ladder(board))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return str(judged.slug)


def _samples(dataset: Any, count: int, lots: random.Random, model: Any) -> Iterator[Any]:
    for index in range(count):
        yield model(
            dataset=dataset,
            subset=SUBSETS[index * len(SUBSETS) // count],
            index=index,
            category=lots.choice(CATEGORIES),
            instruction=f"Sample {index}: " + " ".join(lots.choices(WORDS, k=80)),
            source=f"source {index % SOURCES}",
            images=["0" * 64] * (index % 4),
            metadata={"key": f"m{index}", "words": lots.choices(WORDS, k=4)},
        )


def _battles(board: int, contestants: list[int], samples: list[int], count: int, lots: random.Random) -> Iterator[Any]:
    """Every pair on its share of the samples, in no sequence; a hundredth is open, a tenth of a thousandth void."""
    pairs = list(combinations(contestants, 2))
    each = count // len(pairs)
    strengths = {key: lots.gauss(0, 1) for key in contestants}
    rows = [(sample, pair) for pair in pairs for sample in lots.sample(samples, each)]
    lots.shuffle(rows)
    now = timezone.now()
    for sample, (left, right) in rows:
        p = 1 / (1 + 2.718 ** (strengths[right] - strengths[left]))
        consistent = lots.random() < 0.75
        winner = "tie" if not consistent or lots.random() < 0.05 else "left" if lots.random() < p else "right"
        if lots.random() < 0.01:
            yield board, sample, left, right, "", None, "", None, None, now
        else:
            yield board, sample, left, right, winner, consistent, "", None, now, now


def _votes(board: int, contestants: list[int], samples: list[int], count: int, lots: random.Random) -> Iterator[Any]:
    now, seen = timezone.now(), set()
    for number in range(count):
        left, right = sorted(lots.sample(contestants, 2))
        row = (left, right, lots.choice(samples), f"user:{number % 200}")
        if row not in seen:
            seen.add(row)
            winner = lots.choice(("left", "right", "tie", "both_bad"))
            yield board, row[2], left, right, winner, None, row[3], lots.random() < 0.5, now, now


def _insert(rows: Iterator[Any]) -> None:
    names = [*COLUMNS.split(), *FIXED]
    places = ", ".join(["%s"] * len(names))
    command = f"INSERT INTO experiments_battle ({', '.join(names)}) VALUES ({places})"
    fixed = tuple(FIXED.values())
    while batch := [(*row, *fixed) for row in islice(rows, ROWS_AT_ONCE)]:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(command, batch)


if __name__ == "__main__":
    main()
