"""Coding cycles: models set problems, solve them and judge each other; what is said of solvers, setters and judges.

`compatible_elo` is the board of MatrixArena, in its stated order. `solver_elo` and `solver_ratings` depend on no order,
and a judge's votes move others alone. `setters` and `judging` say what problems and votes are like. A void cycle is
left out by whoever calls: everything is computed from the cycles given.
"""

from leaderboard.ratings.cycle_elo import History, Match, Snapshot, compatible_elo, matches
from leaderboard.ratings.cycle_replay import Moment, replay
from leaderboard.ratings.estimates import Estimate
from leaderboard.ratings.judges import Judge, Judging, judging
from leaderboard.ratings.setters import Setter, setters
from leaderboard.ratings.solvers import SolverRatings, solver_elo, solver_ratings
from leaderboard.ratings.undefined import Reason, Undefined
from leaderboard.ratings.votes import Cycle, Vote, calibration, overall, scores

__all__ = [
    "Cycle",
    "Estimate",
    "History",
    "Judge",
    "Judging",
    "Match",
    "Moment",
    "Reason",
    "Setter",
    "Snapshot",
    "SolverRatings",
    "Undefined",
    "Vote",
    "calibration",
    "compatible_elo",
    "judging",
    "matches",
    "overall",
    "replay",
    "scores",
    "setters",
    "solver_elo",
    "solver_ratings",
]
