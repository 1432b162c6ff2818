"""What ladders, judges and missing numbers are called."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models import Board
from leaderboard.models import Ladder

REASONS = {
    "undefeated": gettext_lazy("won every battle, so no rating is high enough"),
    "winless": gettext_lazy("lost every battle, so no rating is low enough"),
    "above": gettext_lazy("stands above the rated contestants without ever having lost towards them"),
    "below": gettext_lazy("stands below the rated contestants without ever having won towards them"),
    "unlinked": gettext_lazy("wins and losses do not link it with the rated contestants"),
    "no_battles": gettext_lazy("has not been in any battle that counts"),
    "few_battles": gettext_lazy("too few battles: a rating could be wrong by more than 400 points"),
}


def reason_words(code: str) -> Any:
    """Why there is no rating."""
    return REASONS.get(code, code)


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
    return _("Models in the council, by their peers") if ladder.workflow == "council" else ladder.title


def is_simulated(board: Board | None) -> bool:
    """Whether the judge is a simulated model."""
    return board is not None and board.judge_model is not None and board.judge_model.provider.is_simulated
