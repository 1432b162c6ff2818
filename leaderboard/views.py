"""The leaderboard's pages: seen by whoever may see the dataset, visitors among them."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from accounts.errors import Refusal
from accounts.people import person
from accounts.refusing import status_of
from experiments.models import Board
from experiments.workflows.coding.pages import voiding
from experiments.workflows.coding.pages.rated import RunRatings
from leaderboard import axis, bias, coding, coding_page, compute, downloads, listing, milestones, page
from leaderboard.history_chart import history
from leaderboard.matrix import matrix
from leaderboard.models import Ladder
from leaderboard.serving import conditional, fragment
from leaderboard.simulated import simulation
from leaderboard.words import judge_words, ladder_title


@require_GET
def leaderboard(request: HttpRequest) -> HttpResponse:
    """Every ladder that may be seen, by workflow and dataset; under them, models over datasets."""
    ladders = listing.listed(request.user)
    state = repr([compute.state_of(ladder) for ladder in ladders])
    by = request.GET.get("by", "")

    def respond() -> HttpResponse:
        entries = [listing.entry(ladder) for ladder in ladders if not ladder.withdrawn_reason]
        columns, lines = listing.overview(entries, by)
        context = {
            "groups": listing.groups(entries),
            "withdrawn": [ladder for ladder in ladders if ladder.withdrawn_reason],
            "columns": columns,
            "lines": lines,
            "by": by,
        }
        return render(request, "leaderboard/index.html", context)

    return conditional(request, state, respond)


@require_GET
def ladder(request: HttpRequest, slug: str) -> HttpResponse:
    """Where everybody stands: a slice, a sequence, a search by the address."""
    found, chosen = _ladder(request, slug), page.choice(request.GET)
    beside = _beside(request, found)
    state = repr([compute.state_of(found), *(compute.state_of(other) for other in beside)])

    def respond() -> HttpResponse:
        context = _context(found)
        if not found.withdrawn_reason:
            context |= _standing(found, chosen, state)
            context["beside"] = [listing.entry(other) for other in beside]
        if found.workflow == coding.WORKFLOW and not found.withdrawn_reason:
            return render(request, "leaderboard/coding.html", {**context, **_contest(request, context)})
        return render(request, "leaderboard/ladder.html", context)

    return conditional(request, state, respond)


@require_GET
def ladder_matrix(request: HttpRequest, slug: str) -> HttpResponse:
    """Every pair; the first forty unless `all` is asked for."""
    found, chosen = _ladder(request, slug, with_board=True), page.choice(request.GET)
    whole, state = bool(request.GET.get("all")), compute.state_of(found)

    def respond() -> HttpResponse:
        current = compute.current(found, chosen.subset, chosen.category)
        key = (state, chosen.subset, chosen.category, whole)
        table = fragment(
            "leaderboard/_matrix.html", key, lambda: {"matrix": matrix(found, current, whole=whole), "ladder": found}
        )
        context = {**_context(found), "current": current, "choice": chosen, "table": table, "whole": whole}
        return render(request, "leaderboard/matrix.html", context)

    return conditional(request, state, respond)


@require_GET
def ladder_history(request: HttpRequest, slug: str) -> HttpResponse:
    """How the ratings came about; `name` chooses whose."""
    found = _ladder(request, slug)
    if found.workflow == coding.WORKFLOW and not found.withdrawn_reason:
        contest = compute.current(found).standings.contest
        return render(request, "leaderboard/coding_history.html", {**_context(found), **_cycles(request, contest)})
    drawn = history(found, request.GET.getlist("name"))
    return render(request, "leaderboard/history.html", {**_context(found), "history": drawn})


@require_http_methods(["GET", "POST"])
def ladder_milestones(request: HttpRequest, slug: str) -> HttpResponse:
    """The milestones of a board; the newest, or the one named, compared with today. POST takes one."""
    found = _ladder(request, slug, with_board=True)
    typed = {"name": request.POST.get("name", ""), "note": request.POST.get("note", "")}
    if request.method == "POST":
        return _take(request, found, typed)
    return _milestones(request, found, typed)


@require_GET
def methodology(request: HttpRequest) -> HttpResponse:
    return render(request, "leaderboard/methodology.html")


@require_GET
def ladder_download(request: HttpRequest, slug: str, format: str) -> HttpResponse:
    found, chosen = _ladder(request, slug), page.choice(request.GET)
    if format not in downloads.FORMATS or found.withdrawn_reason:
        raise Http404
    kind, write = downloads.FORMATS[format]

    def respond() -> HttpResponse:
        current = compute.current(found, chosen.subset, chosen.category, bootstrapped=chosen.bootstrapped)
        response = HttpResponse(write(found, current), content_type=kind)
        response["Content-Disposition"] = f'attachment; filename="{found.slug}.{format}"'
        return response

    return conditional(request, compute.state_of(found), respond)


def _ladder(request: HttpRequest, slug: str, *, with_board: bool = False) -> Ladder:
    visible = listing.visible_ladders(request.user)
    found = get_object_or_404(visible, slug=slug)
    if with_board and (found.board is None or found.withdrawn_reason):
        raise Http404
    return found


def _context(found: Ladder) -> dict[str, Any]:
    board = found.board
    return {
        "ladder": found,
        "board": board,
        "title": ladder_title(found),
        "judge": judge_words(board) if board else "",
        "is_people": board is not None and board.kind == Board.Kind.PEOPLE,
        **simulation(found),
    }


def _standing(found: Ladder, chosen: page.Choice, state: str) -> dict[str, Any]:
    current = compute.current(found, chosen.subset, chosen.category, bootstrapped=chosen.bootstrapped)
    standings = current.standings

    def rows() -> dict[str, object]:
        return {
            "rows": page.shown(standings, chosen),
            "axis": axis.axis_of(standings.rows),
            "standings": standings,
            "ladder": found,
        }

    key = (state, chosen.subset, chosen.category, chosen.bootstrapped, chosen.sort_word, chosen.search)
    return {
        "current": current,
        "standings": standings,
        "choice": chosen,
        "headings": page.headings(chosen),
        "rows": fragment("leaderboard/_rows.html", key, rows) if page.shown(standings, chosen) else "",
        "axis": axis.axis_of(standings.rows),
        "bias": bias.of_judge(found) if found.board else None,
    }


def _contest(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What only the ladder of coding shows."""
    standings = context["standings"]
    return coding_page.boards(standings) | coding_page.left_out(request.user) | _cycles(request, standings.contest)


