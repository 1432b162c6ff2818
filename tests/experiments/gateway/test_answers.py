"""Answers that come slowly or without end: what streams out, and what is left at the end."""

import asyncio
import gzip
import json

import pytest

from experiments.gateway import BadAnswer, Chunk, Deadlines, Interrupted, OutcomeUnknown
from tests.cases import each_case

MORE = b"data: " + json.dumps({"choices": [{"delta": {"content": "more " * 100}}]}).encode() + b"\n\n"


@each_case("length", [1, 400_000], ids=["thousands of short ones", "one long one"])
async def test_chunks_may_be_of_any_length(provider, asker, frame, length):
    text = "".join(chr(97 + n % 26) for n in range(max(2_000, length)))
    provider.streams(
        b"".join(frame(text[at : at + length]) for at in range(0, len(text), length)) + frame(finish="stop")
    )

    assert (await asker.stream()).text == text == asker.text


async def test_white_space_before_an_answer_without_thinking_is_part_of_it(provider, asker, frame):
    provider.streams(frame("\n") + frame("    return 1") + frame(finish="stop"))

    assert (await asker.stream()).text == "\n    return 1" == asker.text


async def test_no_head_in_time_leaves_the_outcome_unknown(provider, asker):
    provider.answers(b"", then="hang")
    with pytest.raises(OutcomeUnknown, match="first content"):
        await asker.stream(deadlines=Deadlines(first_byte=20))
    assert provider.is_hung_up


@each_case("endless", [b": ping\n\n", b"d"], ids=["keep-alives", "one byte at a time"])
async def test_q01_q33_what_is_no_content_is_no_progress(provider, asker, frame, endless):
    provider.streams(b"", endless=endless, pause=2)
    with pytest.raises(OutcomeUnknown):
        await asker.stream(deadlines=Deadlines(first_byte=30))
    provider.streams(frame("Hello"), endless=endless, pause=2)
    with pytest.raises(Interrupted, match="further content within 30 s") as caught:
        await asker.stream(deadlines=Deadlines(progress=30))
    assert caught.value.partial.text == "Hello"


async def test_content_and_reasoning_move_the_progress_deadline(provider, asker, frame):
    body = b"".join(frame("x") for _ in range(10)) + frame(finish="stop") + b"data: [DONE]\n\n"
    provider.streams(body, size=len(frame("x")), pause=20)
    assert (await asker.stream(deadlines=Deadlines(progress=40, total=1000))).text == "x" * 10
    provider.streams(b"", endless=b'data: {"choices":[{"delta":{"reasoning":"hm "}}]}\n\n', pause=5)
    with pytest.raises(Interrupted, match="complete answer"):
        await asker.stream(deadlines=Deadlines(first_byte=40, progress=40, total=100))


async def test_q33_an_endless_stream_ends_at_the_total_deadline(provider, asker, frame):
    provider.streams(b"", endless=frame("more "), pause=1)
    with pytest.raises(Interrupted, match="complete answer") as caught:
        await asker.stream(deadlines=Deadlines(total=50))
    assert caught.value.partial.text == asker.text
    assert provider.is_hung_up


@each_case(
    ("begins", "endless", "limits", "says"),
    [
        (b"", MORE, {"total_bytes": 100_000}, "100000 bytes"),
        (b"", b"\n" * 65536, {"total_bytes": 1 << 20}, "bytes"),
        (b"", MORE, {"total_chars": 12_345}, "more than 12345 characters"),
        (b"data: ", b"x" * 65536, {}, "an event of more than 1048576 bytes"),
    ],
    ids=["bytes", "blank lines", "characters", "one event"],
)
async def test_q33_an_answer_without_end_is_cut_and_what_came_is_kept(provider, asker, begins, endless, limits, says):
    provider.streams(begins, endless=endless)
    with pytest.raises(BadAnswer, match=says) as caught:
        await asker.stream(deadlines=Deadlines(**limits))
    assert asker.text.startswith("more more" if endless == MORE else "")
    assert len(caught.value.partial.text if caught.value.partial else "") == len(asker.text)
    assert len(asker.text) == limits.get("total_chars", len(asker.text))


async def test_a_compression_bomb_is_a_bad_answer(provider, asker):
    provider.says(gzip.compress(b"data: " + b"\x00" * (4 << 20)), headers=b"Content-Encoding: gzip\r\n")
    with pytest.raises(BadAnswer, match="bytes"):
        await asker.stream(deadlines=Deadlines(total_bytes=1 << 20))


@each_case("most", [50, 510])
async def test_of_a_whole_body_only_so_much_is_kept(provider, asker, most):
    message = {"role": "assistant", "content": "more " * 100, "reasoning": "why " * 5}
    body = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
    provider.streams(body)
    with pytest.raises(BadAnswer, match=f"more than {most} characters") as caught:
        await asker.stream(deadlines=Deadlines(total_chars=most))
    assert (caught.value.partial.reasoning, caught.value.partial.text) == ("why " * 5, ("more " * 100)[: most - 20])


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
