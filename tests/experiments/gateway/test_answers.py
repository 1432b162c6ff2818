"""Odd answers, and those that come slowly or without end: what streams out, and what is left at the end."""

import asyncio
import gzip
import json

import pytest

from experiments.gateway import BadAnswer, Chunk, Deadlines, EmptyAnswer, Interrupted, OutcomeUnknown, Params
from tests.cases import each_case


def delta(**fields):
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": fields}]}).encode() + b"\n\n"


def whole(*deltas, finish="stop"):
    end = {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return b"".join(deltas) + b"data: " + json.dumps(end).encode() + b"\n\ndata: [DONE]\n\n"


@each_case("cut", range(1, len("<think>plan</think>Hello")))
async def test_no_tick_shows_a_tag_that_is_cut_by_the_chunks(provider, asker, cut):
    text = "<think>plan</think>Hello"
    provider.streams(whole(delta(content=text[:cut]), delta(content=text[cut:])))
    completion = await asker.stream()

    assert (completion.text, completion.reasoning) == ("Hello", "plan")
    assert not any(mark in chunk.text + chunk.reasoning for chunk in asker.chunks for mark in "<>")


async def test_a_block_that_is_never_closed_loses_nothing_is_flagged_and_alone_is_no_reply(provider, asker):
    provider.streams(whole(delta(content="Hello.<think>half a th"), delta(content="ought")))
    completion = await asker.stream()
    assert (completion.text, completion.reasoning) == ("Hello.", "half a thought")
    assert any("never closed" in warning for warning in completion.warnings)

    provider.streams(whole(delta(content="<think>half a thought")))
    with pytest.raises(EmptyAnswer, match="reasoning but no answer") as caught:
        await asker.stream()
    assert (caught.value.partial.text, caught.value.partial.reasoning) == ("", "half a thought")
    assert any("never closed" in warning for warning in caught.value.partial.warnings)


async def test_two_rounds_of_thinking_in_one_answer_are_both_taken_out(provider, asker):
    provider.streams(whole(delta(content="<think>one</think>Hello <thin"), delta(content="k>two</think>there")))
    completion = await asker.stream()

    assert (completion.text, completion.reasoning) == ("Hello there", "onetwo")


@each_case(
    "thought",
    [
        {"reasoning": "Let me think"},
        {"reasoning_content": "Let me think"},
        {"reasoning_details": [{"type": "reasoning.text", "text": "Let me think"}]},
        {"thinking": "Let me think"},
        {"reasoning": "Let me think", "reasoning_content": "Let me think"},
        {"reasoning": "Let me think", "reasoning_details": [{"text": "Let me think"}]},
    ],
    ids=lambda thought: "+".join(thought),
)
@each_case("tagged", ["", "<think>Let me think</think>"], ids=["alone", "with tags"])
async def test_thinking_comes_out_once_wherever_the_provider_puts_it(provider, asker, thought, tagged):
    provider.streams(whole(delta(**thought), delta(content=f"{tagged}Hello")))
    completion = await asker.stream()

    assert (completion.text, completion.reasoning) == ("Hello", "Let me think")


@pytest.mark.parametrize(("body", "error"), [(b"", OutcomeUnknown), (whole(), EmptyAnswer)], ids=["no byte", "no word"])
async def test_a_stream_without_a_word_is_an_error_and_no_text(provider, asker, body, error):
    provider.streams(body)
    with pytest.raises(error) as caught:
        await asker.stream()

    assert asker.chunks == []
    assert not (caught.value.partial and caught.value.partial.text)


@each_case("length", [1, 400_000], ids=["thousands of short ones", "one long one"])
async def test_chunks_may_be_of_any_length(provider, asker, length):
    text = "".join(chr(97 + n % 26) for n in range(max(2_000, length)))
    provider.streams(whole(*(delta(content=text[at : at + length]) for at in range(0, len(text), length))))

    assert (await asker.stream()).text == text == asker.text


@each_case("size", [1, 2, 3, 5])
async def test_characters_of_several_bytes_survive_being_cut_between_chunks(provider, asker, size):
    text = "漢字 مرحبا 👩‍👩‍👧‍👦 é \u200f\u202e 🎈"
    body = whole(
        b"data: " + json.dumps({"choices": [{"delta": {"content": text}}]}, ensure_ascii=False).encode() + b"\n\n"
    )
    provider.streams(body, size=size)

    assert (await asker.stream()).text == text


async def test_a_nul_is_replaced_where_a_database_could_not_hold_it(provider, asker):
    provider.streams(whole(delta(content="a\x00b")))

    assert (await asker.stream()).text == "a\ufffdb"


def token(text, logprob, **more):
    return {"token": text, "logprob": logprob, **more}


@each_case(
    ("shapes", "expected"),
    [
        ([None, None], None),
        ([{"content": [token("He", -0.1)]}, None], [("He", -0.1)]),
        ([{"content": [token("He", float("-inf"))]}, {"content": [token("y", -0.2)]}], [("He", -9999.0), ("y", -0.2)]),
        ([{"tokens": ["He", "y"], "token_logprobs": [-0.1, -0.2]}, None], [("He", -0.1), ("y", -0.2)]),
        ([{"content": [token("He", "high"), token("y", None), {"logprob": -1}]}, "nonsense"], None),
    ],
    ids=["absent", "partial", "minus infinity", "parallel lists", "nonsense"],
)
async def test_token_probabilities_are_taken_as_far_as_they_are_there(provider, asker, shapes, expected):
    frames = []
    for text, shape in zip(("He", "y"), shapes, strict=True):
        choice = {"index": 0, "delta": {"content": text}, "logprobs": shape}
        frames.append(b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n")
    provider.streams(whole(*frames))
    completion = await asker.stream(params=Params(top_logprobs=5))

    assert completion.text == "Hey"
    assert (completion.logprobs and [(t.token, t.logprob) for t in completion.logprobs]) == expected
    assert completion.logprobs_missing == (expected is None)


async def test_no_head_in_time_leaves_the_outcome_unknown(provider, asker):
    provider.answers(b"", then="hang")
    with pytest.raises(OutcomeUnknown, match="first content"):
        await asker.stream(deadlines=Deadlines(first_byte=20))
    assert provider.is_hung_up


async def test_q01_keep_alives_are_neither_first_content_nor_progress(provider, asker, frame):
    provider.streams(b"", endless=b": ping\n\n", pause=2)
    with pytest.raises(OutcomeUnknown):
        await asker.stream(deadlines=Deadlines(first_byte=30))
    provider.streams(frame("Hello"), endless=b": ping\n\n", pause=2)
    with pytest.raises(Interrupted, match="further content within 30 s") as caught:
        await asker.stream(deadlines=Deadlines(progress=30))
    assert caught.value.partial.text == "Hello"


async def test_content_moves_the_progress_deadline(provider, asker, frame):
    body = b"".join(frame("x") for _ in range(10)) + frame(finish="stop") + b"data: [DONE]\n\n"
    provider.streams(body, size=len(frame("x")), pause=20)
    assert (await asker.stream(deadlines=Deadlines(progress=40, total=1000))).text == "x" * 10


async def test_reasoning_is_progress(provider, asker):
    provider.streams(b"", endless=b'data: {"choices":[{"delta":{"reasoning":"hm "}}]}\n\n', pause=5)
    with pytest.raises(Interrupted, match="complete answer"):
        await asker.stream(deadlines=Deadlines(first_byte=40, progress=40, total=100))


async def test_q33_one_byte_at_a_time_ends_at_the_progress_deadline(provider, asker, frame):
    provider.streams(frame("Hello"), endless=b"d", pause=5)
    with pytest.raises(Interrupted, match="further content within 30 s"):
        await asker.stream(deadlines=Deadlines(progress=30))


async def test_q33_an_endless_stream_ends_at_the_total_deadline(provider, asker, frame):
    provider.streams(b"", endless=frame("more "), pause=1)
    with pytest.raises(Interrupted, match="complete answer") as caught:
        await asker.stream(deadlines=Deadlines(total=50))
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
    provider.answers(body, size=10, pause=1)
    request = asker.request(deadlines=Deadlines(first_byte=2, progress=2, total=120))
    assert (await asker.client.complete(request)).text == "Hi"


async def test_a_whole_body_ends_at_the_total_deadline(provider, asker):
    provider.answers(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", endless=b"\n", pause=2)
    with pytest.raises(OutcomeUnknown):
        await asker.client.complete(asker.request(deadlines=Deadlines(total=40)))


async def test_a_slow_reader_is_no_slow_provider(provider, asker, frame):
    provider.streams(frame("a") + frame("b") + frame(finish="stop"), size=len(frame("a")), pause=1)
    items = []
    async for item in asker.client.stream(asker.request(deadlines=Deadlines(progress=20))):
        await asyncio.sleep(30)
        items.append(item)
    assert items[:2] == [Chunk("a"), Chunk("b")]


async def test_an_endless_flood_of_blank_lines_ends(provider, asker):
    provider.streams(b"", endless=b"\n" * 65536)
    with pytest.raises(BadAnswer):
        await asker.stream(deadlines=Deadlines(first_byte=60, total_bytes=1 << 20))
