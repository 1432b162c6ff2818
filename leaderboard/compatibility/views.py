"""The routes: public where the dataset is, without a token too. Nothing is changed by any of them."""

from collections.abc import Callable
from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import HasScope
from experiments.api.compatibility.views import REFUSALS, TAG, ClientView, Route
from experiments.models import Board, Sample
from leaderboard.boards import listing
from leaderboard.compatibility import battles, standing
from leaderboard.models import Ladder

MOST_ON_A_PAGE = 100
MOST_SHOWN = 10_000  # battles that may be paged through: whoever wants all takes the board's log
MOST_TOGETHER = 12
QUERY = {
    name: OpenApiParameter(name, str, description=words)
    for name, words in {
        "models": "Names, separated by commas.",
        "page": "From 1.",
        "page_size": "At most 100.",
        "result": "wins, losses or ties of the first of one or two models.",
        "consistent": "true or false.",
        "prompt_source": "A category of samples.",
        "q": "Words of the instruction, the category, the source or further fields.",
        "model_a": "A name.",
        "model_b": "A name.",
        "opponents": "Names, separated by commas.",
        "subsets": "Slugs of ladders, separated by commas.",
        "model_scope": "all or common.",
    }.items()
}


def read(name: str, *query: str) -> Callable[[Route], Route]:
    responses: dict[Any, Any] = {200: dict, **{status: REFUSALS[status] for status in (400, 401, 403, 404)}}
    parameters = [QUERY[one] for one in query]
    return extend_schema(operation_id=f"compat_{name}", tags=[TAG], responses=responses, parameters=parameters)


class ReadView(ClientView):
    permission_classes = [HasScope]

    def ladders(self) -> list[Ladder]:
        found = listing.visible_ladders(self.request.user).filter(board__isnull=False, withdrawn_reason="")
        return list(found.defer("standing__data").order_by("slug"))

    def ladder(self, subset: str, exp_name: str = standing.ALL) -> Ladder:
        if exp_name != standing.ALL:
            raise Http404
        found = listing.visible_ladders(self.request.user).filter(board__isnull=False, withdrawn_reason="")
        return get_object_or_404(found, slug=subset)

    def board(self, subset: str, exp_name: str = standing.ALL) -> Board:
        board = self.ladder(subset, exp_name).board
        if board is None:
            raise Http404
        return board

    def names(self, parameter: str = "models") -> list[str]:
        words = self.request.query_params.get(parameter, "").replace("\0", "")
        return [name.strip() for name in words.split(",") if name.strip()][:50]

    def page(self, usual: int) -> tuple[int, int]:
        number, size = self._whole("page", 1), min(self._whole("page_size", usual), MOST_ON_A_PAGE)
        if number * size > MOST_SHOWN:
            raise ValidationError({"page": [_("So far back nothing is paged: take the log of the board instead.")]})
        return number, size

    def _whole(self, name: str, usual: int) -> int:
        text = self.request.query_params.get(name, "")
        return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else usual


class SubsetsView(ReadView):
    """The ladders that you may see, by their slugs."""

    @read("subsets")
    def get(self, request: Request) -> Response:
        return Response({"subsets": [ladder.slug for ladder in self.ladders()]})


class InfoView(ReadView):
    """What is in a ladder: its contestants, and the categories of its samples."""

    @read("subset")
    def get(self, request: Request, subset: str) -> Response:
        return Response(standing.info(self.ladder(subset)))


class StatsView(ReadView):
    """How many battles and ties a ladder has, and how consistently they were judged."""

    @read("subset_stats")
    def get(self, request: Request, subset: str) -> Response:
        return Response(standing.stats(self.ladder(subset)))


class LeaderboardView(ReadView):
    """The standing of a ladder, the first rank first."""

    @read("subset_leaderboard", "models")
    def get(self, request: Request, subset: str) -> Response:
        return Response({"leaderboard": standing.leaderboard(self.ladder(subset), self.names())})


class BySourceView(ReadView):
    """The standing within each category of samples."""

    @read("subset_by_source")
    def get(self, request: Request, subset: str) -> Response:
        return Response(standing.by_source(self.ladder(subset)))


class ModelStatsView(ReadView):
    """How one contestant stands."""

    @read("subset_model")
    def get(self, request: Request, subset: str, model: str) -> Response:
        found = standing.model_stats(self.ladder(subset), model)
        if found is None:
            raise Http404
        return Response(found)


class HeadToHeadView(ReadView):
    """How two contestants fared against each other."""

    @read("subset_h2h", "model_a", "model_b")
    def get(self, request: Request, subset: str, exp_name: str) -> Response:
        ladder = self.ladder(subset, exp_name)
        asked = [request.query_params.get(name, "") for name in ("model_a", "model_b")]
        if not all(asked):
            raise ValidationError({"model_a": [_("Name two models: model_a and model_b.")]})
        return Response(standing.head_to_head(ladder, *asked))


