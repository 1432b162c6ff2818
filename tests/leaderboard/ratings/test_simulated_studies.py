"""Thousands of simulated studies whose truth is known: how often tests err, intervals miss, and plans keep power."""

import numpy as np
import pytest

from leaderboard.ratings.statistics import t_quantile
from leaderboard.ratings.studies import corrections, diversity, mixed, planning, rates, scores, survival
from leaderboard.ratings.studies.analysis import Contrast, Outcome, Plan, Row
from leaderboard.ratings.studies.labeled import Unit, corrected_contrasts
from tests.cases import each_case

pytestmark = pytest.mark.exhaustive

STUDIES = 4_000  # a share of 5 % is known to 0.7 points then
PROMPTS, RUNS = 8, 10  # of each condition, per prompt
FIRST = np.tile(np.repeat([True, False], RUNS), PROMPTS)
PROMPT = np.repeat(np.arange(PROMPTS), 2 * RUNS)
ALPHA = 0.05


def share(study, seed, studies=STUDIES):
    """In what share of the studies each of what one says is so."""
    random = np.random.default_rng(seed)
    return np.mean([study(random) for _ in range(studies)], axis=0)


def assert_kept(found, effect, least=0.7):
    """Intervals hold the truth as often as they say, tests err as rarely, and find an effect at least that often."""
    covered, significant = found
    assert 0.93 <= covered <= 0.97
    assert 0.04 <= significant <= 0.06 if not effect else significant > least


def logistic(x):
    return 1 / (1 + np.exp(-x))


def seed_of(random):
    return int(random.integers(2**31))


@each_case("effect", [0.0, 1.0])
def test_rates_over_prompts(effect):
    """Prompts differ by a standard deviation of 1 in log-odds."""

    def study(random):
        prompts = random.normal(0, 1, PROMPTS)
        happened = random.random(len(PROMPT)) < logistic(prompts[PROMPT] + effect * FIRST)
        truth = np.mean(logistic(prompts + effect) - logistic(prompts))
        found = rates.rate_difference(happened, FIRST, PROMPT)
        return found.low <= truth <= found.high, rates.exact_test(happened, FIRST, PROMPT) <= ALPHA

    assert_kept(share(study, 1), effect)


