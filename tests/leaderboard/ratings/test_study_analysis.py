"""Analyses of studies: contrasts, looks, several studies as one, and contrasts that labels correct."""

import math

import numpy as np
import pytest

from leaderboard.ratings.studies import labeled
from leaderboard.ratings.studies.analysis import Contrast, Exclusion, Outcome, Plan, Row, analyse, level_of_look
from leaderboard.ratings.studies.labeled import Unit, corrected_contrasts
from leaderboard.ratings.studies.pooling import Pooled, pooled
from leaderboard.ratings.values import Reason, Undefined

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


def test_the_planted_contrasts_are_found_and_of_too_few_runs_the_reason_is_said():
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

    rows = [row for row in study(1) if row.levels["model"] == "a" and row.levels["prompt"] == "w"]
    found = {one.contrast: one for one in analyse(plan(*CONTRASTS), rows)}

    assert found["deviation"].low is None
    assert found["deviation"].no_interval == "too_few_units"
    assert found["deviation, any prompt"].no_interval == "too_few_units"
    [empty] = analyse(plan(CONTRASTS[0]), rows[:1])
    assert (empty.p, empty.no_test, empty.first.value, empty.is_found) == (None, "too_few_units", None, False)
    assert not any(isinstance(one.difference, float) and math.isnan(one.difference) for one in found.values())


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


def test_looks_before_the_end_need_more_and_explored_contrasts_decide_nothing():
    early, late = level_of_look([0.5], 0.05), level_of_look([0.5, 1.0], 0.05)
    assert early < 0.005 < 0.04 < late < 0.05

    half, whole = (analyse(plan(CONTRASTS[0]), study(), shares)[0] for shares in ((0.5,), (1.0,)))
    assert (half.p, half.difference) == (whole.p, whole.difference)
    assert half.low < whole.low < whole.high < half.high

    both = analyse(plan(CONTRASTS[0], explored=CONTRASTS[1:]), study())

    assert both[0] == whole
    assert [(one.is_planned, one.is_found) for one in both] == [(True, True)] + [(False, False)] * 3
    assert all(one.adjusted >= one.p for one in both)


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


def test_labels_of_all_units_replace_what_the_judge_said_and_units_read_as_they_were_written(sides):
    [found] = corrected_contrasts(PLAN, *sides)

    assert (found.contrast, found.labels) == ("sides", (8, 8))
    assert (found.first.value, found.second.value, found.difference.value) == (0.5, 0.0, 0.5)
    below = (0.5 - found.first.low) ** 2 + found.second.high**2
    assert found.difference.low == pytest.approx(0.5 - below**0.5)
    assert found.gladen.missing == "useless_judge", "who always says yes tells nothing"

    _rows, units = sides
    odd = [*units, Unit("a,b", "said", "", 1 / 3, 0.1 + 0.2, None)]

    assert labeled.read(labeled.written(odd)) == odd


def test_runs_count_alike_within_prompts_and_where_a_scale_begins_moves_what_is_on_it():
    """One run of the first prompt says yes; of three of the second one none does. Two units of a run share it."""
    rows = [row(number, side, "p" if number == 0 else "q") for side in ("first", "second") for number in range(4)]
    units = [unit(0, side, 1.0, 1.0, share=0.5) for side in ("first", "second") for _half in range(2)]
    units += [unit(number, side, 0.0, 0.0) for side in ("first", "second") for number in range(1, 4)]
    [found] = corrected_contrasts(PLAN, rows, units)

    assert (found.first.value, found.second.value) == (0.5, 0.5)

    sides, found = [(number, side) for side in ("first", "second") for number in range(8)], []
    for least in (0.0, 1.0):
        scale = (Outcome("said", "score", least, least + 4), OUTCOMES[2])
        ruled = Plan(scale, PLAN.contrasts, explored=PLAN.explored, factors=PLAN.factors)
        units = [unit(number, side, least, least + 4 * (number == 0)) for number, side in sides]
        found += corrected_contrasts(ruled, [row(number, side) for number, side in sides], units)

    below, above = ((one.first.low, one.first.value, one.first.high) for one in found)
    assert above == pytest.approx([one + 1 for one in below])


