"""The leaderboard's pages: visible to those who may see the dataset, visitors among them."""

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.views import APIView

from accounts.attachments import streamed, to_be_saved
from accounts.errors import Refusal
from accounts.people import person
from accounts.permissions import HasScope
from accounts.refusing import status_of
from experiments.api.requests import PROBLEMS
from experiments.library.annotations import favorites
from experiments.models import Board, Favorite
from experiments.workflows.battles.campaign.logs.packing import FORMATS, Format
from experiments.workflows.coding.pages import voiding
from experiments.workflows.coding.pages.rated import RunRatings
from leaderboard.boards import (
    bias,
    coding,
    combining,
    compute,
    contamination,
    corrections,
    downloads,
    influence,
    listing,
    matchmaking,
    milestones,
    style,
    table_files,
    tables,
    upstreams,
)
from leaderboard.boards.caching import cached_fragment, conditional_response
from leaderboard.boards.periods import RECENT, Period
from leaderboard.boards.titles import KINDS
from leaderboard.pages import charts
from leaderboard.pages import coding as coding_page

FORMAT = OpenApiParameter("format", str, enum=list(FORMATS), default="slim")
SUBSET = OpenApiParameter("subset", str, description="Only this subset, in lines without `subset`.")
CONTROLS = (
    ("", gettext_lazy("not adjusted")),
    ("style", gettext_lazy("length, markdown, script and order")),
    ("length", gettext_lazy("length")),
    ("markdown", gettext_lazy("markdown and code")),
    ("position", gettext_lazy("order of the outputs")),
    (style.UPSTREAM, gettext_lazy("upstream that answered")),
    (f"{style.ALL},{style.UPSTREAM}", gettext_lazy("all of these")),
)
COMBINATIONS = (
    ("", gettext_lazy("not combined")),
    (combining.CORRECTED, gettext_lazy("ratings of people, made more precise by judges")),
    *(
        (word, format_lazy(gettext_lazy("one verdict counts as {weight} votes"), weight=word))
        for word in combining.WEIGHTS
    ),
)


@require_GET
def leaderboard(request: HttpRequest) -> HttpResponse:
    """Every board that may be seen, of a kind and with the words looked for, favorites first; under them, models over
    datasets.
    """
    ladders = listing.index_ladders(request.user)
    marked = favorites.marked(request.user)[Favorite.Kind.BOARD]
    state = repr([marked, *map(compute.state_of, ladders)])
    by, kind, search = (request.GET.get(name, "") for name in ("by", "kind", "q"))

    def respond() -> HttpResponse:
        entries = listing.in_sequence(listing.entry(ladder) for ladder in ladders if not ladder.withdrawn_reason)
        found = listing.matching(entries, kind=kind, search=search)
        kinds = Counter(one.kind for one in listing.matching(entries, search=search))
        columns, lines = listing.overview(found, by)
        context = {
            "entries": sorted(found, key=lambda one: one.ladder.slug not in marked),
            "marked": marked,
            "is_empty": not entries,
            "kinds": sorted(kinds.items(), key=lambda one: (list(KINDS).index(one[0]) if one[0] in KINDS else 99, one)),
            "kind": kind,
            "search": search,
            "withdrawn": [ladder for ladder in ladders if ladder.withdrawn_reason],
            "columns": columns,
            "lines": lines,
            "by": by,
        }
        return render(request, "leaderboard/index.html", context)

    return conditional_response(request, state, respond)


