"""The page of a dataset's voters: who sees it, what it says, and what it does."""

import pytest
from django.test import Client

from accounts.models import User
from experiments.battles import boards, outliers
from experiments.models import Battle
from leaderboard import compute
from tests.cases import each_case
from tests.experiments.battles.duels import BALLOT, dataset_of, voted_on
from tests.fixtures import signed_in

pytestmark = [pytest.mark.system, pytest.mark.django_db]

PATH = "/datasets/duels/voters/"


@pytest.fixture
def duels(alice, settings):
    settings.PUBLIC_VOTES = True
    return voted_on(alice)


@pytest.fixture
def browser(alice):
    return signed_in(alice)


@pytest.fixture
def word(duels):
    return outliers.word_of(boards.people_board(duels), BALLOT)


def html(browser, path=PATH, status=200):
    answer = browser.get(path)
    assert answer.status_code == status
    return answer.content.decode()


def test_the_page_names_people_and_gives_visitors_a_word(duels, browser, word):
    page = html(browser)

    assert "alice" in page
    assert f"visitor {word[:8]}" in page
    assert BALLOT[8:] not in page


def test_a_figure_that_there_is_not_has_its_reason(duels, browser, alice):
    Battle.objects.filter(voter=alice).delete()
    Battle.objects.update(winner="tie")

    page = html(browser)

    assert "fewer than 10 pauses" in page
    assert "nobody else has voted on the same" in page
    assert "never chose a side" in page


def test_nothing_on_the_page_says_what_somebody_voted_on(duels, browser):
    page = html(browser)

    assert "Zebrafinch" not in page
    assert "Task 0" not in page
    assert not [one.pk for one in Battle.objects.all() if f"/battles/{one.pk}/" in page]


def test_who_decides_what_counts_finds_the_page_from_the_dataset_and_the_ladder(duels, browser, charlie):
    ladder = compute.ensure(boards.people_board(duels))

    for path in ("/datasets/duels/", f"/leaderboard/{ladder.slug}/"):
        assert PATH in html(browser, path)
        assert PATH not in html(signed_in(charlie), path)
        assert PATH not in html(Client(), path)


def test_nobody_else_is_told_anything(duels, charlie):
    assert Client().get(PATH).status_code == 302
    page = html(signed_in(charlie), status=403)

    assert "Only curators, administrators" in page
    assert "visitor " not in page


@pytest.mark.parametrize("role", [User.Role.CURATOR, User.Role.ADMIN])
def test_curators_leave_a_voter_out_with_a_reason_and_take_that_back(duels, charlie, word, role):
    User.objects.filter(pk=charlie.pk).update(role=role)
    theirs = signed_in(User.objects.get(pk=charlie.pk))

    after = theirs.post(PATH, {"voter": word, "reason": "A <program> voted."}, follow=True).content.decode()

    assert "3 votes are left out." in after
    assert "A &lt;program&gt; voted." in after
    assert Battle.objects.filter(void_reason="").exclude(winner="").count() == 2
    assert "3 votes count again." in theirs.post(PATH, {"voter": word, "restore": 1}, follow=True).content.decode()
    assert not Battle.objects.exclude(void_reason="").exists()


def test_the_reason_is_read_beside_each_vote(duels, browser, word):
    browser.post(PATH, {"voter": word, "reason": "A program voted."})

    first = Battle.objects.filter(ballot=BALLOT).first()
    assert "Voter left out: A program voted." in html(Client(), f"/battles/{first.pk}/")


@each_case("sent", [{"reason": "Spam."}, {"voter": "é", "reason": "Spam."}, {"voter": "nobody"}])
def test_a_word_that_names_nobody_is_said_to(duels, browser, sent):
    answer = browser.post(PATH, sent)

    assert answer.status_code == 422
    assert "Nobody of this name has voted here." in answer.content.decode()


def test_a_missing_reason_keeps_the_form_open(duels, browser, word):
    answer = browser.post(PATH, {"voter": word, "reason": ""})

    assert answer.status_code == 422
    assert '<details class="fold" open>' in answer.content.decode()


def test_without_a_vote_the_page_says_so(alice, browser):
    dataset_of(alice)

    assert "Nobody has voted on this dataset yet." in html(browser)


@pytest.mark.databases
def test_the_ladder_is_the_one_without_those_votes(duels, browser, word):
    ladder = compute.ensure(boards.people_board(duels))
    assert compute.current(ladder).standings.battles == 5

    browser.post(PATH, {"voter": word, "reason": "A program voted."})

    ladder.refresh_from_db()
    assert compute.current(type(ladder).objects.get(pk=ladder.pk)).standings.battles == 2
