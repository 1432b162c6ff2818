"""Battles of a ladder's board as files, for whoever may see the ladder."""

from django.http import Http404, HttpRequest, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.attachments import streamed, to_be_saved
from accounts.permissions import HasScope
from experiments.api.requests import PROBLEMS
from experiments.models import Board
from experiments.workflows.battles.campaign.logs.formats import FORMATS, Format
from leaderboard.boards import listing

FORMAT = OpenApiParameter("format", str, enum=list(FORMATS), default="slim")
SUBSET = OpenApiParameter("subset", str, description="Only this subset, in lines without `subset`.")


@require_GET
def board_export(request: HttpRequest, slug: str, format: str) -> StreamingHttpResponse:
    if format not in FORMATS:
        raise Http404
    return _file(request, _board(request, slug), FORMATS[format])


class BoardExportView(APIView):
    """The battles of a board as JSON lines or as a zip, without signing in where the dataset is public."""

    permission_classes = [HasScope]

    @extend_schema(
        parameters=[FORMAT, SUBSET],
        responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY, (200, "application/zip"): OpenApiTypes.BINARY}
        | PROBLEMS,
        operation_id="boards_export_retrieve",
    )
    def get(self, request: Request, slug: str) -> StreamingHttpResponse:
        """slim and audit: results in GenArena's shapes. full: every battle, open and void ones with their reasons."""
        board = _board(request._request, slug, request.user)
        format_ = FORMATS.get(request.query_params.get("format", "slim"))
        if format_ is None:
            raise ValidationError({"format": [f"This format is not offered: ask for {', '.join(FORMATS)}."]})
        return _file(request._request, board, format_)


def _board(request: HttpRequest, slug: str, user: object = None) -> Board:
    ladders = listing.visible_ladders(user or request.user)
    ladder = get_object_or_404(ladders, slug=slug)
    if ladder.board is None or ladder.withdrawn_reason:
        raise Http404
    return ladder.board


def _file(request: HttpRequest, board: Board, format_: Format) -> StreamingHttpResponse:
    subset = request.GET.get("subset")
    chunks = format_.chunks(board, subset and subset.replace("\0", ""))
    return to_be_saved(streamed(request, chunks), format_.content_type, format_.named(board))
