"""The analysis of a study: planned and explored contrasts, looks, what is missing, left out, or cannot be said."""

import math

import numpy as np
import pytest

from leaderboard.ratings.studies.analysis import Contrast, Exclusion, Outcome, Plan, Row, analyse, level_of_look

OUTCOMES = (
    Outcome("refused", "rate", 0, 1),
    Outcome("deviation", "score", 0, 100),
    Outcome("tokens", "score"),
    Outcome("turn of refusal", "time", until=3),
)
BRIEF, LONG = {"context": "brief"}, {"context": "long"}


def study(runs=5):
    """3 models x 2 contexts x 4 prompts: of the second context more is refused, longer is written, nothing deviates."""
    random = np.random.default_rng(7)
    rows = []
    for model in "abc":
        for context, rate in (("brief", 0.25), ("long", 0.65)):
            for prompt in "wxyz":
                for repeat in range(runs):
                    refused = bool(random.random() < rate)
                    rows.append(
                        Row(
                            f"{model}-{context}-{prompt}-{repeat}",
                            {"model": model, "context": context, "prompt": prompt},
                            {
                                "refused": float(refused),
                                "deviation": float(random.integers(0, 101)),
                                "tokens": 100.0 + 50 * (context == "long") + float(random.integers(20)),
                                "turn of refusal": float(random.integers(1, 4)) if refused else 3.0,
                            },
                            {"turn of refusal": refused},
                        )
                    )
    return rows


def plan(*contrasts, **more):
    return Plan(OUTCOMES, contrasts, factors=("model", "context", "prompt"), block="prompt", **more)


CONTRASTS = (
    Contrast("refusals", "refused", LONG, BRIEF),
    Contrast("deviation", "deviation", LONG, BRIEF),
    Contrast("deviation, any prompt", "deviation", LONG, BRIEF, "prompts"),
    Contrast("sooner", "turn of refusal", LONG, BRIEF),
)


def test_the_planted_contrasts_are_found_and_the_others_are_not():
    found = {one.contrast: one for one in analyse(plan(*CONTRASTS), study())}

    assert [name for name, one in found.items() if one.is_found] == ["refusals", "sooner"]
    refusals = found["refusals"]
    assert (refusals.first.n, refusals.second.n, refusals.test) == (60, 60, "exact")
    assert 0.1 < refusals.low < 0.4 < refusals.high < 0.7
    assert refusals.difference == pytest.approx(refusals.first.value - refusals.second.value)
    assert (refusals.bounds.low, refusals.bounds.high) == pytest.approx([refusals.difference] * 2)
    assert found["sooner"].difference < 0, "fewer turns without a refusal"
    assert found["deviation"].delta.low < 0 < found["deviation"].delta.high
    assert all(one.low < 0 < one.high for one in found.values() if "deviation" in one.contrast)


def test_what_is_missing_is_counted_and_bounds_the_difference():
    rows = study()
    rows[0] = Row(rows[0].run, rows[0].levels, {**rows[0].values, "refused": None}, rows[0].happened)
    [found] = analyse(plan(CONTRASTS[0]), rows)

    assert (found.second.n, found.second.missing) == (59, 1)
    assert found.bounds.high - found.bounds.low == pytest.approx(1 / 60)
    [found] = analyse(plan(Contrast("tokens", "tokens", LONG, BRIEF)), rows)
    assert found.bounds is None, "tokens have no most that would bound them"
    [found] = analyse(plan(CONTRASTS[0], exclusions=(Exclusion("tokens", above=150),)), rows)
    too_long = sum(row.values["tokens"] > 150 for row in rows if row.levels["context"] == "long")
    assert (found.first.excluded, found.first.n, found.second.excluded) == (too_long, 60 - too_long, 0)


def test_a_look_before_the_end_needs_more_than_the_last_one():
    early, late = level_of_look([0.5], 0.05), level_of_look([0.5, 1.0], 0.05)
    assert early < 0.005 < 0.04 < late < 0.05

    half, whole = (analyse(plan(CONTRASTS[0]), study(), shares)[0] for shares in ((0.5,), (1.0,)))
    assert (half.p, half.difference) == (whole.p, whole.difference)
    assert half.low < whole.low < whole.high < half.high


def test_explored_contrasts_decide_nothing_and_do_not_weigh_on_planned_ones():
    alone = analyse(plan(CONTRASTS[0]), study())
    both = analyse(plan(CONTRASTS[0], explored=CONTRASTS[1:]), study())

    assert both[0] == alone[0]
    assert [(one.is_planned, one.is_found) for one in both] == [(True, True)] + [(False, False)] * 3
    assert all(one.adjusted >= one.p for one in both)


def test_of_too_few_runs_the_reason_is_said_and_no_number():
    rows = [row for row in study(1) if row.levels["model"] == "a" and row.levels["prompt"] == "w"]
    found = {one.contrast: one for one in analyse(plan(*CONTRASTS), rows)}

    assert found["deviation"].low is None
    assert found["deviation"].no_interval == "too_few_units"
    assert found["deviation, any prompt"].no_interval == "too_few_units"
    [empty] = analyse(plan(CONTRASTS[0]), rows[:1])
    assert (empty.p, empty.no_test, empty.first.value, empty.is_found) == (None, "too_few_units", None, False)
    assert not any(isinstance(one.difference, float) and math.isnan(one.difference) for one in found.values())
