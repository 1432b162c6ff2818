"""The parser of an event stream, and thinking told from the answer; that no split changes them is for the fuzzing."""

import json

from experiments.gateway.reasoning import AnswerSplitter, Merged
from experiments.gateway.streaming import LEAST_LOGPROB, Event, EventPattern, Parser, parse_chunk, parse_logprobs
from experiments.gateway.types import TokenLogprob
from tests.cases import each_case


def test_line_ends_and_byte_order_marks_are_read_however_they_arrive():
    assert Parser().feed(b"data: a\r\r") == [Event("a")], "an event after a lone carriage return is not delayed"
    parser = Parser()
    events = [event for piece in (b"data: a\r", b"", b"\ndata: b\r", b"\n\r\n") for event in parser.feed(piece)]
    assert events == [Event("a\nb")], "a line feed belongs to the carriage return before it"
    parser = Parser()
    assert (parser.feed(b"\n\xef\xbb\xbfdata: a\n\n"), parser.strange) == ([], True), "no mark after the first line"


@each_case("size", [1, 7, 4096])
def test_events_before_one_that_is_too_large_are_kept(size):
    data = b"data: a\n\ndata: " + b"x" * 5000 + b"\n\ndata: c\n\n"
    parser = Parser(limit_bytes=1000)
    events = [event for start in range(0, len(data), size) for event in parser.feed(data[start : start + size])]
    assert events + parser.close() == [Event("a")]
    assert parser.overflowed
    of_many_lines = Parser(limit_bytes=1000)
    of_many_lines.feed(b"data: xxxxxxxxxx\n" * 200)
    assert of_many_lines.overflowed
    just_fitting = Parser(limit_bytes=100)
    assert just_fitting.feed(b"data: x\n" * 47 + b"\n") == [Event("\n".join("x" * 47))]


BEFORE = '{"id": "7", "model": "m", "choices": [{"index": 0, "delta": {"content": "word"}}]}'


@each_case(
    ("said", "read"),
    [
        ('"more"', "more"),
        ('"\\"a\\" \\u6f22\\n"', '"a" 漢\n'),
        ('"\\ud83d"', "\ud83d"),
        ('"a", "role": "b"', ""),
        ('"a"}}], "usage": {"x": "y"', ""),
        ('""', ""),
        ('"\\"', ""),
        ('"a\x01"', ""),
        ("7", ""),
        ("null", ""),
    ],
)
def test_an_event_that_repeats_the_one_before_but_for_its_text_is_read_without_being_parsed(said, read):
    pattern = EventPattern()
    pattern.learn(BEFORE, parse_chunk(json.loads(BEFORE)))
    assert pattern.read(BEFORE.replace('"word"', said)) == read
    assert pattern.read(BEFORE.replace('"7"', '"8"')) == ""


def test_what_stands_at_another_place_too_or_changes_with_every_event_is_parsed_again():
    with_refusal = BEFORE.replace('"content"', '"refusal": "No.", "content"')
    for event in (BEFORE.replace('"7"', '"word"'), BEFORE.replace("content", "contents"), with_refusal):
        pattern = EventPattern()
        pattern.learn(event, parse_chunk(json.loads(event))._replace(text="word"))
        assert pattern.read(event) == ""
    for number in range(20):
        event = BEFORE.replace('"7"', f'"{number}"')
        pattern.learn(event, parse_chunk(json.loads(event)))
    assert pattern.read(event) == ""


def split(*texts: str, opened: bool = False) -> tuple[str, str]:
    """The answer and the thinking."""
    splitter = AnswerSplitter(opened=opened)
    pieces = [piece for text in texts for piece in splitter.feed(text)] + splitter.close()
    return tuple("".join(piece.text for piece in pieces if piece.kind == wanted) for wanted in ("text", "reasoning"))


@each_case(("said", "read"), [("-inf", LEAST_LOGPROB), ("-Infinity ", LEAST_LOGPROB), (-2e4, LEAST_LOGPROB), (1, 0.0)])
def test_an_impossible_word_has_the_least_probability_however_it_is_written(said, read):
    content = [{"token": "a", "logprob": said}, {"token": "b", "logprob": "none"}]
    assert parse_logprobs({"content": content}) == (TokenLogprob("a", read),)


