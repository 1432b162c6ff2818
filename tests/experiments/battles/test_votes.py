"""What is offered to be voted on, what a vote does and counts; and of a private dataset no list or search speaks."""

import random
from datetime import timedelta
from itertools import product

import pytest
from django.contrib.sessions.models import Session
from django.db.models import F
from django.test import Client
from django.utils import timezone

from accounts.errors import AlreadyAnswered, Conflict, Forbidden, Invalid, RateLimited
from experiments.library.datasets import contestants, demonstration
from experiments.models import Battle, Board, Contestant, PairCount
from experiments.runs import actions
from experiments.workflows.battles.campaign import boards, counting, voiding
from experiments.workflows.battles.campaign.boards import model_board
from leaderboard.boards.compute import ensure_ladder
from leaderboard.votes import voting
from leaderboard.votes.voters import Voter, person_voter
from tests.cases import each_case
from tests.experiments.battles.duels import dataset_of
from tests.fixtures import add_model, signed_in
from tests.rivals import at_once


@pytest.fixture
def duels(alice):
    return dataset_of(alice)


@pytest.fixture
def voter(charlie):
    return person_voter(charlie)


@pytest.mark.databases
def test_an_offer_stands_until_it_is_voted_on_and_of_its_votes_the_first_counts_once(duels, voter, alice):
    offered, again = voting.offer(duels, voter=voter), voting.offer(duels, voter=voter)
    hers = voting.offer(duels, voter=person_voter(alice))
    for _time in range(3):
        voting.cast(offered, voter=voter, choice="both_bad")
    with pytest.raises(AlreadyAnswered):
        voting.cast(offered, voter=voter, choice="tie")
    following = voting.offer(duels, voter=voter)

    assert (again.pk, again.shown_left_first) == (offered.pk, offered.shown_left_first)
    assert len({offered.pk, hers.pk, following.pk}) == 3
    [row] = PairCount.objects.all()
    offered.refresh_from_db()
    assert offered.winner == "both_bad"
    assert (row.both_bad, row.left_wins, row.right_wins, row.ties) == (1, 0, 0, 0)
    assert counting.recount(boards.people_board(duels)) == 1


def test_in_the_end_everything_has_been_compared_once_other_samples_and_the_closest_pairs_first(duels, voter, alice):
    for sample, subset in zip(duels.samples.all(), "zmab", strict=True):  # read in another sequence than sorted
        duels.samples.filter(pk=sample.pk).update(subset=subset)
    seen = []
    while offered := voting.offer(duels, voter=voter):
        seen.append((offered.sample_id, offered.left_id, offered.right_id))
        voting.cast(offered, voter=voter, choice="first")

    assert len(seen) == len(set(seen)) == 4 * 3
    assert len({sample for sample, _left, _right in seen[:4]}) == 4

    four = dataset_of(alice, names=("a", "b", "c", "d"), slug="four")
    board = boards.people_board(four)
    a, b, c, d = four.contestants.order_by("pk")
    for left, right, wins in ((a, b, 9), (a, c, 8), (a, d, 9), (b, c, 5), (b, d, 8), (c, d, 8)):
        PairCount.objects.create(board=board, left=left, right=right, left_wins=wins, right_wins=10 - wins)
    closest = voting.offer(four, voter=voter)
    assert (closest.left_id, closest.right_id) == (b.pk, c.pk)
    closest.delete()
    PairCount.objects.filter(left=a, right=d).update(right_wins=0)
    fewest = voting.offer(four, voter=voter)
    assert (fewest.left_id, fewest.right_id) == (a.pk, d.pk)


