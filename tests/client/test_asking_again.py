"""What is asked again, when, and what is not."""

import json
import time

import pytest

from arena_lab import Arena, AsyncArena, BadAnswer, Conflict, Invalid, SignInNeeded, TooMany, Unreachable
from arena_lab.asking import retry_after
from tests.arenasite.platforms import free_port
from tests.cases import each_case
from tests.client.conftest import HURRIED

pytestmark = pytest.mark.system


EMPTY = json.dumps({"next": None, "previous": None, "results": []})
STARTED = json.dumps({"runs": []})


@pytest.fixture
def arena(scripted):
    with Arena(scripted.url, "a-token", patience=HURRIED) as found:
        yield found


def keys(scripted):
    return [headers.get("Idempotency-Key") for _method, _path, headers in scripted.asked]


def test_who_is_asked_to_come_later_comes_later(scripted, arena):
    scripted.says(429, Retry_After="0.2").says(200, EMPTY)
    began = time.monotonic()

    assert arena.models().all() == []
    assert time.monotonic() - began >= 0.2
    assert len(scripted.asked) == 2


async def test_so_does_the_awaiting_client(scripted):
    scripted.says(429, Retry_After="0.2").says(503).says(200, EMPTY)

    async with AsyncArena(scripted.url, "a-token", patience=HURRIED) as arena:
        assert await arena.models().all() == []
    assert len(scripted.asked) == 3


def test_a_start_is_sent_again_under_the_same_key(scripted, arena):
    scripted.says(503).breaks().says(201, STARTED)

    assert arena.experiments.start("an-id") == ()
    first, *others = keys(scripted)
    assert first
    assert others == [first, first]


def test_two_starts_have_two_keys_unless_one_is_given(scripted, arena):
    scripted.says(201, STARTED)
    for key in (None, None, "mine", "mine"):
        arena.experiments.start("an-id", idempotency_key=key)

    first, second, *named = keys(scripted)
    assert first != second
    assert named == ["mine", "mine"]


def test_what_could_be_done_twice_is_not_sent_again_when_the_connection_breaks(scripted, arena):
    scripted.breaks()

    with pytest.raises(Unreachable, match="look before you repeat it"):
        arena.experiments.create("arena", {}, {})
    assert len(scripted.asked) == 1


def test_it_gives_up_with_what_the_platform_said(scripted, arena):
    scripted.says(429, json.dumps({"title": "Too Many Requests", "status": 429, "detail": "Wait a minute."}))

    with pytest.raises(TooMany, match="Wait a minute"):
        arena.models().all()
    assert len(scripted.asked) == HURRIED.attempts


def test_nobody_waits_for_an_hour(scripted, arena):
    scripted.says(429, Retry_After="3600")

    with pytest.raises(TooMany) as refused:
        arena.models().all()
    assert refused.value.retry_after == 3600
    assert len(scripted.asked) == 1


@each_case(("said", "seconds"), [("7", 7), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("soon", None)])
def test_the_time_to_wait_is_read_as_a_number_and_as_a_date(said, seconds):
    class Answer:
        headers = {"retry-after": said}

    assert retry_after(Answer()) == seconds


@pytest.mark.parametrize(("status", "kind"), [(400, Invalid), (401, SignInNeeded), (409, Conflict)])
def test_a_refusal_is_said_in_the_platforms_words_and_not_repeated(scripted, arena, status, kind):
    document = {"title": "T", "status": status, "detail": "D.", "errors": {"cast": ["Choose a model."]}}
    scripted.says(status, json.dumps(document))

    with pytest.raises(kind) as refused:
        arena.experiments.create("arena", {}, {})
    assert (refused.value.status, refused.value.title) == (status, "T")
    assert refused.value.detail.startswith("D.")
    assert refused.value.errors == {"cast": ["Choose a model."]}
    assert len(scripted.asked) == 1


def test_a_server_that_is_not_there_is_named():
    url = f"http://127.0.0.1:{free_port()}"

    with pytest.raises(Unreachable, match=url), Arena(url, "a-token", patience=HURRIED) as arena:
        arena.models().all()


def test_another_programs_page_is_no_answer(scripted, arena):
    scripted.says(200, "<html>")

    with pytest.raises(BadAnswer, match="is it the address of a platform"):
        arena.models().all()


def test_the_token_is_not_sent_where_a_redirect_points(scripted, arena):
    scripted.says(302, Location="http://evil.example/")

    with pytest.raises(BadAnswer, match="use that address"):
        arena.models().all()
    assert len(scripted.asked) == 1


def test_nor_where_the_next_page_is_said_to_be(scripted, arena):
    scripted.says(200, json.dumps({"next": "http://evil.example/api/models/?cursor=abc", "results": []}))
    scripted.says(200, EMPTY)

    arena.models().all()
    assert [path.partition("?")[2].endswith("cursor=abc") for _method, path, _headers in scripted.asked] == [
        False,
        True,
    ]
