"""What all ratings share: array types, the scale of Elo, and what is said in place of a number that does not exist."""

import math
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]

MEAN = 1000.0
SCALE = 400.0
ELO = SCALE / math.log(10)  # Elo points in one nat
NORMAL = 1.959963984540054  # the 97.5 % quantile of the normal distribution
TAIL = 0.025
COVERAGE = 1 - 2 * TAIL


class Reason(StrEnum):
    """Why there is no number. The value is a code that pages translate; `sentence` says it in English."""

    NO_COMPARISONS = "no_comparisons"
    TOO_MANY_CANDIDATES = "too_many_candidates"
    INCOMPLETE_BALLOTS = "incomplete_ballots"
    ONE_BALLOT = "one_ballot"
    ONE_CANDIDATE = "one_candidate"
    CONSTANT = "constant"
    NOTHING_PAIRED = "nothing_paired"
    UNEQUAL_RATERS = "unequal_raters"
    TOO_FEW_UNITS = "too_few_units"
    MOSTLY_UNDEFINED = "mostly_undefined"
    UNDEFEATED = "undefeated"
    WINLESS = "winless"
    ABOVE = "above"
    BELOW = "below"
    UNLINKED = "unlinked"
    NO_BATTLES = "no_battles"
    SEPARATED = "separated"
    CONFOUNDED = "confounded"
    NO_VOTES = "no_votes"
    NOTHING_RUN = "nothing_run"
    NO_SPREAD = "no_spread"
    RESTS_ON_ONE = "rests_on_one"

    @property
    def sentence(self) -> str:
        return SENTENCES[self]


SENTENCES = {
    Reason.NO_COMPARISONS: "no ballot compares two candidates",
    Reason.TOO_MANY_CANDIDATES: "an exact order is sought for up to 8 candidates only",
    Reason.INCOMPLETE_BALLOTS: "the ballots do not all rank the same candidates",
    Reason.ONE_BALLOT: "agreement needs two ballots or more",
    Reason.ONE_CANDIDATE: "an order needs two candidates or more",
    Reason.CONSTANT: "every value is the same, so agreement cannot be told from chance",
    Reason.NOTHING_PAIRED: "no unit has values from two raters",
    Reason.UNEQUAL_RATERS: "the units were not all rated by the same number of raters",
    Reason.TOO_FEW_UNITS: "an interval needs two units or more",
    Reason.MOSTLY_UNDEFINED: "the number does not exist in half of the resamples or more",
    Reason.UNDEFEATED: "won every battle, so no rating is high enough",
    Reason.WINLESS: "lost every battle, so no rating is low enough",
    Reason.ABOVE: "stands above the rated contestants without ever having lost towards them",
    Reason.BELOW: "stands below the rated contestants without ever having won towards them",
    Reason.UNLINKED: "wins and losses do not link it with the rated contestants",
    Reason.NO_BATTLES: "has not been in any battle",
    Reason.SEPARATED: "the battles are explained without error, so the coefficient has no finite value",
    Reason.CONFOUNDED: "it goes with who battles whom, so its effect cannot be told from the ratings",
    Reason.NO_VOTES: "no vote was counted",
    Reason.NOTHING_RUN: "nothing that was judged was also run in the sandbox",
    Reason.NO_SPREAD: "nothing varied, so nothing says how far it could vary",
    Reason.RESTS_ON_ONE: "without one of the cycles the figure does not exist, so an interval does not either",
}


@dataclass(frozen=True, slots=True)
class Undefined:
    """No number, and why."""

    reason: Reason

    def __str__(self) -> str:
        return f"undefined: {self.reason.sentence}"
