"""The routes: public where the dataset is, without a token too. Nothing is changed by any of them."""

from collections.abc import Callable
from typing import Any

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.permissions import HasScope
from experiments.api.compatibility.views import REFUSALS, TAG, ClientView
from experiments.models import Board, Sample
from leaderboard.boards import listing
from leaderboard.compatibility import battles, standing
from leaderboard.models import Ladder

OF_SUBSET = "subsets/<slug:subset>/"
OF_EXPERIMENT = f"{OF_SUBSET}experiments/<str:exp_name>/"
OF_SAMPLE = f"{OF_EXPERIMENT}samples/<int:sample_index>/"
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
Answer = Callable[..., object]
urlpatterns: list[URLPattern] = []


class ReadView(ClientView):
    permission_classes = [HasScope]

    def ladders(self) -> list[Ladder]:
        return list(self._ladders().defer("standing__data").order_by("slug"))

    def ladder(self, subset: str, exp_name: str = standing.ALL) -> Ladder:
        if exp_name != standing.ALL:
            raise Http404
        return get_object_or_404(self._ladders(), slug=subset)

    def board(self, subset: str, exp_name: str = standing.ALL) -> Board:
        board = self.ladder(subset, exp_name).board
        if board is None:
            raise Http404
        return board

    def names(self, parameter: str = "models") -> list[str]:
        words = self.request.query_params.get(parameter, "").replace("\0", "")
        return [name.strip() for name in words.split(",") if name.strip()][:50]

    def words(self) -> str:
        return self.request.query_params.get("q", "").replace("\0", "")[:200]

    def sample(self, subset: str, exp_name: str, key: int) -> tuple[Board, Sample]:
        board = self.board(subset, exp_name)
        if key > 2**63 - 1:
            raise Http404
        return board, get_object_or_404(Sample, dataset=board.dataset_id, pk=key)

    def page(self, usual: int) -> tuple[int, int]:
        def whole(name: str, otherwise: int) -> int:
            text = self.request.query_params.get(name, "")
            return max(1, int(text)) if text.isascii() and text.isdigit() and len(text) < 9 else otherwise

        number, size = whole("page", 1), min(whole("page_size", usual), MOST_ON_A_PAGE)
        if number * size > MOST_SHOWN:
            raise ValidationError({"page": [_("So far back nothing is paged: take the log of the board instead.")]})
        return number, size

    def _ladders(self) -> QuerySet[Ladder]:
        return listing.visible_ladders(self.request.user).filter(board__isnull=False, withdrawn_reason="")


def route(address: str, name: str, operation: str, *query: str) -> Callable[[Answer], Answer]:
    """Adds the view of a function that answers GET: its docstring is the description in the schema."""
    responses: dict[Any, Any] = {200: dict, **{status: REFUSALS[status] for status in (400, 401, 403, 404)}}
    parameters = [QUERY[one] for one in query]

    def add(answer: Answer) -> Answer:
        @extend_schema(operation_id=f"compat_{operation}", tags=[TAG], responses=responses, parameters=parameters)
        def get(self: ReadView, request: Request, **names: Any) -> Response:
            return Response(answer(self, **names))

        get.__doc__ = answer.__doc__
        view: Any = type(f"{operation.title().replace('_', '')}View", (ReadView,), {"get": get, "__module__": __name__})
        urlpatterns.append(path(address, view.as_view(), name=f"compat-{name}"))
        return answer

    return add


@route("subsets", "subsets", "subsets")
def subsets(view: ReadView) -> object:
    """The ladders that you may see, by their slugs."""
    return {"subsets": [ladder.slug for ladder in view.ladders()]}


@route(f"{OF_SUBSET}info", "subset", "subset")
def info(view: ReadView, subset: str) -> object:
    """What is in a ladder: its contestants, and the categories of its samples."""
    return standing.info(view.ladder(subset))


@route(f"{OF_SUBSET}stats", "subset-stats", "subset_stats")
def stats(view: ReadView, subset: str) -> object:
    """How many battles and ties a ladder has, and how consistently they were judged."""
    return standing.stats(view.ladder(subset))


@route(f"{OF_SUBSET}leaderboard", "subset-leaderboard", "subset_leaderboard", "models")
def leaderboard(view: ReadView, subset: str) -> object:
    """The standing of a ladder, the first rank first."""
    return {"leaderboard": standing.leaderboard(view.ladder(subset), view.names())}


@route(f"{OF_SUBSET}leaderboard/by-source", "subset-by-source", "subset_by_source")
def by_source(view: ReadView, subset: str) -> object:
    """The standing within each category of samples."""
    return standing.by_source(view.ladder(subset))


@route(f"{OF_SUBSET}models/<path:model>/stats", "subset-model", "subset_model")
def model_stats(view: ReadView, subset: str, model: str) -> object:
    """How one contestant stands."""
    found = standing.model_stats(view.ladder(subset), model)
    if found is None:
        raise Http404
    return found


