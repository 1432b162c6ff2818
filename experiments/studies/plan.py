"""What a study is to show, written before its runs: outcomes, contrasts, alpha, exclusions, when to look."""

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import Field, StringConstraints, TypeAdapter, model_validator
from pydantic_core import PydanticCustomError

from experiments.studies.design import Design, Name, Part
from experiments.workflows.base.judge import RANGES
from leaderboard.ratings.studies.analysis import Kind, Test
from leaderboard.ratings.studies.scores import Scope

Seat = Annotated[str, StringConstraints(max_length=40)]
Over = Literal["mean", "last", "most", "any", "first_turn"]
"""How the values of a run's turns become one: `any` is 1 where one of them is above the threshold, else 0;
`first_turn` is the first such turn."""


class Scored(Part):
    """What a judge gave a participant in each turn: one of the scores of judgments."""

    of: Literal["judgment"] = "judgment"
    score: Literal[tuple(RANGES)]  # type: ignore[valid-type]  # the names are those of the judge
    seat: Seat
    over: Over = "mean"
    threshold: float = 0.0


class Annotation(Part):
    """What a judge with an instrument found: values of one dimension of one version; true counts 1, false 0, and of
    categories `category` counts 1.
    """

    of: Literal["annotation"] = "annotation"
    version: UUID
    dimension: Name
    seat: Seat = ""
    category: Annotated[str, StringConstraints(max_length=120)] = ""
    over: Over = "mean"
    threshold: float = 0.0


class Flagged(Part):
    """Whether a message of the participant has this flag, such as `refusal`: 1 or 0 of each turn."""

    of: Literal["flag"] = "flag"
    flag: Name
    seat: Seat
    over: Over = "any"
    threshold: float = 0.0


class Measured(Part):
    """A figure of the run: tokens that its models wrote, cost in US dollars, seconds between its beginning and its end,
    turns that were completed, seconds of its slowest call.
    """

    of: Literal["run"] = "run"
    figure: Literal["output_tokens", "cost", "seconds", "turns", "slowest_call"]


class Ranked(Part):
    """The win rate of a participant in each turn, 0 to 1: of the others that a ballot ranks beside it, the share that
    it beats, equals counting half; the mean of the turn's ballots. Of a coding contest: by the mean votes of a cycle.
    """

    of: Literal["ranking"] = "ranking"
    seat: Seat
    over: Over = "mean"
    threshold: float = 0.0


class Said(Part):
    """What the participant said, all messages together or the last one: how far it differs from run to run."""

    of: Literal["answers"] = "answers"
    seat: Seat
    messages: Literal["all", "last"] = "all"


class Confidence(Part):
    """The probabilities that the model gave to the tokens of the participant's messages: their mean, median, or tenth
    percentile, or the share of tokens below 0.5. Recorded only where log-probabilities were asked for and given.
    """

    of: Literal["confidence"] = "confidence"
    seat: Seat
    figure: Literal["mean", "median", "tenth", "low"] = "mean"


AnySource = Scored | Annotation | Flagged | Measured | Ranked | Said | Confidence
Source = Annotated[AnySource, Field(discriminator="of")]
SOURCES: TypeAdapter[AnySource] = TypeAdapter(Source)
OF_ONE_KIND = {"answers": "diversity", "confidence": "confidence"}  # sources whose outcomes are of one kind


