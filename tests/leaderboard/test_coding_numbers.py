"""Ratings on pages are those of the pure room, computed from rows; a cycle that is left out has never been."""

import pytest

from experiments.contests import counted, ratings
from experiments.models import Cycle
from leaderboard import coding
from leaderboard.ratings import cycles as pure
from tests.experiments import contest_rows
from tests.experiments.contest_rows import LEVELS, SEATS, Contest, votes_of

MODELS = tuple(f"lab/{seat}" for seat in SEATS)


def value(levels, turn, missing=(), passed=None):
    """What the rows of `Contest.cycle` should be read as."""
    votes = votes_of(*missing, levels=levels)
    shares = {MODELS[n]: (passed or {}).get(n + 1, 10) / 10 for n in range(4)}
    return pure.Cycle(
        MODELS,
        MODELS[(turn - 1) % 4],
        tuple(pure.Vote(MODELS[s - 1], MODELS[j - 1], vote) for s, row in votes.items() for j, vote in row.items()),
        shares,
    )


def levels(number):
    return tuple(level + ((number * 7 + place * 3) % 5 - 2) * 0.8 for place, level in enumerate(LEVELS))


@pytest.fixture
def ten(alice):
    """Ten cycles of two runs, by turns; with the cycles as the pure room knows them, in the order of their ratings."""
    first, second = Contest(alice, is_bare=True), Contest(alice, is_bare=True)
    known = []
    for number in range(10):
        made = (first, second)[number % 2]
        passed = {3: 3 + number % 6, 4: number % 4}
        row = made.cycle(votes_of(levels=levels(number)), passed=passed)
        Cycle.objects.filter(pk=row.pk).update(ended=first.now.replace(microsecond=number))
        known.append((row, value(levels(number), made.turns, passed=passed)))
    return known


def boards(found):
    return {one.name: one.compatible for one in found.solvers}, {one.name: one.elo for one in found.solvers}


@pytest.mark.databases
def test_rows_are_read_as_the_cycles_they_are(ten):
    assert [one.cycle for one in counted.read(Cycle.objects.counted())] == [cycle for _row, cycle in ten]


def test_a_run_is_rated_by_its_own_cycles_alone(ten):
    rows = [(row, cycle) for row, cycle in ten if row.run_id == ten[0][0].run_id]
    found = ratings.of_run(rows[0][0].run)

    assert found.cycles == 5
    assert boards(found)[0] == dict(pure.compatible_elo([cycle for _row, cycle in rows]).ratings)
    assert [moment.turn for moment in found.history] == [1, 2, 3, 4, 5]


def test_a_solver_below_the_quorum_is_unrated_and_its_votes_still_say_what_the_judges_are_like(alice):
    made = Contest(alice)
    for _cycle in range(3):
        made.cycle(votes_of((1, 2), (1, 3)), quorum=2)
    found = ratings.of_run(made.run)
    solver = next(one for one in found.solvers if one.name == "lab/coder-1")

    assert (solver.unrated, solver.mean.value, solver.reason) == (3, None, "no_battles")
    assert (solver.votes, solver.elo) == (3, None)
    assert next(one.votes for one in found.judges if one.name == "lab/coder-4") == 9
    assert found.history[-1].means.keys() == {"lab/coder-2", "lab/coder-3", "lab/coder-4"}


def test_without_a_rated_cycle_there_is_nothing(alice):
    made = Contest(alice)
    made.void_cycle()

    assert ratings.of_run(made.run) is None
    assert ratings.of_all() is None
    assert coding.standings().rows == ()


def test_a_model_that_has_left_the_catalogue_is_called_by_its_slug(alice):
    made = contest_rows.contest(alice, 2)
    for row in Cycle.objects.all():
        row.contestants = [[seat, f"gone/{slug}"] for seat, slug in row.contestants]
        row.save()

    assert {one.shown for one in ratings.of_run(made.run).solvers} == {f"gone/{name}" for name in MODELS}


def test_every_figure_is_that_of_the_pure_room_without_the_cycles_that_are_left_out(ten):
    Cycle.objects.filter(pk=ten[2][0].pk).update(voided="2026-01-01T00:00:00Z", void_reason="Ambiguous.")
    kept = [pair for number, pair in enumerate(ten) if number != 2]
    cycles = [cycle for _row, cycle in kept]
    found = ratings.of_all()
    compatible, elo = boards(found)
    strengths, judged = pure.solver_ratings(cycles), pure.judging(cycles)

    assert [moment.pk for moment in coding.history()] == [row.pk for row, _cycle in kept]
    assert compatible == dict(pure.compatible_elo(cycles).ratings)
    assert elo == dict(pure.solver_elo(cycles).ratings)
    for one in found.solvers:
        index = strengths.intervals.ratings.contestants.index(one.name)
        if one.rating is not None:
            assert one.rating == strengths.intervals.ratings.values[index]
            assert (one.lower, one.upper) == (strengths.intervals.lower[index], strengths.intervals.upper[index])
    assert any(one.rating is not None for one in found.solvers)
    assert [one.severity.value for one in found.judges] == [one.severity.value for one in judged.judges]
    assert (found.alpha.value, (found.alpha.low, found.alpha.high)) == (judged.alpha.value, judged.alpha.interval)
    assert {one.name: one.calibration.value for one in found.setters} == {
        one.name: one.calibration.value for one in pure.setters(cycles)
    }
    reverse = {one.name: one.reverse for one in found.solvers}
    assert reverse == dict(pure.compatible_elo([turned(one) for one in cycles]).ratings)
    assert found.order_moves == max(abs(compatible[name] - reverse[name]) for name in reverse) > 0


def turned(one):
    """The same cycle with its contestants in the other order."""
    return pure.Cycle(one.contestants[::-1], one.setter, one.votes, one.passed)
