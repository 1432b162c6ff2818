"""Asking a provider, call by call and in batches: what is sent, what comes, when it ends, what failures are."""

import asyncio
import gzip
import json
from contextlib import aclosing

import pytest

from experiments import gateway
from experiments.gateway import ChatMessage, ChatRequest, Client, Deadlines, GatewayError, batches, transport
from experiments.gateway.client import DRAIN_SECONDS, LINGER_SECONDS
from experiments.gateway.request import prepare
from experiments.gateway.simulated.batches import Batches
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Ledger, Pacer
from tests.parts import in_process, virtual_time

from .conftest import STREAM_HEAD


async def test_a_stream_sends_key_id_and_body_and_ends_with_its_completion(
    provider, asker, client_of, frame, full_stream
):
    provider.streams(full_stream)
    completion = await asker.stream(request_id="step-7")
    assert asker.chunks == [gateway.Chunk("Hello"), gateway.Chunk(" there")]
    assert (completion.text, completion.finish_reason) == ("Hello there", "stop")

    [received] = provider.received
    assert received.head.startswith("POST /v1/chat/completions ")
    assert received.headers["authorization"] == "Bearer sk-canary-0123456789"
    assert received.headers["x-client-request-id"] == "step-7"
    assert received.headers["accept-encoding"] == "identity"
    assert received.body["messages"] == [{"role": "user", "content": "Hi"}]

    provider.says(frame("Hi", finish="stop"), headers=b"X-Generation-Id: gen-1\r\n")
    completion = await client_of(provider.url, "").complete(ChatRequest("m", ()))
    assert "authorization" not in provider.received[1].headers, "there is no key"
    assert completion.generation_id == "gen-1"


async def test_beside_many_streams_what_comes_in_a_tenth_of_a_second_is_read_at_once(
    provider, asker, frame, monkeypatch
):
    words = [f"{number} " for number in range(10, 40)]
    body = b"".join(map(frame, words)) + frame("end", finish="stop") + b"data: [DONE]\n\n"
    provider.streams(body, size=len(frame(words[0])), pause=0.02)
    sent_in = 0.02 * (2 + len(body) / len(frame(words[0])))
    for many, most, waits in ((1, 10, transport.GATHER_SECONDS), (2, 40, 0.0)):
        monkeypatch.setattr(transport, "MANY_STREAMS", many)
        begun = asyncio.get_running_loop().time()
        completion = await asker.stream()

        assert completion.text == asker.text == "".join([*words, "end"])
        assert most / 2 < len(asker.chunks) <= most
        assert asyncio.get_running_loop().time() - begun < sent_in + waits + DRAIN_SECONDS, (
            "an end waits no longer either"
        )


async def test_a_whole_answer_ends_though_the_server_stays_open(provider, asker, frame, full_stream):
    """At once, and two seconds after a finish reason which no usage has followed."""
    for body, is_estimated in (
        (full_stream, False),
        (frame("Hello there") + frame(finish="stop", usage={"prompt_tokens": 3, "completion_tokens": 2}), False),
        (frame("Hello there") + frame(finish="stop"), True),
    ):
        provider.is_hung_up = False
        provider.streams(body, then="hang")
        begun = asyncio.get_running_loop().time()
        completion = await asker.stream()
        took = asyncio.get_running_loop().time() - begun

        assert (completion.text, completion.usage.estimated) == ("Hello there", is_estimated)
        assert provider.is_hung_up, body
        least = LINGER_SECONDS if is_estimated else 0
        assert least <= took < least + 20, body


async def test_a_connection_read_to_its_end_is_used_again(provider, asker, full_stream):
    provider.says(full_stream + b"\n")
    replay = provider.replay
    replay.then, replay.size, replay.pause = "keep", len(replay.raw) - 1, 0.01  # the end comes after what says [DONE]
    await asker.stream()
    await asker.stream()
    assert (len(provider.connected), len(provider.received)) == (1, 2)


