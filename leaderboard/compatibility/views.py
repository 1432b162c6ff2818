"""What the routes have in common: public where the dataset is, without a token too. None of them changes anything."""

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
from leaderboard.models import Ladder

OF_SUBSET = "subsets/<slug:subset>/"
OF_EXPERIMENT = f"{OF_SUBSET}experiments/<str:exp_name>/"
OF_SAMPLE = f"{OF_EXPERIMENT}samples/<int:sample_index>/"
ALL = "__all__"
MOST_ON_A_PAGE = 100
MOST_SHOWN = 10_000  # battles that may be paged through: the board's log has all of them
MOST_TOGETHER = 12
QUERY = {
    name: OpenApiParameter(name, str, description=words)
    for name, words in {
        "models": "Names, separated by commas.",
        "page": "From 1.",
        "page_size": "At most 100.",
        "result": "wins, losses or ties of the first of one or two models.",
        "consistent": "true or false.",
        "prompt_source": "Where prompts come from.",
        "q": "Words of the instruction, the category, the source or further fields.",
        "model_a": "A name.",
        "model_b": "A name.",
        "opponents": "Names, separated by commas.",
        "subsets": "Slugs of boards, separated by commas.",
        "model_scope": "all or common.",
    }.items()
}
Answer = Callable[..., object]
urlpatterns: list[URLPattern] = []


class ReadView(ClientView):
    permission_classes = [HasScope]

    def ladders(self) -> list[Ladder]:
        return list(self._ladders().defer("standing__data").order_by("slug"))

    def ladder(self, subset: str, exp_name: str = ALL) -> Ladder:
        if exp_name != ALL:
            raise Http404
        return get_object_or_404(self._ladders(), slug=subset)

    def board(self, subset: str, exp_name: str = ALL) -> Board:
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
            raise ValidationError({"page": [_("Older battles are not paged. Download the board's log instead.")]})
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
