"""Which run came from which, and transcripts side by side: where a branch left, and whether the words were changed."""

import pytest

from experiments.models import Experiment, Run
from experiments.runs import lineage
from experiments.runs.comparison import MOST_WORDS, Said, compare, word_differences
from experiments.runs.drawings.lanes import picture
from experiments.setup.form_fields import as_typed, is_same, restored
from tests.experiments.repeated import branched, ended, said
from tests.hanging import without_hanging

pytestmark = pytest.mark.django_db


@pytest.fixture
def root(arena):
    run = ended(arena(), 7)
    for turn in (1, 2):
        for seat in "AB":
            said(run, turn, seat, f"{seat} in turn {turn}")
    return run


def message(run, turn, seat):
    return run.messages.get(turn=turn, seat=seat)


def test_a_run_that_came_from_nothing_and_led_to_nothing_has_no_lineage_to_show_and_a_circle_hangs_nobody(root, alice):
    assert lineage.for_page(root, alice) is None
    assert lineage.for_experiment(root.experiment, alice) is None
    assert lineage.of(root, alice).trees[0].children == ()

    other = ended(root.experiment, 8, parent=root)
    Run.objects.filter(pk=root.pk).update(parent=other)
    assert lineage.for_page(root, alice) is None


def test_the_tree_is_the_same_from_every_run_of_it(root, alice):
    early = branched(message(root, 1, "B"))
    late = branched(message(root, 2, "A"), "something else")
    deep = branched(message(late, 2, "A"))

    for run in (root, early, late, deep):
        found = lineage.of(run, alice)
        assert [row.node.run for row in found.rows] == [root, early, late, deep]
        assert [child.run for child in found.trees[0].children] == [early, late]


def test_a_branch_says_where_it_left_whether_it_was_edited_there_and_by_whom(root, alice):
    child = branched(message(root, 1, "B"))
    said(child, 2, "B", "later", operator={"kind": "edited", "by": "alice", "original": "x"})
    branched(message(root, 2, "A"), "something else", by="bob")

    plain, edited = lineage.of(root, alice).trees[0].children

    assert (plain.turn, plain.seat, plain.edited, plain.branch.by) == (1, "B", False, "alice")
    assert (edited.turn, edited.seat, edited.edited, edited.branch.by) == (2, "A", True, "bob")
    assert edited.branch.message == message(root, 2, "A").pk

    ended(root.experiment, 7, origin="branch", parent=root)
    unknown = lineage.of(root, alice).trees[0].children[-1]
    assert (unknown.turn, unknown.seat, unknown.branch.message) == (None, "", None)


def test_judgings_stand_apart_from_branches_and_the_tree_ends_where_somebody_elses_runs_begin(root, alice, charlie):
    judging = Experiment.objects.create(owner=alice, workflow="judging", title="again", config={})
    again = ended(judging, 7, parent=root)
    for run in (root, again):
        found = lineage.for_page(run, alice)
        assert found.branches == 0
        assert [judged for _node, judged in found.judged_again] == [again]
        assert found.current == run.pk

    again.delete()
    mine = branched(message(root, 1, "A"))
    his = Experiment.objects.create(owner=charlie, workflow="arena", title="his", config=root.experiment.config)
    Run.objects.filter(pk=root.pk).update(experiment=his)
    assert [row.node.run for row in lineage.of(mine, alice).rows] == [mine]
    assert [row.node.run for row in lineage.of(root, charlie).rows] == [root]
    assert not lineage.of(mine, charlie).trees
    assert lineage.for_page(mine, charlie) is None


def test_an_experiment_shows_the_trees_of_those_runs_that_have_one(root, alice):
    other = ended(root.experiment, 8)
    said(other, 1, "A", "hello")
    ended(root.experiment, 9)
    first, second = branched(message(root, 1, "A")), branched(message(other, 1, "A"))

    found = lineage.for_experiment(root.experiment, alice)

    assert [tree.run for tree in found.trees] == [root, other]
    assert [row.node.run for row in found.rows] == [root, first, other, second]
    assert [row.number for row in found.rows] == [1, 2, 3, 4]


def test_a_family_takes_the_same_few_queries_however_large_it_is(root, alice, django_assert_max_num_queries):
    run = root
    for number in range(8):
        run = branched(message(run, 1, "A"), f"words {number}")
        branched(message(root, 2, "B"))

    with django_assert_max_num_queries(7):
        found = lineage.for_page(run, alice)
        assert len(found.rows) == 17
        assert {row.node.run.experiment.title for row in found.rows}


def test_the_list_opens_and_closes_as_often_and_says_when_it_is_cut_and_the_picture_has_a_lane_per_run(
    root, alice, monkeypatch
):
    first = branched(message(root, 1, "A"))
    branched(message(first, 1, "A"))
    branched(message(root, 2, "B"))

    rows = lineage.for_page(root, alice).rows
    shown = [(row.depth, row.opens, len(row.closes)) for row in rows]
    assert shown == [(0, True, 0), (1, True, 0), (2, True, 1), (1, False, 2)]

    drawn = picture(lineage.for_page(root, alice))
    stem, *_early, child = drawn.lanes
    assert (stem.join, len(drawn.lanes)) == (None, 4)
    assert child.join[1] == stem.y < child.y
    assert child.join[0] == next(tick.x for tick in drawn.ticks if tick.turn == 2)
    assert all(lane.end <= drawn.width for lane in drawn.lanes)
    assert [lane.is_current for lane in drawn.lanes] == [True, False, False, False]

    monkeypatch.setattr(lineage, "MOST_NODES", 3)
    found = lineage.for_page(root, alice)
    assert (found.is_cut, len(found.rows)) == (True, 3)


@pytest.mark.databases
def test_a_chain_longer_than_any_recursion_is_built(root, alice, monkeypatch):
    monkeypatch.setattr(lineage, "MOST_NODES", 2000)
    runs = [Run(experiment=root.experiment, seed=1, state="completed", origin="branch") for _ in range(1500)]
    for parent, child in zip([root, *runs], runs, strict=False):
        child.parent = parent
    Run.objects.bulk_create(runs)

    assert len(lineage.for_page(runs[-1], alice).rows) == 1501


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
