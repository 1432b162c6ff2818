"""How many battles are read while somebody waits."""

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.battles.sampled import shared_of
from experiments.models import Battle
from leaderboard import compute
from leaderboard.compatibility import standing
from tests.leaderboard import boards

pytestmark = pytest.mark.django_db


def battles_read(asked):
    return [one["sql"] for one in asked.captured_queries if f'"{Battle._meta.db_table}"' in one["sql"]]


def test_of_no_boards_there_are_no_battles():
    found = shared_of([], {1: 0}, ("a",))

    assert (len(found.battles), found.battles.contestants, found.items.tolist()) == (0, ("a",), [])


def test_ladders_with_nobody_in_common_are_rated_without_reading(alice):
    ladders = [compute.ensure(boards.board_of(alice, [(*pair, "left"), (*pair, "right")])) for pair in ("ab", "cd")]
    for ladder in ladders:
        compute.refresh(ladder)
        ladder.refresh_from_db()

    with CaptureQueriesContext(connection) as asked:
        found = standing.cross_elo(ladders, "common")

    assert not battles_read(asked)
    assert found["leaderboard"] == []


def test_ladders_of_many_battles_together_are_as_wide_as_each_was(alice, monkeypatch):
    ladder = compute.ensure(boards.filled(alice, contestants=4, battles=600))
    compute.refresh(ladder)
    ladder.refresh_from_db()
    exact = {one["model"]: one["ci_lower"] for one in standing.cross_elo([ladder], "all")["leaderboard"]}
    monkeypatch.setattr(standing, "MOST_READ", 50)

    with CaptureQueriesContext(connection) as asked:
        found = {one["model"]: one["ci_lower"] for one in standing.cross_elo([ladder], "all")["leaderboard"]}

    assert not battles_read(asked)
    assert list(found) == list(exact)
    assert np.array(list(found.values())) == pytest.approx(np.array(list(exact.values())), abs=0.1)
