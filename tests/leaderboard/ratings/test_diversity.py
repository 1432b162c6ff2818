"""How far answers differ: worked by hand, at unequal numbers of runs, and where there are too few."""

import math
from itertools import combinations, permutations
from statistics import fmean, variance

import numpy as np
import pytest

from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.studies import diversity
from leaderboard.ratings.studies.analysis import Contrast, Outcome, Plan, Row, analyse, difference_of
from leaderboard.ratings.values import Reason, Undefined

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


def plan(**more):
    contrast = Contrast("more", "answers", A, B, **more)
    return Plan((Outcome("answers", "diversity", 0, 1),), (contrast,), factors=("side", "prompt"), block="prompt")


def rows(prompts=3, repeats=6):
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
        [found] = analyse(plan(scope=scope), rows(prompts=8))

        assert (found.is_found, found.test, found.diversity) == (True, test, diversity.Diversity(8, 0)), scope
        assert found.difference == pytest.approx(found.first.value - found.second.value, abs=1e-9), scope
        assert 0 < found.low < found.difference < found.high <= 1, scope
        assert found.first.low < found.first.value < found.first.high <= 1, scope
        own = difference_of(plan(scope=scope), plan(scope=scope).contrasts[0], rows(prompts=8))
        assert (own.value, own.low) == (found.difference, found.low), scope


def test_a_stratum_with_too_few_answers_is_left_out_and_of_too_few_and_equal_ones_the_reason_is_said():
    whole = rows()
    for place in (0, 1, 2):
        lost = whole[place]
        whole[place] = Row(lost.run, lost.levels, {"answers": None}, missing={"answers": "failed"})
    [found] = analyse(plan(), whole)

    assert found.diversity == diversity.Diversity(strata=2, left_out=1)
    assert (found.first.n, found.first.missing) == (15, 3)
    open_pairs = (math.comb(6, 2) - math.comb(3, 2)) / math.comb(6, 2) / 3
    assert found.bounds.high - found.bounds.low == pytest.approx(open_pairs, abs=1e-9)

    [few] = analyse(plan(), rows(repeats=3))
    assert (few.no_interval, few.no_test, few.first.value) == ("too_few_units", "too_few_units", None)

    same = [Row(one.run, one.levels, one.values, details={"answers": "0" * 8}) for one in rows()]
    [equal] = analyse(plan(), same)
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
