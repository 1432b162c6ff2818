"""The pages of the public arena: asking, one battle, its data; how the lab sets it up, and which prompts are shown."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.attachments import streamed
from accounts.errors import AlreadyAnswered, Invalid
from accounts.people import for_admins, person
from accounts.refusing import ShownIn, back_to, see_other, status_of
from experiments.review.curation import may_curate
from leaderboard.arena import battles, opening, publishing
from leaderboard.arena.forms import ArenaForm, PromptForm
from leaderboard.boards.matchmaking import VOTES, Rule
from leaderboard.models import ArenaBattle, Ladder, PublicArena
from leaderboard.votes.voters import begin_voting, voter_of

LISTED = 20


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def arena(request: HttpRequest) -> HttpResponse:
    """The page on which a prompt is written; a POST asks two models."""
    row = PublicArena.load()
    if not row.takes_prompts:
        return render(request, "public_arena/closed.html", status=HTTPStatus.NOT_FOUND)
    form = PromptForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form, "prompt"):
            begun = battles.begin(row, voter=begin_voting(request), **form.cleaned_data)
            return see_other(begun)
    return render(request, "public_arena/arena.html", _context(row, form=form), status=status_of(form))


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def battle(request: HttpRequest, pk: UUID) -> HttpResponse:
    """A visitor's own battle: without a name in any byte until a POST has cast the vote, then with both."""
    shown = _own(request, pk)
    if request.method == "POST":
        back_to(request, shown)
        try:
            battles.vote(shown, voter=voter_of(request), choice=request.POST.get("choice", ""))
        except AlreadyAnswered as error:
            messages.warning(request, str(error))
        return see_other(shown)
    found = battles.answers(shown)
    state = battles.state_of(found)
    names = shown.shown if shown.choice else (None, None)
    context = {
        "battle": shown,
        "state": state,
        "problem": battles.problem_of(shown) if state == "failed" else "",
        "sides": list(zip(("first", "second"), "AB", found, names, strict=True)),
        "counts": shown.battle is not None and not shown.battle.void_reason,
    }
    return render(request, "public_arena/battle.html", _context(PublicArena.load(), form=PromptForm()) | context)


@never_cache
@require_GET
def news(request: HttpRequest, pk: UUID) -> JsonResponse:
    """Both answers as far as they have come, for a page whose WebSocket is blocked."""
    own = _own(request, pk)
    return JsonResponse(battles.news_of({own.pk})[own.pk])


@require_GET
def data(request: HttpRequest) -> StreamingHttpResponse:
    """The published votes, for everybody, also once the arena is closed: JSON Lines with the columns of LMArena."""
    answer = streamed(request, publishing.lines())
    answer["Content-Type"] = "application/jsonl"
    answer["Content-Disposition"] = 'attachment; filename="public-arena.jsonl"'
    return answer


@never_cache
@for_admins
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """Who takes part, what a day may cost, and whether visitors are let in."""
    row = PublicArena.load()
    form = ArenaForm(request.POST if request.method == "POST" else None, arena=row)
    if request.method == "POST" and form.is_valid():
        with ShownIn(form):
            opening.configure(by=person(request), **form.cleaned_data)
            messages.success(request, _("The public arena is saved."))
            return redirect("public-arena-settings")
    context = {"form": form, "public_arena": row, "waiting": publishing.to_review().count()}
    return render(request, "public_arena/settings.html", context, status=status_of(form))


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def review(request: HttpRequest) -> HttpResponse:
    """The prompts that visitors offered for publication, the oldest first; a POST decides on one."""
    if not may_curate(request.user):
        raise Http404(_("There is nothing here."))
    waiting = publishing.to_review()
    if request.method == "POST":
        back_to(request, "review-arena")
        decided = get_object_or_404(ArenaBattle.objects.filter(may_publish=True), pk=_uuid(request.POST.get("battle")))
        approve = request.POST.get("decision") == "approve"
        publishing.decide(decided, by=person(request), approve=approve)
        messages.success(request, _("The prompt is published.") if approve else _("The prompt stays unpublished."))
        return see_other("review-arena")
    listed = waiting.prefetch_related("sample__outputs__contestant")[:LISTED]
    return render(request, "public_arena/review.html", {"rows": listed, "count": waiting.count()})


def _own(request: HttpRequest, pk: UUID) -> ArenaBattle:
    """404 for everybody but who asked."""
    voter = voter_of(request)
    if not voter.has_ballot:
        raise Http404
    rows = ArenaBattle.objects.select_related("board__dataset", "run", "sample", "battle")
    rows = rows.select_related("left__model", "right__model")
    return get_object_or_404(rows, pk=pk, ballot=voter.ballot)


def _context(row: PublicArena, **more: Any) -> dict[str, Any]:
    cast = row.experiment.participants.select_related("model__provider") if row.experiment else ()
    return {
        "public_arena": row,
        "rule": Rule(VOTES).sentence,
        "is_simulated": any(one.model.provider.is_simulated for one in cast),
        "ladder": Ladder.objects.filter(board__dataset=row.dataset, withdrawn_reason="").first(),
        **more,
    }


def _uuid(said: str | None) -> UUID:
    try:
        return UUID(said or "")
    except ValueError as error:
        raise Invalid(battle=_("Choose a prompt from the list.")) from error
