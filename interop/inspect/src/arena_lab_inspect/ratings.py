"""What the workflows' own judgments and ballots come to, as scorers of Inspect, and the platform's ratings as a metric.

No score is made up: what a judge did not give, or could not be read, is no value, with its reason in the explanation.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, Value, mean, metric, scorer
from inspect_ai.solver import TaskState

from leaderboard.ratings.intervals import sandwich
from leaderboard.ratings.values import Battles

PLAYED = "arena_lab"
Pair = tuple[str, str, float]  # two contestants, and the score of the first: 1, 0.5 or 0


def _findings(state: TaskState, type_: str) -> Iterator[Mapping[str, Any]]:
    played = state.metadata.get(PLAYED, {})
    yield from (finding for finding in played.get("findings", ()) if finding["type"] == type_)


@scorer(metrics={"*": [mean()]})
def judged() -> Scorer:
    """The mean over the turns of each score that the arena's judge gave, by seat: `A.cooperation`."""

    async def score(state: TaskState, target: Target) -> Score:
        found: dict[str, list[float]] = defaultdict(list)
        reasons: list[str] = []
        for finding in _findings(state, "judge_evaluation_completed"):
            for one in finding["judgments"]:
                place = f"turn {finding['turn']}, {one['subject']}"
                reasons += [f"{place}: {one['unscored_reason']}"] if one["unscored_reason"] else []
                for name, value in (one["scores"] or {}).items():
                    found[f"{one['subject']}.{name}"].append(float(value))
        value: Value = {name: float(np.mean(values)) for name, values in sorted(found.items())}
        return Score(value=value, explanation="\n".join(reasons) or None)

    return score


@metric
def ratings() -> Metric:
    """Bradley–Terry ratings of the contestants over all samples, on the scale of Elo (mean 1000), with 95 % intervals
    in which the comparisons of one sample are one observation: `NAME`, `NAME low`, `NAME high`. What the data leave
    undefined is not there. The comparisons are in the metadata of each score, as `pairs`.
    """

    def compute(scores: list[SampleScore]) -> Value:
        pairs = [(number, *pair) for number, one in enumerate(scores) for pair in _pairs(one.score)]
        names = sorted({name for _number, first, second, _score in pairs for name in (first, second)})
        if not pairs:
            return {}
        index = {name: place for place, name in enumerate(names)}
        lefts, rights = ([index[pair[place]] for pair in pairs] for place in (1, 2))
        battles = Battles(lefts, rights, [pair[3] for pair in pairs], names)
        found = sandwich(battles, clusters=[pair[0] for pair in pairs])
        figures = {"": found.ratings.values, " low": found.lower, " high": found.upper}
        return {
            f"{name}{end}": float(values[place])
            for place, name in enumerate(names)
            for end, values in figures.items()
            if np.isfinite(values[place])
        }

    return compute


def _pairs(score: Score) -> list[Pair]:
    return [(first, second, float(won)) for first, second, won in (score.metadata or {}).get("pairs", ())]


@scorer(metrics=[ratings()])
def by_rankings() -> Scorer:
    """1 where the council's ballots could be counted, else 0 with the reasons. Each ballot that counts compares the
    models that it ranks pair by pair; a ranking never compares two answers of one model.
    """

    async def score(state: TaskState, target: Target) -> Score:
        said = state.metadata.get(PLAYED, {}).get("messages", ())
        model_of = {one["seat"]: one["model"] for one in said if one["purpose"] == "reply"}
        pairs: list[Pair] = []
        reasons: list[str] = []
        for counted in _findings(state, "ballots_counted"):
            reasons += [f"{one['reviewer']}: {one['reason']}" for one in counted["abstained"]]
            pairs += [pair for ballot in counted["ballots"] for pair in _of_ballot(ballot, model_of)]
        return Score(value=1 if pairs else 0, explanation="\n".join(reasons) or None, metadata={"pairs": pairs})

    return score


def _of_ballot(ballot: Mapping[str, Any], model_of: Mapping[str, str]) -> Iterator[Pair]:
    """Answers that a ballot passes over stand last, as equals."""
    ranked = {seat: place for place, group in enumerate(ballot["order"]) for seat in group}
    place_of = {seat: ranked.get(seat, len(ranked)) for seat in ballot["offered"] if seat != ballot["reviewer"]}
    for first, second in combinations(sorted(place_of), 2):
        if model_of[first] != model_of[second]:
            apart = place_of[second] - place_of[first]
            yield model_of[first], model_of[second], 0.5 + 0.5 * ((apart > 0) - (apart < 0))