class MatrixView(ReadView):
    """Who won how often against whom."""

    @read("subset_matrix", "models")
    def get(self, request: Request, subset: str) -> Response:
        return Response(standing.win_matrix(self.ladder(subset), self.names()))


class HistoryView(ReadView):
    """How the ratings went over time."""

    @read("subset_history", "models")
    def get(self, request: Request, subset: str) -> Response:
        return Response(standing.history(self.ladder(subset), self.names()))


class OverviewView(ReadView):
    """The standings of all ladders that you may see, side by side."""

    @read("overview")
    def get(self, request: Request) -> Response:
        return Response(standing.overview(self.ladders()))


class CrossView(ReadView):
    def chosen(self) -> list[Ladder]:
        slugs = self.names("subsets")
        if not slugs:
            raise ValidationError({"subsets": [_("Name the subsets.")]})
        return [self.ladder(slug) for slug in dict.fromkeys(slugs[:MOST_TOGETHER])]


class CrossInfoView(CrossView):
    """Which contestants several ladders have in common."""

    @read("cross_info", "subsets")
    def get(self, request: Request) -> Response:
        return Response(standing.cross_info(self.chosen()))


class CrossEloView(CrossView):
    """One fit over the battles of several ladders."""

    @read("cross_elo", "subsets", "model_scope")
    def get(self, request: Request) -> Response:
        scope = "common" if request.query_params.get("model_scope") == "common" else "all"
        return Response(standing.cross_elo(self.chosen(), scope))


class BattlesView(ReadView):
    """The battles of a ladder, page by page."""

    @read("subset_battles", "models", "result", "consistent", "prompt_source", "page", "page_size")
    def get(self, request: Request, subset: str, exp_name: str) -> Response:
        board = self.board(subset, exp_name)
        looked = battles.chosen(board, request.query_params, self.names())
        return Response(battles.page(board, looked, *self.page(20)))


class BattleView(ReadView):
    """One battle with what both sides gave and the judge said."""

    @read("subset_battle")
    def get(self, request: Request, subset: str, exp_name: str, battle_id: str) -> Response:
        board = self.board(subset, exp_name)
        battle = battles.named(board, battle_id)
        if battle is None:
            raise Http404
        return Response(battles.detailed(battle, board))


class SearchView(ReadView):
    """Battles on samples that have the words, page by page."""

    @read("subset_search", "q", "models", "consistent", "page", "page_size")
    def get(self, request: Request, subset: str, exp_name: str) -> Response:
        board, words = self.board(subset, exp_name), request.query_params.get("q", "").replace("\0", "")[:200]
        looked = battles.chosen(board, request.query_params, self.names(), words)
        return Response({**battles.page(board, looked, *self.page(20)), "query": words})


class PromptsView(ReadView):
    """The samples of a ladder with their battles, page by page."""

    @read("subset_prompts", "prompt_source", "page", "page_size")
    def get(self, request: Request, subset: str, exp_name: str) -> Response:
        board = self.board(subset, exp_name)
        looked = battles.chosen(board, request.query_params, ())
        return Response(battles.prompts(board, looked, *self.page(10)))


class SearchPromptsView(ReadView):
    """Samples that have the words, with their battles, page by page."""

    @read("subset_search_prompts", "q", "page", "page_size")
    def get(self, request: Request, subset: str, exp_name: str) -> Response:
        board, words = self.board(subset, exp_name), request.query_params.get("q", "").replace("\0", "")[:200]
        looked = battles.chosen(board, {}, (), words)
        return Response({**battles.prompts(board, looked, *self.page(10)), "query": words})


class SampleView(ReadView):
    def sample(self, board: Board, key: int) -> Sample:
        if key > 2**63 - 1:
            raise Http404
        return get_object_or_404(Sample, dataset=board.dataset_id, pk=key)


class InputCountView(SampleView):
    """How many pictures a sample begins with."""

    @read("sample_input_count")
    def get(self, request: Request, subset: str, sample_index: int) -> Response:
        return Response({"count": len(self.sample(self.board(subset), sample_index).images)})


class AllModelsView(SampleView):
    """What every contestant gave on one sample."""

    @read("sample_all_models", "models")
    def get(self, request: Request, subset: str, exp_name: str, sample_index: int) -> Response:
        board = self.board(subset, exp_name)
        return Response(battles.on(board, self.sample(board, sample_index), self.names()))


class ModelOnSampleView(SampleView):
    """The battles of one contestant on one sample."""

    @read("sample_model", "opponents")
    def get(self, request: Request, subset: str, exp_name: str, sample_index: int, model: str) -> Response:
        board = self.board(subset, exp_name)
        sample = self.sample(board, sample_index)
        return Response(battles.of_model(board, sample, model, self.names("opponents")))