@each_case(
    ("text", "answer", "thinking"),
    [
        *((f"a<{name}>b</{name}>c", "ac", "b") for name in ("think", "thinking", "thought", "reasoning", "THINK")),
        ("[REASONING]b[/REASONING]c", "c", "b"),
        ("<|begin_of_thought|>b<|end_of_thought|>c", "c", "b"),
        ("<think>a</think>b<think>c</think>d", "bd", "ac"),
        ("<thinking>\n<thinking>a</thinking>b</thinking>c", "c", "\nab"),
        ("<thinking><thinking>a</thinking>b</thinking>c", "c", "ab"),
        ("<think>a</thinking>b</think>c", "c", "a</thinking>b"),
        ("<think>the <think> tag</think>c", "c", "the <think> tag"),
        ("<think>it ends with `</think>` later</think>c", "c", "it ends with `</think>` later"),
        ("<think>a`</think>c", "c", "a`"),
        ("a</think>b", "a</think>b", ""),
        ("<think>a", "", "a"),
        ("<think>a</thi", "", "a</thi"),
        ("a <thin", "a <thin", ""),
        ("x < y and [z]", "x < y and [z]", ""),
        ("`<think>`b", "`<think>`b", ""),
        ("``a ` <think>`` b", "``a ` <think>`` b", ""),
        ("```\n<think>x</think>\n```\n<think>y</think>z", "```\n<think>x</think>\n```\nz", "y"),
        ("~~~xml\n<think>\n~~~\n", "~~~xml\n<think>\n~~~\n", ""),
        (" ```\n<think>x</think>\n ``` \n<think>y</think>z", " ```\n<think>x</think>\n ``` \nz", "y"),
        ("```inline``` <think>y</think>z", "```inline``` z", "y"),
        ("a stray ` here\n<think>y</think>z", "a stray ` here\nz", "y"),
        ("<think>```\ncode</think>z", "z", "```\ncode"),
        ("I think we should go.", "I think we should go.", ""),
        ("\n<|channel|>analysis<|message|>a<|end|><|channel|>final<|message|>b<|return|>", "\nb", "a"),
        ("<|channel|>analysis<|message|>a<|start|>assistant<|channel|>final<|message|>b", "b", "a"),
        ("<|start|>assistant<|channel|>commentary to=f <|constrain|>json<|message|>{}<|call|>", "", "{}"),
        ("<|start|>assistant<|message|>a<|end|>b", "ab", ""),
        ("<|channel|>analysis and no more", "<|channel|>analysis and no more", ""),
        ("<|channel|>analysis<|message|>a <b> <|c", "", "a <b> <|c"),
        ("a <|channel|>analysis<|message|>b", "a <|channel|>analysis<|message|>b", ""),
    ],
)
def test_what_is_thinking_and_what_is_not(text, answer, thinking):
    assert split(text) == (answer, thinking)


def test_a_line_may_begin_in_another_piece_than_the_tag_that_follows():
    assert split("<think>a", "\n<think>b</think>c</think>d") == ("d", "a\nbc")


@each_case(
    ("text", "answer", "thinking"),
    [
        ("a</think>b", "b", "a"),
        ("a</THOUGHT>b", "b", "a"),
        ("\n<think>a</think>b", "b", "\na"),
        ("a", "", "a"),
        ("a</think>b<think>c</think>d", "bd", "ac"),
    ],
)
def test_a_template_that_opens_the_block_itself(text, answer, thinking):
    assert split(text, opened=True) == (answer, thinking)


def merged(*parts: tuple[str, str]) -> str:
    merger = Merged()
    return "".join(merger.add(source, text) for source, text in parts)


@each_case(
    ("parts", "expected"),
    [
        ([("native", "Let me"), ("tags", "\nLet"), ("tags", " me think"), ("native", " think.")], "Let me think."),
        ([("tags", "\nLet me"), ("native", "Let me")], "\nLet me"),
        ([("native", "I ask."), ("tags", "The "), ("tags", "answer is 4.")], "I ask.The answer is 4."),
    ],
    ids=["the same from two sources comes out once", "a leading line feed does not matter", "different ones are kept"],
)
def test_thinking_from_two_sources_is_merged(parts, expected):
    assert merged(*parts) == expected