def test_a_choice_is_meant_as_the_sides_were_shown(duels, voter):
    for choice, left_first, winner in (
        *(("first", True, "left"), ("first", False, "right"), ("second", True, "right"), ("second", False, "left")),
        *(("tie", True, "tie"), ("both_bad", False, "both_bad")),
    ):
        offered = voting.offer(duels, voter=voter)
        Battle.objects.filter(pk=offered.pk).update(shown_left_first=left_first)
        offered.refresh_from_db()
        voting.cast(offered, voter=voter, choice=choice)
        offered.refresh_from_db()
        assert (offered.winner, offered.voter_id, offered.is_consistent) == (winner, voter.user.pk, None), choice
        assert (offered.judged is None, voting.choice_of(offered)) == (False, choice)


def test_who_is_left_out_or_has_no_output_is_not_shown_nor_a_dataset_that_takes_no_votes(duels, voter, alice):
    offered = voting.offer(duels, voter=voter)
    Contestant.objects.filter(pk=offered.left_id).update(void_reason="cheated")

    again = voting.offer(duels, voter=voter)

    assert again.pk != offered.pk
    assert not Battle.objects.filter(pk=offered.pk).exists()
    assert offered.left_id not in {again.left_id, again.right_id}
    duels.samples.get(pk=again.sample_id).outputs.filter(contestant=again.left_id).delete()
    assert voting.offer(duels, voter=voter).pk != again.pk
    Battle.objects.all().delete()
    for fields in ({"visibility": "private"}, {"takes_votes": False}, {"state": "reading"}):
        with pytest.raises(Forbidden):
            voting.offer(dataset_of(alice, slug=next(iter(fields)), **fields), voter=voter)
    assert not Battle.objects.exists()


def test_offers_are_their_voters_own_and_those_of_yesterday_are_forgotten_and_votes_kept(duels, voter, alice):
    cast = voting.offer(duels, voter=voter)
    voting.cast(cast, voter=voter, choice="tie")
    old, new = voting.offer(duels, voter=voter), voting.offer(duels, voter=person_voter(alice))
    token = voting.shown_pair(old).token
    assert voting.by_token(token, voter=voter)
    for forged, who in ((token, person_voter(alice)), (token + "x", voter), ("1:a", voter), ("", voter)):
        with pytest.raises(Battle.DoesNotExist):
            voting.by_token(forged, voter=who)
    for who, choice in ((person_voter(alice), "tie"), (voter, "left")):
        with pytest.raises(Invalid):
            voting.cast(old, voter=who, choice=choice)
    aged = Battle.objects.filter(pk__in=[cast.pk, old.pk])
    aged.update(created=F("created") - timedelta(days=1, minutes=1))

    with pytest.raises(Conflict):
        voting.cast(old, voter=voter, choice="tie")
    assert voting.forget_old_offers() == 1
    assert set(Battle.objects.values_list("pk", flat=True)) == {cast.pk, new.pk}
    with pytest.raises(Conflict):
        voting.cast(old, voter=voter, choice="tie")
    Battle.objects.update(void_reason="A test.", voided=timezone.now())
    with pytest.raises(Conflict):
        voting.cast(new, voter=person_voter(alice), choice="tie")