class Outcome(Part):
    """kind: `rate` of a source whose values are 1 and 0; `score`, with the ends of its scale where it has any; `time`
    of a source that is read `over` its `first_turn`, up to turn `until`; `diversity` of answers; `confidence` of
    tokens' probabilities.
    """

    name: Name
    kind: Kind
    source: Source
    least: float | None = None
    most: float | None = None
    until: Annotated[int, Field(ge=1, le=10_000)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> Self:
        only = OF_ONE_KIND.get(self.source.of)
        if (self.kind in OF_ONE_KIND.values() or only) and self.kind != only:
            said = "“diversity” is the kind of outcomes of answers, “confidence” of those of confidence"
            raise PydanticCustomError("kind_of_source", said)
        over = getattr(self.source, "over", "mean")
        if (self.kind == "time") != (over == "first_turn") or (self.kind == "rate" and over != "any"):
            said = "a rate is read over “any”, a time over “first_turn”, a score over “mean”, “last” or “most”"
            raise PydanticCustomError("kind_of_outcome", said)
        return self


class Contrast(Part):
    """first, second: the level of each factor that is compared. scope: `runs` holds for these prompts, `prompts` for
    prompts like these. test: see `leaderboard.ratings.studies.analysis.Contrast`.
    """

    name: Name
    outcome: Name
    first: Annotated[dict[str, str], Field(min_length=1)]
    second: Annotated[dict[str, str], Field(min_length=1)]
    scope: Scope = "runs"
    test: Test = "usual"


class Exclusion(Part):
    outcome: Name
    below: float | None = None
    above: float | None = None


class Plan(Part):
    """contrasts: those that the study is to decide. explored: those that it only looks at. looks: after which shares of
    the runs it is analyzed, the last one being 1; who looks at other times looks too. hypothesis: in words.
    """

    hypothesis: Annotated[str, StringConstraints(max_length=5_000)] = ""
    outcomes: Annotated[list[Outcome], Field(min_length=1, max_length=50)]
    contrasts: Annotated[list[Contrast], Field(max_length=100)] = []
    explored: Annotated[list[Contrast], Field(max_length=500)] = []
    exclusions: Annotated[list[Exclusion], Field(max_length=20)] = []
    alpha: Annotated[float, Field(gt=0, le=0.2)] = 0.05
    looks: Annotated[list[Annotated[float, Field(gt=0, le=1)]], Field(min_length=1, max_length=20)] = [1.0]

    @model_validator(mode="after")
    def _whole(self) -> Self:
        outcomes = [outcome.name for outcome in self.outcomes]
        for names in (outcomes, [contrast.name for contrast in (*self.contrasts, *self.explored)]):
            if twice := {name for name in names if names.count(name) > 1}:
                raise PydanticCustomError("named_twice", "a name is used twice: {name}", {"name": min(twice)})
        asked = {one.outcome for one in (*self.contrasts, *self.explored)} | {one.outcome for one in self.exclusions}
        if unknown := asked - set(outcomes):
            raise PydanticCustomError(
                "outcome_unknown", "there is no outcome of this name: {name}", {"name": min(unknown)}
            )
        if sorted(set(self.looks)) != self.looks or self.looks[-1] != 1:
            raise PydanticCustomError("looks_rise", "looks are shares of the runs that rise up to 1")
        return self

    def faults(self, design: Design) -> dict[str, str]:
        """What is wrong with contrasts, by name: `levels` that the design does not have, `prompts` that it would need,
        or a `mixed` model of what is no rate over runs of several prompts.
        """
        known = {(factor.name, level.name) for factor in design.factors for level in factor.levels}
        rates = {outcome.name for outcome in self.outcomes if outcome.kind == "rate"}
        found = {}
        for contrast in (*self.contrasts, *self.explored):
            if {*contrast.first.items(), *contrast.second.items()} - known:
                found[contrast.name] = "levels"
            elif contrast.scope == "prompts" and not design.prompts:
                found[contrast.name] = "prompts"
            elif contrast.test == "mixed" and (
                contrast.outcome not in rates or contrast.scope != "runs" or not design.prompts
            ):
                found[contrast.name] = "mixed"
        return found


def digest_of(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON: equal plans have the same."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def for_analysis(plan: Plan, locked: Plan, design: Design, digest: str) -> dict[str, object]:
    """plan.json, as `leaderboard.ratings.studies.analysis` reads it. A contrast that was not in the plan as it was
    locked, with the same outcome, decides nothing: it is among the explored ones.
    """
    before = {outcome.name: outcome for outcome in locked.outcomes}
    now = {outcome.name: outcome for outcome in plan.outcomes}

    def is_planned(contrast: Contrast) -> bool:
        return contrast in locked.contrasts and before.get(contrast.outcome) == now[contrast.outcome]

    contents = plan.model_dump(mode="json")
    for outcome in contents["outcomes"]:
        if outcome["kind"] in ("rate", "diversity", "confidence"):
            outcome |= {"least": 0.0, "most": 1.0}
    planned = [is_planned(contrast) for contrast in plan.contrasts]
    return {
        **contents,
        "contrasts": [one for one, holds in zip(contents["contrasts"], planned, strict=True) if holds],
        "explored": [
            *(one for one, holds in zip(contents["contrasts"], planned, strict=True) if not holds),
            *contents["explored"],
        ],
        "factors": [factor.name for factor in design.factors],
        "block": design.prompts,
        "seed": design.seed,
        "digest": digest,
    }
