"""Two transcripts side by side: aligned by turn and side, equal words known as equal."""

import pytest

from experiments.comparison import MOST_WORDS, Said, compare, word_differences
from tests.hanging import without_hanging


def talk(*words, **passed_on):
    """A and B in turns, from turn 1 on."""
    return [Said(n // 2 + 1, "AB"[n % 2], text, passed_on.get(f"p{n}", text)) for n, text in enumerate(words) if text]


def kinds(comparison):
    return [(pair.turn, pair.seat, pair.kind) for pair in comparison.pairs]


def test_what_both_share_from_the_beginning_is_counted_in_messages_and_whole_turns():
    found = compare(talk("a", "b", "c", "d", "e"), talk("a", "b", "c", "x", "e"))

    assert (found.shared, found.shared_turns, found.is_identical) == (3, 1, False)
    assert kinds(found)[2:] == [(2, "A", "same"), (2, "B", "different"), (3, "A", "same")]


def test_the_same_talk_is_identical():
    found = compare(talk("a", "b"), talk("a", "b"))

    assert (found.shared, found.shared_turns, found.is_identical) == (2, 1, True)


def test_talks_that_differ_at_once_share_nothing():
    found = compare(talk("a", "b"), talk("x", "b"))

    assert (found.shared, found.shared_turns) == (0, 0)


def test_what_only_one_said_stands_alone():
    found = compare(talk("a", "b", "c"), talk("a", "", "c", "d"))

    assert kinds(found) == [(1, "A", "same"), (1, "B", "left"), (2, "A", "same"), (2, "B", "right")]


def test_sides_are_aligned_whoever_begins():
    left = [Said(1, "A", "a", "a"), Said(1, "B", "b", "b")]

    assert kinds(compare(left, list(reversed(left)))) == [(1, "A", "same"), (1, "B", "same")]


def test_a_filter_that_let_something_else_through_is_not_the_same():
    [pair] = compare(talk("a long thought", p0="a"), talk("a long thought", p0="b")).pairs

    assert (pair.kind, pair.is_passed_on_differently) == ("different", True)


def test_few_differing_words_are_marked():
    [pair] = compare(talk("I offer seven panels today."), talk("I offer nine panels today.")).pairs

    assert pair.kind == "close"
    assert [(piece.text, piece.differs) for piece in pair.left_pieces] == [
        ("I offer ", False),
        ("seven ", True),
        ("panels today.", False),
    ]
    assert "".join(piece.text for piece in pair.right_pieces) == "I offer nine panels today."


def test_characters_of_a_language_without_spaces_are_words():
    ours, _theirs = word_differences("我方提出七块太阳能板", "我方提出九块太阳能板")

    assert [piece.text for piece in ours if piece.differs] == ["七"]


@pytest.mark.parametrize("other", ["", "Something else altogether was said in this place.", "no"])
def test_texts_that_have_little_in_common_are_not_taken_apart(other):
    assert word_differences("I offer seven panels today.", other) is None


def test_texts_of_any_length_are_compared_at_once():
    long = "word " * (MOST_WORDS + 1)

    with without_hanging():
        assert word_differences(long, long + "more") is None
        assert word_differences("a b " * (MOST_WORDS // 2 - 1), "a b " * (MOST_WORDS // 2 - 2) + "c") is not None


def test_nothing_said_is_nothing_compared():
    assert compare([], []).pairs == ()