def test_what_is_missing_has_its_reason_and_runs_that_the_plan_leaves_out_are_left_out(sides):
    rows, units = sides
    [undrawn] = corrected_contrasts(PLAN, rows, [*units[:-1], unit(7, "second", 0.0, None, stratum="")])
    [few] = corrected_contrasts(
        PLAN, rows, [unit(n, s, 1.0, 1.0 if n == 0 else None) for s in ("first", "second") for n in range(8)]
    )

    assert (undrawn.difference.value, undrawn.difference.missing) == (None, "unlabeled")
    assert (few.difference.value, few.difference.low, few.difference.missing) == (0.0, None, "too_few_units")
    assert corrected_contrasts(PLAN, rows, []) == []

    rows = [*rows[1:], row(0, "first", value=0.2)]
    ruled = Plan(**{**{name: getattr(PLAN, name) for name in PLAN.__slots__}, "exclusions": (Exclusion("said", 0.3),)})
    [found] = corrected_contrasts(ruled, rows, units)

    assert found.labels == (7, 8)


NEAR = pytest.approx
# Cases and others, vaccinated and not, in 13 trials of the BCG vaccine: Colditz et al., JAMA 271 (1994); `dat.bcg` of
# the R package metafor (Viechtbauer, J. Stat. Softw. 36, 2010).
VACCINATED = ((4, 119), (6, 300), (3, 228), (62, 13536), (33, 5036), (180, 1361), (8, 2537), (505, 87886), (29, 7470))
VACCINATED += ((17, 1699), (186, 50448), (5, 2493), (27, 16886))
OTHERS = ((11, 128), (29, 274), (11, 209), (248, 12619), (47, 5761), (372, 1079), (10, 619), (499, 87892), (45, 7232))
OTHERS += ((65, 1600), (141, 27197), (3, 2338), (29, 17825))


def log_risk_ratios():
    (a, b), (c, d) = (np.array(side, dtype=float).T for side in (VACCINATED, OTHERS))
    return np.log(a / (a + b)) - np.log(c / (c + d)), np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d))


def test_the_vaccine_trials_have_the_published_summary_and_a_further_one_lies_further_away():
    """To four digits as `rma(measure="RR")` of metafor prints it; to 1e-9 as `combine_effects` of statsmodels."""
    found = pooled(*log_risk_ratios())
    assert isinstance(found, Pooled)

    assert (round(found.by_dl.low, 4), round(found.by_dl.high, 4)) == (-1.0644, -0.3638)
    digits = (0.3087602628623761, 152.2330080823733, 0.9211734685456205)
    assert (found.dl_tau2, found.q, found.i2) == NEAR(digits, abs=1e-9)
    assert found.by_dl.value == NEAR(-0.7141172220732273, abs=1e-9)
    assert (found.tau2, found.value) == NEAR((0.31806845220382035, -0.7149681534933371), abs=1e-9)
    assert (found.low, found.high) == NEAR((-1.109098381202079, -0.32083792578459525), abs=1e-9)

    low, high = found.predicted

    assert low < found.low < found.value < found.high < high
    assert pooled([0.1, 0.3], [0.1, 0.1]).predicted is None, "two studies do not say how far studies differ"


def test_studies_that_agree_are_not_narrower_than_their_errors_and_one_study_is_refused():
    found = pooled([0.2, 0.2, 0.2], [0.1, 0.1, 0.1])

    assert (found.tau2, found.dl_tau2, found.q, found.i2) == NEAR((0, 0, 0, 0), abs=1e-12)
    assert found.high - found.value == NEAR(4.302652729749462 * 0.1 / 3**0.5), "t of two degrees of freedom"

    found, free = (pooled([-0.6, 0.3, -0.1], [0.16, 0.18, 0.19], most=most) for most in (1.0, math.inf))

    assert free.low < -1
    assert (found.low, found.high, found.predicted) == (-1.0, free.high, (-1.0, 1.0))
    assert (found.value, found.by_dl) == (free.value, free.by_dl)

    for values, errors, reason in (
        ([0.2], [0.1], Reason.TOO_FEW_UNITS),
        ([0.2, 0.3], [0.1, 0.0], Reason.NO_SPREAD),
        ([0.2, float("nan")], [0.1, 0.1], Reason.NO_SPREAD),
    ):
        assert pooled(values, errors) == Undefined(reason)
