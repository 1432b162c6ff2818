"""Reviewing by a program: the same rights, places and refusals as on the pages."""

import pytest

from accounts.tokens import create_token
from experiments.models import ReviewAnswer
from tests.experiments.api.conftest import Api, is_problem
from tests.experiments.reviews import reviewed

pytestmark = pytest.mark.django_db
is_problem = is_problem


@pytest.fixture
def queue(alice, bob):
    return reviewed.queue(alice, bob)


@pytest.fixture
def bobs(bob):
    return Api(create_token(bob))


def test_the_next_item_is_read_and_answered_blind(queue, bobs):
    item = bobs.post(f"review/queues/{queue.pk}/next/").json()
    assert item["judgments"] is None
    assert {message["model"] for message in item["messages"]} == {None}
    assert item["held_until"]

    message = item["messages"][0]
    comment = {"message": message["id"], "start": 0, "end": 5, "text": "Short."}
    sent = {"scores": {"cooperation": 0.5}, "labels": {"conduct": ["offer"]}, "comments": [comment]}
    first = bobs.post(f"review/items/{item['id']}/answer/", sent)
    again = bobs.post(f"review/items/{item['id']}/answer/", sent)

    assert first.status_code == 200, first.content
    assert first.json() == again.json()
    assert first.json()["comments"][0]["quote"] == message["text"][:5]
    assert ReviewAnswer.objects.count() == 1


def test_nothing_left_is_no_content(queue, bobs):
    while (found := bobs.post(f"review/queues/{queue.pk}/next/")).status_code == 200:
        bobs.post(f"review/items/{found.json()['id']}/answer/", {"note": "Read."})

    assert found.status_code == 204
    assert bobs.post(f"review/queues/{queue.pk}/undo/").status_code == 200
    assert bobs.get(f"review/queues/{queue.pk}/").json()["answers"] == 3


def test_refusals_are_problems(queue, bobs, alice, is_problem):
    item = queue.items.first()
    is_problem(bobs.post(f"review/items/{item.pk}/answer/", {"scores": {"cooperation": 0.3}}), 400, "cooperation")
    is_problem(bobs.post(f"review/items/{item.pk}/answer/", {}), 400, "nothing is filled in")
    is_problem(bobs.post(f"review/items/{item.pk}/skip/", {"reason": ""}), 400, "reason")
    is_problem(bobs.get(f"review/queues/{queue.pk}/agreement/"), 403, "blind")
    is_problem(Api(create_token(alice)).post(f"review/items/{item.pk}/claim/"), 403, "do not review")


def test_a_queue_is_made_and_listed(alice):
    reviewed.record(alice)
    api = Api(create_token(alice))
    made = api.post("review/queues/", {"name": "Mine", "rubric": str(reviewed.rubric().pk), "members": ["alice"]})

    assert made.status_code == 201, made.content
    assert made.json()["items"] == 4
    assert [one["name"] for one in api.get("review/queues/").json()["results"]] == ["Mine"]
    assert len(api.get(f"review/queues/{made.json()['id']}/items/").json()["results"]) == 4
    assert api.get(f"review/queues/{made.json()['id']}/agreement/").json()["measures"][0]["alpha"]["value"] is None
    assert api.get(f"review/queues/{made.json()['id']}/answers/").json()["results"] == []


def test_flags_and_curation_of_a_run(queue, alice, cora, is_problem):
    run, api = queue.items.first().run, Api(create_token(alice))
    sent = {"message": str(run.messages.first().pk), "flag": "refusal", "reason": "Plainly."}

    assert api.post(f"runs/{run.pk}/flags/", sent).json()["flags"] == ["refusal"]
    assert api.get(f"runs/{run.pk}/flags/").json()[0]["history"][0]["by"] == "alice"
    is_problem(api.post(f"runs/{run.pk}/curation/", {"deed": "approve"}), 403, "curators")
    assert Api(create_token(cora)).get(f"runs/{run.pk}/curation/").status_code == 404