def _cycles(request: HttpRequest, contest: RunRatings | None) -> dict[str, Any]:
    drawn = coding_page.history(contest, request.GET, request.user) if contest else None
    return {"history": drawn, "may_void": voiding.may_void(request.user)}


def _beside(request: HttpRequest, found: Ladder) -> list[Ladder]:
    """The other ladders of the same dataset."""
    if found.board is None:
        return []
    same = listing.visible_ladders(request.user).filter(board__dataset=found.board.dataset_id, withdrawn_reason="")
    return list(same.exclude(pk=found.pk).defer("standing__data"))


@login_required
def _take(request: HttpRequest, found: Ladder, typed: dict[str, str]) -> HttpResponse:
    try:
        taken = milestones.take(found, by=person(request), **typed)
    except Refusal as error:
        return _milestones(request, found, typed, str(error), status=status_of(error))
    messages.success(request, _("The milestone %(name)s is kept.") % {"name": taken.name})
    return redirect("ladder-milestones", slug=found.slug)


def _milestones(
    request: HttpRequest, found: Ladder, typed: dict[str, str], problem: str = "", status: int = 200
) -> HttpResponse:
    kept = list(found.milestones.select_related("by").defer("covariance"))
    asked = request.GET.get("milestone", "")
    chosen = next((one for one in kept if one.name == asked), kept[0] if kept else None)
    context = {
        **_context(found),
        "milestones": kept,
        "chosen": chosen,
        "compared": milestones.compared(chosen) if chosen else None,
        "may_take": milestones.may_take(found, request.user),
        "typed": typed,
        "problem": problem,
    }
    return render(request, "leaderboard/milestones.html", context, status=status)
