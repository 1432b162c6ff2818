"""A people's ladder is made of its log: whoever has the file of votes comes to the same figures, to the last digit."""

import json

import numpy as np
import pytest

from experiments.battles import counting, voiding
from experiments.battles.logs.exporting import full_lines, slim_lines
from experiments.battles.logs.importing import import_battles, make_dataset
from experiments.models import Battle, Board
from leaderboard import compute
from leaderboard.ratings import Battles, Shared, by_items, tally
from tests.leaderboard import boards

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


@pytest.fixture
def board(alice):
    """Votes of seven voters on four contestants, of which one voter's are left out."""
    board = boards.filled(alice, contestants=4, battles=420, judge="people")
    for number, battle in enumerate(board.battles.order_by("pk")):
        shown = {"ballot": f"visitor:{number % 7}", "shown_left_first": bool(number % 2), "is_consistent": None}
        Battle.objects.filter(pk=battle.pk).update(**shown)
    counting.recount(board)
    assert voiding.void_voter(board, "visitor:3", by=alice, reason="A program voted.", name="visitor") == 60
    board.refresh_from_db()
    return board


def figures(board):
    rows = compute.standings(compute.ensure(board)).rows
    return {row.name: (row.rating, row.lower, row.upper, row.wins, row.ties, row.losses, row.rank) for row in rows}


def test_the_slim_log_gives_the_ladders_ratings_and_intervals(board):
    rows = [json.loads(line) for line in b"".join(slim_lines(board)).splitlines()]
    names = sorted({row[side] for row in rows for side in ("model_a", "model_b")})
    battles = Battles(
        [names.index(row["model_a"]) for row in rows],
        [names.index(row["model_b"]) for row in rows],
        [{row["model_a"]: 1.0, row["model_b"]: 0.0, "tie": 0.5}[row["final_winner"]] for row in rows],
        names,
    )

    by_hand = by_items(tally(battles), Shared(battles, np.array([row["sample_index"] for row in rows])))

    shown = figures(board)
    assert len(rows) == 360
    for place, name in enumerate(names):
        told = [by_hand.ratings.values[place], by_hand.lower[place], by_hand.upper[place]]
        assert [round(float(value), 6) for value in told] == list(shown[name][:3])


def test_the_whole_log_taken_over_elsewhere_makes_the_same_ladder(board, alice, tmp_path):
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"".join(full_lines(board)))

    report = import_battles(path, dataset=make_dataset(owner=alice, name="Elsewhere"), by=alice)

    copy = Board.objects.get(slug__in=report.boards)
    assert (report.stored, report.void, report.refused) == (360, 60, 0)  # those that are left out are not taken over
    assert figures(copy) == figures(board)
