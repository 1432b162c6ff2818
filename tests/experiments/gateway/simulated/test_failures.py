"""Every failure that a model name can ask for, as a client sees it."""

import httpx
import pytest

from tests.cases import each_case

from .conftest import content_of, ended


async def read_pieces(client, request):
    """The number of pieces that arrived, and the error that ended the stream, if any."""
    count = 0
    try:
        async with client.stream("POST", "/chat/completions", json=request) as answer:
            async for _piece in content_of(answer):
                count += 1
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
    assert [*statuses, other.status_code] == [503, 503, 200, 200, 503]


@each_case(("fail", "error"), [("cut", httpx.RemoteProtocolError), ("reset", httpx.ReadError)])
async def test_an_answer_breaks_off_in_the_middle(client, body, provider, fail, error):
    count, found = await read_pieces(client, body(f"sim/cooperative:first=0:tps=100:fail={fail}:after=7", stream=True))
    assert isinstance(found, error)
    assert count == 7 or fail == "reset"
    assert (provider.ledger()[-1]["outcome"], provider.ledger()[-1]["tokens_sent"]) == (fail, 7)
    with pytest.raises(httpx.TransportError):
        await client.post("/chat/completions", json=body(f"sim/cooperative:first=0:fail={fail}"))


@each_case(("fail", "outcome"), [("stall:after=3", "stalled"), ("silent", "silent")])
@each_case("streamed", [True, False])
async def test_an_answer_that_stalls_waits_for_the_client_to_leave(client, body, provider, fail, outcome, streamed):
    request = body(f"sim/cooperative:first=0:fail={fail}", stream=streamed)
    with pytest.raises(httpx.ReadTimeout):
        await client.post("/chat/completions", json=request, timeout=httpx.Timeout(60, read=0.3))
    row = await ended(provider)
    assert row["outcome"] == outcome
    assert row["closed_after"] == pytest.approx(0.3, abs=0.15)
    assert row["first_byte"] is None or outcome == "stalled"


async def test_an_error_can_come_as_an_event(client, body):
    asked = body("sim/cooperative:first=0:fail=error_event:after=4", stream=True)
    answer = await client.post("/chat/completions", json=asked)
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