async def test_q28_closing_the_generator_or_cancelling_the_task_closes_the_connection_at_once(provider, asker, frame):
    provider.streams(frame("Hello"), endless=frame("more"), pause=0.01)
    async with aclosing(asker.client.stream(asker.request())) as items:
        assert await anext(items) == gateway.Chunk("Hello")
    assert provider.is_hung_up

    for raw, text in ((b"", ""), (STREAM_HEAD + frame("Hello"), "Hello")):
        provider.is_hung_up = False
        provider.received.clear()
        provider.answers(raw, then="hang")
        task = asyncio.create_task(asker.stream())
        await asyncio.sleep(1)
        assert (len(provider.received), asker.text) == (1, text)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert provider.is_hung_up, text


async def test_what_cannot_be_reached_or_sent_is_said_and_nothing_is_sent(provider, client_of):
    provider.unreachable.add("127.0.0.1")
    provider.names["nowhere.invalid"] = []
    wrong = ("ftp://127.0.0.1/v1", "127.0.0.1/v1", "http://127.0.0.1:port/v1", "")
    for url, error, said in (
        (provider.url, gateway.Unreachable, r"127\.0\.0\.1"),
        ("http://nowhere.invalid/v1", gateway.Unreachable, r"nowhere\.invalid"),
        *((url, gateway.Refused, "base URL") for url in wrong),
    ):
        with pytest.raises(error, match=said):
            await client_of(url).complete(ChatRequest("m", ()))

    provider.unreachable.clear()
    with pytest.raises(gateway.BadKey):
        await client_of(provider.url, "sk-„quoted“").complete(ChatRequest("m", ()))
    client = Client(provider.url, "", headers={"X-Title": "实验室"})
    with pytest.raises(gateway.Refused, match="headers"):
        await client.complete(ChatRequest("m", ()))
    await client.aclose()
    assert provider.connected == []


async def test_an_end_before_the_answer_leaves_the_outcome_unknown_and_one_after_text_keeps_it(provider, asker, frame):
    for raw in (b"", b"SSH-2.0-OpenSSH_9.6\r\n"):
        provider.answers(raw, then="reset")
        with pytest.raises(gateway.OutcomeUnknown) as caught:
            await asker.stream()
        assert caught.value.partial is None, raw

    provider.streams(frame("Hello"), then="reset")
    with pytest.raises(gateway.Interrupted) as caught:
        await asker.stream()
    assert caught.value.partial.text == asker.text == "Hello"
    assert caught.value.partial.usage.estimated


async def test_an_error_page_without_an_end_is_cut_and_encodings_in_a_row_are_refused(provider, asker):
    provider.answers(b"HTTP/1.1 404 Not Found\r\n\r\n<html>", endless=b"x" * 65536)
    with pytest.raises(gateway.UnknownModel) as caught:
        await asker.stream()
    assert len(str(caught.value)) < 700

    provider.says(b"xx", headers=b"Content-Encoding: gzip, gzip\r\n")
    with pytest.raises(gateway.BadAnswer, match="compressed"):
        await asker.stream()


async def test_the_models_are_listed_as_the_provider_has_them_and_anything_else_is_a_bad_answer(provider, asker):
    for body in (b'{"data":[{"id":"a"},7]}', b'{"models":[{"id":"a"}]}', b'[{"id":"a"}]'):
        provider.says(body)
        assert await asker.client.models() == [{"id": "a"}]
    assert provider.received[0].head.startswith("GET /v1/models ")
    for body in (b"<html>", b"{}", b'{"data":"x"}', b"\xff"):
        provider.says(body)
        with pytest.raises(gateway.BadAnswer):
            await asker.client.models()


async def test_closing_a_client_leaves_a_shared_transport_open(provider, full_stream):
    transport = gateway.guarded_transport(allow_private=True)
    provider.streams(full_stream)
    await Client(provider.url, "", transport).aclose()
    answered = await Client(provider.url, "", transport).complete(ChatRequest("m", ()))
    assert answered.text == "Hello there"
    await transport.aclose()


MORE = b"data: " + json.dumps({"choices": [{"delta": {"content": "more " * 100}}]}).encode() + b"\n\n"


