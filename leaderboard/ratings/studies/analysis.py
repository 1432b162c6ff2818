"""The results of a study from its plan and its rows, one per run: the same on its page and in the folder it exports.

A contrast compares the runs of one set of levels with those of another. Runs are compared within the levels of all
factors that it does not name; where it is meant for further prompts, prompts are what is drawn.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import NormalDist
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from leaderboard.ratings.statistics import wilson
from leaderboard.ratings.studies import diversity, rates, scores, survival
from leaderboard.ratings.studies.corrections import FURTHEST, benjamini_hochberg, holm, look_bounds
from leaderboard.ratings.studies.diversity import Diversity
from leaderboard.ratings.studies.mixed import Mixed, mixed_difference
from leaderboard.ratings.studies.rates import Bounds, Difference
from leaderboard.ratings.studies.scores import Scope
from leaderboard.ratings.values import COVERAGE, BoolArray, FloatArray, IntArray, Reason, Undefined

Kind = Literal["rate", "score", "time", "diversity", "confidence"]
Test = Literal["usual", "mixed"]
LEAST_LEVEL = 1e-9  # of an interval at an early look


@dataclass(frozen=True, slots=True)
class Outcome:
    """What is known of each run. rate: whether it happened, 1 or 0; score: a number, from least to most where its scale
    has ends; time: the turn in which it happened, or the last turn of a run in which it did not, up to `until`.
    diversity: how many different pairs of words its answer has, which are compared between runs; confidence: a figure
    of the probabilities of its tokens, 0 to 1, as one provider gave them.
    """

    name: str
    kind: Kind
    least: float | None = None
    most: float | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Contrast:
    """first, second: the levels by factor that are compared; a factor that is in neither says nothing. test: the usual
    one of the outcome and scope, or of a rate, that of a mixed logistic model with an intercept for each prompt.
    """

    name: str
    outcome: str
    first: Mapping[str, str]
    second: Mapping[str, str]
    scope: Scope = "runs"
    test: Test = "usual"


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Runs whose outcome is below the one or above the other number are left out of everything."""

    outcome: str
    below: float | None = None
    above: float | None = None

    def applies(self, value: float | None) -> bool:
        if value is None:
            return False
        return (self.below is not None and value < self.below) or (self.above is not None and value > self.above)


@dataclass(frozen=True, slots=True)
class Plan:
    """contrasts: planned ones; explored: those that were added later, or are to be looked at only. block: the factor
    whose levels are prompts, "" for none. alpha: of all planned contrasts and looks together. seed: of what is drawn.
    """

    outcomes: tuple[Outcome, ...]
    contrasts: tuple[Contrast, ...]
    explored: tuple[Contrast, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    factors: tuple[str, ...] = ()
    block: str = ""
    alpha: float = 0.05
    seed: int = 0

    @classmethod
    def read(cls, plan: Mapping[str, Any]) -> Self:
        """From plan.json, whose further fields say nothing here."""
        return cls(
            outcomes=tuple(
                Outcome(*(one.get(name) for name in ("name", "kind", "least", "most", "until")))
                for one in plan["outcomes"]
            ),
            contrasts=tuple(_contrast(one) for one in plan["contrasts"]),
            explored=tuple(_contrast(one) for one in plan["explored"]),
            exclusions=tuple(
                Exclusion(one["outcome"], one.get("below"), one.get("above")) for one in plan["exclusions"]
            ),
            factors=tuple(plan["factors"]),
            block=plan["block"],
            alpha=plan["alpha"],
            seed=plan["seed"],
        )


def _contrast(one: Mapping[str, Any]) -> Contrast:
    return Contrast(one["name"], one["outcome"], one["first"], one["second"], one["scope"], one.get("test", "usual"))


@dataclass(frozen=True, slots=True)
class Row:
    """One planned run. values: by outcome, None where it is missing, which `missing` gives a reason for. happened: of
    times, whether it happened. details: of a diversity, the answer as `diversity.fingerprints`; of a confidence, the
    provider. covered: of a confidence, how much probability the recorded alternatives had together, 0 to 1.
    """

    run: str
    levels: Mapping[str, str]
    values: Mapping[str, float | None]
    happened: Mapping[str, bool] = field(default_factory=dict)
    missing: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)
    covered: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Side:
    """One condition of a contrast. n: runs with a value; missing: without; excluded: left out by a rule of the plan.
    value: the rate, the mean, the restricted mean of turns, or the diversity; low, high: of a rate, Wilson's interval,
    of a diversity, Student's.
    """

    n: int
    missing: int
    excluded: int
    value: float | None = None
    low: float | None = None
    high: float | None = None
    median: float | None = None


