"""Where everybody stands follows from the counts and the samples alone, and no number is invented."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext

from experiments.library.datasets import contestants
from experiments.models import Battle
from experiments.workflows.battles.campaign import counting
from experiments.workflows.battles.campaign.logs.exporting import slim_lines
from experiments.workflows.battles.campaign.sampled import shared_of
from leaderboard.boards import compute, ranking
from leaderboard.boards.standings import Slice, Standings
from leaderboard.boards.tables import pair_matrix
from leaderboard.compatibility import standings
from leaderboard.pages import battle_details
from leaderboard.ratings import Battles, Shared, by_items, tally
from leaderboard.votes import voter_report
from tests.leaderboard import boards

CIRCLE = [("a", "b", "left"), ("b", "c", "left"), ("c", "a", "left")] * 4


def computed(alice, battles, **fields):
    return compute.standings(compute.ensure_ladder(boards.board_of(alice, battles, **fields)))


def without_keys(found):
    """What does not depend on the database's numbering."""
    return replace(found, changes=0, rows=tuple(replace(row, contestant=None) for row in found.rows))


@pytest.mark.databases
def test_equal_battles_give_identical_standings_in_whatever_sequence_they_arrived(alice):
    battles = [(a, b, w) for a, b in ("ab", "bc", "cd", "da", "ac") for w in ("left", "right", "tie", "left") * 3]
    mixed = list(battles)
    random.Random(3).shuffle(mixed)
    turned = {"left": "right", "right": "left", "tie": "tie"}

    first = computed(alice, battles)
    second = computed(alice, [(b, a, turned[w]) for a, b, w in mixed])

    assert without_keys(first) == without_keys(second)
    assert len(first.rated) == 4
    assert (computed(alice, [("a", "b", "")]).rows, computed(alice, []).battles) == ((), 0), "nothing decided, no rows"


def test_the_undefeated_is_first_the_winless_last_with_a_bound_and_who_no_battle_links_apart(alice):
    ends = [(name, other, won) for name, won in (("best", "left"), ("worst", "right")) for other in "abc" * 3]
    found = computed(alice, CIRCLE * 9 + ends)
    rows, best, worst = found.rows, found.rows[0], found.rows[-1]

    assert [(row.name, row.best, row.worst) for row in (best, worst)] == [("best", 1, 1), ("worst", 5, 5)]
    assert (best.reason, best.rating, best.upper) == ("undefeated", None, None)
    assert (worst.reason, worst.rating, worst.lower) == ("winless", None, None)
    assert best.lower > 1000 > worst.upper
    assert {(row.rank, row.best, row.worst, row.first) for row in rows[1:-1]} == {(2, 2, 4, None)}
    assert Standings.from_json(found.as_json()) == found, "as it is kept"
    assert Standings.from_json({**found.as_json(), "shape": 0}) is None

    new = computed(alice, [*CIRCLE, ("new", "a", "left")]).rows[-1]
    found = computed(alice, [*CIRCLE, ("x", "y", "left"), ("y", "x", "left"), *[("x", "y", "tie")] * 6])

    assert (new.name, new.rank, new.rating, new.reason, new.lower) == ("new", None, None, "few_battles", None)
    assert found.components == 2
    assert {row.name: row.component for row in found.rows} == {"a": 0, "b": 0, "c": 0, "x": 1, "y": 1}
    assert {row.rank for row in found.rows if row.component == 1} == {1}


def newcomer_on(board, contestants, samples):
    """A newcomer's twelve battles with so many contestants, on so many samples."""
    met = [("new", f"model-00{n % contestants + 1}", ("left", "right")[n % 2]) for n in range(12)]
    boards.board_of(board.dataset.owner, met, board)
    keys = list(board.dataset.samples.order_by("pk").values_list("pk", flat=True)[:samples])
    of_new = board.battles.filter(Q(left__name="new") | Q(right__name="new")).order_by("pk")
    for number, one in enumerate(of_new):
        Battle.objects.filter(pk=one.pk).update(sample=keys[number % samples], ballot=f"visitor:{number}")
    return compute.ensure_ladder(board)


