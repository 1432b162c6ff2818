"""One order from many rankings with ties: mean rank, Borda, Copeland, Schulze, Kemeny and Bradley-Terry.

All methods read the same positions, so candidates that a ballot does not name are treated by one rule everywhere: see
`Ballots`. Nothing depends on the sequence of ballots, nor on names.
"""

from leaderboard.ratings.ballots import Ballots, Group, Groups, Rule
from leaderboard.ratings.consensus import Camp, Consensus, Method, bradley_terry, consensus
from leaderboard.ratings.kemeny import Kemeny, kemeny
from leaderboard.ratings.pairs import copeland, pairwise
from leaderboard.ratings.placing import Order
from leaderboard.ratings.positions import borda, mean_rank, positions, votes
from leaderboard.ratings.schulze import Schulze, schulze
from leaderboard.ratings.undefined import Reason, Undefined

__all__ = [
    "Ballots",
    "Camp",
    "Consensus",
    "Group",
    "Groups",
    "Kemeny",
    "Method",
    "Order",
    "Reason",
    "Rule",
    "Schulze",
    "Undefined",
    "borda",
    "bradley_terry",
    "consensus",
    "copeland",
    "kemeny",
    "mean_rank",
    "pairwise",
    "positions",
    "schulze",
    "votes",
]
