"""What ladders and judges are called."""

from django.utils.translation import gettext as _

from experiments.models import Board
from experiments.workflows.coding import WORKFLOW as CODING
from experiments.workflows.council import WORKFLOW as COUNCIL
from leaderboard.models import Ladder


def judge_words(board: Board) -> str:
    """Who decides the battles of a board."""
    if board.kind == Board.Kind.PEOPLE:
        return _("people's votes")
    if board.kind == Board.Kind.IMPORTED:
        return _("judged elsewhere by %(judge)s") % {"judge": board.judge}
    label = board.judge_model.label if board.judge_model else board.judge
    return _("judged by %(judge)s") % {"judge": label}


def board_title(board: Board) -> str:
    """Dataset, judge, prompt."""
    said = [board.dataset.name, judge_words(board)]
    return " · ".join([*said, board.prompt] if board.prompt else said)


def ladder_title(ladder: Ladder) -> str:
    if ladder.board:
        return board_title(ladder.board)
    of_runs = {
        COUNCIL.slug: _("Models in the council, ranked by their peers"),
        CODING.slug: _("Models that set, solve and judge programming problems"),
    }
    return of_runs.get(ladder.workflow, ladder.title)


def is_simulated(board: Board | None) -> bool:
    """Whether the judge is a simulated model."""
    return board is not None and board.judge_model is not None and board.judge_model.provider.is_simulated
