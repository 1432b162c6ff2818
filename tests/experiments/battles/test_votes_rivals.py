"""Votes at the same moment, and counts that always say what the battles say."""

import random

import pytest

from experiments.battles import boards, counting, voiding, votes
from experiments.battles.voters import Voter, person_voter
from experiments.datasets import contestants
from experiments.models import Battle, Board, Contestant, PairCount
from experiments.refusals import SaidAlready
from tests.cases import each_case
from tests.experiments.battles.duels import dataset_of
from tests.rivals import at_once

STEPS = 40


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_different_votes_at_the_same_moment_one_counts(alice, charlie):
    voter = person_voter(charlie)
    offered = votes.offer(dataset_of(alice), voter=voter)

    def cast(choice):
        return lambda: votes.cast(Battle.objects.get(pk=offered.pk), voter=voter, choice=choice)

    given = at_once(*map(cast, votes.CHOICES), refused=SaidAlready)

    assert sum(isinstance(one, SaidAlready) for one in given) == len(votes.CHOICES) - 1
    assert counting.differences(offered.board) == 0
    assert PairCount.objects.count() == 1


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_two_tabs_are_offered_the_same_pair(alice, charlie):
    dataset, voter = dataset_of(alice), person_voter(charlie)

    given = at_once(*[lambda: votes.offer(dataset, voter=voter)] * 4)

    assert {one.pk for one in given} == {Battle.objects.get().pk}


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_counting_anew_and_votes_at_the_same_moment_come_to_the_same(alice, charlie):
    dataset = dataset_of(alice)
    board, people = boards.people_board(dataset), [Voter(f"user:{number}", charlie) for number in range(6)]
    cast = [votes.cast(votes.offer(dataset, voter=voter), voter=voter, choice="tie") for voter in people]
    PairCount.objects.update(ties=7)
    further = [(voter, votes.offer(dataset, voter=voter)) for voter in people[:2]]

    at_once(
        lambda: counting.recount(board),
        *[lambda voter=voter, battle=one: votes.cast(battle, voter=voter, choice="first") for voter, one in further],
        lambda: voiding.void(cast[0], by=alice, reason="A test."),
    )

    assert counting.differences(board) == 0
    assert counting.recount(board) == len(people) + len(further) - 1


@pytest.mark.databases
@pytest.mark.django_db
@each_case("seed", [1, 2])
def test_the_counts_are_those_of_a_recount_after_any_course_of_events(alice, charlie, seed):
    lots, dataset = random.Random(seed), dataset_of(alice, names=("a", "b", "c", "d"), samples=6)
    board = boards.people_board(dataset)

    def vote():
        voter = Voter(f"user:{lots.randrange(3)}", charlie)
        if offered := votes.offer(dataset, voter=voter):
            votes.cast(offered, voter=voter, choice=lots.choice(votes.CHOICES))

    def change(verb, **more):
        if battles := list(Battle.objects.select_related("board__dataset")):
            verb(lots.choice(battles), by=alice, **more)

    def leave_out():
        if out := Contestant.objects.exclude(void_reason="").first():
            contestants.restore(out, by=alice)
        else:
            contestants.void(lots.choice(list(Contestant.objects.all())), by=alice, reason="A test.")

    deeds = [
        vote,
        vote,
        vote,
        leave_out,
        lambda: change(voiding.void, reason="A test."),
        lambda: change(voiding.restore),
    ]
    for _step in range(STEPS):
        lots.choice(deeds)()
        assert counting.differences(board) == 0

    before = Board.objects.get(pk=board.pk).changes
    counting.recount(board)
    assert Board.objects.get(pk=board.pk).changes == before, "there was nothing to mend"