def test_visitors_vote_where_the_lab_lets_them_and_everybody_so_often_a_day(alice, charlie, settings):
    public, settings.VOTES_PER_DAY = dataset_of(alice, visibility="public"), 5
    ask = [Voter(f"visitor:{number:064}", None, "192.0.2.91") for number in range(6)]
    with pytest.raises(Forbidden):
        voting.offer(public, voter=ask[0])

    settings.PUBLIC_VOTES = True

    offered = [voting.offer(public, voter=voter) for voter in ask[:5]]
    with pytest.raises(RateLimited, match=r"(?i)your address"):
        voting.offer(public, voter=ask[5])
    assert voting.offer(public, voter=Voter("visitor:" + "b" * 64, None, "192.0.2.92"))
    assert voting.cast(offered[0], voter=ask[0], choice="first").voter_id is None

    settings.VOTES_PER_DAY, person = 2, person_voter(charlie)
    for _turn in range(2):
        last = voting.offer(public, voter=person)
        voting.cast(last, voter=person, choice="tie")
    with pytest.raises(RateLimited, match="2 votes in 24 hours"):
        voting.offer(public, voter=person)
    assert voting.cast(last, voter=person, choice="tie").winner == "tie"  # said again, it is no further vote
    Battle.objects.filter(judged__isnull=False).update(judged=timezone.now() - timedelta(hours=25))
    assert voting.offer(public, voter=person)
    public.visibility = "lab"
    public.save()
    with pytest.raises(Forbidden):
        voting.offer(public, voter=ask[0])


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_two_tabs_are_offered_the_same_pair_and_of_their_votes_at_the_same_moment_one_counts(alice, charlie):
    dataset, voter = dataset_of(alice), person_voter(charlie)
    given = at_once(*[lambda: voting.offer(dataset, voter=voter)] * 4)
    offered = Battle.objects.get()
    assert {one.pk for one in given} == {offered.pk}

    def cast(choice):
        return lambda: voting.cast(Battle.objects.get(pk=offered.pk), voter=voter, choice=choice)

    given = at_once(*map(cast, voting.CHOICES), refused=AlreadyAnswered)

    assert sum(isinstance(one, AlreadyAnswered) for one in given) == len(voting.CHOICES) - 1
    assert counting.differences(offered.board) == 0
    assert PairCount.objects.count() == 1


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_counting_anew_and_votes_at_the_same_moment_come_to_the_same(alice, charlie):
    dataset = dataset_of(alice)
    board, people = boards.people_board(dataset), [Voter(f"user:{number}", charlie) for number in range(6)]
    cast = [voting.cast(voting.offer(dataset, voter=voter), voter=voter, choice="tie") for voter in people]
    PairCount.objects.update(ties=7)
    further = [(voter, voting.offer(dataset, voter=voter)) for voter in people[:2]]

    at_once(
        lambda: counting.recount(board),
        *[lambda voter=voter, battle=one: voting.cast(battle, voter=voter, choice="first") for voter, one in further],
        lambda: voiding.void(cast[0], by=alice, reason="A test."),
    )

    assert counting.differences(board) == 0
    assert counting.recount(board) == len(people) + len(further) - 1


@pytest.mark.databases
@each_case("seed", [1, 2])
def test_the_counts_are_those_of_a_recount_after_any_course_of_events(alice, charlie, seed):
    lots, dataset = random.Random(seed), dataset_of(alice, names=("a", "b", "c", "d"), samples=6)
    board = boards.people_board(dataset)

    def vote():
        voter = Voter(f"user:{lots.randrange(3)}", charlie)
        if offered := voting.offer(dataset, voter=voter):
            voting.cast(offered, voter=voter, choice=lots.choice(voting.CHOICES))

    def change(verb, **more):
        if battles := list(Battle.objects.select_related("board__dataset")):
            verb(lots.choice(battles), by=alice, **more)

    def leave_out():
        if out := Contestant.objects.exclude(void_reason="").first():
            contestants.restore(out, by=alice)
        else:
            contestants.void(lots.choice(list(Contestant.objects.all())), by=alice, reason="A test.")

    voids = (lambda: change(voiding.void, reason="A test."), lambda: change(voiding.restore))
    deeds = [vote, vote, vote, leave_out, *voids]
    for _step in range(40):
        lots.choice(deeds)()
        assert counting.differences(board) == 0

    before = Board.objects.get(pk=board.pk).changes
    counting.recount(board)
    assert Board.objects.get(pk=board.pk).changes == before, "there was nothing to mend"


