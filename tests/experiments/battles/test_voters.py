"""Before the vote no byte says whose the outputs are; who votes is in a report, and can be left out for a while."""

import io
import re
from dataclasses import asdict
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.backends.db import SessionStore
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone
from PIL import Image as Picture

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry, User
from experiments.models import Battle, Dataset, Image, PairCount
from experiments.workflows.battles.campaign import boards, counting, voiding
from leaderboard.boards import compute
from leaderboard.votes import voter_report, voting
from leaderboard.votes.voters import person_voter, voter_of
from tests.cases import each_case
from tests.experiments.battles.duels import NAMES, dataset_of, visitor, voted_on
from tests.fixtures import signed_in

VISITOR = visitor()
PATH = "/datasets/duels/voters/"


@pytest.fixture
def duels(alice, settings):
    settings.PUBLIC_VOTES = True
    return dataset_of(alice, visibility="public")


@pytest.fixture
def voted(alice, settings):
    """Three votes of a visitor's, and two of Alice's."""
    settings.PUBLIC_VOTES = True
    return voted_on(alice)


@pytest.fixture
def curator(charlie):
    charlie.role = User.Role.CURATOR
    charlie.save()
    return charlie


def vote(duels, voter, choices):
    """The battles that were voted on."""
    cast = []
    for choice in choices:
        offered = voting.offer(duels, voter=voter)
        cast.append(voting.cast(offered, voter=voter, choice=choice))
    return cast


def word(duels, voter):
    return voter_report.pseudonym_of(boards.people_board(duels), voter.ballot)


def counted():
    columns = ("left_wins", "right_wins", "ties", "both_bad")
    return sum(sum(row) for row in PairCount.objects.values_list(*columns))


@pytest.mark.databases
def test_who_has_voted_is_in_the_report_and_offers_are_no_votes(duels, alice, curator, django_assert_max_num_queries):
    cast = vote(duels, person_voter(curator), ["first", "tie", "both_bad"])
    Battle.objects.filter(pk=cast[0].pk).update(judged=timezone.now() - timedelta(days=1, minutes=1))
    vote(duels, VISITOR, ["second"])
    voting.offer(duels, voter=person_voter(alice))

    with django_assert_max_num_queries(7):
        report = voter_report.report(duels, by=alice)

    lines = {line.who.name: line for line in report.lines}
    visitor = f"visitor {word(duels, VISITOR)[:8]}"
    assert set(lines) == {"charlie", visitor}
    assert (report.votes, report.counted, report.is_whole) == (4, 4, True)
    assert (lines["charlie"].found.votes, lines["charlie"].found.neither.part, lines["charlie"].last_day) == (3, 2, 2)
    assert (lines["charlie"].found.first.part, lines[visitor].found.first.part) == (1, 0)
    assert VISITOR.ballot[8:16] not in repr(report)

    vote(duels, person_voter(alice), ["first", "second"] * 6)
    for number, battle in enumerate(Battle.objects.filter(voter=alice).order_by("pk")):
        Battle.objects.filter(pk=battle.pk).update(judged=timezone.now() + timedelta(seconds=number))
    first, *others = voter_report.report(duels, by=alice).lines
    assert (first.who.name, "too_fast" in first.marks) == ("alice", True), "who is marked comes first"
    assert not any("too_fast" in line.marks for line in others)


def html(browser, path=PATH):
    answer = browser.get(path)
    assert answer.status_code == 200
    return answer.content.decode()


def test_the_page_is_led_to_by_who_decides_and_names_people_and_neither_visitors_nor_what_they_voted_on(
    voted, browser, alice, charlie
):
    ladder = compute.ensure_ladder(boards.people_board(voted))
    for path in ("/datasets/duels/", f"/leaderboard/{ladder.slug}/"):
        assert PATH in html(browser, path)
        assert PATH not in html(signed_in(charlie), path)
        assert PATH not in html(Client(), path)
    page = html(browser)

    assert "alice" in page
    assert f"visitor {word(voted, VISITOR)[:8]}" in page
    assert not [one for one in (VISITOR.ballot[8:], "Zebrafinch", "Task 0") if one in page]
    assert not [one.pk for one in Battle.objects.all() if f"/battles/{one.pk}/" in page]
    Battle.objects.filter(voter=alice).delete()
    Battle.objects.update(winner="tie")
    page = html(browser)
    for reason in ("fewer than 10 pauses", "no other person voted on the same outputs", "never chose a side"):
        assert reason in page, reason


