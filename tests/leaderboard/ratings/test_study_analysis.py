"""Analyses of studies: contrasts, looks, several studies as one, contrasts that labels correct, diverse answers."""

import math
from itertools import combinations, permutations
from statistics import fmean, variance

import numpy as np
import pytest

from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.studies import diversity, labeled
from leaderboard.ratings.studies.analysis import (
    Contrast,
    Exclusion,
    Outcome,
    Plan,
    Row,
    analyse,
    difference_of,
    level_of_look,
)
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


def test_the_vaccine_trials_have_the_published_summary_and_a_further_one_lies_further_away():
    """To four digits as `rma(measure="RR")` of metafor prints it; to 1e-9 as `combine_effects` of statsmodels."""
    (a, b), (c, d) = (np.array(side, dtype=float).T for side in (VACCINATED, OTHERS))
    found = pooled(np.log(a / (a + b)) - np.log(c / (c + d)), np.sqrt(1 / a - 1 / (a + b) + 1 / c - 1 / (c + d)))
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


TEXTS = ("the cat sat on the mat", "The cat sat, on a mat!", "the cat sat", "dogs bark", "the cat sat on the mat")
A = {"side": "a"}
B = {"side": "b"}


def test_an_answer_is_its_different_pairs_of_words_and_two_are_as_dissimilar_as_dice_and_sorensen_say():
    """Of pairs: 5, 5, 2, 1 and 5; the first two share "the cat", "cat sat" and "sat on"."""
    numbers = " ".join(map(str, range(2_000)))
    hello = "Hello world. HELLO, world"  # hello world, world hello
    for text, pairs in {hello: 2, "你好嗎": 2, "Hello": 1, " … ": 0, "a " * 5_000: 1, numbers: 999}.items():
        assert len(diversity.fingerprints(text)) == 8 * pairs, text[:20]
        assert "hello" not in diversity.fingerprints(text)

    found = diversity.dissimilarities([diversity.fingerprints(text) for text in TEXTS])
    assert found[0] == pytest.approx([0, 1 - 6 / 10, 1 - 4 / 7, 1, 0], abs=1e-9)
    assert found[1] == pytest.approx([1 - 6 / 10, 0, 1 - 4 / 7, 1, 1 - 6 / 10], abs=1e-9)
    assert (found == found.T).all()


def test_the_diversity_of_a_cell_is_that_of_its_formula_and_expected_alike_of_any_number_of_runs():
    """The variance of the mean over pairs, from the products of all disjoint and overlapping pairs (Hoeffding 1948)."""
    table = diversity.dissimilarities([diversity.fingerprints(text) for text in TEXTS])
    runs = len(table)
    pairs = {frozenset(pair): table[pair] for pair in combinations(range(runs), 2)}
    mean = fmean(pairs.values())
    square = fmean(table[i, j] * table[k, other] for i, j, k, other in permutations(range(runs), 4))
    jackknife = variance(
        runs * mean - (runs - 1) * fmean(value for pair, value in pairs.items() if left_out not in pair)
        for left_out in range(runs)
    )
    found = diversity.cell(table)
    estimate = diversity.estimate([found], [1.0])

    assert found.value == pytest.approx(mean, abs=1e-9)
    assert 4 * found.between_runs == pytest.approx(jackknife, abs=1e-9)
    assert estimate.error**2 == pytest.approx(mean**2 - square, abs=1e-9)
    assert estimate.degrees == pytest.approx((runs - 1) * (estimate.error**2 / (jackknife / runs)) ** 2, abs=1e-9)

    random = np.random.default_rng(5)
    texts = [" ".join(random.choice(list("abcdef"), size=8)) for _ in range(10)]
    table = diversity.dissimilarities([diversity.fingerprints(text) for text in texts])
    parts = [diversity.cell(table[np.ix_(six, six)]).value for six in combinations(range(10), 6)]

    assert fmean(parts) == pytest.approx(diversity.cell(table).value, abs=1e-9)


def of_diversity(**more):
    contrast = Contrast("more", "answers", A, B, **more)
    return Plan((Outcome("answers", "diversity", 0, 1),), (contrast,), factors=("side", "prompt"), block="prompt")


def answers(prompts=3, repeats=6):
    """Side a says something else each time, side b one of two things."""
    random = np.random.default_rng(3)
    found = []
    for prompt in range(prompts):
        for side in "ab":
            for repeat in range(repeats):
                words = 20 if side == "a" else 2
                text = " ".join(f"w{random.integers(words)}-{prompt}" for _ in range(12))
                said = diversity.fingerprints(text)
                levels = {"side": side, "prompt": str(prompt)}
                name = f"{side}-{prompt}-{repeat}"
                found.append(Row(name, levels, {"answers": len(said) / 8}, details={"answers": said}))
    return found


