"""What is played of a contest to estimate it: whether its models are there, and one cycle of many."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from django.utils.translation import gettext as _

from experiments.workflows.base.dry_run import Planned, Sample
from experiments.workflows.coding.assumptions import never_set
from experiments.workflows.coding.config import Config


def plan(config: Config, seated: Sequence[Any], by: Any) -> Planned:
    """At most the dearest model sets every problem; in turn, each is void at first and set once more at the end."""
    check = config.model_copy(update={"cycles": 0, "setters": "random", "quorum": 1})
    cycle = check.model_copy(update={"cycles": 1, "health_check": False})
    cycles = Fraction(config.cycles)
    void = cycles if is_in_turn(config.setters, config.cycles, len(seated)) else Fraction(0)
    samples = (Sample(check), Sample(cycle, cycles, cycles), Sample(cycle, Fraction(0), void, never_set))
    return Planned(samples, note=_cycle(len(seated)))


def is_in_turn(setters: str, cycles: int, coders: int) -> bool:
    return setters == "in_turn" or (setters == "auto" and cycles % coders == 0)


def _cycle(coders: int) -> str:
    words = _(
        "A cycle makes %(calls)s calls: 1 problem, %(solutions)s solutions and %(judgments)s judgments, because"
        " everybody judges everybody else."
    )
    judgments = coders * (coders - 1)
    return words % {"calls": 1 + coders + judgments, "solutions": coders, "judgments": judgments}
