"""The parser of an event stream, and thinking told from the answer; that no split changes them is for the fuzzing."""

import json

from experiments.gateway.reasoning import AnswerSplitter, Merged
from experiments.gateway.streaming import LEAST_LOGPROB, Event, EventPattern, Parser, parse_chunk, parse_logprobs
from experiments.gateway.types import TokenLogprob


def test_line_ends_and_byte_order_marks_are_read_however_they_arrive():
    assert Parser().feed(b"data: a\r\r") == [Event("a")], "an event after a lone carriage return is not delayed"
    parser = Parser()
    events = [event for piece in (b"data: a\r", b"", b"\ndata: b\r", b"\n\r\n") for event in parser.feed(piece)]
    assert events == [Event("a\nb")], "a line feed belongs to the carriage return before it"
    parser = Parser()
    assert (parser.feed(b"\n\xef\xbb\xbfdata: a\n\n"), parser.strange) == ([], True), "no mark after the first line"


def test_events_before_one_that_is_too_large_are_kept():
    data = b"data: a\n\ndata: " + b"x" * 5000 + b"\n\ndata: c\n\n"
    for size in (1, 7, 4096):
        parser = Parser(limit_bytes=1000)
        events = [event for start in range(0, len(data), size) for event in parser.feed(data[start : start + size])]
        assert events + parser.close() == [Event("a")], size
        assert parser.overflowed, size
    of_many_lines = Parser(limit_bytes=1000)
    of_many_lines.feed(b"data: xxxxxxxxxx\n" * 200)
    assert of_many_lines.overflowed
    just_fitting = Parser(limit_bytes=100)
    assert just_fitting.feed(b"data: x\n" * 47 + b"\n") == [Event("\n".join("x" * 47))]


BEFORE = '{"id": "7", "model": "m", "choices": [{"index": 0, "delta": {"content": "word"}}]}'


def test_an_event_that_repeats_the_one_before_but_for_its_text_is_read_without_being_parsed():
    read = {'"more"': "more", '"\\"a\\" \\u6f22\\n"': '"a" 漢\n', '"\\ud83d"': "\ud83d"}
    others = ('"a", "role": "b"', '"a"}}], "usage": {"x": "y"', '""', '"\\"', '"a\x01"', "7", "null")
    for said, text in (read | dict.fromkeys(others, "")).items():
        pattern = EventPattern()
        pattern.learn(BEFORE, parse_chunk(json.loads(BEFORE)))
        assert pattern.read(BEFORE.replace('"word"', said)) == text, said
        assert pattern.read(BEFORE.replace('"7"', '"8"')) == "", said

    with_refusal = BEFORE.replace('"content"', '"refusal": "No.", "content"')
    for event in (BEFORE.replace('"7"', '"word"'), BEFORE.replace("content", "contents"), with_refusal):
        pattern = EventPattern()
        pattern.learn(event, parse_chunk(json.loads(event))._replace(text="word"))
        assert pattern.read(event) == "", "the word stands at another place too"
    for number in range(20):
        event = BEFORE.replace('"7"', f'"{number}"')
        pattern.learn(event, parse_chunk(json.loads(event)))
    assert pattern.read(event) == "", "it changes with every event"


def split(*texts: str, opened: bool = False) -> tuple[str, str]:
    """The answer and the thinking."""
    splitter = AnswerSplitter(opened=opened)
    pieces = [piece for text in texts for piece in splitter.feed(text)] + splitter.close()
    return tuple("".join(piece.text for piece in pieces if piece.kind == wanted) for wanted in ("text", "reasoning"))


def test_an_impossible_word_has_the_least_probability_however_it_is_written():
    for said, read in (("-inf", LEAST_LOGPROB), ("-Infinity ", LEAST_LOGPROB), (-2e4, LEAST_LOGPROB), (1, 0.0)):
        content = [{"token": "a", "logprob": said}, {"token": "b", "logprob": "none"}]
        assert parse_logprobs({"content": content}) == (TokenLogprob("a", read),)


def test_what_is_thinking_and_what_is_not_also_where_a_template_has_opened_the_block_itself():
    for text, answer, thinking in (
        *((f"a<{name}>b</{name}>c", "ac", "b") for name in ("think", "thinking", "thought", "reasoning", "THINK")),
        *(("[REASONING]b[/REASONING]c", "c", "b"), ("<|begin_of_thought|>b<|end_of_thought|>c", "c", "b")),
        *(("<think>a</think>b<think>c</think>d", "bd", "ac"), ("<think>a</thinking>b</think>c", "c", "a</thinking>b")),
        ("<thinking>\n<thinking>a</thinking>b</thinking>c", "c", "\nab"),
        ("<think>it ends with `</think>` later</think>c", "c", "it ends with `</think>` later"),
        *(("<think>the <think> tag</think>c", "c", "the <think> tag"), ("<think>a`</think>c", "c", "a`")),
        *(("<think>a</thi", "", "a</thi"), ("<think>```\ncode</think>z", "z", "```\ncode")),
        *((text, text, "") for text in ("a <thin", "x < y and [z]", "`<think>`b", "``a ` <think>`` b")),
        *((text, text, "") for text in ("~~~xml\n<think>\n~~~\n", "a <|channel|>analysis<|message|>b")),
        ("```\n<think>x</think>\n```\n<think>y</think>z", "```\n<think>x</think>\n```\nz", "y"),
        (" ```\n<think>x</think>\n ``` \n<think>y</think>z", " ```\n<think>x</think>\n ``` \nz", "y"),
        ("```inline``` <think>y</think>z", "```inline``` z", "y"),
        ("a stray ` here\n<think>y</think>z", "a stray ` here\nz", "y"),
        ("\n<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b<|return|>", "\nb", "a"),
        ("<|channel|>analysis<|message|>a<|start|>assistant<|channel|>final<|message|>b", "b", "a"),
        ("<|start|>assistant<|channel|>commentary to=f <|constrain|>json<|message|>{}<|call|>", "", "{}"),
        ("<|channel|>analysis and no more", "<|channel|>analysis and no more", ""),
        ("<|start|>assistant<|message|>a<|end|>b", "ab", ""),
        ("<|channel|>analysis<|message|>a <b> <|c", "", "a <b> <|c"),
    ):
        assert split(text) == (answer, thinking), text
    assert split("<think>a", "\n<think>b</think>c</think>d") == ("d", "a\nbc"), "a line begins in another piece"

    for text, answer, thinking in (
        *(("a</think>b", "b", "a"), ("a</THOUGHT>b", "b", "a"), ("\n<think>a</think>b", "b", "\na"), ("a", "", "a")),
        ("a</think>b<think>c</think>d", "bd", "ac"),
    ):
        assert split(text, opened=True) == (answer, thinking), text


def test_the_same_thinking_from_two_sources_comes_out_once():
    for parts, expected in (
        ([("native", "Let me"), ("tags", "\nLet"), ("tags", " me think"), ("native", " think.")], "Let me think."),
        ([("tags", "\nLet me"), ("native", "Let me")], "\nLet me"),
        ([("native", "I ask."), ("tags", "The "), ("tags", "answer is 4.")], "I ask.The answer is 4."),
    ):
        merger = Merged()
        assert "".join(merger.add(source, text) for source, text in parts) == expected