def test_the_side_that_says_more_different_things_is_found():
    for scope, test in (("runs", "t"), ("prompts", "permutation")):
        [found] = analyse(of_diversity(scope=scope), answers(prompts=8))

        assert (found.is_found, found.test, found.diversity) == (True, test, diversity.Diversity(8, 0)), scope
        assert found.difference == pytest.approx(found.first.value - found.second.value, abs=1e-9), scope
        assert 0 < found.low < found.difference < found.high <= 1, scope
        assert found.first.low < found.first.value < found.first.high <= 1, scope
        own = difference_of(of_diversity(scope=scope), of_diversity(scope=scope).contrasts[0], answers(prompts=8))
        assert (own.value, own.low) == (found.difference, found.low), scope


def test_a_stratum_with_too_few_answers_is_left_out_and_of_too_few_and_equal_ones_the_reason_is_said():
    whole = answers()
    for place in (0, 1, 2):
        lost = whole[place]
        whole[place] = Row(lost.run, lost.levels, {"answers": None}, missing={"answers": "failed"})
    [found] = analyse(of_diversity(), whole)

    assert found.diversity == diversity.Diversity(strata=2, left_out=1)
    assert (found.first.n, found.first.missing) == (15, 3)
    open_pairs = (math.comb(6, 2) - math.comb(3, 2)) / math.comb(6, 2) / 3
    assert found.bounds.high - found.bounds.low == pytest.approx(open_pairs, abs=1e-9)

    [few] = analyse(of_diversity(), answers(repeats=3))
    assert (few.no_interval, few.no_test, few.first.value) == ("too_few_units", "too_few_units", None)

    same = [Row(one.run, one.levels, one.values, details={"answers": "0" * 8}) for one in answers()]
    [equal] = analyse(of_diversity(), same)
    assert (equal.no_interval, equal.no_test, equal.first.value) == ("no_spread", "no_spread", 0)


def test_the_interval_is_students_and_p_is_its_tail():
    cells = [diversity.Cell(0.4, 0.01, 0.02, 10), diversity.Cell(0.6, 0.03, 0.01, 8)]
    found = diversity.estimate(cells, [0.5, -0.5])
    jackknife = 0.25 * 4 * 0.01 / 10, 0.25 * 4 * 0.03 / 8
    spare = 0.25 * (4 * 0.02 / 80 - 2 * 0.02 / 90 + 4 * 0.01 / 48 - 2 * 0.01 / 56)
    variance_ = sum(jackknife) - spare

    assert found.value == pytest.approx(-0.1, abs=1e-9)
    assert found.error == pytest.approx(math.sqrt(variance_), abs=1e-9)
    degrees = variance_**2 / (jackknife[0] ** 2 / 9 + jackknife[1] ** 2 / 7)
    assert found.degrees == pytest.approx(degrees, abs=1e-9)
    assert t_quantile(0.95, degrees) > 1.96


TOKENS = Plan((Outcome("sure", "confidence", 0, 1),), (Contrast("surer", "sure", A, B),), factors=("side", "prompt"))


def sure(provider_of=lambda side, prompt: "lab"):
    random = np.random.default_rng(4)
    return [
        Row(
            f"{side}{prompt}{repeat}",
            {"side": side, "prompt": prompt},
            {"sure": {"a": 0.7, "b": 0.5}[side] + random.normal(0, 0.05)},
            details={"sure": provider_of(side, prompt)},
            covered={"sure": {"a": 0.9, "b": 0.8}[side]},
        )
        for side in "ab"
        for prompt in "xyz"
        for repeat in range(5)
    ]


def test_token_probabilities_are_compared_within_a_provider_and_show_the_mass_that_is_covered():
    [found] = analyse(TOKENS, sure())
    assert (found.is_found, found.test, found.confidence.providers) == (True, "permutation", ("lab",))
    assert (found.confidence.first, found.confidence.second) == pytest.approx((0.9, 0.8), abs=1e-9)
    assert found.delta.value > 0.9

    by_prompt = sure(lambda side, prompt: f"lab-{prompt}")
    assert analyse(TOKENS, by_prompt)[0].low == found.low, "each pair of runs that is compared has one provider"
    [mixed] = analyse(TOKENS, sure(lambda side, prompt: f"lab-{side}"))
    assert (mixed.no_interval, mixed.no_test, mixed.is_found) == ("several_providers", "several_providers", False)
    assert (mixed.difference, mixed.p, mixed.delta) == (None, None, None)
    apart = difference_of(TOKENS, TOKENS.contrasts[0], sure(lambda side, prompt: side))
    assert apart == Undefined(Reason.SEVERAL_PROVIDERS)
