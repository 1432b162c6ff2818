"""How many runs a study needs for a difference, and which difference more or fewer repeats could see."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from django.utils.translation import gettext_lazy as _

from experiments.setup.estimates import Amounts
from experiments.studies.design import MOST_REPEATS, Design
from experiments.studies.plan import Contrast, Plan
from leaderboard.ratings.studies import planning

POWER = 0.8
KINDS: Mapping[str, Any] = {
    "rate": _("Rates"),
    "mixed": _("Rates, mixed model"),
    "time": _("Times"),
    "score": _("Scores and token probabilities"),
    "diversity": _("Diversity"),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """rate: of one side, and of a time the share of its runs in which the event happens, 0 to 1; difference: of the
    other side from it. sd: a difference of scores, or of diversities, in standard deviations of runs, or of pairs of
    runs. spread: the standard deviation of prompts in log-odds, for the mixed model.
    """

    rate: float = 0.5
    difference: float = 0.2
    sd: float = 0.5
    spread: float = 1.0

    @property
    def other(self) -> float:
        """The rate of the other side, on the scale."""
        return self.rate + self.difference if self.rate + self.difference <= 1 else self.rate - self.difference


USUAL = Asked()


@dataclass(frozen=True, slots=True)
class Size:
    """So many repeats, with what they cost and what they can see. visible: by kind, a difference of shares (0 to 1), or
    one in standard deviations; None where none can be seen.
    """

    repeats: int
    runs: int
    per_side: int
    visible: Mapping[str, float | None]
    amounts: Amounts


@dataclass(frozen=True, slots=True)
class Sizes:
    """kinds: those of the plan's contrasts, in the order of KINDS. needed: repeats by kind, None where even
    MOST_REPEATS are too few.
    """

    kinds: Sequence[str]
    needed: Mapping[str, int | None]
    sizes: Sequence[Size]

    @property
    def labeled(self) -> Sequence[tuple[str, Any, int | None]]:
        return [(kind, KINDS[kind], self.needed[kind]) for kind in self.kinds]


def kinds_of(plan: Plan) -> list[str]:
    found = {_kind(plan, contrast) for contrast in plan.contrasts or plan.explored}
    return [kind for kind in KINDS if kind in found]


def _kind(plan: Plan, contrast: Contrast) -> str:
    kind = next(outcome.kind for outcome in plan.outcomes if outcome.name == contrast.outcome)
    if kind == "rate":
        return "mixed" if contrast.test == "mixed" else "rate"
    return "score" if kind == "confidence" else kind


def sizes(design: Design, plan: Plan, typical: Amounts, asked: Asked) -> Sizes:
    """Half, once, twice and four times the design's repeats, and as many as what is asked for needs, by each kind of
    contrast. The level is the first of Holm's procedure. typical: what the design comes to.
    """
    conditions, kinds = list(design.combinations()), kinds_of(plan)
    sides = [
        sum(side.items() <= levels.items() for levels in conditions)
        for one in plan.contrasts or plan.explored
        for side in (one.first, one.second)
    ]
    per_repeat, alpha = min(sides, default=0), plan.alpha / max(1, len(plan.contrasts))
    if not per_repeat:
        return Sizes((), {}, ())
    now = design.repeats
    needed = {kind: _needed(kind, per_repeat, alpha, asked) for kind in kinds}
    counts = {max(1, now // 2), now, 2 * now, 4 * now, *(repeats for repeats in needed.values() if repeats)}
    found = [
        Size(
            repeats=repeats,
            runs=len(conditions) * repeats,
            per_side=per_repeat * repeats,
            visible={kind: _visible(kind, repeats, per_repeat, alpha, asked) for kind in kinds},
            amounts=Amounts(
                calls=round(typical.calls * repeats / now),
                tokens=round(typical.tokens * repeats / now),
                cost=None if typical.cost is None else typical.cost * repeats / now,
                seconds=round(typical.seconds * repeats / now),
            ),
        )
        for repeats in sorted(counts)
        if repeats <= MOST_REPEATS
    ]
    return Sizes(kinds, needed, found)


def _needed(kind: str, per_repeat: int, alpha: float, asked: Asked) -> int | None:
    """Repeats for the difference; None for more than there can be, and where a share has no hazard."""
    level = {"alpha": alpha, "power": POWER}
    shares = (asked.rate, asked.other)
    if kind == "diversity":  # each condition of a side is compared by itself
        repeats = planning.repeats_for_diversity(asked.sd, per_repeat, **level)
    elif kind == "score":
        repeats = ceil(planning.runs_for_scores(asked.sd, 1, **level) / per_repeat)
    elif kind == "mixed":
        repeats = ceil(planning.runs_for_mixed_rates(*shares, spread=asked.spread, **level) / per_repeat)
    elif kind == "time":
        if not min(shares):
            return None
        repeats = ceil(planning.runs_for_times(*shares, **level) / per_repeat)
    else:
        repeats = ceil(planning.runs_for_rates(*shares, **level) / per_repeat)
    return repeats if repeats <= MOST_REPEATS else None


def _visible(kind: str, repeats: int, per_repeat: int, alpha: float, asked: Asked) -> float | None:
    level, runs = {"alpha": alpha, "power": POWER}, repeats * per_repeat
    if kind == "diversity":
        return planning.visible_diversity(repeats, per_repeat, **level)
    if kind == "score":
        return planning.visible_score(1, runs, **level)
    if kind == "mixed":
        return planning.visible_mixed_rate(asked.rate, runs, spread=asked.spread, **level)
    return (planning.visible_time if kind == "time" else planning.visible_rate)(asked.rate, runs, **level)
