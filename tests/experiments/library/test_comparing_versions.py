"""The difference between two versions, so that a person can read it."""

import pytest
from django.urls import reverse

from experiments.library import scenarios
from experiments.library.differences import lines_between
from tests.cases import each_case
from tests.experiments.library.conftest import CONFIG, PROMPT
from tests.hanging import without_hanging


def marked(line):
    return "".join(f"[{piece.text}]" if piece.is_changed else piece.text for piece in line.pieces)


def shown(before, after):
    signs = {"same": " ", "removed": "-", "added": "+", "gap": "~"}
    lines = lines_between(before, after)
    return [f"{signs[line.kind]}{line.count if line.kind == 'gap' else marked(line)}" for line in lines]


SAME = [str(n) for n in range(9)]


@each_case(
    ("before", "after", "lines"),
    [
        ("a\nb\nc", "a\nb\nc", ["~3"]),
        ("bring four pears home", "bring five pears home", ["-bring [four ]pears home", "+bring [five ]pears home"]),
        ("all of this goes", "nothing stays here today", ["-all of this goes", "+nothing stays here today"]),
        ("\n".join(["x", *SAME, "y"]), "\n".join(["X", *SAME, "Y"]), ["-x", "+X", " 0", "~7", " 8", "-y", "+Y"]),
        ("a\nb\nc\nx", "a\nb\nc\ny", ["~2", " c", "-x", "+y"]),
        ("", "a", ["+a"]),
        ("a", "", ["-a"]),
        ("", "", []),
    ],
)
def test_words_are_marked_within_their_line_and_long_stretches_that_are_the_same_left_out(before, after, lines):
    assert shown(before, after) == lines


@each_case(
    ("before", "after"),
    [
        ("a\n" * 40_000, "b\na\n" * 20_000),
        ("a " * 50_000, "b " * 50_000),
        ("\n\n".join("abcdefgh" * 24), "\n\n".join("xyzuvwst" * 24)),
    ],
)
def test_a_hostile_pair_is_compared_in_bounded_time(before, after):
    with without_hanging():
        assert lines_between(before, after)


@pytest.mark.parametrize("is_reversed", [False, True])
def test_the_page_goes_from_the_older_to_the_newer_and_shows_what_changed(browser, alice, well, read, is_reversed):
    config = {**CONFIG, "prompt": PROMPT.replace("one well", "two wells"), "max_turns": None, "judge": False}
    newer = scenarios.revise_scenario(well, by=alice, title="The wells", kind="mixed", config=config)
    refs = [newer.pk, well.pk] if is_reversed else [well.pk, newer.pk]
    page = read(browser.get(reverse("scenario-changes", args=refs)))
    headings = [h.text for h in page.find("h2")]

    assert "From version 1 to version 2" in page.text
    assert [mark.text for mark in page.find("mark")] == ["well", "wells", "one well.", "two wells."]
    assert all(change in page.text for change in ("cooperation → mixed", "yes → no", "4 → no limit"))
    assert "Description" in headings  # the new version has none
    assert "Filter" not in headings


def test_versions_of_different_scenarios_are_not_compared(browser, alice, well):
    other = scenarios.save_scenario(owner=alice, title="Other", config=CONFIG)

    for against in (other.pk, "bidding-war"):
        assert browser.get(reverse("scenario-changes", args=[well.pk, against])).status_code == 404
