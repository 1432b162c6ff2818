"""Thinking is told from the answer, and no character is lost on the way."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from experiments.gateway.harmony import AnswerSplitter
from experiments.gateway.reasoning import Merged, TagSplitter
from tests.cases import each_case
from tests.hanging import without_hanging

NAMES = ("think", "THINK", "thinking", "thought", "|begin_of_thought|")
TAGS = [f"<{end}{name}>" for name in NAMES for end in ("", "/")]
TAGS += ["<|channel|>analysis<|message|>", "<|start|>assistant", "<|channel|>final<|message|>", "<|return|>"]
TAGS += ["<|end_of_thought|>", "[REASONING]", "[/reasoning]", "<", "[", "<th", "</", "<|"]
OTHERS = ["`", "```", "~~~", "\n", "\n\n", " ", '"', "'", "a", "hello ", "é漢", "K", "İ"]
TEXTS = st.lists(st.sampled_from(TAGS + OTHERS), max_size=40).map("".join)


def pieces_of(text: str, cuts: list[int], *, opened: bool = False) -> list[tuple[str, str]]:
    """(kind, text), with neighbours of one kind joined."""
    splitter = AnswerSplitter(opened=opened)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    parts = [piece for a, b in pairwise(places) for piece in splitter.feed(text[a:b])]
    joined: list[tuple[str, str]] = []
    for piece in parts + splitter.close():
        if joined and joined[-1][0] == piece.kind != "tag":
            joined[-1] = (piece.kind, joined[-1][1] + piece.text)
        else:
            joined.append((piece.kind, piece.text))
    return joined


def split(text: str, *, opened: bool = False) -> tuple[str, str]:
    pieces = pieces_of(text, [], opened=opened)
    return tuple("".join(part for kind, part in pieces if kind == wanted) for wanted in ("text", "reasoning"))


@given(TEXTS, st.lists(st.integers(0, 1000), max_size=20), st.booleans())
def test_text_is_conserved_and_no_split_changes_the_result(text, cuts, opened):
    pieces = pieces_of(text, cuts, opened=opened)
    assert "".join(part for _, part in pieces) == text
    assert pieces == pieces_of(text, [], opened=opened)


@given(TEXTS)
def test_one_character_at_a_time_gives_the_same(text):
    assert pieces_of(text, list(range(len(text)))) == pieces_of(text, [])


@each_case("name", ["think", "thinking", "thought", "reasoning", "THINK", "Thinking"])
def test_every_tag_splits_at_every_position_without_leaking(name):
    text = f"a<{name}>b</{name}>c"
    for cut in range(len(text)):
        splitter = TagSplitter()
        first = splitter.feed(text[:cut])
        assert not any("<" in piece.text for piece in first if piece.kind != "tag")
        pieces = first + splitter.feed(text[cut:]) + splitter.close()
        assert "".join(piece.text for piece in pieces if piece.kind == "text") == "ac"
        assert "".join(piece.text for piece in pieces if piece.kind == "reasoning") == "b"


@each_case(
    ("text", "answer", "thinking"),
    [
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


def test_an_open_end_is_reported():
    splitter = TagSplitter()
    splitter.feed("<think>a")
    assert splitter.unclosed


@each_case(
    "text",
    [
        "<" * 100_000,
        "`" * 100_000,
        "<think>" * 15_000,
        "[<`" * 30_000,
        "a\n~" * 30_000,
        " " * 100_000,
        "<|start|>" * 10_000,
    ],
)
@each_case("size", [1, 100_000])
def test_hostile_text_takes_linear_time(text, size):
    splitter = AnswerSplitter()
    length = 0
    with without_hanging():
        for start in range(0, len(text), size):
            length += sum(len(piece.text) for piece in splitter.feed(text[start : start + size]))
        length += sum(len(piece.text) for piece in splitter.close())
    assert length == len(text)


def merged(*parts: tuple[str, str]) -> str:
    merger = Merged()
    return "".join(merger.add(source, text) for source, text in parts)


def test_the_same_thinking_from_two_sources_comes_out_once():
    parts = [("native", "Let me"), ("tags", "\nLet"), ("tags", " me think"), ("native", " think.")]
    assert merged(*parts) == "Let me think."


def test_a_leading_line_feed_of_the_first_source_does_not_matter():
    assert merged(("tags", "\nLet me"), ("native", "Let me")) == "\nLet me"


def test_different_thinking_is_kept_in_full_from_both():
    assert merged(("native", "The user asks."), ("tags", "The "), ("tags", "answer is 4.")) == (
        "The user asks.The answer is 4."
    )


@given(st.lists(st.tuples(st.sampled_from(["a", "b"]), st.text("xy ", max_size=4)), max_size=20))
def test_nothing_of_a_single_source_is_lost(parts):
    alone = [(source, text) for source, text in parts if source == "a"]
    assert merged(*alone) == "".join(text for _, text in alone)
    assert all(text.strip() in merged(*parts) for _, text in parts)
