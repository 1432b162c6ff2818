"""What is no answer of a platform is an error that says so, whatever it is: an address may be another program's."""

import json

import httpx
import pytest

from arena_lab.asking import get, retry_after
from arena_lab.errors import BadAnswer
from arena_lab.events import BallotRead, Judged
from arena_lab.following import Follower
from arena_lab.records import Run
from tests.cases import each_case

EVENT = {"v": 1, "run": "r", "seq": 1, "at": "2026-03-01T12:00:00Z"}


@each_case(
    "text", ["", "hello", "null", "3", '"seq"', "[]", "[" * 100_000, '{"type": "message_stream"}', '{"seq": null}']
)
def test_what_a_socket_says_that_is_no_event_is_a_bad_answer(text):
    with pytest.raises(BadAnswer):
        Follower().read(text)


@each_case("body", ["hello", "[" * 100_000, "{}", '{"last_seq": 1' + "0" * 400 + "}"])
def test_what_is_no_record_is_a_bad_answer(body):
    response = httpx.Response(200, text=body, request=httpx.Request("GET", "http://platform.test/"))

    with pytest.raises(BadAnswer):
        get("runs/1/", Run).read(response)


@each_case("data", [{}, {"judgments": 3}, {"ballot": 3}, {"judgment": "x"}])
def test_an_event_without_what_its_type_tells_of_is_a_bad_answer(data):
    event = {**EVENT, "type": "ballot_read" if "ballot" in data or not data else "solution_judged", "data": data}
    found = Follower().read(json.dumps(event))

    assert isinstance(found, BallotRead | Judged)
    with pytest.raises(BadAnswer):
        found.words()


@each_case("said", ["", "soon", "nan", "Mon, 1 Jan 0001 00:00:00 -0000", f"1 Jan {'9' * 30} 00:00:00 GMT"])
def test_a_time_to_wait_that_is_none_is_never_an_error(said):
    assert retry_after(httpx.Response(429, headers={"retry-after": said})) in (None, 0)