def test_both_bad_counts_in_no_rating_and_a_contestant_that_is_left_out_takes_its_battles_with_it(alice):
    plain, with_bad = computed(alice, CIRCLE), computed(alice, [*CIRCLE, *[("a", "b", "both_bad")] * 5])
    assert [row.rating for row in plain.rows] == [row.rating for row in with_bad.rows]
    assert (with_bad.both_bad, with_bad.battles) == (5, 17)
    assert sum(row.both_bad for row in with_bad.rows) == 10

    board = boards.board_of(alice, [*CIRCLE, *[("faulty", "a", "left")] * 4, ("a", "faulty", "left")])
    contestants.void(board.dataset.contestants.get(name="faulty"), by=alice, reason="It had seen the answers.")
    found = compute.standings(compute.ensure_ladder(board))
    assert without_keys(replace(found, excluded=())) == without_keys(plain)
    [left_out] = found.excluded
    assert (left_out.name, left_out.reason, left_out.battles) == ("faulty", "It had seen the answers.", 5)


def test_the_order_of_a_league_is_found_with_intervals_that_hold_it_by_bootstrap_too(alice):
    of_league = {"gap": 100, "subsets": ("x", "y"), "categories": ("a", "b")}
    ladder = compute.ensure_ladder(boards.filled(alice, contestants=5, battles=2000, **of_league))
    found = compute.standings(ladder)

    assert [row.name for row in found.rows] == [f"model-{n:03}" for n in range(1, 6)]
    for row in found.rated:
        assert row.lower < row.rating < row.upper
        assert row.best <= row.rank <= row.worst
    assert sum(row.first for row in found.rated) == pytest.approx(1)
    assert found.consistency == pytest.approx(0.9, abs=0.03)
    assert (found.subsets, found.categories) == (("x", "y"), ("a", "b"))
    parts = [compute.standings(ladder, Slice(subset, category)) for subset in "xy" for category in "ab"]
    assert sum(part.battles for part in parts) == found.battles == 2000, "slices add up to the whole"

    first, second = (compute.standings(ladder, bootstrapped=True) for _ in range(2))
    assert first == second
    assert (first.method, first.rounds, first.seed) == ("bootstrap", 1000, 1)
    assert [row.rating for row in first.rows] == [row.rating for row in found.rows]
    for one, other in zip(found.rows, first.rows, strict=True):
        assert other.upper - other.lower == pytest.approx(one.upper - one.lower, rel=0.25)


@pytest.mark.databases
def test_somebody_who_waits_reads_what_is_small_and_otherwise_has_widths_from_a_worker(alice, monkeypatch):
    """Of a board of many battles that no worker has seen yet, the small slice is read and the whole is not."""
    monkeypatch.setattr(ranking, "MOST_READ", 350)
    ladder = compute.ensure_ladder(boards.filled(alice, contestants=4, battles=600, subsets=("x", "y")))
    whole, part = (compute.standings(ladder, Slice(name)) for name in ("", "x"))

    with CaptureQueriesContext(connection) as asked:
        unseen = compute.standings(ladder, is_awaited=True)
    assert not battles_read(asked)
    assert all(row.upper > row.lower for row in unseen.rated)

    compute.refresh(ladder)
    again = compute.standings(ladder, Slice("x"), is_awaited=True)
    assert [row.lower for row in again.rows] == [row.lower for row in part.rows]

    monkeypatch.setattr(ranking, "MOST_READ", 50)
    with CaptureQueriesContext(connection) as asked:
        shown, shown_part = (compute.standings(ladder, Slice(name), is_awaited=True) for name in ("", "x"))
    assert not battles_read(asked)
    assert [row.lower for row in shown.rows] == pytest.approx([row.lower for row in whole.rows], abs=0.2)
    for one, other in zip(shown_part.rows, part.rows, strict=True):
        assert one.upper - one.lower == pytest.approx(other.upper - other.lower, rel=0.35)


def battles_read(asked):
    return [one["sql"] for one in asked.captured_queries if f'"{Battle._meta.db_table}"' in one["sql"]]


def test_who_met_too_few_prompts_keeps_its_rating_without_a_rank_on_a_board_of_many_battles_too(alice, monkeypatch):
    """A worker keeps that nothing can be said of one sample; of a name that it never saw the usual width is taken."""
    few = newcomer_on(boards.filled(alice, contestants=3, battles=300), contestants=3, samples=2)
    [new] = [row for row in compute.standings(few).rows if row.name == "new"]
    assert (new.rank, new.reason) == (None, "few_samples")
    assert new.lower < new.rating < new.upper

    ladder = newcomer_on(boards.filled(alice, contestants=4, battles=600), contestants=4, samples=1)
    compute.refresh(ladder)
    monkeypatch.setattr(ranking, "MOST_READ", 50)

    found = compute.standings(ladder, is_awaited=True)
    widths = ranking.kept_widths([ladder.board], ["model-001", "new", "unseen"])

    assert ladder.standing.data["widths"]["new"] is None
    assert {row.name: row.reason for row in found.rows}["new"] == "few_samples"
    assert (np.isfinite(widths[0]), np.isinf(widths[1]), np.isnan(widths[2])) == (True, True, True)