@each_case("effect", [0.0, 1.0])
def test_rates_over_prompts_by_the_mixed_model(effect):
    """Prompts differ by a standard deviation of 1 in log-odds, and a second factor has an effect of its own."""
    settings = np.tile([0, 1], len(PROMPT) // 2)

    def study(random):
        prompts = random.normal(0, 1, PROMPTS)
        happened = random.random(len(PROMPT)) < logistic(prompts[PROMPT] + effect * FIRST + 0.5 * settings - 0.5)
        found = mixed.mixed_difference(happened, FIRST, PROMPT, settings)
        return found.log_odds.low <= effect <= found.log_odds.high, found.p <= ALPHA

    assert_kept(share(study, 10, studies=2_000), effect)


@each_case(("scope", "effect"), [("runs", 0.0), ("runs", 1.0), ("prompts", 0.0), ("prompts", 1.0)])
def test_bounded_scores_over_prompts(scope, effect):
    """Scores of 0 to 10. Where further prompts are meant, the effect differs from prompt to prompt."""
    differing = 0.5 if scope == "prompts" else 0.0
    population = np.random.default_rng(2).normal(size=(4, 1_000_000))
    effects = effect + differing * population[1]
    of_all = np.mean(
        10 * logistic(population[0] + effects + population[2]) - 10 * logistic(population[0] + population[3])
    )
    runs = population[2, :500]

    def study(random):
        prompts, effects = random.normal(0, 1, PROMPTS), effect + random.normal(0, differing, PROMPTS)
        values = 10 * logistic(prompts[PROMPT] + effects[PROMPT] * FIRST + random.normal(0, 1, len(PROMPT)))
        with_, without = (10 * logistic(base[:, None] + runs) for base in (prompts + effects, prompts))
        truth = of_all if scope == "prompts" else np.mean(with_ - without)
        found = scores.difference(values, FIRST, PROMPT, scope=scope, rounds=400, seed=seed_of(random))
        p = scores.permutation_test(values, FIRST, PROMPT, scope=scope, rounds=199, seed=seed_of(random))
        return found.low <= truth <= found.high, p <= ALPHA

    assert_kept(share(study, 3), effect)


def test_times_that_are_censored():
    """At most ten turns; some runs end before, whatever happens. Prompts differ in how soon it happens."""

    def ended(random, hazards):
        times = np.ceil(random.exponential(1 / hazards))
        ends = np.where(random.random(len(times)) < 0.15, random.integers(3, 10, len(times)), 10)
        return np.minimum(times, ends), times <= ends

    def null(random):
        times, happened = ended(random, 0.12 * np.exp(random.normal(0, 0.5, PROMPTS))[PROMPT])
        return survival.log_rank(times, happened, FIRST, PROMPT).p <= ALPHA

    def apart(random):
        found = survival.restricted_difference(*ended(random, np.where(FIRST, 0.2, 0.12)), FIRST, 10)
        return found.low <= truth <= found.high

    truth = sum(np.exp(-0.2 * turn) - np.exp(-0.12 * turn) for turn in range(10))

    assert 0.04 <= share(null, 5) <= 0.06
    assert 0.93 <= share(apart, 6) <= 0.97


def test_plans_keep_their_power():
    runs, of_scores = planning.runs_for_rates(0.5, 0.3), planning.runs_for_scores(0.5, 1)

    def of_rates(random):
        happened = random.random(2 * runs) < np.repeat([0.5, 0.3], runs)
        return rates.exact_test(happened, np.arange(2 * runs) < runs, np.zeros(2 * runs)) <= ALPHA

    def of_means(random):
        first, one = np.arange(2 * of_scores) < of_scores, np.zeros(2 * of_scores, dtype=int)
        values = random.normal(0.5 * first, 1)
        return scores.permutation_test(values, first, one, scope="runs", rounds=199, seed=seed_of(random)) <= ALPHA

    assert share(of_rates, 7) == pytest.approx(0.8, abs=0.03)
    assert share(of_means, 8) == pytest.approx(0.8, abs=0.03)


@each_case(("first", "second", "turns"), [(0.5, 0.3, 3), (0.5, 0.8, 10), (0.9, 0.6, 5)])
def test_plans_of_times_keep_their_power(first, second, turns):
    runs = planning.runs_for_times(first, second)
    lasting = np.repeat([-turns / np.log(1 - share) for share in (first, second)], runs)
    is_first, one = np.arange(2 * runs) < runs, np.zeros(2 * runs, dtype=int)

    def study(random):
        times = np.ceil(random.exponential(lasting))
        return survival.log_rank(np.minimum(times, turns), times <= turns, is_first, one).p <= ALPHA

    assert share(study, 14, studies=2_000) == pytest.approx(0.8, abs=0.03)


def test_plans_of_mixed_models_keep_their_power():
    """Log-odds of a typical prompt, and the rates over prompts that they come to."""
    points = np.random.default_rng(15).normal(size=1_000_000)
    first, second = (np.mean(logistic(odds + points)) for odds in (0.0, -1.0))
    power = planning.power_for_mixed_rates(first, second, PROMPTS * RUNS, spread=1)

    def study(random):
        odds = random.normal(0, 1, PROMPTS)[PROMPT] - 1.0 * ~FIRST
        happened = random.random(len(PROMPT)) < logistic(odds)
        return mixed.mixed_difference(happened, FIRST, PROMPT, np.zeros(len(PROMPT))).p <= ALPHA

    assert share(study, 16, studies=2_000) == pytest.approx(power, abs=0.03)


def test_plans_of_diversities_keep_their_power():
    """What a run, and a pair of runs, adds to the dissimilarity is known: as `planning.visible_diversity` has it."""
    alike, strata, repeats = 0.25, 4, 8
    seen = planning.visible_diversity(repeats, strata, alike=alike)

    def cell_of(random, value):
        own, pairs = random.normal(0, np.sqrt(alike), repeats), random.normal(0, np.sqrt(1 - 2 * alike), (repeats,) * 2)
        table = value + own[:, None] + own[None, :] + np.triu(pairs, 1) + np.triu(pairs, 1).T
        np.fill_diagonal(table, 0)
        return diversity.cell(table)

    def study(random):
        cells = [cell_of(random, value) for value in (seen, 0) for _stratum in range(strata)]
        found = diversity.estimate(cells, np.repeat([1, -1], strata) / strata)
        return abs(found.value) / found.error >= t_quantile(1 - ALPHA, found.degrees)

    assert share(study, 17) == pytest.approx(0.8, abs=0.03)


def _answers(random, likely, styles):
    """One answer for each style: which of 400 pairs of words it has, as they are written."""
    words = [np.unique(random.choice(400, size=random.integers(30, 90), p=likely[style])) for style in styles]
    return ["".join(f"{word:08x}" for word in one) for one in words]


@each_case(("runs", "effect", "least"), [(RUNS, False, 0.7), (RUNS, True, 0.7), (5, True, 0.3)])
def test_diversity_of_answers(runs, effect, least):
    """Answers come in three styles; of the second condition half are of the first one."""
    likely = np.random.default_rng(11).dirichlet(np.full(400, 0.05), size=3)
    chances = (0.8, 0.1, 0.1) if effect else (0.5, 0.3, 0.2), (0.5, 0.3, 0.2)
    is_first, strata = np.tile(np.repeat([True, False], runs), PROMPTS), np.repeat(np.arange(PROMPTS), 2 * runs)

    def drawn(random, side, runs):
        return _answers(random, likely, random.choice(3, size=runs, p=chances[side]))

    def of_many(side):
        return diversity.cell(diversity.dissimilarities(drawn(np.random.default_rng(12), side, 3_000))).value

    truth = of_many(0) - of_many(1)

    def study(random):
        answers = [one for _prompt in range(PROMPTS) for side in (0, 1) for one in drawn(random, side, runs)]
        found = diversity.compared(answers, is_first, strata, strata, scope="runs")
        return found.difference.low <= truth <= found.difference.high, found.p <= ALPHA

    assert_kept(share(study, 13, studies=1_000), effect, least)


def test_several_looks_err_no_more_than_one():
    looks = [0.25, 0.5, 0.75, 1.0]
    bounds = corrections.look_bounds(looks, ALPHA)
    added = corrections.look_bounds(looks, ALPHA, [0.5, 1.0, 1.0, 1.0])  # the runs were doubled after the second look

    def study(random):
        z = np.cumsum(random.normal(0, 0.5, 4)) / np.sqrt(looks)
        return (np.abs(z) >= bounds).any(), (np.abs(z) >= added).any(), (np.abs(z) >= 1.96).any()

    corrected, with_added, naive = share(study, 9)

    assert 0.04 <= corrected <= 0.06
    assert 0.04 <= with_added <= 0.06
    assert naive > 0.1


@each_case(("runs", "turns", "labels"), [(40, 3, 60), (60, 4, 80)])
def test_contrasts_that_labels_correct(runs, turns, labels):
    """The judge misses much on one side and sees too much on the other; turns of a run are alike."""
    rates_, spread, population = {"first": 0.5, "second": 0.25}, 0.7, np.random.default_rng(7).normal(size=1_000_000)
    base = {side: np.log(rate / (1 - rate)) for side, rate in rates_.items()}
    truth = np.subtract(*(np.mean(logistic(base[side] + spread * population)) for side in rates_))
    heard = {"first": (0.9, 0.25), "second": (0.7, 0.05)}
    plan = Plan(
        outcomes=(Outcome("said", "score", 0.0, 1.0),),
        contrasts=(Contrast("sides", "said", {"side": "first"}, {"side": "second"}),),
        factors=("side",),
    )

    def study(random):
        rows, units = [], []
        for side in rates_:
            so = random.random((runs, turns)) < logistic(base[side] + random.normal(0, spread, (runs, 1)))
            said = random.random(so.shape) < np.where(so, *heard[side])
            known = np.zeros(so.shape, dtype=bool)
            for stratum in (said, ~said):
                known.flat[random.permutation(np.flatnonzero(stratum))[: labels // 2]] = True
            for run in range(runs):
                name = f"{side}-{run}"
                rows.append(Row(name, {"side": side}, {"said": float(said[run].mean())}))
                for said_, so_, is_labeled in zip(said[run], so[run], known[run], strict=True):
                    label = float(so_) if is_labeled else None
                    units.append(Unit(name, "said", str(said_), 1 / turns, float(said_), label))
        [found] = corrected_contrasts(plan, rows, units)
        plain = np.mean([row.values["said"] for row in rows[:runs]]) - np.mean(
            [row.values["said"] for row in rows[runs:]]
        )
        return found.difference.low <= truth <= found.difference.high, plain - truth, found.difference.value - truth

    covered, off, left = share(study, 8, studies=2_000)

    assert 0.93 <= covered <= 0.97
    assert off > 0.05
    assert abs(left) < 0.01
