"""How far judges agree with people: a page beside each ladder of a dataset."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET

from experiments.lab.injections import rates
from experiments.lab.injections.rates import Standing
from experiments.models import Board, Dataset
from experiments.workflows.battles import WORKFLOW as BATTLES
from leaderboard.boards.caching import remembered
from leaderboard.boards.simulated import simulation
from leaderboard.boards.titles import judge_words
from leaderboard.pages.battles import board_of
from leaderboard.votes import agreement as agreeing

CHANGES_APART = 200  # of a board that is judged at this moment, the figures are made anew after so many changes


@require_GET
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Each judge of the dataset against people's votes on the same outputs, and people against each other."""
    ladder, board = board_of(request, slug)
    if ladder.withdrawn_reason:
        return redirect(ladder)
    context = {
        "ladder": ladder,
        "board": board,
        "judge": judge_words(board),
        **simulation(ladder),
        "dataset": board.dataset,
        "report": report_of(board.dataset),
        "talked_into": injections_of(board.dataset),
    }
    return render(request, "leaderboard/agreement.html", context)


def injections_of(dataset: Dataset) -> list[tuple[Board, Standing | None]]:
    """Of each model that judges the dataset, how often it was talked into something; None where that is not known."""
    boards = Board.objects.filter(dataset=dataset, kind=Board.Kind.MODEL).select_related("judge_model__provider")
    known = rates.newest(BATTLES.slug, [board.judge_model_id for board in boards])
    return [(board, known.get(board.judge_model_id)) for board in boards.order_by("pk")]


def report_of(dataset: Dataset) -> agreeing.Report:
    """Computed once per state of the boards; of people's votes each one counts."""
    states: list[Any] = []
    for pk, kind, changes in Board.objects.filter(dataset=dataset).order_by("pk").values_list("pk", "kind", "changes"):
        is_exact = kind == Board.Kind.PEOPLE or changes < CHANGES_APART
        states.append((pk, changes if is_exact else -(changes // CHANGES_APART)))
    void = sorted(dataset.contestants.exclude(void_reason="").values_list("pk", flat=True))
    return remembered("agreement", (str(dataset.pk), states, void), lambda: agreeing.report(dataset))
