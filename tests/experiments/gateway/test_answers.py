"""Answers that come slowly or without end: what streams out, and what is left at the end."""

import asyncio
import gzip
import json

import pytest

from experiments.gateway import BadAnswer, Chunk, Deadlines, Interrupted, OutcomeUnknown

MORE = b"data: " + json.dumps({"choices": [{"delta": {"content": "more " * 100}}]}).encode() + b"\n\n"


async def test_chunks_may_be_of_any_length_and_white_space_before_the_answer_is_part_of_it(provider, asker, frame):
    text = "".join(chr(97 + n % 26) for n in range(400_000))
    for pieces in (text[:2000], [text], ("\n", "    return 1")):
        provider.streams(b"".join(map(frame, pieces)) + frame(finish="stop"))

        assert (await asker.stream()).text == "".join(pieces) == asker.text


async def test_q01_q33_what_is_no_content_is_no_progress(provider, asker, frame):
    for endless in (b": ping\n\n", b"d"):
        provider.streams(b"", endless=endless, pause=2)
        with pytest.raises(OutcomeUnknown):
            await asker.stream(deadlines=Deadlines(first_byte=30))
        provider.streams(frame("Hello"), endless=endless, pause=2)
        with pytest.raises(Interrupted, match="further content within 30 s") as caught:
            await asker.stream(deadlines=Deadlines(progress=30))
        assert caught.value.partial.text == "Hello", endless
    provider.is_hung_up = False
    provider.answers(b"", then="hang")
    with pytest.raises(OutcomeUnknown, match="first content"):
        await asker.stream(deadlines=Deadlines(first_byte=20))
    assert provider.is_hung_up


async def test_q33_content_and_reasoning_move_the_progress_deadline_and_not_the_total_one(provider, asker, frame):
    body = b"".join(frame("x") for _ in range(10)) + frame(finish="stop") + b"data: [DONE]\n\n"
    provider.streams(body, size=len(frame("x")), pause=20)
    assert (await asker.stream(deadlines=Deadlines(progress=40, total=1000))).text == "x" * 10
    provider.streams(b"", endless=b'data: {"choices":[{"delta":{"reasoning":"hm "}}]}\n\n', pause=5)
    provider.is_hung_up = False
    with pytest.raises(Interrupted, match="complete answer") as caught:
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
        with pytest.raises(BadAnswer, match=says) as caught:
            await asker.stream(deadlines=Deadlines(**limits))
        assert asker.text.startswith("more more" if endless == MORE else ""), says
        assert len(caught.value.partial.text if caught.value.partial else "") == len(asker.text), says
        assert len(asker.text) == limits.get("total_chars", len(asker.text)), says

    provider.says(gzip.compress(b"data: " + b"\x00" * (4 << 20)), headers=b"Content-Encoding: gzip\r\n")
    with pytest.raises(BadAnswer, match="bytes"):
        await asker.stream(deadlines=Deadlines(total_bytes=1 << 20))


async def test_of_a_whole_body_only_so_much_is_kept(provider, asker):
    message = {"role": "assistant", "content": "more " * 100, "reasoning": "why " * 5}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    provider.streams(body)
    for most in (50, 510):
        with pytest.raises(BadAnswer, match=f"more than {most} characters") as caught:
            await asker.stream(deadlines=Deadlines(total_chars=most))
        kept = caught.value.partial
        assert (kept.reasoning, kept.text) == ("why " * 5, ("more " * 100)[: most - 20]), most


async def test_a_whole_body_may_take_longer_than_the_first_byte_deadline_but_ends_at_the_total_one(provider, asker):
    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    provider.answers(head + b'\n\n\n\n\n\n\n{"choices":[{"message":{"content":"Hi"}}]}', size=10, pause=1)
    request = asker.request(deadlines=Deadlines(first_byte=2, progress=2, total=120))
    assert (await asker.client.complete(request)).text == "Hi"
    provider.answers(head, endless=b"\n", pause=2)
    with pytest.raises(OutcomeUnknown):
        await asker.client.complete(asker.request(deadlines=Deadlines(total=40)))


async def test_a_slow_reader_is_no_slow_provider(provider, asker, frame):
    provider.streams(frame("a") + frame("b") + frame(finish="stop"), size=len(frame("a")), pause=1)
    items = []
    async for item in asker.client.stream(asker.request(deadlines=Deadlines(progress=20))):
        await asyncio.sleep(30)
        items.append(item)
    assert items[:2] == [Chunk("a"), Chunk("b")]
