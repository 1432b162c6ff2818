"""No provider can hold a call for longer, or make it larger, than the request allows."""

import asyncio
import gzip
import json

import pytest

from experiments.gateway import BadAnswer, Chunk, Deadlines, Interrupted, OutcomeUnknown


async def test_no_head_in_time_leaves_the_outcome_unknown(provider, asker):
    provider.answers(b"", then="hang")
    with pytest.raises(OutcomeUnknown, match="first content"):
        await asker.stream(deadlines=Deadlines(first_byte=0.2))
    assert provider.is_hung_up


async def test_q01_keep_alives_are_neither_first_content_nor_progress(provider, asker, frame):
    provider.streams(b"", endless=b": ping\n\n", pause=0.02)
    with pytest.raises(OutcomeUnknown):
        await asker.stream(deadlines=Deadlines(first_byte=0.3))
    provider.streams(frame("Hello"), endless=b": ping\n\n", pause=0.02)
    with pytest.raises(Interrupted, match=r"further content within 0\.3 s") as caught:
        await asker.stream(deadlines=Deadlines(progress=0.3))
    assert caught.value.partial.text == "Hello"


async def test_content_moves_the_progress_deadline(provider, asker, frame):
    body = b"".join(frame("x") for _ in range(10)) + frame(finish="stop") + b"data: [DONE]\n\n"
    provider.streams(body, size=len(frame("x")), pause=0.4)
    assert (await asker.stream(deadlines=Deadlines(progress=1))).text == "x" * 10


async def test_reasoning_is_progress(provider, asker):
    provider.streams(b"", endless=b'data: {"choices":[{"delta":{"reasoning":"hm "}}]}\n\n', pause=0.05)
    with pytest.raises(Interrupted, match="complete answer"):
        await asker.stream(deadlines=Deadlines(first_byte=0.4, progress=0.4, total=1.0))


async def test_q33_one_byte_at_a_time_ends_at_the_progress_deadline(provider, asker, frame):
    provider.streams(frame("Hello"), endless=b"d", pause=0.05)
    with pytest.raises(Interrupted, match=r"further content within 0\.3 s"):
        await asker.stream(deadlines=Deadlines(progress=0.3))


async def test_q33_an_endless_stream_ends_at_the_total_deadline(provider, asker, frame):
    provider.streams(b"", endless=frame("more "), pause=0.01)
    with pytest.raises(Interrupted, match="complete answer") as caught:
        await asker.stream(deadlines=Deadlines(total=0.5))
    assert caught.value.partial.text == asker.text
    assert provider.is_hung_up


async def test_q33_an_endless_stream_ends_at_the_byte_limit(provider, asker, frame):
    provider.streams(b"", endless=frame("more " * 100))
    with pytest.raises(BadAnswer, match="100000 bytes") as caught:
        await asker.stream(deadlines=Deadlines(total_bytes=100_000))
    assert caught.value.partial.text.startswith("more more")


async def test_of_text_without_end_only_so_much_is_kept(provider, asker, frame):
    provider.streams(b"", endless=frame("more " * 100))
    with pytest.raises(BadAnswer, match="more than 12345 characters") as caught:
        await asker.stream(deadlines=Deadlines(total_chars=12_345))
    assert len(caught.value.partial.text) == 12_345 == len(asker.text)


async def test_of_a_whole_body_only_so_much_is_kept(provider, asker):
    message = {"role": "assistant", "content": "more " * 100, "reasoning": "why " * 5}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    provider.streams(body)
    with pytest.raises(BadAnswer, match="more than 50 characters") as caught:
        await asker.stream(deadlines=Deadlines(total_chars=50))
    assert (caught.value.partial.reasoning, caught.value.partial.text) == ("why " * 5, "more " * 6)


async def test_q33_one_event_of_fifty_megabytes_is_not_gathered(provider, asker):
    provider.streams(b"data: ", endless=b"x" * 65536)
    with pytest.raises(BadAnswer, match="an event of more than 1048576 bytes"):
        await asker.stream()


async def test_a_compression_bomb_is_a_bad_answer(provider, asker):
    provider.says(gzip.compress(b"data: " + b"\x00" * (4 << 20)), headers=b"Content-Encoding: gzip\r\n")
    with pytest.raises(BadAnswer, match="bytes"):
        await asker.stream(deadlines=Deadlines(total_bytes=1 << 20))


async def test_a_whole_body_may_take_longer_than_the_first_byte_deadline(provider, asker):
    body = b'HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n\n\n\n\n\n\n\n{"choices":[{"message":{"content":"Hi"}}]}'
    provider.answers(body, size=10, pause=0.05)
    request = asker.request(deadlines=Deadlines(first_byte=0.1, progress=0.1, total=120))
    assert (await asker.client.complete(request)).text == "Hi"


async def test_a_whole_body_ends_at_the_total_deadline(provider, asker):
    provider.answers(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", endless=b"\n", pause=0.02)
    with pytest.raises(OutcomeUnknown):
        await asker.client.complete(asker.request(deadlines=Deadlines(total=0.4)))


async def test_a_slow_reader_is_no_slow_provider(provider, asker, frame):
    provider.streams(frame("a") + frame("b") + frame(finish="stop"), size=len(frame("a")), pause=0.01)
    items = []
    async for item in asker.client.stream(asker.request(deadlines=Deadlines(progress=0.2))):
        await asyncio.sleep(0.3)
        items.append(item)
    assert items[:2] == [Chunk("a"), Chunk("b")]


async def test_an_endless_flood_of_blank_lines_ends(provider, asker):
    provider.streams(b"", endless=b"\n" * 65536)
    with pytest.raises(BadAnswer):
        await asker.stream(deadlines=Deadlines(first_byte=3, total_bytes=1 << 20))