async def test_chunks_may_be_of_any_length_and_white_space_before_the_answer_is_part_of_it(provider, asker, frame):
    text = "".join(chr(97 + n % 26) for n in range(400_000))
    for pieces in (text[:2000], [text], ("\n", "    return 1")):
        provider.streams(b"".join(map(frame, pieces)) + frame(finish="stop"))

        assert (await asker.stream()).text == "".join(pieces) == asker.text


async def test_q01_q33_what_is_no_content_is_no_progress(provider, asker, frame):
    for endless in (b": ping\n\n", b"d"):
        provider.streams(b"", endless=endless, pause=2)
        with pytest.raises(gateway.OutcomeUnknown):
            await asker.stream(deadlines=Deadlines(first_byte=30))
        provider.streams(frame("Hello"), endless=endless, pause=2)
        with pytest.raises(gateway.Interrupted, match="further content within 30 s") as caught:
            await asker.stream(deadlines=Deadlines(progress=30))
        assert caught.value.partial.text == "Hello", endless
    provider.is_hung_up = False
    provider.answers(b"", then="hang")
    with pytest.raises(gateway.OutcomeUnknown, match="first content"):
        await asker.stream(deadlines=Deadlines(first_byte=20))
    assert provider.is_hung_up


async def test_q33_content_and_reasoning_move_the_progress_deadline_and_not_the_total_one(provider, asker, frame):
    body = b"".join(frame("x") for _ in range(10)) + frame(finish="stop") + b"data: [DONE]\n\n"
    provider.streams(body, size=len(frame("x")), pause=20)
    assert (await asker.stream(deadlines=Deadlines(progress=40, total=1000))).text == "x" * 10
    provider.streams(b"", endless=b'data: {"choices":[{"delta":{"reasoning":"hm "}}]}\n\n', pause=5)
    provider.is_hung_up = False
    with pytest.raises(gateway.Interrupted, match="complete answer") as caught:
        await asker.stream(deadlines=Deadlines(first_byte=40, progress=40, total=100))
    assert caught.value.partial.reasoning == asker.reasoning
    assert provider.is_hung_up


async def test_q33_an_answer_without_end_or_packed_to_a_thousandth_is_cut_and_what_came_is_kept(provider, asker):
    for begins, endless, limits, says in (
        (b"", MORE, {"total_bytes": 100_000}, "100000 bytes"),
        (b"", b"\n" * 65536, {"total_bytes": 1 << 20}, "bytes"),
        (b"", MORE, {"total_chars": 12_345}, "more than 12345 characters"),
        (b"data: ", b"x" * 65536, {}, "an event of more than 1048576 bytes"),
    ):
        provider.streams(begins, endless=endless)
        with pytest.raises(gateway.BadAnswer, match=says) as caught:
            await asker.stream(deadlines=Deadlines(**limits))
        assert asker.text.startswith("more more" if endless == MORE else ""), says
        assert len(caught.value.partial.text if caught.value.partial else "") == len(asker.text), says
        assert len(asker.text) == limits.get("total_chars", len(asker.text)), says

    provider.says(gzip.compress(b"data: " + b"\x00" * (4 << 20)), headers=b"Content-Encoding: gzip\r\n")
    with pytest.raises(gateway.BadAnswer, match="bytes"):
        await asker.stream(deadlines=Deadlines(total_bytes=1 << 20))


async def test_of_a_whole_body_only_so_much_is_kept(provider, asker):
    message = {"role": "assistant", "content": "more " * 100, "reasoning": "why " * 5}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    provider.streams(body)
    for most in (50, 510):
        with pytest.raises(gateway.BadAnswer, match=f"more than {most} characters") as caught:
            await asker.stream(deadlines=Deadlines(total_chars=most))
        kept = caught.value.partial
        assert (kept.reasoning, kept.text) == ("why " * 5, ("more " * 100)[: most - 20]), most


async def test_a_whole_body_may_take_longer_than_the_first_byte_deadline_but_ends_at_the_total_one(provider, asker):
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    provider.answers(head + b'\n\n\n\n\n\n\n{"choices":[{"message":{"content":"Hi"}}]}', size=10, pause=1)
    request = asker.request(deadlines=Deadlines(first_byte=2, progress=2, total=120))
    assert (await asker.client.complete(request)).text == "Hi"
    provider.answers(head, endless=b"\n", pause=2)
    with pytest.raises(gateway.OutcomeUnknown):
        await asker.client.complete(asker.request(deadlines=Deadlines(total=40)))


