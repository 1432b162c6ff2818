"""The pages of voting: a blind pair, what came of a vote, one's own votes, the voters of a dataset, and agreement."""

from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required, user_passes_test
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.errors import AlreadyAnswered, RateLimited, Refusal, Unavailable
from accounts.people import person
from accounts.refusing import back_to, see_other, status_of
from experiments.lab.injections import rates
from experiments.models import Battle, Board, Dataset, Output
from experiments.workflows.battles import WORKFLOW as BATTLES
from experiments.workflows.battles.campaign import voiding
from experiments.workflows.battles.campaign.boards import PEOPLE, people_board
from leaderboard.boards.listing import head_of
from leaderboard.models import Ladder
from leaderboard.pages import battle_details
from leaderboard.pages.battles import board_of
from leaderboard.ratings import outliers as bounds
from leaderboard.votes import totals, voter_report, voting
from leaderboard.votes.agreement import current_report
from leaderboard.votes.voters import begin_voting, votable_datasets, voter_of

VOTES_PER_PAGE = 20
VOTERS_PER_PAGE = 50
OTHER_DATASETS = 6
voters_only = user_passes_test(lambda user: user.is_authenticated or settings.PUBLIC_VOTES)


@never_cache
@voters_only
@require_GET
def vote_index(request: HttpRequest) -> HttpResponse:
    """The datasets on which the person may vote."""
    cast = voting.of_voter(voter_of(request)).exclude(winner="").order_by()
    mine = dict(cast.values_list("board__dataset").annotate(cast=Count("pk")))
    datasets = [
        {"dataset": one, "mine": mine.get(one.pk, 0)} for one in votable_datasets(request.user).order_by("name")[:200]
    ]
    return render(request, "leaderboard/votes.html", {"datasets": datasets})


@never_cache
@voters_only
@require_http_methods(["GET", "HEAD", "POST"])
def vote(request: HttpRequest, slug: str) -> HttpResponse:
    """The pair that waits for the person's vote, without a name in any byte; a POST casts it."""
    dataset = votable_datasets(request.user).filter(slug=slug).first()
    if dataset is None:  # 404 for one that the person may not know of
        dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
        return _closed(request, dataset, _("Voting on this dataset is closed."), HTTPStatus.NOT_FOUND)
    try:
        if request.method == "POST":
            return _cast(request, dataset)
        offered = voting.offer(dataset, voter=begin_voting(request))
        shown = voting.shown_pair(offered) if offered else None
    except (RateLimited, Unavailable) as error:
        return _closed(request, dataset, str(error), error.status)
    except Output.DoesNotExist:
        return _closed(request, dataset, _("The outputs of this pair no longer exist. Reload the page."), HTTPStatus.OK)
    if offered is None:
        return _all_compared(request, dataset)
    context = {
        **_shared(request, dataset),
        "shown": shown,
        "progress": totals.progress_of(voter_of(request), offered.board),
    }
    return render(request, "leaderboard/vote.html", context)