@dataclass(frozen=True, slots=True)
class Confidence:
    """Of token probabilities. providers: of the runs that are compared. first, second: the mean of how much probability
    the recorded alternatives of a token had together, 0 to 1; None where none were recorded.
    """

    providers: tuple[str, ...]
    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class Result:
    """difference, low, high: of first less second, None with the reason in `no_interval`. test, p: None with the reason
    in `no_test`. adjusted: p among all planned, or all explored, contrasts. threshold: what p had to be at most.
    bounds: of the difference whatever the missing outcomes were, None where the scale has no ends. delta: Cliff's.
    mixed: what a contrast that is tested by the mixed model finds beside the difference of rates. diversity,
    confidence: of such outcomes, what their comparison rests on.
    """

    contrast: str
    outcome: str
    is_planned: bool
    first: Side
    second: Side
    difference: float | None = None
    low: float | None = None
    high: float | None = None
    no_interval: str = ""
    test: str = ""
    p: float | None = None
    no_test: str = ""
    adjusted: float | None = None
    threshold: float | None = None
    is_found: bool = False
    bounds: Bounds | None = None
    delta: Difference | None = None
    mixed: Mixed | None = None
    diversity: Diversity | None = None
    confidence: Confidence | None = None

    def as_data(self) -> dict[str, object]:
        """As results.json has it: what some outcomes and tests alone have only where it is there."""
        data = asdict(self)
        of_some = ("mixed", "diversity", "confidence")
        return {name: value for name, value in data.items() if name not in of_some or value is not None}


def analyse(
    plan: Plan, rows: Sequence[Row], shares: Sequence[float] = (1.0,), spent_at: Sequence[float] | None = None
) -> list[Result]:
    """A result per contrast, planned ones first. shares: of the planned runs that had ended at each look so far, the
    last one being this look. spent_at: the shares as they were then, where runs were added after a look. Where earlier
    looks have spent all of alpha nothing can be found any more, and intervals are at the level of the plan.

    Planned contrasts are decided by Holm's procedure, each step at the level that the looks leave it: a p-value is
    compared with that of the bound at alpha / (contrasts that are left). Their intervals are repeated ones, at the
    level of this look. Explored contrasts are corrected by Benjamini and Hochberg, and decide nothing.
    Sources: Ye, Li, Liu & Yao, "A group sequential Holm procedure", Stat. Med. 32 (2013); Jennison & Turnbull,
    J. R. Stat. Soc. B 51 (1989).
    """
    confidence = _confidence_of_look(plan, shares, spent_at)
    outcomes = {outcome.name: outcome for outcome in plan.outcomes}
    planned, explored = (
        [_compared(plan, contrast, outcomes[contrast.outcome], rows, level, is_planned) for contrast in several]
        for several, level, is_planned in (
            (plan.contrasts, confidence, True),
            (plan.explored, 1 - plan.alpha, False),
        )
    )
    return [*_decided(planned, shares, spent_at, plan.alpha), *_explored(explored)]


def confidence_of(plan: Plan, contrast: Contrast, shares: Sequence[float], spent_at: Sequence[float] | None) -> float:
    """Of the interval that `analyse` gives the contrast, planned or explored."""
    return _confidence_of_look(plan, shares, spent_at) if contrast in plan.contrasts else 1 - plan.alpha


def _confidence_of_look(plan: Plan, shares: Sequence[float], spent_at: Sequence[float] | None) -> float:
    level = level_of_look(shares, plan.alpha, spent_at)
    return 1 - (max(level, LEAST_LEVEL) if level else plan.alpha)


def level_of_look(shares: Sequence[float], alpha: float, spent_at: Sequence[float] | None = None) -> float:
    """The two-sided level of one test at the last of the looks; alpha where it is the only one, at the end; 0 where
    earlier looks have spent all of it.
    """
    if tuple(shares) == (1.0,):
        return alpha
    bound = look_bounds(shares, alpha, spent_at)[-1]
    return 2 * NormalDist().cdf(-bound) if bound < FURTHEST * (1 - 1e-9) else 0.0


