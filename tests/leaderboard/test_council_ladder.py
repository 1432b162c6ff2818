"""The council's ladder: models as their peers rank them, of questions that were played here to their end."""

from datetime import timedelta

import numpy as np
import pytest

from experiments.models import Ballot, ProviderModel, Run, Step
from experiments.tasks import clock
from leaderboard.boards import compute, council, jobs
from leaderboard.models import Standing
from leaderboard.ratings import Battles, sandwich
from tests.experiments.reports import deliberations


@pytest.fixture
def asked(alice):
    """A council of Alice's that has answered one question; two of its three members ranked."""
    return deliberations.council(alice).run


@pytest.mark.databases
def test_ballots_of_what_was_played_here_are_read_as_comparisons_without_the_reviewers_own_answer(asked):
    for origin in (Run.Origin.IMPORTED, Run.Origin.DEMONSTRATION, Run.Origin.BRANCH):
        Run.objects.update(origin=origin)
        assert list(council.pairings()) == [], origin
        assert compute.standings(council.ladder()).rows == (), origin
    Run.objects.update(origin=Run.Origin.LIVE)
    seat = dict(asked.experiment.participants.values_list("seat", "model__slug"))
    one, two, three = (seat[f"member-{number}"] for number in (1, 2, 3))

    def found():
        return [(pairing.first, pairing.second, pairing.score) for pairing in council.pairings()]

    assert set(found()) == {(two, three, 0.0), (one, three, 0.5)}
    first = Ballot.objects.filter(reviewer="member-1")
    first.update(order=[["member-2"]])
    assert set(found()) == {(two, three, 1.0), (one, three, 0.5)}, "what a ballot passes over stands last"
    first.update(superseded=True)
    assert found() == [(one, three, 0.5)]
    Step.objects.filter(purpose="turn_completed").update(purpose="turn_under_way")
    assert found() == []
    Step.objects.filter(purpose="turn_under_way").update(purpose="turn_completed")
    models = dict(asked.experiment.participants.values_list("seat", "model"))
    asked.experiment.participants.update(model=ProviderModel.objects.first())
    assert found() == [], "answers of one model are not compared"
    asked.experiment.participants.filter(seat="member-2").delete()  # a person took part in its place
    for name, model in models.items():
        asked.experiment.participants.filter(seat=name).update(model=model)
    assert found() == []


def test_many_questions_make_ratings_by_question(alice):
    orders = [[["member-3"], ["member-2"]], [["member-2"], ["member-3"]], [["member-2", "member-3"]]]
    for number in range(6):
        run = deliberations.council(alice).run
        Ballot.objects.filter(run=run, reviewer="member-1").update(order=orders[number % 3])

    found = council.standings()

    assert found.battles == 12
    assert {row.reason for row in found.rows} <= {"", "few_samples"}
    assert sum(row.battles for row in found.rows) == 24


def test_questions_that_all_come_out_alike_say_nothing_of_the_next_one(alice):
    for questions in (1, 2):
        run = deliberations.council(alice).run
        for reviewer, order in (("member-1", ["member-2", "member-3"]), ("member-3", ["member-2", "member-1"])):
            Ballot.objects.filter(run=run, reviewer=reviewer).update(order=[[seat] for seat in order])
        found = council.standings()

        assert found.battles >= 2 * questions
        assert all(row.reason for row in found.rows)
        assert all(row.rank is None and row.first is None for row in found.rows)


def test_an_interval_is_as_wide_as_its_few_questions_ask_for():
    """Three questions: the t quantile of two degrees of freedom, 4.30, and not 1.96."""
    clusters = np.repeat([0, 1, 2], 4)
    battles = Battles([0] * 12, [1] * 12, [1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 1, 0], ["a", "b"])

    plain, wide = sandwich(battles, clusters=clusters), council.intervals_by_question(battles, clusters)

    assert wide.errors / plain.errors == pytest.approx([np.sqrt(3 / 2) * 4.302653 / 1.959964] * 2, rel=1e-5)
    assert (wide.lower < plain.lower).all()


def test_a_question_whose_bell_was_lost_is_found_by_the_sweep_also_by_a_clock_an_hour_ahead(asked, alice):
    for away, battles in ((timedelta(minutes=-1), 4), (timedelta(hours=1), 6)):
        jobs.refresh_stale()
        assert not jobs.is_anything_stale(), away
        computed = clock.now() + away
        Standing.objects.update(computed=computed, changes=int(computed.timestamp() * 1000))
        deliberations.council(alice)
        assert jobs.is_anything_stale(), away
        assert jobs.refresh_stale() == 1, away
        assert Standing.objects.get().data["battles"] == battles, away
