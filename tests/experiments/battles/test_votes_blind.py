"""Before the vote no byte says whose the outputs are; afterwards the names are told."""

import io
import re

import pytest
from django.test import Client
from PIL import Image as Picture

from experiments.battles import votes
from experiments.battles.voters import person_voter
from experiments.models import Battle, Image
from tests.experiments.battles.duels import dataset_of
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


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


@pytest.mark.parametrize("modality", ["text", "image"])
def test_no_byte_of_the_page_says_whose_the_outputs_are(alice, browser, modality):
    dataset = dataset_of(alice, modality=modality)

    page = browser.get("/vote/duels/")

    assert page.status_code == 200
    assert reveals(dataset, everything(page)) == []
    assert "no-store" in page["Cache-Control"]
    assert "ETag" not in page


def test_pictures_are_drawn_anew_without_what_their_files_say(alice, browser):
    dataset = dataset_of(alice, modality="image")
    page = browser.get("/vote/duels/").content.decode()
    addresses = set(re.findall(r'"(/vote/[^"]+\.png)"', page))
    shown = votes.shown(Battle.objects.get())

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


def test_the_pictures_of_an_offer_are_for_its_voter_alone(alice, browser):
    dataset_of(alice, modality="image")
    [address, *_others] = re.findall(r'"(/vote/[^"]+\.png)"', browser.get("/vote/duels/").content.decode())
    hers = signed_in(alice)

    assert hers.get(address).status_code == 404
    assert Client().get(address).status_code == 404
    assert browser.get(address.replace("first", "third").replace("second", "third")).status_code == 404


def test_the_api_offers_blind_and_tells_after_the_vote(alice, charlie):
    dataset = dataset_of(alice)
    browser = signed_in(charlie)

    offer = browser.get("/api/datasets/duels/vote/")
    assert reveals(dataset, everything(offer)) == []
    assert set(offer.json()["first"]) == {"text", "image"}
    cast = browser.post(f"/api/battles/{offer.json()['battle']}/vote/", {"choice": "first"}, "application/json")
    again = browser.post(f"/api/battles/{offer.json()['battle']}/vote/", {"choice": "first"}, "application/json")
    other = browser.post(f"/api/battles/{offer.json()['battle']}/vote/", {"choice": "tie"}, "application/json")

    told = cast.json()
    assert cast.status_code == again.status_code == 200
    assert told == again.json()
    assert told["winner"] == told["first"] != told["second"]
    assert {told["first"], told["second"]} <= set(dataset.contestants.values_list("name", flat=True))
    assert other.status_code == 409


def test_the_api_refuses_what_is_no_vote_of_the_person(alice, charlie):
    dataset_of(alice)
    offered = votes.offer(alice.datasets.get(), voter=person_voter(alice))
    browser = signed_in(charlie)
    at = f"/api/battles/{offered.pk}/vote/"

    assert browser.post(at, {"choice": "tie"}, "application/json").status_code == 404
    assert Client().post(at, {"choice": "tie"}, "application/json").status_code in {401, 403}
    mine = browser.get("/api/datasets/duels/vote/").json()["battle"]
    assert browser.post(f"/api/battles/{mine}/vote/", {"choice": "left"}, "application/json").status_code == 400
    assert browser.get("/api/datasets/nowhere/vote/").status_code == 404


def test_an_offer_is_no_battle_that_anybody_can_look_at(alice, charlie, browser):
    dataset_of(alice)
    browser.get("/vote/duels/")
    pk = Battle.objects.get().pk
    hers = signed_in(alice)

    assert browser.get(f"/battles/{pk}/").status_code == hers.get(f"/battles/{pk}/").status_code == 404


def test_after_the_vote_the_names_are_told_and_the_next_pair_is_one_step_away(alice, browser):
    dataset = dataset_of(alice)
    page = browser.get("/vote/duels/").content.decode()
    token = re.search(r'name="token" value="([^"]+)"', page)[1]
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


def test_a_vote_that_was_sent_twice_differently_says_so_and_keeps_the_first(alice, browser):
    dataset_of(alice)
    token = re.search(r'name="token" value="([^"]+)"', browser.get("/vote/duels/").content.decode())[1]
    browser.post("/vote/duels/", {"token": token, "choice": "tie"})

    answer = browser.post("/vote/duels/", {"token": token, "choice": "both_bad"}, follow=True)

    assert "already voted" in answer.content.decode()
    assert Battle.objects.get().winner == "tie"


def test_a_pair_that_was_taken_back_leads_to_another_one(alice, browser):
    dataset_of(alice)
    token = re.search(r'name="token" value="([^"]+)"', browser.get("/vote/duels/").content.decode())[1]
    Battle.objects.all().delete()

    answer = browser.post("/vote/duels/", {"token": token, "choice": "tie"}, follow=True)

    assert answer.redirect_chain == [("/vote/duels/", 303)]
    assert "too long ago" in answer.content.decode()


def test_outputs_are_shown_without_markup_of_their_own(alice, browser):
    dataset = dataset_of(alice)
    for sample in dataset.samples.all():
        sample.outputs.update(text="# Hi\n\n<script>alert(1)</script> ![x](https://example.org/x.png)")

    page = browser.get("/vote/duels/").content.decode()

    assert "<script>alert" not in page
    assert 'src="https://example.org' not in page


def test_who_may_not_vote_is_told_or_asked_to_sign_in(alice, browser, settings):
    dataset_of(alice, visibility="public", takes_votes=False)
    dataset_of(alice, slug="hers", visibility="private")

    assert browser.get("/vote/duels/").status_code == 404
    assert "No votes are taken" in browser.get("/vote/duels/").content.decode()
    assert browser.get("/vote/hers/").status_code == 404
    assert Client().get("/vote/duels/").status_code == 302
    settings.PUBLIC_VOTES = True
    assert Client().get("/vote/").status_code == 200
    assert Client().get("/vote/hers/").status_code == 404


@pytest.mark.system
def test_a_visitor_votes_and_finds_the_votes_of_their_session(alice, settings):
    settings.PUBLIC_VOTES = True
    dataset_of(alice, visibility="public")
    visitor = Client()
    token = re.search(r'name="token" value="([^"]+)"', visitor.get("/vote/duels/").content.decode())[1]

    visitor.post("/vote/duels/", {"token": token, "choice": "tie"})

    battle = Battle.objects.get()
    assert battle.ballot.startswith("visitor:")
    assert visitor.session.session_key not in battle.ballot
    assert f'href="/battles/{battle.pk}/"' in visitor.get("/vote/mine/").content.decode()
    assert f'href="/battles/{battle.pk}/"' not in Client().get("/vote/mine/").content.decode()


def test_too_many_votes_are_answered_with_429(alice, browser, charlie, settings):
    settings.VOTES_PER_DAY = 0
    dataset_of(alice)

    assert browser.get("/vote/duels/").status_code == 429
    api = browser.get("/api/datasets/duels/vote/")
    assert (api.status_code, api["Content-Type"]) == (429, "application/problem+json")