def _decided(
    results: Sequence[dict[str, Any]], shares: Sequence[float], spent_at: Sequence[float] | None, alpha: float
) -> list[Result]:
    p_values = [1.0 if one["p"] is None else one["p"] for one in results]
    adjusted, is_open = holm(p_values), True
    thresholds, found = [0.0] * len(results), [False] * len(results)
    for place, number in enumerate(sorted(range(len(results)), key=p_values.__getitem__)):
        thresholds[number] = level_of_look(shares, alpha / (len(results) - place), spent_at)
        is_open = is_open and p_values[number] <= thresholds[number]
        found[number] = is_open
    return [
        Result(
            **one,
            adjusted=None if one["p"] is None else adjusted[number],
            threshold=thresholds[number],
            is_found=found[number],
        )
        for number, one in enumerate(results)
    ]


def _explored(results: Sequence[dict[str, Any]]) -> list[Result]:
    tested = [number for number, one in enumerate(results) if one["p"] is not None]
    adjusted = dict(zip(tested, benjamini_hochberg([results[number]["p"] for number in tested]), strict=True))
    return [Result(**one, adjusted=adjusted.get(number)) for number, one in enumerate(results)]


@dataclass(frozen=True, slots=True, eq=False)
class _Compared:
    """Runs with a value, and with those without one (NaN), as arrays of one length. strata: levels of all factors that
    the contrast does not name; settings: of those among them that are no prompts. details: as of rows, "" for none.
    """

    values: FloatArray
    happened: BoolArray
    is_first: BoolArray
    strata: IntArray
    prompts: IntArray
    settings: IntArray
    details: NDArray[np.object_]
    covered: FloatArray

    def known(self) -> "_Compared":
        here = ~np.isnan(self.values)
        return _Compared(*(getattr(self, name)[here] for name in self.__slots__))


def _compared(
    plan: Plan, contrast: Contrast, outcome: Outcome, rows: Sequence[Row], confidence: float, is_planned: bool
) -> dict[str, object]:
    """The result but for what depends on other contrasts."""
    whole_sides, kept = zip(*sides(plan, contrast, rows), strict=True)
    whole = _arrays(plan, contrast, outcome, kept)
    known = whole.known()
    counts = [
        {"n": int(chosen.sum()), "missing": len(here) - int(chosen.sum()), "excluded": len(side) - len(here)}
        for chosen, here, side in zip((known.is_first, ~known.is_first), kept, whole_sides, strict=True)
    ]
    measure = {"time": _of_times, "diversity": _of_answers, "confidence": _of_confidence}.get(outcome.kind, _of_numbers)
    figures, found = measure(outcome, contrast, known, confidence, plan.seed)
    ends = outcome.least is not None and outcome.most is not None and outcome.kind != "time"
    is_bounded = ends and all(map(len, kept))
    return {
        "contrast": contrast.name,
        "outcome": outcome.name,
        "is_planned": is_planned,
        "first": Side(**counts[0], **figures[0]),
        "second": Side(**counts[1], **figures[1]),
        "bounds": _bounds(whole, outcome) if is_bounded else None,
        **found,
    }


def difference_of(
    plan: Plan, contrast: Contrast, rows: Sequence[Row], *, confidence: float = COVERAGE
) -> Difference | Undefined:
    """The difference of a contrast with its interval at that level, whatever looks there were. Undefined as the
    interval of its outcome.
    """
    outcome = next(one for one in plan.outcomes if one.name == contrast.outcome)
    kept = [here for _all, here in sides(plan, contrast, rows)]
    return _difference(outcome, contrast.scope, _arrays(plan, contrast, outcome, kept).known(), confidence, plan.seed)


