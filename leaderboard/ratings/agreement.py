"""How far raters agree, and what their verdicts owe to something else than the answers.

Undefined is returned, with the reason, where a figure does not exist: agreement among values that are all the same is
neither perfect nor absent, it cannot be told from chance.
"""

from leaderboard.ratings.effects import (
    PositionEffect,
    SelfPreference,
    position_effect,
    self_preference,
)
from leaderboard.ratings.kappas import cohen_interval, cohen_kappa, fleiss_interval, fleiss_kappa
from leaderboard.ratings.kendall import kendalls_w
from leaderboard.ratings.krippendorff import alpha_interval, krippendorff_alpha
from leaderboard.ratings.resampling import Interval
from leaderboard.ratings.undefined import Reason, Undefined

__all__ = [
    "Interval",
    "PositionEffect",
    "Reason",
    "SelfPreference",
    "Undefined",
    "alpha_interval",
    "cohen_interval",
    "cohen_kappa",
    "fleiss_interval",
    "fleiss_kappa",
    "kendalls_w",
    "krippendorff_alpha",
    "position_effect",
    "self_preference",
]