def test_curators_leave_a_voter_out_by_the_page_with_a_reason_and_take_that_back(voted, curator):
    theirs, name = signed_in(curator), word(voted, VISITOR)
    ladder = compute.ensure_ladder(boards.people_board(voted))
    battle = Battle.objects.filter(ballot=VISITOR.ballot).first()
    missing = theirs.post(PATH, {"voter": name, "reason": ""})

    theirs.post(PATH, {"voter": name, "reason": "A <program> voted."})

    assert missing.status_code == 422
    assert '<details class="fold" open>' in missing.content.decode()
    assert "A &lt;program&gt; voted." in html(theirs)
    assert "A &lt;program&gt; voted." in html(Client(), f"/battles/{battle.pk}/")
    assert compute.current(type(ladder).objects.get(pk=ladder.pk)).standings.battles == 2
    theirs.post(PATH, {"voter": name, "restore": 1})
    assert not Battle.objects.exclude(void_reason="").exists()
    for nobody in ({"reason": "Spam."}, {"voter": "é", "reason": "Spam."}, {"voter": "nobody"}):
        assert theirs.post(PATH, nobody).status_code == 422


@pytest.mark.databases
def test_all_votes_of_one_are_left_out_and_taken_in_again_each_told_once(duels, alice, curator):
    vote(duels, VISITOR, ["first", "second", "tie", "both_bad"])
    vote(duels, person_voter(alice), ["first"])
    board, name = boards.people_board(duels), word(duels, VISITOR)
    before = list(PairCount.objects.order_by("pk").values())

    def left_out():
        return voter_report.exclude_voter(duels, name, by=curator, reason="A program voted.")

    assert [left_out(), left_out()] == [4, 0]
    board.refresh_from_db()
    [line] = [one for one in voter_report.report(duels, by=curator).lines if not one.who.is_person]
    assert (counted(), counting.differences(board)) == (1, 0)
    assert (line.left_out, line.reason, line.found.counted, line.found.votes) == (4, "A program voted.", 0, 4)
    assert Battle.objects.filter(ballot=VISITOR.ballot, void_reason__contains="A program voted.").count() == 4

    assert [voter_report.restore_voter(duels, name, by=curator) for _time in range(2)] == [4, 0]
    assert list(PairCount.objects.order_by("pk").values()) == before
    assert not Battle.objects.exclude(void_reason="").exists()
    told = AuditEntry.objects.filter(target__startswith="board:").order_by("pk")
    assert [(one.action, one.actor, one.detail["votes"]) for one in told] == [
        ("voided", "charlie", 4),
        ("restored", "charlie", 4),
    ]
    assert told[0].detail["reason"] == "A program voted."
    assert "visitor" in told[0].name


def test_only_the_votes_of_this_dataset_that_were_cast_and_not_void_before_are_left_out_by_curators_with_a_reason(
    duels, alice, curator, django_user_model
):
    first, *_others = vote(duels, VISITOR, ["first", "second"])
    voiding.void(first, by=curator, reason="The picture is broken.")
    waiting = voting.offer(duels, voter=VISITOR)
    other = dataset_of(alice, slug="other", name="Other", visibility="public")
    vote(other, VISITOR, ["first"])

    def left_out(dataset):
        return voter_report.exclude_voter(dataset, word(duels, VISITOR), by=curator, reason="Spam.")

    stranger = django_user_model.objects.create(username="stranger")
    for verb in (
        lambda: voter_report.report(duels, by=stranger),
        lambda: voter_report.exclude_voter(duels, word(duels, VISITOR), by=stranger, reason="Spam."),
        lambda: voter_report.restore_voter(duels, word(duels, VISITOR), by=stranger),
    ):
        with pytest.raises(Forbidden):
            verb()
    for reason in ("", "  ", "\0"):
        with pytest.raises(Invalid):
            voter_report.exclude_voter(duels, word(duels, VISITOR), by=curator, reason=reason)
    assert counted() == 2

    assert (left_out(duels), counted()) == (1, 1)
    with pytest.raises(Invalid):
        left_out(other)
    assert voting.offer(duels, voter=VISITOR).pk == waiting.pk
    vote(duels, VISITOR, ["first", "second"])
    assert counted() == 3, "later votes count until they are left out too"
    assert (left_out(duels), counted()) == (2, 1)
    assert voter_report.restore_voter(duels, word(duels, VISITOR), by=curator) == 3
    first.refresh_from_db()
    assert first.void_reason == "The picture is broken."


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
def charlies(charlie):
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
def test_no_byte_of_the_page_says_whose_the_outputs_are_and_none_is_markup(alice, charlies, modality):
    dataset = dataset_of(alice, modality=modality)
    for sample in dataset.samples.all() if modality == "text" else ():
        sample.outputs.update(text="# Hi\n\n<script>alert(1)</script> ![x](https://example.org/x.png)")

    page = charlies.get("/vote/duels/")

    assert page.status_code == 200
    assert reveals(dataset, everything(page)) == []
    assert "no-store" in page["Cache-Control"]
    assert "ETag" not in page
    assert not [one for one in ("<script>alert", 'src="https://example.org') if one in page.content.decode()]


