"""What boards, their kinds and their judges are called."""

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models import Board
from experiments.models.labels import prompt_words
from experiments.workflows.battles.campaign.boards import PEOPLE, PEOPLE_ELSEWHERE
from experiments.workflows.battles.prompts import PROMPTS
from experiments.workflows.coding import WORKFLOW as CODING
from experiments.workflows.council import WORKFLOW as COUNCIL
from leaderboard.models import Ladder

KINDS = {
    "people": gettext_lazy("People's votes"),
    "judge": gettext_lazy("Model judges"),
    COUNCIL.slug: gettext_lazy("Council"),
    CODING.slug: gettext_lazy("Coding"),
}


def kind_of(ladder: Ladder) -> str:
    """A key of KINDS, or the workflow of a plug-in."""
    if ladder.board is None:
        return ladder.workflow
    return "people" if ladder.board.kind == Board.Kind.PEOPLE else "judge"


def judge_words(board: Board) -> str:
    """Who decides the battles of a board. Of a simulated model the word “simulated” stands beside it, as a badge."""
    if board.kind == Board.Kind.PEOPLE:
        of_people = {PEOPLE: _("people's votes"), PEOPLE_ELSEWHERE: _("people's votes elsewhere")}
        return of_people.get(board.judge) or _("people's votes elsewhere: %(name)s") % {"name": board.judge}
    if board.kind == Board.Kind.IMPORTED:
        return _("judged elsewhere by %(judge)s") % {"judge": board.judge}
    label = board.judge_model.label if board.judge_model else board.judge
    plain = label.rpartition(" · ")[2] if is_simulated(board) else label
    return _("judged by %(judge)s") % {"judge": plain}


def question_of(board: Board) -> Any:
    """What the judge was asked, in words; the prompt's name where it is not one of ours."""
    prompt = PROMPTS.get(board.prompt)
    return prompt_words(prompt.title) if prompt else board.prompt


def board_title(board: Board) -> str:
    """Dataset, judge, question."""
    said = [board.dataset.name, judge_words(board), str(question_of(board))]
    return " · ".join(word for word in said if word)


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
