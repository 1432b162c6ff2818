"""What is asked again, when, and what is not; and what is no answer of a platform."""

import time

import httpx
import pytest

from arena_lab import AsyncArena, BadAnswer, Conflict, NotSetUp, TooMany, Unreachable
from arena_lab.asking import get, retry_after
from arena_lab.following import ALARM_AFTER, Follower, Trouble, uses_socket
from arena_lab.records import Run
from tests.client.conftest import Scripted, run_awaiting

NOTHING = {"next": None, "previous": None, "results": []}


def test_a_client_that_is_turned_away_waits_as_long_as_it_was_told():
    async def models_of(arena):
        async with arena:
            return await arena.models().all()

    for models in (
        lambda scripted: scripted.arena().models().all(),
        lambda scripted: run_awaiting(models_of(scripted.arena(AsyncArena))),
    ):
        scripted = Scripted().says(429, Retry_After="30").says(503).says(200, NOTHING)
        began = time.monotonic()
        assert models(scripted) == []
        assert 30 <= time.monotonic() - began < 60
        assert len(scripted.asked) == 3


def test_a_start_is_sent_again_under_the_same_key_and_anything_else_only_when_it_never_arrived(scripted):
    arena = scripted.says(503).breaks().says(201, {"runs": []}).arena()

    assert arena.experiments.start("an-id") == ()
    for key in (None, "mine", "mine"):
        arena.experiments.start("an-id", idempotency_key=key)
    first, second, third, other, *named = [request.headers.get("Idempotency-Key") for request in scripted.asked]
    assert first
    assert first == second == third != other
    assert named == ["mine", "mine"]

    for error, said, times in (
        (httpx.ReadError, "look before you repeat it", 1),
        (httpx.ConnectError, Scripted.url, 4),
    ):
        scripted = Scripted().breaks(error)
        with pytest.raises(Unreachable, match=said):
            scripted.arena().experiments.create("arena", {}, {})
        assert len(scripted.asked) == times


def test_the_time_to_wait_is_a_number_or_a_date_and_a_server_that_stays_away_is_given_up():
    for said, seconds in (("7", 7), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("soon", None)):
        assert retry_after(httpx.Response(429, headers={"retry-after": said})) == seconds
    for odd in ("Mon, 1 Jan 0001 00:00:00 -0000", f"1 Jan {'9' * 30} 00:00:00 GMT"):
        assert not retry_after(httpx.Response(429, headers={"retry-after": odd}))

    trouble = Trouble(told=None)
    assert trouble.wait(TooMany(429, "Too Many Requests", "", retry_after=7)) == 7

    trouble.waited = ALARM_AFTER
    with pytest.raises(Unreachable, match="No answer for"):
        trouble.wait(Unreachable("gone"))


def test_a_refusal_is_not_repeated_and_it_gives_up_after_some_attempts_or_a_long_wait(scripted):
    scripted.says(409, {"title": "T", "status": 409, "detail": "D.", "errors": {"cast": ["Choose a model."]}})

    with pytest.raises(Conflict) as refused:
        scripted.arena().experiments.create("arena", {}, {})
    assert (refused.value.status, refused.value.title, refused.value.detail) == (409, "T", "D.")
    assert refused.value.errors == {"cast": ["Choose a model."]}
    assert len(scripted.asked) == 1

    for headers, times, seconds in (({}, 4, None), ({"Retry_After": "3600"}, 1, 3600)):
        scripted = Scripted().says(429, {"title": "T", "status": 429, "detail": "Wait a minute."}, **headers)
        with pytest.raises(TooMany, match="Wait a minute") as refused:
            scripted.arena().models().all()
        assert (refused.value.retry_after, len(scripted.asked)) == (seconds, times)


def test_the_token_is_sent_neither_where_a_redirect_points_nor_where_the_next_page_is_said_to_be(scripted):
    scripted.says(302, Location="http://evil.example/")
    scripted.says(200, {"next": "http://evil.example/api/models/?cursor=abc", "results": []}).says(200, NOTHING)

    with pytest.raises(BadAnswer):
        scripted.arena().models().all()
    scripted.arena().models().all()
    assert {request.url.host for request in scripted.asked} == {"platform.test"}
    assert [request.url.params.get("cursor") for request in scripted.asked] == [None, None, "abc"]


def test_what_is_no_record_or_no_event_is_a_bad_answer_and_a_socket_that_is_wanted_needs_its_library(monkeypatch):
    for body in ("<html>", "[" * 100_000, "{}", '{"last_seq": 1' + "0" * 400 + "}"):
        response = httpx.Response(200, text=body, request=httpx.Request("GET", "http://platform.test/"))
        with pytest.raises(BadAnswer):
            get("runs/1/", Run).read(response)
    for text in ("hello", "null", "[]", "[" * 100_000, '{"type": "message_stream"}', '{"seq": null}'):
        with pytest.raises(BadAnswer):
            Follower().read(text)

    def no_library(name):
        raise ImportError(name)

    monkeypatch.setattr("arena_lab.following.import_module", no_library)
    assert (uses_socket(None), uses_socket(False)) == (False, False)
    with pytest.raises(NotSetUp, match="live"):
        uses_socket(True)
