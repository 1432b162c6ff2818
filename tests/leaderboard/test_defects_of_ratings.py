"""Earlier arenas' defects in ratings (ratings.md §1.10), against the ladders that we show."""

import math
import time

import numpy as np
import pytest
from django.core.management import call_command

from experiments.battles.logs.exporting import slim_lines
from experiments.battles.logs.importing import import_battles, make_dataset
from experiments.models import Board, Call
from leaderboard import compute, milestones
from leaderboard.browsing import showing
from leaderboard.matrix import matrix
from leaderboard.ratings import Table, bootstrap, fit, sandwich
from tests.leaderboard import boards

pytestmark = pytest.mark.django_db
DATE = "release_20260131"


def ratings(board):
    return {row.name: row.rating for row in compute.standings(compute.ensure(board)).rows}


def several(first, second, winner, times):
    return [(first, second, winner)] * times


CHAIN = [
    *several("best", "good", "left", 12),
    *several("best", "good", "right", 6),
    *several("good", "weak", "left", 12),
    *several("good", "weak", "right", 6),
]


def test_a_milestone_that_is_the_newest_of_all_takes_no_rating_away(alice):
    board = boards.board_of(alice, CHAIN)
    before = ratings(board)

    taken = milestones.take(compute.ensure(board), name=DATE, by=alice)

    assert ratings(board) == before
    assert dict(zip(taken.contestants, taken.ratings, strict=True)) == pytest.approx(before)
    assert len(set(before.values())) == 3
    lines = {line.name: line for line in milestones.compared(taken).lines}
    assert lines["best"].now.rating == pytest.approx(before["best"], abs=1e-4)
    assert lines["best"].now.upper > lines["best"].now.lower


def test_who_lost_every_battle_has_no_rating_and_stands_below_who_won_some(alice):
    board = boards.board_of(
        alice, [*CHAIN, *several("weak", "loser", "left", 9), *several("champion", "best", "left", 9)]
    )

    rows = {row.name: row for row in compute.standings(compute.ensure(board)).rows}

    assert (rows["loser"].rating, rows["loser"].reason) == (None, "winless")
    assert (rows["champion"].rating, rows["champion"].reason) == (None, "undefeated")
    assert sum(rows[name].rating for name in ("best", "good", "weak")) == pytest.approx(3000)


def test_battles_that_travel_as_a_log_give_the_ratings_that_they_gave_here(alice, tmp_path):
    board = boards.board_of(alice, CHAIN)
    path = tmp_path / "sent.jsonl"
    path.write_bytes(b"".join(slim_lines(board)))

    report = import_battles(path, dataset=make_dataset(owner=alice, name="Received"), by=alice)

    received = ratings(Board.objects.get(slug=report.boards[0]))
    assert received == pytest.approx(ratings(board), abs=1e-6)
    assert 1000 not in {round(value) for name, value in received.items() if name != "good"}

    path.write_text(path.read_text().replace('"final_winner": "best"', '"final_winner": "good"', 3))
    forged = import_battles(path, dataset=make_dataset(owner=alice, name="Forged"), by=alice)
    assert ratings(Board.objects.get(slug=forged.boards[0])) != pytest.approx(received, abs=1)


def test_a_milestone_is_taken_when_somebody_takes_it_and_holds_all_that_was_there(alice):
    board = boards.board_of(alice, CHAIN[:30])
    ladder = compute.ensure(board)
    compute.refresh(ladder)
    boards.board_of(alice, CHAIN * 10, board=board)
    compute.refresh(ladder)

    assert not ladder.milestones.exists()
    taken = milestones.take(ladder, name=DATE, by=alice)

    assert taken.battles == 30 + 360
    assert dict(zip(taken.contestants, taken.ratings, strict=True)) == pytest.approx(ratings(board), abs=1e-4)


@pytest.mark.parametrize("bootstrapped", [False, True])
def test_the_same_battles_give_the_same_numbers_however_often_they_are_computed(bootstrapped, alice):
    ladder = compute.ensure(boards.filled(alice, contestants=5, battles=300))

    found = [compute.standings(ladder, bootstrapped=bootstrapped).as_json() for _time in range(3)]

    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("bootstrapped", [False, True])
def test_the_same_log_gives_the_same_numbers_in_whatever_sequence_it_is_read(bootstrapped, alice, tmp_path):
    lines = list(b"".join(slim_lines(boards.filled(alice, contestants=5, battles=200))).splitlines(keepends=True))
    found = []
    for place, sequence in enumerate((lines, lines[::-1])):
        path = tmp_path / f"{place}.jsonl"
        path.write_bytes(b"".join(sequence))
        report = import_battles(path, dataset=make_dataset(owner=alice, name=f"Copy {place}"), by=alice)
        ladder = compute.ensure(Board.objects.get(slug=report.boards[0]))
        rows = compute.standings(ladder, bootstrapped=bootstrapped).rows
        found.append([(row.name, row.rank, row.rating, row.lower, row.upper) for row in rows])

    assert found[0] == found[1]


