"""Every failure that a model name can ask for, as a client sees it."""

import asyncio

import httpx
import pytest

from tests.cases import each_case
from tests.fixtures import wait_until
from tests.paces import at_some_pace


async def ended(provider):
    """The last row, once its request has come to an end."""
    await asyncio.to_thread(wait_until, lambda: any(row["ended"] for row in provider.ledger()[-1:]), "the end")
    return provider.ledger()[-1]


async def read_pieces(client, request):
    """The number of pieces that arrived, and the error that ended the stream, if any."""
    count = 0
    try:
        async with client.stream("POST", "/chat/completions", json=request) as answer:
            async for line in answer.aiter_lines():
                count += '"content":"' in line and '"content":""' not in line
    except httpx.TransportError as error:
        return count, error
    return count, None


@each_case("status", [401, 402, 404, 429, 500, 502, 503])
@each_case("streamed", [True, False])
async def test_a_status_failure_has_an_error_body(client, body, provider, status, streamed):
    answer = await client.post("/chat/completions", json=body(f"sim/cooperative:fail={status}", stream=streamed))
    assert answer.status_code == status
    assert answer.json()["error"]["code"] == status
    assert provider.ledger()[-1]["outcome"] == f"failed_{status}"


async def test_retry_after_is_named_in_the_header(client, body):
    answer = await client.post("/chat/completions", json=body("sim/cooperative:fail=429:retry_after=2.5"))
    assert answer.headers["retry-after"] == "2.5"


async def test_a_failure_happens_so_many_times_per_distinct_body(client, body):
    model = "sim/cooperative:first=0:fail=503:times=2"
    statuses = [(await client.post("/chat/completions", json=body(model))).status_code for _ in range(4)]
    other = await client.post("/chat/completions", json=body(model, seed=1))
    assert statuses == [503, 503, 200, 200]
    assert other.status_code == 503


async def test_a_cut_stream_ends_in_the_middle(client, body, provider):
    count, error = await read_pieces(client, body("sim/cooperative:first=0:tps=100:fail=cut:after=7", stream=True))
    assert count == 7
    assert isinstance(error, httpx.RemoteProtocolError)
    assert "incomplete chunked read" in str(error)
    assert (provider.ledger()[-1]["outcome"], provider.ledger()[-1]["tokens_sent"]) == ("cut", 7)


async def test_a_reset_connection_is_an_error_of_the_network(client, body, provider):
    _, error = await read_pieces(client, body("sim/cooperative:first=0:tps=100:fail=reset:after=7", stream=True))
    assert isinstance(error, httpx.ReadError)
    assert provider.ledger()[-1]["outcome"] == "reset"


@pytest.mark.parametrize("fail", ["cut", "reset"])
async def test_a_whole_answer_can_break_off_too(client, body, fail):
    with pytest.raises(httpx.TransportError):
        await client.post("/chat/completions", json=body(f"sim/cooperative:first=0:fail={fail}"))


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_stalled_answer_waits_for_the_client_to_leave(client, body, provider, streamed):
    async def attempt(pace):
        request = body("sim/cooperative:first=0:fail=stall:after=3", stream=streamed)
        with pytest.raises(httpx.ReadTimeout):
            await client.post("/chat/completions", json=request, timeout=httpx.Timeout(60, read=0.3 * pace))
        row = await ended(provider)
        assert row["outcome"] == "stalled"
        assert row["closed_after"] == pytest.approx(0.3 * pace, abs=0.15 * pace)

    await at_some_pace(attempt)


async def test_a_silent_provider_sends_not_even_headers(client, body, provider):
    async def attempt(pace):
        request = body("sim/cooperative:fail=silent")
        with pytest.raises(httpx.ReadTimeout):
            await client.post("/chat/completions", json=request, timeout=httpx.Timeout(60, read=0.2 * pace))
        row = await ended(provider)
        assert (row["outcome"], row["first_byte"]) == ("silent", None)

    await at_some_pace(attempt)


async def test_an_error_can_come_as_an_event(client, body):
    answer = await client.post(
        "/chat/completions", json=body("sim/cooperative:first=0:fail=error_event:after=4", stream=True)
    )
    assert answer.status_code == 200
    assert 'data: {"error": {' in answer.text
    assert answer.text.endswith("data: [DONE]\n\n")


async def test_a_stream_can_end_without_a_finish_reason(client, body):
    answer = await client.post("/chat/completions", json=body("sim/cooperative:first=0:fail=no_finish", stream=True))
    assert '"finish_reason":"' not in answer.text
    assert "[DONE]" not in answer.text


async def test_an_answer_can_be_too_short_or_empty(ask):
    short = (await ask("sim/cooperative:first=0:fail=length:after=5"))["choices"][0]
    empty = (await ask("sim/cooperative:first=0:fail=empty"))["choices"][0]
    assert (len(short["message"]["content"].split()), short["finish_reason"]) == (5, "length")
    assert (empty["message"]["content"], empty["finish_reason"]) == ("", "stop")


async def test_an_answer_can_be_no_answer_at_all(client, body):
    html = await client.post("/chat/completions", json=body("sim/cooperative:first=0:fail=html"))
    garbage = await client.post("/chat/completions", json=body("sim/cooperative:first=0:fail=garbage"))
    assert html.headers["content-type"].startswith("text/html")
    with pytest.raises(ValueError, match=r"codec|Expecting"):
        garbage.json()
