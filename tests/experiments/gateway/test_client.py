"""Asking over the wire: what is sent, when the connection ends, and what the failures are called."""

import asyncio
import socket
import time
from contextlib import aclosing

import pytest

from experiments.gateway import (
    BadAnswer,
    BadKey,
    ChatRequest,
    Chunk,
    Client,
    Completion,
    Deadlines,
    Interrupted,
    OutcomeUnknown,
    RateLimited,
    Refused,
    UnknownModel,
    Unreachable,
    guarded_transport,
    reading,
)
from tests.cases import each_case
from tests.fixtures import wait_until

pytestmark = pytest.mark.system


LONG = 60  # seconds: what the deadlines of a request here allow


@pytest.fixture
def lingering(monkeypatch):
    """Whoever waits for more although the answer is whole waits for long."""
    monkeypatch.setattr(reading, "LINGER_SECONDS", LONG)


async def test_a_stream_ends_with_its_completion(provider, asker, full_stream):
    provider.streams(full_stream)
    completion = await asker.stream()
    assert asker.chunks == [Chunk("Hello"), Chunk(" there")]
    assert (completion.text, completion.finish_reason) == ("Hello there", "stop")


async def test_the_request_carries_key_id_and_body(provider, asker, full_stream):
    provider.streams(full_stream)
    await asker.stream(request_id="step-7")
    received = provider.received[0]
    assert received.head.startswith("POST /v1/chat/completions ")
    assert received.headers["authorization"] == "Bearer sk-canary-0123456789"
    assert received.headers["x-client-request-id"] == "step-7"
    assert received.headers["accept-encoding"] == "identity"
    assert received.body["messages"] == [{"role": "user", "content": "Hi"}]


async def test_no_key_sends_no_authorization(provider, client_of, full_stream):
    provider.streams(full_stream)
    await client_of(provider.url, "").complete(ChatRequest("m", ()))
    assert "authorization" not in provider.received[0].headers


async def test_a_key_with_odd_characters_is_a_bad_key_and_sends_nothing(provider, client_of):
    with pytest.raises(BadKey):
        await client_of(provider.url, "sk-„quoted“").complete(ChatRequest("m", ()))
    assert provider.connections == 0


async def test_the_generation_id_can_come_in_a_header(provider, asker, frame):
    head = b"HTTP/1.1 200 OK\r\nX-Generation-Id: gen-1\r\nConnection: close\r\n\r\n"
    provider.answers(head + frame("Hi", finish="stop"))
    assert (await asker.stream()).generation_id == "gen-1"


async def test_done_ends_the_stream_though_the_server_stays_open(provider, asker, full_stream, lingering):
    provider.streams(full_stream, then="hang")
    async with asyncio.timeout(LONG / 2):
        assert (await asker.stream()).text == "Hello there"
    await provider.sees_the_end()


async def test_finish_and_usage_end_the_stream_without_done(provider, asker, frame, lingering):
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    provider.streams(frame("Hello") + frame(finish="stop", usage=usage), then="hang")
    async with asyncio.timeout(LONG / 2):
        assert (await asker.stream()).usage.output_tokens == 2


async def test_after_a_finish_reason_without_usage_two_seconds_are_granted(provider, asker, frame):
    provider.streams(frame("Hello") + frame(finish="stop"), then="hang")
    started = time.monotonic()
    completion = await asker.stream()
    assert reading.LINGER_SECONDS == 2
    assert 1.5 < time.monotonic() - started < LONG / 2, "the deadlines would have granted a minute"
    assert completion.usage.estimated


async def test_text_finish_and_usage_in_every_chunk_do_not_end_the_stream_early(provider, asker, frame):
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    body = frame("Hello", finish="STOP", usage=usage) + frame(" there", finish="STOP", usage=usage)
    provider.streams(body, size=30)
    assert (await asker.stream()).text == "Hello there"


async def test_rubbish_behind_a_whole_answer_does_not_spoil_it(provider, asker, frame):
    provider.streams(frame("Hello") + frame(finish="stop") + b"data: {oops\n\n")
    assert (await asker.stream()).text == "Hello"


async def test_a_connection_read_to_its_end_is_used_again(provider, asker, full_stream):
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(full_stream)
    provider.answers(head + full_stream, then="keep")
    await asker.stream()
    await asker.stream()
    assert (provider.connections, len(provider.received)) == (1, 2)


async def test_q28_closing_the_generator_closes_the_socket_at_once(provider, asker, frame):
    provider.streams(frame("Hello"), endless=frame("more"), pause=0.01)
    async with aclosing(asker.client.stream(asker.request())) as items:
        assert await anext(items) == Chunk("Hello")
    await provider.sees_the_end()


async def test_q28_cancelling_the_task_closes_the_socket_at_once(provider, asker, frame):
    provider.streams(frame("Hello"), then="hang")
    task = asyncio.create_task(asker.stream())
    await asyncio.to_thread(wait_until, lambda: asker.text == "Hello", "the first word")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await provider.sees_the_end()


