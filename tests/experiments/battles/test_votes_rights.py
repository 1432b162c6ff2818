"""Who votes, for how long, from where; and that to look at something writes nothing."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from experiments.battles import votes
from experiments.battles.voters import person_voter, voter_of
from experiments.models import Battle
from experiments.refusals import NotAllowed, NotOffered, Rivalled
from tests.experiments.battles.duels import dataset_of
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def browser(charlie):
    return signed_in(charlie)


def token_of(page):
    return re.search(r'name="token" value="([^"]+)"', page.content.decode())[1]


def test_an_offer_of_yesterday_takes_no_vote_even_before_it_was_forgotten(alice, charlie):
    dataset, voter = dataset_of(alice), person_voter(charlie)
    old = votes.offer(dataset, voter=voter)
    Battle.objects.update(created=timezone.now() - timedelta(days=1, minutes=1))

    with pytest.raises(Rivalled):
        votes.cast(old, voter=voter, choice="tie")
    assert votes.offer(dataset, voter=voter).pk != old.pk


def test_an_offer_that_was_made_void_takes_no_vote(alice, charlie):
    voter = person_voter(charlie)
    offered = votes.offer(dataset_of(alice), voter=voter)
    Battle.objects.update(void_reason="A test.", voided=timezone.now())

    with pytest.raises(Rivalled):
        votes.cast(offered, voter=voter, choice="tie")


def test_a_dataset_that_is_closed_in_the_middle_shows_nothing_more(alice, browser):
    dataset = dataset_of(alice, modality="image")
    page = browser.get("/vote/duels/")
    picture = re.search(r'"(/vote/[^"]+\.png)"', page.content.decode())[1]
    browser.post("/vote/duels/", {"token": token_of(page), "choice": "tie"})
    assert browser.get(picture).status_code == 200
    assert "harbour" in browser.get("/vote/mine/").content.decode()

    dataset.visibility = "private"
    dataset.save()

    assert browser.get(picture).status_code == 404
    assert browser.get(f"/vote/duels/{token_of(page)}/").status_code == 404
    assert "harbour" not in browser.get("/vote/mine/").content.decode()
    assert "duels" not in browser.get("/vote/").content.decode().lower()


@pytest.mark.system
def test_a_visitors_session_begins_with_the_first_pair(alice, settings):
    settings.PUBLIC_VOTES = True
    dataset_of(alice, visibility="public")
    visitor = Client()

    for address in ("/vote/", "/vote/mine/", "/vote/1:x/first.png", "/vote/duels/1:x/"):
        visitor.get(address)
    visitor.post("/vote/duels/", {"token": "1:x", "choice": "tie"})

    assert not Session.objects.exists()
    visitor.get("/vote/duels/")
    assert Session.objects.count() == 1


def test_a_visitor_without_a_session_has_no_ballot(alice, settings, rf):
    settings.PUBLIC_VOTES = True
    dataset = dataset_of(alice, visibility="public")
    nobody = voter_of(_asked(rf))

    with pytest.raises(NotAllowed):
        votes.offer(dataset, voter=nobody)
    with pytest.raises(NotOffered):
        votes.cast(Battle(ballot=nobody.ballot), voter=nobody, choice="tie")


@pytest.mark.system
def test_an_address_does_not_begin_sessions_without_end(alice, settings):
    settings.PUBLIC_VOTES, settings.VOTES_PER_DAY = True, 3
    dataset_of(alice, visibility="public")

    statuses = [Client(REMOTE_ADDR="192.0.2.201").get("/vote/duels/").status_code for _number in range(5)]

    assert statuses == [200, 200, 200, 429, 429]
    assert Session.objects.count() == 3


@pytest.mark.parametrize(
    ("remote", "forwarded", "proxies", "address"),
    [
        ("192.0.2.1", "", 0, "192.0.2.1"),
        ("192.0.2.1", "198.51.100.9", 0, "192.0.2.1"),
        ("10.0.0.1", "198.51.100.9, 203.0.113.4", 1, "203.0.113.4"),
        ("10.0.0.1", "198.51.100.9, 203.0.113.4", 2, "198.51.100.9"),
        ("::ffff:192.0.2.1", "", 0, "192.0.2.1"),
        ("2001:db8:1:2:3:4:5:6", "", 0, "2001:db8:1:2::"),
        ("10.0.0.1", "<nonsense>", 1, "0.0.0.0"),
    ],
)
def test_limits_hold_for_the_address_that_only_the_proxy_can_name(settings, remote, forwarded, proxies, address, rf):
    settings.TRUSTED_PROXIES = proxies

    assert voter_of(_asked(rf, REMOTE_ADDR=remote, HTTP_X_FORWARDED_FOR=forwarded)).address == address


def _asked(rf, **head):
    request = rf.get("/vote/", **head)
    request.user, request.session = AnonymousUser(), SessionStore()
    return request
