"""A contrast of what a judge found, corrected by labels of people, on numbers that can be counted by hand."""

import pytest

from leaderboard.ratings.studies import labeled
from leaderboard.ratings.studies.analysis import Contrast, Exclusion, Outcome, Plan, Row
from leaderboard.ratings.studies.labeled import Unit, corrected_contrasts

PLAN = Plan(
    outcomes=(Outcome("said", "score", 0.0, 1.0), Outcome("tokens", "score")),
    contrasts=(Contrast("sides", "said", {"side": "first"}, {"side": "second"}),),
    explored=(Contrast("tokens", "tokens", {"side": "first"}, {"side": "second"}),),
    factors=("side", "prompt"),
)


def row(number, side, prompt="p", value=1.0):
    return Row(f"{side}-{number}", {"side": side, "prompt": prompt}, {"said": value, "tokens": 5.0})


def unit(number, side, judged, label, stratum="all", share=1.0):
    return Unit(f"{side}-{number}", "said", stratum, share, judged, label)


@pytest.fixture
def sides():
    """The judge says yes of all of the first side, people of half of it; of the second side neither does."""
    rows = [row(number, side) for side in ("first", "second") for number in range(8)]
    units = [unit(number, "first", 1.0, float(number % 2)) for number in range(8)]
    return rows, [*units, *(unit(number, "second", 0.0, 0.0) for number in range(8))]


def test_labels_of_all_units_replace_what_the_judge_said(sides):
    [found] = corrected_contrasts(PLAN, *sides)

    assert (found.contrast, found.labels) == ("sides", (8, 8))
    assert (found.first.value, found.second.value, found.difference.value) == (0.5, 0.0, 0.5)
    below = (0.5 - found.first.low) ** 2 + found.second.high**2
    assert found.difference.low == pytest.approx(0.5 - below**0.5)
    assert found.gladen.missing == "useless_judge", "who always says yes tells nothing"


def test_runs_count_alike_within_prompts_and_prompts_alike():
    """One run of the first prompt says yes; of three of the second one none does. Two units of a run share it."""
    rows = [row(number, side, "p" if number == 0 else "q") for side in ("first", "second") for number in range(4)]
    units = [unit(0, side, 1.0, 1.0, share=0.5) for side in ("first", "second") for _half in range(2)]
    units += [unit(number, side, 0.0, 0.0) for side in ("first", "second") for number in range(1, 4)]
    [found] = corrected_contrasts(PLAN, rows, units)

    assert (found.first.value, found.second.value) == (0.5, 0.5)


def test_what_is_missing_has_its_reason(sides):
    rows, units = sides
    [undrawn] = corrected_contrasts(PLAN, rows, [*units[:-1], unit(7, "second", 0.0, None, stratum="")])
    [few] = corrected_contrasts(
        PLAN, rows, [unit(n, s, 1.0, 1.0 if n == 0 else None) for s in ("first", "second") for n in range(8)]
    )

    assert (undrawn.difference.value, undrawn.difference.missing) == (None, "unlabeled")
    assert (few.difference.value, few.difference.low, few.difference.missing) == (0.0, None, "too_few_units")
    assert corrected_contrasts(PLAN, rows, []) == []


def test_runs_that_the_plan_leaves_out_are_left_out(sides):
    rows, units = sides
    rows = [*rows[1:], row(0, "first", value=0.2)]
    ruled = Plan(**{**{name: getattr(PLAN, name) for name in PLAN.__slots__}, "exclusions": (Exclusion("said", 0.3),)})
    [found] = corrected_contrasts(ruled, rows, units)

    assert found.labels == (7, 8)


def test_units_are_written_so_that_they_read_the_same(sides):
    _rows, units = sides
    odd = [*units, Unit("a,b", "said", "", 1 / 3, 0.1 + 0.2, None)]

    assert labeled.read(labeled.written(odd)) == odd