@pytest.fixture
def alices(provider, alice, woken_runs):
    """The keys of a private dataset of Alice's, its board, a battle and its campaign."""
    dataset = demonstration.make_text(alice)
    dataset.visibility = "private"
    dataset.save()
    judge = add_model("sim/judge:first=0")
    asked = {"config": {"dataset": dataset.slug, "prompt": "text_quality"}, "cast": {"judge": {"model": judge.slug}}}
    experiment = actions.create(owner=alice, workflow="battles", title="Alice's secret campaign", **asked)
    actions.start(experiment, by=alice)
    board = model_board(dataset, judge, prompt="text_quality", prompt_version="1", params={})
    left, right = dataset.contestants.order_by("pk")[:2]
    pair = {"sample": dataset.samples.first(), "left": left, "right": right}
    battle = Battle.objects.create(board=board, winner="left", experiment=experiment, **pair)
    keys = {"experiments": experiment.pk, "battles": battle.pk, "datasets": dataset.slug}
    return {**keys, "boards": ensure_ladder(board).slug}


def fetch(browser, address):
    """The status and the text, also of an answer that is sent in pieces."""
    answer = browser.get(address)
    return answer.status_code, b"".join(answer).decode("latin-1")


def test_no_list_no_search_and_no_count_speaks_of_it(alices, charlie, settings):
    settings.PUBLIC_VOTES = True
    lists = ("leaderboard/", "vote/", "vote/mine/", "datasets/", "battles/", "runs/", "leaderboard/methodology/")
    lists += tuple(f"api/{name}/" for name in ("ladders", "datasets", "battles", "experiments", "runs"))
    stranger, visitor = signed_in(charlie), Client()
    sessions = Session.objects.count()
    asked = ("", "?search=demonstration", f"?dataset={alices['datasets']}", f"?board={alices['boards']}")

    for address, browser in product((f"/{path}{query}" for path in lists for query in asked), (stranger, visitor)):
        status, text = fetch(browser, address)
        told = text.replace(address.partition("?")[2].partition("=")[2] or "?", "")
        assert status in {200, 302, 400, 401, 403, 404}, address
        for secret in ("Demonstration: answers", "demo-answers", "Alice's secret campaign"):
            assert secret not in told, address
        assert str(alices["experiments"]) not in told, address
    assert Session.objects.count() == sessions, "looking writes nothing"


def test_what_is_in_one_dataset_is_not_found_by_the_address_of_another(provider, alice, charlie):
    hidden = dataset_of(alice, samples=1, modality="image", slug="hidden", visibility="private")
    public = dataset_of(alice, samples=1, modality="image", slug="open", visibility="public", names=("a", "b"))
    battle = {"left": public.contestants.order_by("pk")[0], "right": public.contestants.order_by("pk")[1]}
    board = model_board(public, add_model("sim/other"), prompt="image_edit", prompt_version="1", params={})
    Battle.objects.create(board=board, sample=public.samples.get(), winner="left", **battle)
    ladder, sample, sha = ensure_ladder(board).slug, hidden.samples.get().pk, hidden.pictures.first().image_id

    assert signed_in(alice).get(f"/datasets/hidden/images/{sha}/").status_code == 200
    for browser in (signed_in(charlie), Client()):
        assert browser.get(f"/datasets/open/samples/{public.samples.get().pk}/").status_code == 200
        for slug in ("hidden", "open"):
            assert browser.get(f"/datasets/{slug}/images/{sha}/").status_code == 404
            assert browser.get(f"/datasets/{slug}/samples/{sample}/").status_code == 404
        assert browser.get(f"/leaderboard/{ladder}/samples/{sample}/").status_code == 404
        listed = browser.get(f"/leaderboard/{ladder}/battles/?sample={sample}").content.decode()
        assert "Quokkamaster" not in listed


def test_visitors_look_at_everything_public_without_a_session(alices, alice):
    alice.datasets.update(visibility="public")
    visitor, ladder, battle = Client(), alices["boards"], alices["battles"]

    for address in (f"/leaderboard/{ladder}/", f"/leaderboard/{ladder}/battles/", f"/api/boards/{ladder}/export/"):
        assert fetch(visitor, address)[0] == 200, address
    status, text = fetch(visitor, f"/battles/{battle}/")
    assert (status, "Alice's secret campaign" in text) == (200, False)
    assert not Session.objects.exists()
