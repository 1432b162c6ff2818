"""The mathematics of ratings. Numpy alone: usable in a notebook, without Django and without a database.

Ratings of contestants from battles: `fit`, intervals by `sandwich`, `by_items` and `bootstrap`, `ranks`, Elo, biases of
judges, ratings with covariates held equal (`controlled`), people and judges together (`pooled`, `corrected`), ratings
from some battles beside those from all (`moved`).
One order from rankings: `leaderboard.ratings.orders`. How far raters agree: `leaderboard.ratings.agreement`.
Models that set, solve and judge problems: `leaderboard.ratings.cycles`, `leaderboard.ratings.judging`.
"""

from leaderboard.ratings.bias import Bias, covariate_bias, length_bias, position_bias
from leaderboard.ratings.bootstrap import bootstrap
from leaderboard.ratings.bradley_terry import NotConverged, Ratings, fit
from leaderboard.ratings.combined import Combined, corrected, pooled
from leaderboard.ratings.covariates import Controlled, controlled
from leaderboard.ratings.elo import Elo, batch_elo, sequential_elo
from leaderboard.ratings.intervals import Intervals, Shared, by_items, sandwich
from leaderboard.ratings.ranks import Ranks, ranks
from leaderboard.ratings.subsets import Moved, moved
from leaderboard.ratings.values import Battles, Reason, Table, Undefined, tally

__all__ = [
    "Battles",
    "Bias",
    "Combined",
    "Controlled",
    "Elo",
    "Intervals",
    "Moved",
    "NotConverged",
    "Ranks",
    "Ratings",
    "Reason",
    "Shared",
    "Table",
    "Undefined",
    "batch_elo",
    "bootstrap",
    "by_items",
    "controlled",
    "corrected",
    "covariate_bias",
    "fit",
    "length_bias",
    "moved",
    "pooled",
    "position_bias",
    "ranks",
    "sandwich",
    "sequential_elo",
    "tally",
]