def test_a_tie_is_half_a_win_wherever_a_share_of_wins_is_shown(alice):
    battles = [("a", "b", "left"), ("a", "b", "tie"), ("a", "b", "tie"), ("a", "c", "tie")]
    board = boards.board_of(alice, battles)
    ladder = compute.ensure_ladder(board)
    current = compute.current(ladder)

    [row] = [row for row in current.standings.rows if row.name == "a"]
    assert (row.wins, row.losses, row.ties, row.battles) == (1, 0, 3, 4)
    against = {line.row.name: line for line in pair_matrix(ladder, current, whole=True).lines}
    assert row.win_rate == pytest.approx(2.5 / 4)
    assert against["a"].cells[list(against).index("b")].win_rate == pytest.approx(2 / 3)
    tied = board.battles.filter(winner="tie").first()
    assert {
        standing.rate for standing in battle_details.on_sample(board, tied.sample) if standing.rate is not None
    } == {0.5}


@pytest.mark.django_db
def test_ladders_together_read_no_battle_where_nobody_is_common_or_battles_are_many(alice, monkeypatch):
    def kept(board):
        compute.refresh(ladder := compute.ensure_ladder(board))
        ladder.refresh_from_db()
        return ladder

    apart = [kept(boards.board_of(alice, [(*pair, "left"), (*pair, "right")])) for pair in ("ab", "cd")]
    ladder = kept(boards.filled(alice, contestants=4, battles=600))
    exact = {one["model"]: one["ci_lower"] for one in standings.joint_fit([ladder], "all")["leaderboard"]}
    monkeypatch.setattr(standings, "MOST_READ", 50)

    with CaptureQueriesContext(connection) as asked:
        none, nothing = standings.joint_fit(apart, "common"), shared_of([], {1: 0}, ("a",))
        found = {one["model"]: one["ci_lower"] for one in standings.joint_fit([ladder], "all")["leaderboard"]}

    assert not battles_read(asked)
    assert none["leaderboard"] == []
    assert (len(nothing.battles), nothing.battles.contestants, nothing.items.tolist()) == (0, ("a",), [])
    assert list(found) == list(exact)
    assert np.array(list(found.values())) == pytest.approx(np.array(list(exact.values())), abs=0.1)


@pytest.mark.databases
def test_the_slim_log_gives_the_ladders_ratings_and_intervals(alice):
    """Whoever has the file of votes comes to the same figures; one of seven voters is left out."""
    votes = boards.filled(alice, contestants=4, battles=420, judge="people")
    for number, battle in enumerate(votes.battles.order_by("pk")):
        shown = {"ballot": f"visitor:{number % 7}", "shown_left_first": bool(number % 2), "is_consistent": None}
        Battle.objects.filter(pk=battle.pk).update(**shown)
    counting.recount(votes)
    word = voter_report.pseudonym_of(votes, "visitor:3")
    assert voter_report.exclude_voter(votes.dataset, word, by=alice, reason="A program voted.") == 60
    votes.refresh_from_db()

    rows = [json.loads(line) for line in b"".join(slim_lines(votes)).splitlines()]
    names = sorted({row[side] for row in rows for side in ("model_a", "model_b")})
    sides = ([names.index(row[side]) for row in rows] for side in ("model_a", "model_b"))
    score = [{row["model_a"]: 1.0, row["model_b"]: 0.0, "tie": 0.5}[row["final_winner"]] for row in rows]
    battles = Battles(*sides, score, names)
    by_hand = by_items(tally(battles), Shared(battles, np.array([row["sample_index"] for row in rows])))

    assert len(rows) == 360
    shown = {row.name: row for row in compute.standings(compute.ensure_ladder(votes)).rows}
    for place, name in enumerate(names):
        told = [by_hand.ratings.values[place], by_hand.lower[place], by_hand.upper[place]]
        row = shown[name]
        assert [round(float(value), 6) for value in told] == [row.rating, row.lower, row.upper]