async def test_a_cancelled_wait_for_the_head_closes_the_socket(provider, asker):
    provider.answers(b"", then="hang")
    task = asyncio.create_task(asker.stream())
    await asyncio.to_thread(wait_until, lambda: provider.received, "the request")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await provider.sees_the_end()


async def test_nobody_there_is_unreachable(client_of):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        with pytest.raises(Unreachable):
            await client_of(f"http://127.0.0.1:{taken.getsockname()[1]}/v1").complete(ChatRequest("m", ()))


async def test_an_unknown_host_is_unreachable(client_of):
    with pytest.raises(Unreachable, match=r"nowhere\.invalid"):
        await client_of("http://nowhere.invalid/v1").complete(ChatRequest("m", ()))


@each_case("url", ["ftp://127.0.0.1/v1", "127.0.0.1/v1", "http://127.0.0.1:port/v1", ""])
async def test_an_address_that_is_none_is_refused(client_of, url):
    with pytest.raises(Refused, match="base URL"):
        await client_of(url).complete(ChatRequest("m", ()))


async def test_a_header_that_cannot_be_sent_is_refused(provider):
    client = Client(provider.url, "", headers={"X-Title": "实验室"})
    with pytest.raises(Refused, match="headers"):
        await client.complete(ChatRequest("m", ()))
    await client.aclose()


async def test_a_reset_before_the_answer_leaves_the_outcome_unknown(provider, asker):
    provider.answers(b"", then="reset")
    with pytest.raises(OutcomeUnknown) as caught:
        await asker.stream()
    assert caught.value.partial is None


async def test_a_reset_after_text_is_an_interruption_that_keeps_it(provider, asker, frame):
    provider.streams(frame("Hello"), then="reset", pause=0.1)
    with pytest.raises(Interrupted) as caught:
        await asker.stream()
    assert caught.value.partial.text == asker.text == "Hello"
    assert caught.value.partial.usage.estimated


async def test_a_server_that_speaks_no_http_leaves_the_outcome_unknown(provider, asker):
    provider.answers(b"SSH-2.0-OpenSSH_9.6\r\n")
    with pytest.raises(OutcomeUnknown):
        await asker.stream()


async def test_a_rate_limit_carries_its_wait(provider, asker):
    provider.answers(b"HTTP/1.1 429 Too Many Requests\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n")
    with pytest.raises(RateLimited) as caught:
        await asker.stream()
    assert (caught.value.status, caught.value.retry_after) == (429, 7)


async def test_an_error_that_repeats_the_key_does_not_show_it(provider, asker):
    body = b'{"error":{"message":"Incorrect API key provided: sk-canary-0123456789."}}'
    provider.answers(b"HTTP/1.1 400 Bad\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    with pytest.raises(BadKey) as caught:
        await asker.stream()
    assert "canary" not in str(caught.value)


async def test_an_error_page_without_an_end_is_cut(provider, asker):
    provider.answers(b"HTTP/1.1 404 Not Found\r\n\r\n<html>", endless=b"x" * 65536)
    with pytest.raises(UnknownModel) as caught:
        await asker.stream()
    assert len(str(caught.value)) < 700


async def test_encodings_in_a_row_are_refused(provider, asker):
    provider.answers(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip, gzip\r\nConnection: close\r\n\r\nxx")
    with pytest.raises(BadAnswer, match="compressed"):
        await asker.stream()


@each_case("body", [b'{"data":[{"id":"a"},7]}', b'{"models":[{"id":"a"}]}', b'[{"id":"a"}]'])
async def test_the_models_are_listed_as_the_provider_has_them(provider, asker, body):
    provider.answers(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    assert await asker.client.models() == [{"id": "a"}]
    assert provider.received[0].head.startswith("GET /v1/models ")


@each_case("body", [b"<html>", b"{}", b'{"data":"x"}'])
async def test_a_list_of_models_that_is_none_is_a_bad_answer(provider, asker, body):
    provider.answers(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
    with pytest.raises(BadAnswer):
        await asker.client.models()


async def test_closing_a_client_leaves_a_shared_transport_open(provider, full_stream):
    transport = guarded_transport(allow_private=True)
    provider.streams(full_stream)
    await Client(provider.url, "", transport).aclose()
    assert (await Client(provider.url, "", transport).complete(ChatRequest("m", ()))).text == "Hello there"
    await transport.aclose()


async def test_three_hundred_streams_side_by_side_keep_their_texts_apart(provider, asker, frame):
    provider.streams(b"".join(frame(f"{n} ") for n in range(20)) + frame(finish="stop"), size=200, pause=0.001)
    request = asker.request(deadlines=Deadlines(connect=600, first_byte=600, progress=600, total=600))

    async def ask() -> str:
        return "".join([item.text async for item in asker.client.stream(request) if isinstance(item, Completion)])

    texts = await asyncio.gather(*(ask() for _ in range(300)))
    assert set(texts) == {" ".join(map(str, range(20))) + " "}
