"""Voting, blind: a pair, what somebody says of it, whose the outputs were, and what they have said before."""

from http import HTTPStatus

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from accounts.errors import AlreadyAnswered, RateLimited, Unavailable
from accounts.refusing import back_to, see_other
from experiments.models import Battle, Dataset, Output
from experiments.workflows.battles.campaign import votes
from experiments.workflows.battles.campaign.voters import Voter, begun, votable, voter_of
from leaderboard.browsing import showing
from leaderboard.models import Ladder
from leaderboard.simulated import simulation

VOTES_PER_PAGE = 20


@never_cache
@require_GET
def vote_index(request: HttpRequest) -> HttpResponse:
    """The datasets on which the person may vote."""
    if _is_shut_out(request):
        return redirect_to_login(request.get_full_path())
    cast = votes.of_voter(voter_of(request)).exclude(winner="").order_by()
    mine = dict(cast.values_list("board__dataset").annotate(cast=Count("pk")))
    datasets = [{"dataset": one, "mine": mine.get(one.pk, 0)} for one in votable(request.user).order_by("name")[:200]]
    return render(request, "leaderboard/votes.html", {"datasets": datasets})


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def vote(request: HttpRequest, slug: str) -> HttpResponse:
    """The pair that waits for the person's vote, without a name in any byte; a POST casts it."""
    if _is_shut_out(request):
        return redirect_to_login(request.get_full_path())
    dataset = votable(request.user).filter(slug=slug).first()
    if dataset is None:
        return _shut(request, slug)
    if request.method == "POST":
        return _cast(request, dataset, voter_of(request))
    try:
        offered = votes.offer(dataset, voter=begun(request))
        shown = votes.shown(offered) if offered else None
    except (RateLimited, Unavailable) as error:
        return _closed(request, dataset, str(error), error.status)
    except Output.DoesNotExist:
        return _closed(request, dataset, _("The outputs of this pair have gone. Load the page again."), HTTPStatus.OK)
    if shown is None:
        return _closed(
            request, dataset, _("You have compared everything that there is here. Thank you."), HTTPStatus.OK
        )
    return render(request, "leaderboard/vote.html", {"dataset": dataset, "shown": shown})


@never_cache
@require_GET
def vote_cast(request: HttpRequest, slug: str, token: str) -> HttpResponse:
    """What the person has voted on, with the names."""
    battle = _mine(request, token)
    if not battle.winner or battle.board.dataset.slug != slug:
        return redirect("vote", slug=battle.board.dataset.slug)
    left, right = showing.sides(battle)
    ladder = Ladder.objects.filter(board=battle.board, withdrawn_reason="").first()
    context = {
        **(simulation(ladder) if ladder else {}),
        "battle": battle,
        "dataset": battle.board.dataset,
        "sides": (left, right) if battle.shown_left_first else (right, left),
        "choice": votes.choice_of(battle),
        "others": showing.others_on_it(battle),
        "ladder": ladder,
    }
    return render(request, "leaderboard/vote_cast.html", context)


@never_cache
@require_GET
def my_votes(request: HttpRequest) -> HttpResponse:
    """What the person has voted, newest first; on a dataset that was closed to them since, nothing more is told."""
    if _is_shut_out(request):
        return redirect_to_login(request.get_full_path())
    visible = Dataset.objects.visible_to(request.user)
    cast = votes.of_voter(voter_of(request)).exclude(winner="").filter(board__dataset__in=visible)
    before = request.GET.get("before", "")
    rows = cast.filter(pk__lt=int(before)) if before.isascii() and before.isdigit() and len(before) < 19 else cast
    found = list(rows.order_by("-pk")[: VOTES_PER_PAGE + 1])
    shown = [{"battle": one, "choice": votes.choice_of(one)} for one in found[:VOTES_PER_PAGE]]
    context = {
        "votes": shown,
        "count": cast.count(),
        "older": found[VOTES_PER_PAGE - 1].pk if found[VOTES_PER_PAGE:] else 0,
    }
    return render(request, "leaderboard/my_votes.html", context)


def _cast(request: HttpRequest, dataset: Dataset, voter: Voter) -> HttpResponse:
    token = request.POST.get("token", "")
    back_to(request, "vote", slug=dataset.slug)
    try:
        battle = votes.by_token(token, voter=voter)
        votes.cast(battle, voter=voter, choice=request.POST.get("choice", ""))
    except Battle.DoesNotExist:
        messages.warning(request, _("This pair was offered too long ago, so the vote was not taken. Here is another."))
        return see_other("vote", slug=dataset.slug)
    except AlreadyAnswered as error:
        messages.warning(request, str(error))
    except (RateLimited, Unavailable) as error:
        return _closed(request, dataset, str(error), error.status)
    return see_other("vote-cast", slug=dataset.slug, token=token)


def _mine(request: HttpRequest, token: str) -> Battle:
    """The offer of this token, if it was made to who asks and they may still see the dataset."""
    try:
        battle = votes.by_token(token, voter=voter_of(request))
    except Battle.DoesNotExist as error:
        raise Http404 from error
    get_object_or_404(Dataset.objects.visible_to(request.user), pk=battle.board.dataset_id)
    return battle


def _shut(request: HttpRequest, slug: str) -> HttpResponse:
    """A dataset on which no votes are taken; 404 for one that the person may not know of."""
    dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
    return _closed(request, dataset, _("No votes are taken on this dataset now."), HTTPStatus.NOT_FOUND)


def _closed(request: HttpRequest, dataset: Dataset, said: str, status: HTTPStatus) -> HttpResponse:
    ladders = Ladder.objects.visible_to(request.user).filter(board__dataset=dataset, withdrawn_reason="")
    people = ladders.filter(board__kind="people").first()
    context = {"dataset": dataset, "said": said, "ladder": people or ladders.first()}
    return render(request, "leaderboard/vote_closed.html", context, status=status)


def _is_shut_out(request: HttpRequest) -> bool:
    return not request.user.is_authenticated and not settings.PUBLIC_VOTES
