"""Seats by a program: what is asked, an answer, and the end of an invitation; flags are of models alone."""

import json

import pytest
from django.test import Client
from django.urls import reverse

from accounts.models import AuditEntry
from experiments.models import Message
from experiments.review import flagging
from tests.experiments.seats.conftest import seat_of
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


def post(client, address, **said):
    return client.post(address, json.dumps(said), content_type="application/json")


def test_a_seat_is_read_and_answered_once_by_its_person(played, bob, charlie, drive):
    client, address = signed_in(bob), reverse("api-seat", args=[seat_of(played, "A").pk])
    [waiting] = client.get(reverse("api-seats")).json()
    [turn] = waiting["turns"]
    assert "new_perspectives" in turn["answer_schema"]["properties"]
    assert any("telescope" in one["text"] for one in turn["shown"])
    answer = {"speaker": "A", "new_perspectives": [{"id": "p1", "contents": "By need."}], "counterpoints": []}
    refused = post(client, address, step=turn["step"], answer=" ")
    assert (refused.status_code, refused.json()["errors"]["text"]) == (400, ["The answer is empty."])

    taken = post(client, address, step=turn["step"], answer=answer)
    again = post(client, address, step=turn["step"], answer=answer)

    assert (taken.status_code, taken.json()["turns"], again.status_code) == (200, [], 409)
    assert json.loads(played.messages.get(seat="A").raw_text) == answer
    assert signed_in(charlie).get(address).status_code == 404
    assert post(signed_in(charlie), address, step=turn["step"], answer="mine").status_code == 404
    assert signed_in(charlie).get(reverse("api-seats")).json() == []
    drive()
    assert client.get(reverse("api-seats")).json() == [], "the next is asked in the other seat"


@pytest.mark.parametrize("by", ["page", "api"])
def test_a_revoked_invitation_opens_nothing_any_more_also_where_it_was_opened(played, alice, bob, by):
    invited, guest = seat_of(played, "B"), Client()
    assert guest.get(invited.link).status_code == 302
    assert guest.get(invited.get_absolute_url()).status_code == 200
    address = reverse("seat-revoke" if by == "page" else "api-seat-revoke", args=[invited.pk])
    assert "Revoke invitation" in signed_in(alice).get(played.get_absolute_url()).content.decode()
    assert signed_in(bob).post(address).status_code == 404
    refused = signed_in(alice).post(reverse("api-seat-revoke", args=[seat_of(played, "A").pk]))
    assert (refused.status_code, "no invitation" in refused.json()["detail"]) == (409, True), "of a user"

    for _twice in range(2):
        assert signed_in(alice).post(address).status_code in (204, 302)

    assert guest.get(invited.get_absolute_url()).status_code == 404
    assert Client().get(invited.link).status_code == 404
    assert "Revoke invitation" not in signed_in(alice).get(played.get_absolute_url()).content.decode()
    assert AuditEntry.objects.filter(action="invitation_revoked", detail__seat="B").count() == 1


def test_what_a_person_says_gets_no_flag_of_models(arena, start, drive, bob):
    run = start(arena(a={"user": "bob"}, max_turns=1, judge=False, filter=False))
    drive()
    client, address = signed_in(bob), reverse("api-seat", args=[seat_of(run, "A").pk])
    [turn] = client.get(address).json()["turns"]
    said = "As an AI language model, I cannot help with that."
    assert post(client, address, step=turn["step"], answer=said).status_code == 200
    message = Message.objects.get(run=run, seat="A")

    assert (flagging.scan([run.pk]), message.flags) == (0, [])
    message.model = "some/model"
    message.save(update_fields=["model"])
    assert flagging.scan([run.pk]) > 0, "of a model it would be one"
