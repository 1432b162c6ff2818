"""Kendall's coefficient of concordance."""

import numpy as np

from leaderboard.ratings.ballots import Ballots
from leaderboard.ratings.positions import positions
from leaderboard.ratings.undefined import Reason, Undefined


def kendalls_w(ballots: Ballots) -> float | Undefined:
    """W of complete rankings, corrected for ties: 0 no agreement (as in ABC, BCA, CAB), 1 all ballots are the same.

    W = 12 S / (m² (n³ - n) - m ΣT), with m ballots of n candidates, S the sum of squared deviations of the candidates'
    rank sums from their mean, and T = Σ(t³ - t) over the ties of a ballot. Abstentions are left out. Undefined when
    the ballots do not name the same candidates, for fewer than two of either, and when every ballot ties everybody.
    Source: Kendall, Rank Correlation Methods (1948), chapter 6.
    """
    cast = [index for index, order in enumerate(ballots.orders) if order]
    named = {ballots.named(index) for index in cast}
    if len(named) > 1 or any(ballots.offered[index] - ballots.named(index) for index in cast if ballots.offered):
        return Undefined(Reason.INCOMPLETE_BALLOTS)
    if len(cast) < 2:
        return Undefined(Reason.ONE_BALLOT if cast else Reason.NO_COMPARISONS)
    ranked = sorted(*named)
    if len(ranked) < 2:
        return Undefined(Reason.ONE_CANDIDATE)
    sums = positions(ballots)[np.ix_(cast, ranked)].sum(axis=0)
    ties = sum(len(group) ** 3 - len(group) for index in cast for group in ballots.orders[index])
    m, n = len(cast), len(ranked)
    most = m * m * (n**3 - n) - m * ties
    return float(12 * ((sums - sums.mean()) ** 2).sum() / most) if most else Undefined(Reason.CONSTANT)