def test_a_chain_of_forty_is_rated_exactly():
    """Each beats the next 3 times in 4, and nobody meets anybody else: neighbours are 400 · log10 3 apart."""
    wins = np.zeros((40, 40))
    for place in range(39):
        wins[place, place + 1], wins[place + 1, place] = 3, 1

    values = fit(Table(wins, np.zeros((40, 40)), tuple(f"m{place:02}" for place in range(40)))).values

    assert np.abs(np.diff(values) + 400 * math.log10(3)).max() < 1e-6


def test_two_cliques_that_one_pair_joins_are_rated_exactly():
    wins, size = np.zeros((20, 20)), 10
    for start in (0, size):
        wins[start : start + size, start : start + size] = 100
    np.fill_diagonal(wins, 0)
    wins[0, size], wins[size, 0] = 9, 1

    values = fit(Table(wins, np.zeros((20, 20)), tuple(f"m{place:02}" for place in range(20)))).values

    assert values[0] - values[size] == pytest.approx(400 * math.log10(9), abs=1e-6)
    assert np.ptp(values[:size]) == pytest.approx(0, abs=1e-6)


def test_rating_again_asks_no_judge(alice):
    board = boards.board_of(alice, CHAIN)
    before = ratings(board)

    call_command("rerate")

    assert (ratings(board), Call.objects.count(), board.battles.count()) == (before, 0, len(CHAIN))


def test_intervals_of_two_million_battles_are_drawn_as_those_of_two_thousand_are():
    """Resamples are drawn from the table of pairs: battles by the million cost what battles by the thousand do."""
    random = np.random.default_rng(1)
    wins = random.integers(1, 10, (30, 30)).astype(float)
    np.fill_diagonal(wins, 0)
    ties, names = np.zeros((30, 30)), tuple(f"m{place:02}" for place in range(30))

    drawn, taken = [], []
    for times in (1, 500):
        began = time.process_time()
        drawn.append(bootstrap(Table(wins * times, ties, names), rounds=100, seed=1))
        taken.append(time.process_time() - began)

    small, large = drawn
    assert taken[1] < 50 * max(taken[0], 0.01), "500 times the battles cost nowhere near 500 times the work"
    assert wins.sum() * 500 > 2_000_000
    narrower = (large.upper - large.lower) / (small.upper - small.lower)
    assert narrower.mean() == pytest.approx(1 / math.sqrt(500), rel=0.2)


def test_a_newcomers_interval_carries_what_is_not_known_of_its_anchors():
    wins = np.array([[0, 60, 0], [40, 0, 0], [0, 0, 0]], dtype=float)
    ties, names = np.zeros((3, 3)), ("a", "b", "new")
    earlier = sandwich(Table(wins[:2, :2], ties[:2, :2], names[:2]))
    wins[2, 0], wins[0, 2] = 55, 45
    anchors = {name: float(earlier.ratings[name]) for name in names[:2]}

    taken_for_exact = sandwich(Table(wins, ties, names), anchors=anchors)
    honest = sandwich(Table(wins, ties, names), anchors=anchors, errors=earlier.covariance)

    assert honest.errors[2] > 1.05 * taken_for_exact.errors[2]
    assert honest.errors[2] ** 2 == pytest.approx(taken_for_exact.errors[2] ** 2 + earlier.errors[0] ** 2)


def test_a_tie_is_half_a_win_wherever_a_share_of_wins_is_shown(alice):
    dataset = boards.dataset_of(alice)
    boards.contestants_of(dataset, ["a", "b", "c"])
    board = boards.judged_by(dataset)
    boards.board_of(alice, [("a", "b", "left"), ("a", "b", "tie"), ("a", "b", "tie"), ("a", "c", "tie")], board=board)
    ladder = compute.ensure(board)
    current = compute.current(ladder)

    [row] = [row for row in current.standings.rows if row.name == "a"]
    against = {line.row.name: line for line in matrix(ladder, current, whole=True).lines}
    places = list(against)
    assert row.win_rate == pytest.approx(2.5 / 4)
    assert against["a"].cells[places.index("b")].win_rate == pytest.approx(2 / 3)
    tied = board.battles.filter(winner="tie").first()
    assert {standing.rate for standing in showing.on_sample(board, tied.sample) if standing.rate is not None} == {0.5}


def test_a_ladder_that_cannot_be_computed_leaves_the_last_one_standing(alice, monkeypatch):
    ladder = compute.ensure(boards.board_of(alice, CHAIN))
    compute.refresh(ladder)
    before = dict(ladder.standing.data)
    boards.board_of(alice, CHAIN, board=ladder.board)

    def broken(*_args):
        raise RuntimeError("the machine stops here")

    monkeypatch.setattr("leaderboard.history.note", broken)
    with pytest.raises(RuntimeError):
        compute.refresh(ladder)

    ladder.standing.refresh_from_db()
    assert ladder.standing.data == before
