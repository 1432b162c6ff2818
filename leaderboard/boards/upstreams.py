"""Which upstreams made the outputs of a board and its verdicts, where one model was served by several."""

from itertools import chain

from django.db.models import Count
from django.utils.translation import get_language

from experiments.models import Board, Output, Verdict
from experiments.runs.upstreams import Mixed, mixed
from leaderboard.boards.bias import state_of_effects
from leaderboard.boards.caching import memoize
from leaderboard.boards.titles import judge_words

MOST_VERDICTS = 100_000  # the newest, of which it is looked up who gave them


def upstreams(board: Board) -> tuple[Mixed, ...]:
    """Contestants and the judge. Looked up as often as the effects of order are."""
    return memoize("upstreams", (state_of_effects(board), get_language()), lambda: _upstreams(board))


def _upstreams(board: Board) -> tuple[Mixed, ...]:
    outputs = Output.objects.filter(sample__dataset=board.dataset_id, call__isnull=False).order_by()
    made = outputs.values_list("contestant__name", "contestant__label", "call__served_provider")
    judged = Verdict.objects.filter(battle__board=board, call__isnull=False).order_by("-pk")[:MOST_VERDICTS]
    of_judge = Verdict.objects.filter(pk__in=judged.values("pk")).order_by().values_list("call__served_provider")
    words = judge_words(board)
    verdicts = ((board.judge, words, served, n) for served, n in of_judge.annotate(n=Count("pk")))
    return mixed(chain(made.annotate(n=Count("pk")), verdicts))