@never_cache
@require_GET
def vote_cast(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """What the person has voted on, with the names."""
    try:
        battle = voting.by_token(token, voter=voter_of(request))
    except Battle.DoesNotExist as error:
        raise Http404 from error
    get_object_or_404(Dataset.objects.visible_to(request.user), pk=battle.board.dataset_id)
    if not battle.winner or battle.board.dataset.slug != slug:
        return redirect("vote", slug=battle.board.dataset.slug)
    left, right = battle_details.sides(battle)
    ladder = Ladder.objects.filter(board=battle.board, withdrawn_reason="").with_board().first()
    context = {
        **(head_of(ladder) if ladder else {}),
        **_shared(request, battle.board.dataset),
        "battle": battle,
        "progress": totals.progress_of(voter_of(request), battle.board),
        "sides": (left, right) if battle.shown_left_first else (right, left),
        "choice": voting.choice_of(battle),
        "same_outputs": totals.said_by_others(battle),
        "same_contestants": totals.said_of_contestants(battle),
        "others": battle_details.others_on_it(battle, with_people=False),
        "ladder": ladder,
    }
    return render(request, "leaderboard/vote_cast.html", context)


@never_cache
@voters_only
@require_GET
def my_votes(request: HttpRequest) -> HttpResponse:
    """What the person has voted, newest first; votes on a dataset that was closed to them since are left out."""
    visible = Dataset.objects.visible_to(request.user)
    cast = voting.of_voter(voter_of(request)).exclude(winner="").filter(board__dataset__in=visible)
    before = request.GET.get("before", "")
    rows = cast.filter(pk__lt=int(before)) if before.isascii() and before.isdigit() and len(before) < 19 else cast
    found = list(rows.order_by("-pk")[: VOTES_PER_PAGE + 1])
    shown = [{"battle": one, "choice": voting.choice_of(one)} for one in found[:VOTES_PER_PAGE]]
    context = {
        "votes": shown,
        "count": cast.count(),
        "older": found[VOTES_PER_PAGE - 1].pk if found[VOTES_PER_PAGE:] else 0,
    }
    return render(request, "leaderboard/my_votes.html", context)


def _cast(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """Cast the vote, and show what came of it, or else the next pair. Raises RateLimited and Unavailable."""
    token, voter = request.POST.get("token", ""), voter_of(request)
    back_to(request, "vote", slug=dataset.slug)
    try:
        voting.cast(voting.by_token(token, voter=voter), voter=voter, choice=request.POST.get("choice", ""))
    except Battle.DoesNotExist:
        messages.warning(request, _("This pair was shown too long ago, so the vote was not counted. Here is another."))
        return see_other("vote", slug=dataset.slug)
    except AlreadyAnswered as error:
        messages.warning(request, str(error))
    return see_other("vote-cast", slug=dataset.slug, token=token)


def _closed(request: HttpRequest, dataset: Dataset, said: str, status: HTTPStatus) -> HttpResponse:
    context = {"dataset": dataset, "said": said, "ladder": _ladder_beside(request, dataset)}
    return render(request, "leaderboard/vote_closed.html", context, status=status)


def _all_compared(request: HttpRequest, dataset: Dataset) -> HttpResponse:
    """The end of a dataset: what the person voted there, and where else they can vote."""
    voter, board = voter_of(request), people_board(dataset)
    context = {
        **_shared(request, dataset),
        "progress": totals.progress_of(voter, board),
        "preferred": totals.preferred_by(voter, board),
        "ladder": _ladder_beside(request, dataset),
        "others": votable_datasets(request.user).exclude(pk=dataset.pk).order_by("name")[:OTHER_DATASETS],
    }
    return render(request, "leaderboard/vote_done.html", context)


def _shared(request: HttpRequest, dataset: Dataset) -> dict[str, Any]:
    address = request.build_absolute_uri(reverse("vote", args=[dataset.slug]))
    is_open_to_all = settings.PUBLIC_VOTES and dataset.visibility == Dataset.Visibility.PUBLIC
    return {"dataset": dataset, "page_address": address, "is_open_to_all": is_open_to_all}


def _ladder_beside(request: HttpRequest, dataset: Dataset) -> Ladder | None:
    """The board of votes, or else another one of the dataset."""
    ladders = Ladder.objects.visible_to(request.user).beside(dataset)
    return ladders.filter(board__kind="people", board__judge=PEOPLE).first() or ladders.first()


@never_cache
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def dataset_voters(request: HttpRequest, slug: str) -> HttpResponse:
    """All voters, the marked ones first. POST leaves all votes of one out, or takes them in (`restore`)."""
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
    voiding.refuse_others(dataset, person(request))
    if request.method != "POST":
        return _voters_page(request, dataset)
    word, reason = request.POST.get("voter", ""), request.POST.get("reason", "")
    try:
        if "restore" in request.POST:
            n = voter_report.restore_voter(dataset, word, by=person(request))
            said = ngettext("%(n)s vote counts again.", "%(n)s votes count again.", n)
        else:
            n = voter_report.exclude_voter(dataset, word, by=person(request), reason=reason)
            said = ngettext("%(n)s vote is excluded.", "%(n)s votes are excluded.", n)
    except Refusal as error:
        return _voters_page(request, dataset, str(error), status=status_of(error))
    messages.success(request, said % {"n": n} if n else _("There was nothing to change."))
    return redirect(request.get_full_path())


def _voters_page(request: HttpRequest, dataset: Dataset, problem: str = "", status: int = 200) -> HttpResponse:
    boards = voter_report.boards_of_votes(dataset)
    chosen = next((one for one in boards if one.slug == request.GET.get("board")), boards[0] if boards else None)
    report = voter_report.report(dataset, by=person(request), board=chosen)
    page = Paginator(report.lines, VOTERS_PER_PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "dataset": dataset,
        "report": report,
        "page": page,
        "bounds": {**bounds.limits(), "pause_minutes": round(bounds.LONGEST_PAUSE / 60)},
        "ladder": Ladder.objects.beside(dataset).filter(board=chosen).first(),
        "boards": boards if len(boards) > 1 else [],
        "chosen": chosen,
        "problem": problem,
        "typed": request.POST if problem else {},
    }
    return render(request, "leaderboard/voters.html", context, status=status)


@require_GET
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Each judge of the dataset against people's votes on the same outputs, and people against each other. Of each
    model that judges it, how often it was talked into something; None where that is not known.
    """
    ladder, board = board_of(request, slug)
    if ladder.withdrawn_reason:
        return redirect(ladder)
    by_models = Board.objects.filter(dataset=board.dataset, kind=Board.Kind.MODEL).order_by("pk")
    boards = list(by_models.select_related("judge_model__provider"))
    known = rates.newest(BATTLES.slug, [one.judge_model_id for one in boards])
    context = {
        **head_of(ladder),
        "report": current_report(board.dataset),
        "talked_into": [(one, known.get(one.judge_model_id)) for one in boards],
    }
    return render(request, "leaderboard/agreement.html", context)
