"""Whether a ladder's figures come from simulated models: its pages all say so."""

from leaderboard.boards import compute
from leaderboard.boards.titles import is_simulated
from leaderboard.models import Ladder


def simulation(ladder: Ladder) -> dict[str, bool]:
    """What the head of each page of a ladder needs; where the judge is none, contestants may be."""
    board = ladder.board
    if board is None:
        rows = compute.current(ladder).standings.rows
        return {"is_simulated": any(row.is_simulated for row in rows), "judge_is_simulated": False}
    by_judge = is_simulated(board)
    competing = board.dataset.contestants.filter(model__provider__is_simulated=True)
    return {"is_simulated": by_judge or competing.exists(), "judge_is_simulated": by_judge}