def test_after_the_vote_the_names_are_told_and_the_next_pair_is_one_step_away(alice, charlies):
    dataset = dataset_of(alice)
    token = token_of(charlies.get("/vote/duels/"))
    assert charlies.get(f"/vote/duels/{token}/").status_code == 302  # nothing is told before

    answer = charlies.post("/vote/duels/", {"token": token, "choice": "second"}, follow=True)

    told = answer.content.decode()
    battle = Battle.objects.get()
    assert answer.redirect_chain == [(f"/vote/duels/{token}/", 303)]
    assert str(battle.left) in told
    assert str(battle.right) in told
    assert 'href="/vote/duels/"' in told
    assert battle.winner == ("right" if battle.shown_left_first else "left")
    assert len(reveals(dataset, charlies.get("/vote/duels/").content.decode())) == 0
    again = charlies.post("/vote/duels/", {"token": token, "choice": "both_bad"}, follow=True)
    assert "already voted" in again.content.decode()
    assert Battle.objects.get(pk=battle.pk).winner == battle.winner
    Battle.objects.all().delete()
    gone = charlies.post("/vote/duels/", {"token": token, "choice": "tie"}, follow=True)
    assert gone.redirect_chain == [("/vote/duels/", 303)], "a pair that was taken back leads to another one"


def test_the_vote_page_says_how_far_one_is_and_the_end_what_one_preferred(alice, charlies):
    dataset = dataset_of(alice, samples=1)
    for choice in ("first", "tie"):
        page = charlies.get("/vote/duels/")
        charlies.post("/vote/duels/", {"token": token_of(page), "choice": choice})

    last = charlies.get("/vote/duels/")
    after = charlies.post("/vote/duels/", {"token": token_of(last), "choice": "both_bad"}, follow=True)
    end = charlies.get("/vote/duels/")

    assert (last.context["progress"].votes, last.context["progress"].pairs) == (2, 3)
    assert after.context["progress"].left == 0
    assert end.status_code == 200
    assert [(row.wins, row.votes) for row in end.context["preferred"]] == [(1, 2), (0, 2), (0, 2)]
    assert {row.contestant for row in end.context["preferred"]} == set(dataset.contestants.all())


def test_the_api_offers_blind_and_tells_names_and_what_others_said_after_the_vote(alice, charlies):
    dataset = dataset_of(alice, names=NAMES[:2], samples=1)
    hers = voting.cast(voting.offer(dataset, voter=person_voter(alice)), voter=person_voter(alice), choice="first")
    preferred = str(hers.left if hers.winner == "left" else hers.right)

    def cast(battle, choice):
        return charlies.post(f"/api/battles/{battle}/vote/", {"choice": choice}, "application/json")

    offer = charlies.get("/api/datasets/duels/vote/")
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
    page = charlies.get(f"/vote/duels/{voting.shown_pair(Battle.objects.get(pk=mine)).token}/")
    assert asdict(page.context["same_outputs"]) == told["others"]
    both = {**told["others"], "first": told["others"]["first"] + 1}
    assert asdict(page.context["same_contestants"]) == both


def token_of(page):
    return re.search(r'name="token" value="([^"]+)"', page.content.decode())[1]


def test_pictures_are_drawn_anew_without_what_their_files_say_for_the_voter_alone_while_it_is_open(alice, charlies):
    dataset = dataset_of(alice, modality="image")
    page = charlies.get("/vote/duels/").content.decode()
    addresses = set(re.findall(r'"(/vote/[^"]+\.png)"', page))
    shown = voting.shown_pair(Battle.objects.get())

    assert {address.rpartition("/")[2] for address in addresses} == {"first.png", "second.png"}
    for address in addresses:
        answer = charlies.get(address, headers={"Accept": "image/avif,image/webp"})
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

    charlies.post("/vote/duels/", {"token": shown.token, "choice": "tie"})
    assert charlies.get(address).status_code == 200
    assert "harbour" in charlies.get("/vote/mine/").content.decode()
    Dataset.objects.update(visibility="private")
    assert charlies.get(address).status_code == 404, "it was closed in the middle"
    assert charlies.get(f"/vote/duels/{shown.token}/").status_code == 404
    assert "harbour" not in charlies.get("/vote/mine/").content.decode()
    assert "duels" not in charlies.get("/vote/").content.decode().lower()


def test_a_visitors_session_begins_with_the_first_pair_and_an_address_has_so_many(alice, charlies, settings):
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
    refused = charlies.get("/api/datasets/duels/vote/")
    assert (refused.status_code, refused["Content-Type"]) == (429, "application/problem+json")
