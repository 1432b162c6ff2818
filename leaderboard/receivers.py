"""What the leaderboard hears from below."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.dispatch import receiver

from accounts import audit_hooks
from accounts.models import User
from experiments.models import Board, Run
from experiments.models.signals import (
    board_changed,
    board_packed,
    board_unpacked,
    cycles_changed,
    run_curated,
    run_finished,
    swept,
)
from experiments.workflows.battles.campaign.logs.files import MILESTONES
from leaderboard.boards import compute, council, jobs, milestones
from leaderboard.models import Ladder
from leaderboard.votes import voting

audit_hooks.name_kinds(leaderboard="ladder", boards="board")


@receiver(board_changed, dispatch_uid="leaderboard")
def on_board_changed(board_id: int, **_kwargs: Any) -> None:
    """A board's first battle makes its ladder; each one asks for new ratings."""
    if not Ladder.objects.filter(board_id=board_id).exists():
        board = Board.objects.filter(pk=board_id).select_related("dataset", "judge_model").first()
        if board is None:
            return
        compute.ensure_ladder(board)
    jobs.wake()


@receiver(board_packed, dispatch_uid="leaderboard")
def on_board_packed(board: Board, **_kwargs: Any) -> dict[str, object]:
    """The folder of a board has its milestones."""
    ladder = Ladder.objects.filter(board=board, milestones__isnull=False).first()
    return {MILESTONES: milestones.document(ladder)} if ladder else {}


@receiver(board_unpacked, dispatch_uid="leaderboard")
def on_board_unpacked(board: Board, by: User, content: Any, **_kwargs: Any) -> list[str]:
    """Milestones come back with the folder that holds them."""
    return milestones.take_over(compute.ensure_ladder(board), by=by, content=content)


@receiver([cycles_changed, run_curated], dispatch_uid="leaderboard")
def on_curated(**_kwargs: Any) -> None:
    """A cycle of coding was rated, or a cycle or a council was left out or taken in again."""
    jobs.wake()


@receiver(run_finished, dispatch_uid="leaderboard")
def on_run_finished(run_id: UUID, **_kwargs: Any) -> None:
    """A council's answered question, or the end of a campaign, which its history notes."""
    of_council = Q(experiment__workflow=council.WORKFLOW)
    of_campaign = Q(experiment__workflow=compute.BATTLES, experiment__campaign__ended__isnull=False)
    if Run.objects.filter(of_council | of_campaign, pk=run_id).exists():
        jobs.wake()


@receiver(swept, dispatch_uid="leaderboard")
def on_swept(**_kwargs: Any) -> None:
    if jobs.is_anything_stale():
        jobs.wake()


@receiver(swept, dispatch_uid="votes")
def forget_old_offers(**_kwargs: Any) -> None:
    voting.forget_old_offers()
