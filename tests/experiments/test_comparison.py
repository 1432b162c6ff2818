"""Two transcripts side by side, aligned by turn and side, and text that comes back from a browser: what is equal."""

from experiments.runs.comparison import MOST_WORDS, Said, compare, word_differences
from experiments.setup.form_fields import as_typed, is_same, restored
from tests.hanging import without_hanging


def talk(*words, **passed_on):
    """A and B in turns, from turn 1 on."""
    return [Said(n // 2 + 1, "AB"[n % 2], text, passed_on.get(f"p{n}", text)) for n, text in enumerate(words) if text]


def kinds(comparison):
    return [(row.turn, row.seat, row.kind) for row in comparison.rows]


def parts(cell):
    return [(piece.text, piece.change) for piece in cell.pieces]


def test_what_both_share_from_the_beginning_is_counted_in_messages_and_whole_turns():
    found = compare(talk("a", "b", "c", "d", "e"), talk("a", "b", "c", "x", "e"))
    assert (found.shared, found.shared_turns, found.is_identical) == (3, 1, False)
    assert kinds(found)[2:] == [(2, "A", "same"), (2, "B", "different"), (3, "A", "same")]

    same = compare(talk("a", "b"), talk("a", "b"))
    assert (same.shared, same.shared_turns, same.is_identical) == (2, 1, True)
    other = compare(talk("a", "b"), talk("x", "b"))
    assert (other.shared, other.shared_turns) == (0, 0)
    assert compare([], []).rows == ()
    [row] = compare(talk("a long thought", p0="a"), talk("a long thought", p0="b")).rows
    assert (row.kind, row.is_passed_on_differently) == ("different", True)


def test_what_only_one_said_stands_alone_and_sides_are_aligned_whoever_begins():
    found = compare(talk("a", "b", "c"), talk("a", "", "c", "d"))
    assert kinds(found) == [(1, "A", "same"), (1, "B", "partial"), (2, "A", "same"), (2, "B", "partial")]
    assert [row.missing for row in found.rows] == [(), (2,), (), (1,)]

    left = [Said(1, "A", "a", "a"), Said(1, "B", "b", "b")]
    assert kinds(compare(left, list(reversed(left)))) == [(1, "A", "same"), (1, "B", "same")]
    asked = [Said(1, "researcher", "Why?", "Why?"), Said(1, "model", "Because.", "Because.")]
    found = compare(talk("a", "b"), asked)
    alone = {"A": (2,), "B": (2,), "researcher": (1,), "model": (1,)}
    assert [(row.turn, row.seat, row.missing) for row in found.rows] == [(1, *one) for one in alone.items()]


def test_few_differing_words_are_marked_and_of_three_each_is_compared_with_the_first():
    [row] = compare(talk("I offer seven panels today."), talk("I offer nine panels today.")).rows
    assert row.kind == "close"
    assert parts(row.cells[0]) == [("I offer ", ""), ("seven ", "gone"), ("panels today.", "")]
    assert parts(row.cells[1]) == [("I offer ", ""), ("nine ", "new"), ("panels today.", "")]

    [row] = compare(talk("I offer seven."), talk("I offer seven."), talk("I offer nine.")).rows
    assert (row.kind, parts(row.cells[0]), parts(row.cells[1])) == ("close", [], [])
    assert parts(row.cells[2]) == [("I offer ", ""), ("seven.", "gone"), ("nine.", "new")]

    pieces = word_differences("我方提出七块太阳能板", "我方提出九块太阳能板")
    assert [piece.text for piece in pieces if piece.change] == ["七", "九"], "characters are words"


def test_what_is_not_compared_is_counted():
    found = compare(talk("one two three", "four five six"), talk("one two tree", "four five sex"), words=6)

    assert [row.kind for row in found.rows] == ["close", "different"]
    assert (found.uncompared, found.rows[1].cells[1].is_too_long) == (1, True)
    for other in ("", "Something else altogether was said in this place.", "no"):
        assert word_differences("I offer seven panels today.", other) is None, "they have little in common"


def test_texts_of_any_length_are_compared_at_once():
    long = "word " * (MOST_WORDS + 1)

    with without_hanging():
        assert word_differences(long, long + "more") is None
        assert word_differences("a b " * (MOST_WORDS // 2 - 1), "a b " * (MOST_WORDS // 2 - 2) + "c") is not None


SHOWN = "One.\r\nTwo.\n\nThree.\rFour.\n"


def test_text_that_comes_back_with_other_line_ends_is_the_same_and_unchanged_lines_keep_theirs():
    assert is_same(SHOWN.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n"), SHOWN)
    assert restored(as_typed(SHOWN), SHOWN) == SHOWN
    assert restored("a\na\n", "a\r\na\r\na\r\n") == "a\r\na\r\n", "lines that repeat are counted once"
    for typed, meant in (
        ("One.\nTwo!\n\nThree.\nFour.\n", "One.\r\nTwo!\n\nThree.\rFour.\n"),
        ("Zero.\nOne.\nTwo.\n\nThree.\nFour.\n", "Zero.\n" + SHOWN),
        ("One.\nTwo.\n\nThree.\nFour.\nFive.", SHOWN + "Five."),
        ("", ""),
        ("Something else.\r\nEntirely.", "Something else.\nEntirely."),
    ):
        assert restored(typed, SHOWN) == meant, typed
        assert restored(typed.replace("\n", "\r\n").replace("\r\r", "\r"), SHOWN) == meant, typed