async def test_a_slow_reader_is_no_slow_provider(provider, asker, frame):
    provider.streams(frame("a") + frame("b") + frame(finish="stop"), size=len(frame("a")), pause=1)
    items = []
    async for item in asker.client.stream(asker.request(deadlines=Deadlines(progress=20))):
        await asyncio.sleep(30)
        items.append(item)
    assert items[:2] == [gateway.Chunk("a"), gateway.Chunk("b")]


MODEL = "sim/neutral:first=0"


@pytest.fixture
def lab():
    """A provider and a client of it."""
    app = SimulatedProvider("sk-canary-0123456789", Ledger(), Pacer(0), Batches(seconds=100))
    with in_process.served(app) as base_url:
        yield app, Client(base_url, "sk-canary-0123456789", in_process.Transport())


def request(model=MODEL):
    return ChatRequest(model, (ChatMessage("user", "How do locks open?"),), gateway.Params(seed=7))


def line(name, model=MODEL):
    return batches.line_of(name, prepare(request(model), stream=False).body)


async def create(client, lines, name):
    return await batches.create(client, await batches.upload(client, lines), name)


async def ended(client, made):
    virtual_time.skip(101)
    return await batches.look(client, made.id)


async def test_lines_come_back_as_calls_of_their_own_would_be_answered(lab):
    app, client = lab
    made = await create(client, [line("one"), line("two", "sim/neutral:cost=1")], "row-7")
    virtual_time.skip(50)
    half = await batches.look(client, made.id)
    done = await ended(client, made)
    found = await batches.answers(client, done)
    alone = await client.complete(request())
    dear = batches.completion_of(found["two"], request())

    assert (made.stage, half.stage, half.done, half.total) == ("going", "going", 1, 2)
    assert (done.stage, done.is_complete, done.done) == ("ended", True, 2)
    completion = batches.completion_of(found["one"], request())
    assert (completion.text, completion.usage, completion.finish_reason) == (alone.text, alone.usage, "stop")
    assert [entry["request_id"] for entry in app.ledger.rows()][:2] == ["one", "two"]
    usage = dear.usage
    assert float(usage.provider_cost) == (usage.input_tokens * 5e-7 + usage.output_tokens * 1.5e-6) / 2


async def test_a_batch_is_found_by_its_name_beyond_the_first_page(lab, monkeypatch):
    _app, client = lab
    made = await create(client, [line("one")], "row-7")
    monkeypatch.setattr(batches, "PER_PAGE", 3)
    for number in range(batches.PER_PAGE + 1):
        await create(client, [line("one")], f"other-{number}")

    assert await batches.find(client, "row-7") == made
    assert await batches.find(client, "row-8") is None


def test_a_line_that_is_no_answer_is_an_error():
    for answer, kind in (
        ("[]", "bad_answer"),
        ("no JSON", "bad_answer"),
        ('{"response": {"status_code": 200, "body": {"choices": []}}}', "bad_answer"),
        ('{"error": {"code": "token_limit_exceeded", "message": "Enqueued token limit reached: rate limit"}}', None),
        ('{"response": {"status_code": 200, "body": null}, "error": null}', None),
    ):
        with pytest.raises(GatewayError) as failed:
            batches.completion_of(answer, request())
        assert kind in (None, failed.value.kind), answer


async def test_a_provider_without_batches_and_one_that_repeats_the_key_are_seen_through(lab):
    app, client = lab
    with pytest.raises(GatewayError):
        await batches.look(Client(client._base_url, "wrong", in_process.Transport()), "batch")
    with pytest.raises(GatewayError):
        await batches.look(client, "../models")
    made = await create(client, [line("one")], "row")
    done = await ended(client, made)
    name = done.files[0]
    app.batches.files[name] = app.batches.files[name].replace(b"stop", b"sk-canary-0123456789")

    assert "canary" not in json.dumps(await batches.answers(client, done))