@route(f"{OF_EXPERIMENT}h2h", "h2h", "subset_h2h", "model_a", "model_b")
def head_to_head(view: ReadView, subset: str, exp_name: str) -> object:
    """How two contestants fared against each other."""
    ladder = view.ladder(subset, exp_name)
    asked = [view.request.query_params.get(name, "") for name in ("model_a", "model_b")]
    if not all(asked):
        raise ValidationError({"model_a": [_("Name two models: model_a and model_b.")]})
    return standing.head_to_head(ladder, *asked)


@route(f"{OF_SUBSET}matrix", "subset-matrix", "subset_matrix", "models")
def matrix(view: ReadView, subset: str) -> object:
    """Who won how often against whom."""
    return standing.win_matrix(view.ladder(subset), view.names())


@route(f"{OF_SUBSET}elo-history", "subset-history", "subset_history", "models")
def history(view: ReadView, subset: str) -> object:
    """How the ratings went over time."""
    return standing.history(view.ladder(subset), view.names())


@route("overview/leaderboards", "overview", "overview")
def overview(view: ReadView) -> object:
    """The standings of all ladders that you may see, side by side."""
    return standing.overview(view.ladders())


def _chosen(view: ReadView) -> list[Ladder]:
    slugs = view.names("subsets")
    if not slugs:
        raise ValidationError({"subsets": [_("Name the subsets.")]})
    return [view.ladder(slug) for slug in dict.fromkeys(slugs[:MOST_TOGETHER])]


@route("cross-subset/info", "cross-info", "cross_info", "subsets")
def cross_info(view: ReadView) -> object:
    """Which contestants several ladders have in common."""
    return standing.cross_info(_chosen(view))


@route("cross-subset/elo", "cross-elo", "cross_elo", "subsets", "model_scope")
def cross_elo(view: ReadView) -> object:
    """One fit over the battles of several ladders."""
    scope = "common" if view.request.query_params.get("model_scope") == "common" else "all"
    return standing.cross_elo(_chosen(view), scope)


@route(
    f"{OF_EXPERIMENT}battles",
    "battles",
    "subset_battles",
    "models",
    "result",
    "consistent",
    "prompt_source",
    "page",
    "page_size",
)
def battle_list(view: ReadView, subset: str, exp_name: str) -> object:
    """The battles of a ladder, page by page."""
    board = view.board(subset, exp_name)
    return battles.page(board, battles.chosen(board, view.request.query_params, view.names()), *view.page(20))


@route(f"{OF_EXPERIMENT}battles/<path:battle_id>", "battle", "subset_battle")
def battle(view: ReadView, subset: str, exp_name: str, battle_id: str) -> object:
    """One battle with what both sides gave and the judge said."""
    board = view.board(subset, exp_name)
    found = battles.named(board, battle_id)
    if found is None:
        raise Http404
    return battles.detailed(found, board)


@route(f"{OF_EXPERIMENT}search", "search", "subset_search", "q", "models", "consistent", "page", "page_size")
def search(view: ReadView, subset: str, exp_name: str) -> object:
    """Battles on samples that have the words, page by page."""
    board, words = view.board(subset, exp_name), view.words()
    looked = battles.chosen(board, view.request.query_params, view.names(), words)
    return {**battles.page(board, looked, *view.page(20)), "query": words}


@route(f"{OF_EXPERIMENT}prompts", "prompts", "subset_prompts", "prompt_source", "page", "page_size")
def prompts(view: ReadView, subset: str, exp_name: str) -> object:
    """The samples of a ladder with their battles, page by page."""
    board = view.board(subset, exp_name)
    return battles.prompts(board, battles.chosen(board, view.request.query_params, ()), *view.page(10))


@route(f"{OF_EXPERIMENT}search/prompts", "search-prompts", "subset_search_prompts", "q", "page", "page_size")
def search_prompts(view: ReadView, subset: str, exp_name: str) -> object:
    """Samples that have the words, with their battles, page by page."""
    board, words = view.board(subset, exp_name), view.words()
    return {**battles.prompts(board, battles.chosen(board, {}, (), words), *view.page(10)), "query": words}


@route(f"{OF_SUBSET}samples/<int:sample_index>/input_count", "input-count", "sample_input_count")
def input_count(view: ReadView, subset: str, sample_index: int) -> object:
    """How many pictures a sample begins with."""
    return {"count": len(view.sample(subset, standing.ALL, sample_index)[1].images)}


@route(f"{OF_SAMPLE}all_models", "all-models", "sample_all_models", "models")
def all_models(view: ReadView, subset: str, exp_name: str, sample_index: int) -> object:
    """What every contestant gave on one sample."""
    return battles.on(*view.sample(subset, exp_name, sample_index), view.names())


@route(f"{OF_SAMPLE}models/<path:model>/battles", "model-battles", "sample_model", "opponents")
def model_battles(view: ReadView, subset: str, exp_name: str, sample_index: int, model: str) -> object:
    """The battles of one contestant on one sample."""
    return battles.of_model(*view.sample(subset, exp_name, sample_index), model, view.names("opponents"))
