"""The page of a dataset's voters: who sees it, what it says, and what it does."""

import pytest
from django.test import Client

from accounts.models import User
from experiments.battles import boards, outliers
from experiments.models import Battle
from leaderboard import compute
from tests.cases import each_case
from tests.experiments.battles.duels import BALLOT, voted_on
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


def test_who_decides_what_counts_finds_the_page_from_the_dataset_and_the_ladder(duels, browser, charlie):
    ladder = compute.ensure(boards.people_board(duels))

    for path in ("/datasets/duels/", f"/leaderboard/{ladder.slug}/"):
        assert PATH in html(browser, path)
        assert PATH not in html(signed_in(charlie), path)
        assert PATH not in html(Client(), path)


@pytest.mark.databases
def test_curators_leave_a_voter_out_with_a_reason_and_take_that_back(duels, charlie, word):
    User.objects.filter(pk=charlie.pk).update(role=User.Role.CURATOR)
    theirs = signed_in(User.objects.get(pk=charlie.pk))
    ladder = compute.ensure(boards.people_board(duels))
    battle = Battle.objects.filter(ballot=BALLOT).first()
    missing = theirs.post(PATH, {"voter": word, "reason": ""})

    theirs.post(PATH, {"voter": word, "reason": "A <program> voted."})

    assert missing.status_code == 422
    assert '<details class="fold" open>' in missing.content.decode()
    assert "A &lt;program&gt; voted." in html(theirs)
    assert "A &lt;program&gt; voted." in html(Client(), f"/battles/{battle.pk}/")
    assert compute.current(type(ladder).objects.get(pk=ladder.pk)).standings.battles == 2
    theirs.post(PATH, {"voter": word, "restore": 1})
    assert not Battle.objects.exclude(void_reason="").exists()


@each_case("sent", [{"reason": "Spam."}, {"voter": "é", "reason": "Spam."}, {"voter": "nobody"}])
def test_a_word_that_names_nobody_is_said_to(duels, browser, sent):
    answer = browser.post(PATH, sent)

    assert answer.status_code == 422
    assert "Nobody of this name has voted here." in answer.content.decode()


def test_the_page_names_people_and_neither_visitors_nor_what_they_voted_on(duels, browser, word):
    page = html(browser)

    assert "alice" in page
    assert f"visitor {word[:8]}" in page
    assert not [one for one in (BALLOT[8:], "Zebrafinch", "Task 0") if one in page]
    assert not [one.pk for one in Battle.objects.all() if f"/battles/{one.pk}/" in page]


def test_a_figure_that_does_not_exist_has_its_reason(duels, browser, alice):
    Battle.objects.filter(voter=alice).delete()
    Battle.objects.update(winner="tie")

    page = html(browser)

    for reason in ("fewer than 10 pauses", "nobody else has voted on the same", "never chose a side"):
        assert reason in page, reason