@require_GET
def ladder(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings: a slice, a sequence, a search by the address. Other ladders of its dataset beside it."""
    found, chosen = listing.ladder_of(request.user, slug), tables.read_choice(request.GET)
    beside = listing.others_of_dataset(request.user, found)
    marked = favorites.marked(request.user)
    state = repr([chosen.of, *map(compute.state_of, (found, *beside))])
    asked = (chosen.controlled, chosen.combination, chosen.unseen)

    def respond() -> HttpResponse:
        context = listing.head_of(found)
        if found.withdrawn_reason:
            return render(request, "leaderboard/ladder.html", context)
        current = compute.current(found, chosen.of, bootstrapped=chosen.bootstrapped)
        standings = current.standings
        further = tables.further(found, beside, chosen)
        rows = tables.shown_rows(standings, chosen, further)
        key = (state, chosen.of, chosen.bootstrapped, chosen.sort_word, chosen.search, asked)
        body: dict[str, object] = {"rows": rows, "standings": standings, "ladder": found, "further": further}
        context |= {
            "current": current,
            "standings": standings,
            "choice": chosen,
            "facets": tables.facets(standings),
            "headings": tables.headings(chosen, further),
            "explained": tables.EXPLAINED,
            "style": further.style,
            "combined": further.combined,
            "unseen": further.unseen,
            "is_dated": found.board is not None and contamination.is_dated(found.board),
            "controls": CONTROLS,
            "combinations": COMBINATIONS if combining.boards_beside(found, beside) else (),
            "rows": cached_fragment("leaderboard/_rows.html", key, lambda: body) if rows else "",
            "chart": charts.intervals(standings.rows),
            "bias": bias.of_judge(found) if found.board else None,
            "matchmaking": matchmaking.matchmaking(found.board, standings.rows) if found.board else None,
            "upstreams": upstreams.upstreams(found.board) if found.board else (),
            "corrections": corrections.corrections(found.board, request.user) if found.board else (),
            "dependences": influence.dependences(found.board) if found.board and not chosen.of.chosen else (),
            "table_formats": [
                (format.upper() if format != "md" else "Markdown", format) for format in downloads.FORMATS
            ],
            "is_published": found.is_published,
            "page_address": request.build_absolute_uri(found.get_absolute_url()),
            "embed_address": request.build_absolute_uri(reverse("ladder-embed", args=[found.slug])),
            "beside": [listing.entry(other) for other in beside],
            "is_favorite": found.slug in marked[Favorite.Kind.BOARD],
            "favorites": [row for row in standings.rows if row.name in marked[Favorite.Kind.CONTESTANT]],
            "others": [row for row in standings.rows if row.name not in marked[Favorite.Kind.CONTESTANT]],
        }
        if found.workflow != coding.WORKFLOW:
            return render(request, "leaderboard/ladder.html", context)
        context |= coding_page.contest_boards(standings) | coding_page.void_cycles(request.user)
        return render(request, "leaderboard/coding.html", {**context, **_cycles(request, standings.contest)})

    return conditional_response(request, f"{state}{marked}", respond)


@require_GET
def ladder_matrix(request: HttpRequest, slug: str) -> HttpResponse:
    """Every pair; the first forty unless `all` is asked for."""
    found, _board = listing.ladder_with_board(request.user, slug)
    chosen = tables.read_choice(request.GET)
    whole, state = bool(request.GET.get("all")), repr((chosen.of, compute.state_of(found)))

    def respond() -> HttpResponse:
        current = compute.current(found, chosen.of)
        table = cached_fragment(
            "leaderboard/_matrix.html",
            (state, chosen.of, whole),
            lambda: {"matrix": tables.pair_matrix(found, current, whole=whole), "ladder": found},
        )
        context = {**listing.head_of(found), "current": current, "table": table, "whole": whole}
        context["facets"] = tables.facets(current.standings)
        return render(request, "leaderboard/matrix.html", context)

    return conditional_response(request, state, respond)


@require_GET
def ladder_slices(request: HttpRequest, slug: str) -> HttpResponse:
    """Contestants by the values of one facet (`by`)."""
    found, _board = listing.ladder_with_board(request.user, slug)

    def respond() -> HttpResponse:
        sliced = tables.by_slices(found, request.GET.get("by", ""))
        context = {
            **listing.head_of(found),
            "sliced": sliced,
            "facets": tables.facets(compute.current(found).standings),
        }
        return render(request, "leaderboard/slices.html", context)

    today = Period.read(RECENT[0]).word  # the last days are others tomorrow
    return conditional_response(request, repr((today, compute.state_of(found))), respond)


@require_GET
def ladder_history(request: HttpRequest, slug: str) -> HttpResponse:
    """How the ratings came about; `name` chooses whose."""
    found = listing.ladder_of(request.user, slug)
    context = listing.head_of(found)
    if found.workflow == coding.WORKFLOW and not found.withdrawn_reason:
        contest = compute.current(found).standings.contest
        return render(request, "leaderboard/coding_history.html", {**context, **_cycles(request, contest)})
    drawn = charts.history_chart(found, request.GET.getlist("name"))
    return render(request, "leaderboard/history.html", {**context, "history": drawn})


def _cycles(request: HttpRequest, contest: RunRatings | None) -> dict[str, Any]:
    drawn = coding_page.cycle_history(contest, request.GET, request.user) if contest else None
    return {"history": drawn, "may_void": voiding.may_void(request.user)}


@require_http_methods(["GET", "POST"])
def ladder_milestones(request: HttpRequest, slug: str) -> HttpResponse:
    """The milestones of a board; the newest, or the one named, compared with today. POST takes one."""
    found, _board = listing.ladder_with_board(request.user, slug)
    typed = {"name": request.POST.get("name", ""), "note": request.POST.get("note", "")}
    problem, status = "", 200
    if request.method == "POST":
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        try:
            taken = milestones.take(found, by=person(request), **typed)
        except Refusal as error:
            problem, status = str(error), status_of(error)
        else:
            messages.success(request, _("The milestone %(name)s is published.") % {"name": taken.name})
            return redirect("ladder-milestones", slug=found.slug)
    asked, version, date = (request.GET.get(name, "").replace("\0", "") for name in ("milestone", "version", "date"))
    kept = list(milestones.listed(found, version=version, date=date).select_related("by"))
    chosen = next((one for one in kept if one.name == asked), kept[0] if kept else None)
    context = {
        **listing.head_of(found),
        "milestones": kept,
        "history": charts.milestones_chart(kept, request.GET.getlist("name")),
        "chosen": chosen,
        "compared": milestones.compared(chosen) if chosen else None,
        "may_take": milestones.may_take(found, request.user),
        "typed": typed,
        "problem": problem,
    }
    return render(request, "leaderboard/milestones.html", context, status=status)


@require_GET
def methodology(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard/methodology.html")


@require_GET
def ladder_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    """The ratings in a format, or the pairs, slices, history or milestones as CSV (a name of `table_files.FILES`)."""
    found, chosen = listing.ladder_of(request.user, slug), tables.read_choice(request.GET)
    if found.withdrawn_reason:
        raise Http404
    if (rows := table_files.FILES.get(format)) and (found.board or format == "history"):
        response = HttpResponse(table_files.as_csv(rows(found, request.GET)), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{found.slug}-{format}.csv"'
        return response
    if format not in downloads.FORMATS:
        raise Http404
    kind, write = downloads.FORMATS[format]
    beside = listing.others_of_dataset(request.user, found) if chosen.combination else []

    def respond() -> HttpResponse:
        current = compute.current(found, chosen.of, bootstrapped=chosen.bootstrapped)
        further = tables.further(found, beside, chosen)
        response = HttpResponse(write(found, current, further), content_type=kind)
        response["Content-Disposition"] = f'attachment; filename="{found.slug}.{format}"'
        return response

    return conditional_response(request, repr([chosen.of, *map(compute.state_of, (found, *beside))]), respond)


@require_GET
def board_export(request: HttpRequest, slug: str, format: str) -> StreamingHttpResponse:
    if format not in FORMATS:
        raise Http404
    _ladder, board = listing.ladder_with_board(request.user, slug)
    return _file(request, board, FORMATS[format])


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
        """slim and audit: results in GenArena's shapes. full: every battle; open and void ones with their reasons."""
        _ladder, board = listing.ladder_with_board(request.user, slug)
        format_ = FORMATS.get(request.query_params.get("format", "slim"))
        if format_ is None:
            raise ValidationError({"format": [f"This format is not offered: ask for {', '.join(FORMATS)}."]})
        return _file(request._request, board, format_)


def _file(request: HttpRequest, board: Board, format_: Format) -> StreamingHttpResponse:
    subset = request.GET.get("subset")
    chunks = format_.chunks(board, subset and subset.replace("\0", ""))
    return to_be_saved(streamed(request, chunks), format_.content_type, format_.named(board))