def _arrays(plan: Plan, contrast: Contrast, outcome: Outcome, kept: Sequence[Sequence[Row]]) -> _Compared:
    """kept: the rows of the first and of the second side."""
    others = [name for name in plan.factors if name not in {*contrast.first, *contrast.second}]
    every = [*kept[0], *kept[1]]
    return _Compared(
        values=np.array([math.nan if (v := row.values[outcome.name]) is None else v for row in every], dtype=float),
        happened=np.array([row.happened.get(outcome.name, False) for row in every], dtype=bool),
        is_first=np.arange(len(every)) < len(kept[0]),
        strata=_numbered([tuple(row.levels[name] for name in others) for row in every]),
        prompts=_numbered([row.levels.get(plan.block, "") for row in every]),
        settings=_numbered([tuple(row.levels[name] for name in others if name != plan.block) for row in every]),
        details=np.array([row.details.get(outcome.name, "") for row in every], dtype=object),
        covered=np.array([row.covered.get(outcome.name, math.nan) for row in every], dtype=float),
    )


def sides(plan: Plan, contrast: Contrast, rows: Sequence[Row]) -> list[tuple[list[Row], list[Row]]]:
    """The rows of the first and of the second side: all of them, and those that no rule of the plan leaves out."""
    found = []
    for levels in (contrast.first, contrast.second):
        here = [row for row in rows if _is_of(row, levels)]
        kept = [row for row in here if not any(rule.applies(row.values[rule.outcome]) for rule in plan.exclusions)]
        found.append((here, kept))
    return found


def _is_of(row: Row, levels: Mapping[str, str]) -> bool:
    return all(row.levels.get(name) == level for name, level in levels.items())


def _numbered(names: Sequence[Any]) -> IntArray:
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def _bounds(whole: _Compared, outcome: Outcome) -> Bounds:
    if outcome.kind == "diversity":
        return diversity.bounds(list(whole.details), whole.is_first, whole.strata)
    least, most = float(outcome.least or 0), float(outcome.most or 0)
    return rates.bounds(whole.values, whole.is_first, whole.strata, least=least, most=most)[2]


Found = tuple[list[dict[str, Any]], dict[str, Any]]


def _difference(
    outcome: Outcome, scope: Scope, known: _Compared, confidence: float, seed: int
) -> Difference | Undefined:
    if outcome.kind == "time":
        until, times, happened = _until(outcome, known)
        return survival.restricted_difference(times, happened, known.is_first, until, confidence=confidence)
    if outcome.kind == "diversity":
        return _answers(known, scope, confidence, seed).difference
    if outcome.kind == "confidence" and _mixes_providers(known):
        return Undefined(Reason.SEVERAL_PROVIDERS)
    units = known.prompts if scope == "prompts" else known.strata
    if outcome.kind == "rate" and scope == "runs":
        return rates.rate_difference(known.values > 0.5, known.is_first, units, confidence=confidence)
    return scores.difference(known.values, known.is_first, units, scope=scope, confidence=confidence, seed=seed)


def _of_numbers(outcome: Outcome, contrast: Contrast, known: _Compared, confidence: float, seed: int) -> Found:
    scope = contrast.scope
    units = known.prompts if scope == "prompts" else known.strata
    figures = [_figures(outcome, known, side, confidence) for side in (known.is_first, ~known.is_first)]
    p: float | Undefined
    mixed: Mixed | Undefined | None = None
    if contrast.test == "mixed":
        happened = known.values > 0.5
        mixed = mixed_difference(happened, known.is_first, known.prompts, known.settings, confidence=confidence)
        test, p = "mixed", mixed if isinstance(mixed, Undefined) else mixed.p
    elif outcome.kind == "rate" and scope == "runs":
        test, p = "exact", rates.exact_test(known.values > 0.5, known.is_first, units)
    else:
        test, p = "permutation", scores.permutation_test(known.values, known.is_first, units, scope=scope, seed=seed)
    found = {**_interval(_difference(outcome, scope, known, confidence, seed)), **_test(test, p)}
    if isinstance(mixed, Mixed):
        found["mixed"] = mixed
    if outcome.kind in ("score", "confidence"):
        delta = scores.cliffs_delta(known.values[known.is_first], known.values[~known.is_first], confidence=confidence)
        found["delta"] = None if isinstance(delta, Undefined) else delta
    return figures, found


def _figures(outcome: Outcome, known: _Compared, side: BoolArray, confidence: float) -> dict[str, object]:
    if not side.any():
        return {}
    if outcome.kind in ("score", "confidence"):
        return {"value": rates.mean_of_strata(known.values[side], known.strata[side])}
    rate, runs = rates.effective(known.values[side] > 0.5, known.strata[side])
    low, high = wilson(rate, runs, confidence)
    return {"value": rate, "low": max(0.0, low), "high": min(1.0, high)}


