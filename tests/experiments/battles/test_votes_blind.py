"""Before the vote no byte says whose the outputs are; who votes, for how long and from where."""

import io
import re
from dataclasses import asdict

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client
from PIL import Image as Picture

from accounts.errors import Forbidden
from experiments.models import Battle, Dataset, Image
from leaderboard.votes import voting
from leaderboard.votes.voters import person_voter, voter_of
from tests.cases import each_case
from tests.experiments.battles.duels import NAMES, dataset_of
from tests.fixtures import signed_in


def test_limits_hold_for_the_address_or_the_network_from_which_a_visitor_comes(alice, settings, rf):
    dataset, settings.PUBLIC_VOTES = dataset_of(alice, visibility="public", samples=1), True
    for remote, address in (
        *(("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("<nonsense>", "0.0.0.0")),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
    ):
        request = rf.get("/vote/", REMOTE_ADDR=remote)
        request.user, request.session = AnonymousUser(), SessionStore()
        visitor = voter_of(request)
        assert visitor.address == address
        with pytest.raises(Forbidden):  # without a session there is no ballot
            voting.offer(dataset, voter=visitor)


@pytest.fixture
def browser(charlie):
    return signed_in(charlie)


def everything(response):
    """The answer as it goes over the wire: headers, cookies and body."""
    head = "\n".join(f"{name}: {value}" for name, value in response.items())
    return "\n".join([head, response.cookies.output(), response.content.decode("latin-1")])


def identities(dataset):
    """Whatever would tell who somebody is: names, keys, and hashes that pages with names show as well."""
    told = {str(value) for one in dataset.contestants.all() for value in (one.pk, one.name, one.name.split("-")[0])}
    outputs = [one for sample in dataset.samples.all() for one in sample.outputs.all()]
    hashes = {one.image_id for one in outputs if one.image_id}
    return told | hashes | {image.sha256[:12] for image in Image.objects.all()}


def reveals(dataset, text):
    return [word for word in identities(dataset) if word.lower() in text.lower()]


@each_case("modality", ["text", "image"])
def test_no_byte_of_the_page_says_whose_the_outputs_are_and_none_is_markup(alice, browser, modality):
    dataset = dataset_of(alice, modality=modality)
    for sample in dataset.samples.all() if modality == "text" else ():
        sample.outputs.update(text="# Hi\n\n<script>alert(1)</script> ![x](https://example.org/x.png)")

    page = browser.get("/vote/duels/")

    assert page.status_code == 200
    assert reveals(dataset, everything(page)) == []
    assert "no-store" in page["Cache-Control"]
    assert "ETag" not in page
    assert not [one for one in ("<script>alert", 'src="https://example.org') if one in page.content.decode()]


def test_after_the_vote_the_names_are_told_and_the_next_pair_is_one_step_away(alice, browser):
    dataset = dataset_of(alice)
    token = token_of(browser.get("/vote/duels/"))
    assert browser.get(f"/vote/duels/{token}/").status_code == 302  # nothing is told before

    answer = browser.post("/vote/duels/", {"token": token, "choice": "second"}, follow=True)

    told = answer.content.decode()
    battle = Battle.objects.get()
    assert answer.redirect_chain == [(f"/vote/duels/{token}/", 303)]
    assert str(battle.left) in told
    assert str(battle.right) in told
    assert 'href="/vote/duels/"' in told
    assert battle.winner == ("right" if battle.shown_left_first else "left")
    assert len(reveals(dataset, browser.get("/vote/duels/").content.decode())) == 0
    again = browser.post("/vote/duels/", {"token": token, "choice": "both_bad"}, follow=True)
    assert "already voted" in again.content.decode()
    assert Battle.objects.get(pk=battle.pk).winner == battle.winner
    Battle.objects.all().delete()
    gone = browser.post("/vote/duels/", {"token": token, "choice": "tie"}, follow=True)
    assert gone.redirect_chain == [("/vote/duels/", 303)], "a pair that was taken back leads to another one"


def test_the_vote_page_says_how_far_one_is_and_the_end_what_one_preferred(alice, browser):
    dataset = dataset_of(alice, samples=1)
    for choice in ("first", "tie"):
        page = browser.get("/vote/duels/")
        browser.post("/vote/duels/", {"token": token_of(page), "choice": choice})

    last = browser.get("/vote/duels/")
    after = browser.post("/vote/duels/", {"token": token_of(last), "choice": "both_bad"}, follow=True)
    end = browser.get("/vote/duels/")

    assert (last.context["progress"].votes, last.context["progress"].pairs) == (2, 3)
    assert after.context["progress"].left == 0
    assert end.status_code == 200
    assert [(row.wins, row.votes) for row in end.context["preferred"]] == [(1, 2), (0, 2), (0, 2)]
    assert {row.contestant for row in end.context["preferred"]} == set(dataset.contestants.all())


def test_the_api_offers_blind_and_tells_names_and_what_others_said_after_the_vote(alice, browser):
    dataset = dataset_of(alice, names=NAMES[:2], samples=1)
    hers = voting.cast(voting.offer(dataset, voter=person_voter(alice)), voter=person_voter(alice), choice="first")
    preferred = str(hers.left if hers.winner == "left" else hers.right)

    def cast(battle, choice):
        return browser.post(f"/api/battles/{battle}/vote/", {"choice": choice}, "application/json")

    offer = browser.get("/api/datasets/duels/vote/")
    mine = offer.json()["battle"]
    assert reveals(dataset, everything(offer)) == []
    assert set(offer.json()["first"]) == {"text", "image"}
    assert offer.json()["progress"] == {"votes": 0, "pairs": 1}
    assert [cast(hers.pk, "tie").status_code, cast(mine, "left").status_code] == [404, 400]
    answers = [cast(mine, choice) for choice in ("first", "first", "tie")]

    told = answers[0].json()
    assert [answer.status_code for answer in answers] == [200, 200, 409]
    assert told == answers[1].json()
    assert told["winner"] == told["first"] != told["second"]
    assert {told["first"], told["second"]} == set(dataset.contestants.values_list("name", flat=True))
    side = "first" if told["first"] == preferred else "second"
    assert told["others"] == {**dict.fromkeys(("first", "second", "tie", "both_bad"), 0), side: 1}
    page = browser.get(f"/vote/duels/{voting.shown_pair(Battle.objects.get(pk=mine)).token}/")
    assert asdict(page.context["same_outputs"]) == told["others"]
    both = {**told["others"], "first": told["others"]["first"] + 1}
    assert asdict(page.context["same_contestants"]) == both


def token_of(page):
    return re.search(r'name="token" value="([^"]+)"', page.content.decode())[1]


def test_pictures_are_drawn_anew_without_what_their_files_say_for_the_voter_alone_while_it_is_open(alice, browser):
    dataset = dataset_of(alice, modality="image")
    page = browser.get("/vote/duels/").content.decode()
    addresses = set(re.findall(r'"(/vote/[^"]+\.png)"', page))
    shown = voting.shown_pair(Battle.objects.get())

    assert {address.rpartition("/")[2] for address in addresses} == {"first.png", "second.png"}
    for address in addresses:
        answer = browser.get(address, headers={"Accept": "image/avif,image/webp"})
        assert (answer.status_code, answer["Content-Type"], answer["Cache-Control"]) == (200, "image/png", "no-store")
        assert reveals(dataset, everything(answer)) == []
        assert not {"ETag", "Last-Modified", "Content-Disposition"} & set(answer.headers)
        with Picture.open(io.BytesIO(answer.content)) as drawn:
            assert not drawn.info
            side = shown.first if "first" in address else shown.second
            with Picture.open(side.image.path) as kept:
                assert drawn.convert("RGB").tobytes() == kept.convert("RGB").tobytes()
        for other in (Client(), signed_in(alice)):
            assert other.get(address).status_code == 404
    assert signed_in(alice).get(f"/battles/{Battle.objects.get().pk}/").status_code == 404

    browser.post("/vote/duels/", {"token": shown.token, "choice": "tie"})
    assert browser.get(address).status_code == 200
    assert "harbour" in browser.get("/vote/mine/").content.decode()
    Dataset.objects.update(visibility="private")
    assert browser.get(address).status_code == 404, "it was closed in the middle"
    assert browser.get(f"/vote/duels/{shown.token}/").status_code == 404
    assert "harbour" not in browser.get("/vote/mine/").content.decode()
    assert "duels" not in browser.get("/vote/").content.decode().lower()


def test_a_visitors_session_begins_with_the_first_pair_and_an_address_has_so_many(alice, browser, settings):
    settings.PUBLIC_VOTES, settings.VOTES_PER_DAY = True, 3
    dataset_of(alice, visibility="public")
    visitor = Client(REMOTE_ADDR="192.0.2.201")

    for address in ("/vote/", "/vote/mine/", "/vote/1:x/first.png", "/vote/duels/1:x/"):
        visitor.get(address)
    visitor.post("/vote/duels/", {"token": "1:x", "choice": "tie"})
    assert Session.objects.count() == 1, "that of who has signed in"

    visitor.post("/vote/duels/", {"token": token_of(visitor.get("/vote/duels/")), "choice": "tie"})
    battle = Battle.objects.get()
    assert battle.ballot.startswith("visitor:")
    assert visitor.session.session_key not in battle.ballot
    assert f'href="/battles/{battle.pk}/"' in visitor.get("/vote/mine/").content.decode()
    assert f'href="/battles/{battle.pk}/"' not in Client().get("/vote/mine/").content.decode()
    statuses = [Client(REMOTE_ADDR="192.0.2.201").get("/vote/duels/").status_code for _number in range(4)]
    assert statuses == [200, 200, 429, 429]
    assert Session.objects.count() == 4
    settings.VOTES_PER_DAY = 0
    refused = browser.get("/api/datasets/duels/vote/")
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