def _of_times(outcome: Outcome, contrast: Contrast, known: _Compared, confidence: float, seed: int) -> Found:
    """Survival is compared within strata; there is no scope of further prompts for it."""
    until, times, happened = _until(outcome, known)
    figures = []
    for side in (known.is_first, ~known.is_first):
        mean = survival.restricted_mean(times[side], happened[side], until)
        curve = survival.kaplan_meier(times[side], happened[side])
        figures.append({"value": None if isinstance(mean, Undefined) else mean[0], "median": curve.median})
    difference = _difference(outcome, contrast.scope, known, confidence, seed)
    test = survival.log_rank(times, happened, known.is_first, known.strata)
    return figures, {**_interval(difference), **_test("log-rank", test if isinstance(test, Undefined) else test.p)}


@dataclass(frozen=True, slots=True)
class Curves:
    """In which share of the runs of each side it has not happened by a turn, up to turn `until`."""

    contrast: str
    until: float
    first: survival.Steps
    second: survival.Steps


def survival_curves(plan: Plan, rows: Sequence[Row]) -> list[Curves]:
    """The Kaplan-Meier curves of each contrast of times, in the order of the plan: of all runs of a side together, with
    intervals that hold at each turn by itself, at 95 %.
    """
    times = {outcome.name: outcome for outcome in plan.outcomes if outcome.kind == "time"}
    found = []
    for contrast in (*plan.contrasts, *plan.explored):
        if outcome := times.get(contrast.outcome):
            kept = [here for _all, here in sides(plan, contrast, rows)]
            known = _arrays(plan, contrast, outcome, kept).known()
            until, ended, happened = _until(outcome, known)
            both = [survival.steps(ended[side], happened[side]) for side in (known.is_first, ~known.is_first)]
            found.append(Curves(contrast.name, until, *both))
    return found


def _until(outcome: Outcome, known: _Compared) -> tuple[float, FloatArray, BoolArray]:
    """The turn that times count to, the times up to it, and whether it happened by then."""
    until = float(outcome.until or known.values.max(initial=0.0))
    return until, np.minimum(known.values, until), known.happened & (known.values <= until)


def _answers(known: _Compared, scope: Scope, confidence: float, seed: int) -> diversity.Comparison:
    return diversity.compared(
        list(known.details), known.is_first, known.strata, known.prompts, scope=scope, confidence=confidence, seed=seed
    )


def _of_answers(outcome: Outcome, contrast: Contrast, known: _Compared, confidence: float, seed: int) -> Found:
    found = _answers(known, contrast.scope, confidence, seed)
    figures = [asdict(side) if side else {} for side in (found.first, found.second)]
    return figures, {
        **_interval(found.difference),
        **_test(found.test, found.p),
        "diversity": found.rests_on if len(known.values) else None,
    }


def _of_confidence(outcome: Outcome, contrast: Contrast, known: _Compared, confidence: float, seed: int) -> Found:
    """As scores, within one provider: what its probabilities are of, and how they are rounded, differs between them."""
    figures, found = _of_numbers(outcome, contrast, known, confidence, seed)
    if _mixes_providers(known):
        reason = Undefined(Reason.SEVERAL_PROVIDERS)
        found = {**_interval(reason), **_test("", reason)}
    covered = [known.covered[side & ~np.isnan(known.covered)] for side in (known.is_first, ~known.is_first)]
    means = [float(one.mean()) if len(one) else None for one in covered]
    return figures, {**found, "confidence": Confidence(tuple(sorted(set(known.details))), *means)}


def _mixes_providers(known: _Compared) -> bool:
    """Whether runs that are compared with each other, those of one stratum, have several providers."""
    return any(len(set(known.details[known.strata == number])) > 1 for number in np.unique(known.strata))


def _interval(found: Difference | Undefined) -> dict[str, object]:
    if isinstance(found, Undefined):
        return {"no_interval": str(found.reason)}
    return {"difference": found.value, "low": found.low, "high": found.high}


def _test(name: str, p: float | Undefined) -> dict[str, object]:
    return {"p": None, "no_test": str(p.reason)} if isinstance(p, Undefined) else {"test": name, "p": p}
