"""The first page: for each role what waits, what runs and what can be begun; for visitors what the lab is."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from accounts.models import User
from accounts.people import person
from arenasite import navigation, notifications
from experiments.lab.budgets import standing as budget_standing
from experiments.lab.observing import status
from experiments.library.annotations import favorites
from experiments.library.first_steps import steps_left
from experiments.models import Budget, Experiment, Run
from experiments.models.run import LIVE_STATES, TERMINAL_STATES
from experiments.review import desk
from experiments.review.curation import may_curate
from experiments.runs import progress
from experiments.workflows.shards import SHARDED, without_shards
from leaderboard.boards import compute, listing
from leaderboard.boards.caching import conditional_response
from leaderboard.models import PublicArena
from leaderboard.votes.voters import votable_datasets

LISTED, RECENT, BOARDS = 5, 8, 6


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    if not request.user.is_authenticated:
        return _landing(request)
    who = person(request)
    seen = Run.objects.owned_by(who) if who.may_experiment else Run.objects.visible_to(who)
    context = {
        **_now(who),
        "favorites": _favorites(who),
        "start": navigation.new().items if who.may_experiment else (),
        "recent": without_shards(seen).filter(state__in=TERMINAL_STATES).select_related("experiment")[:RECENT],
        "budgets": budget_standing.standings(Budget.objects.applying_to(person_id=who.pk)),
        "queues": notifications.queues(who)[:LISTED],
    }
    if may_curate(who):
        context["desk"] = desk.counts(who)
    if who.is_admin:
        context |= {"steps": steps_left(who), "status": status.status(), "lately": status.lately()}
    return render(request, "home/home.html", context)


@login_required
@never_cache
@require_safe
def now(request: HttpRequest) -> HttpResponse:
    """The part of it that changes while one looks."""
    return render(request, "home/_now.html", _now(person(request)))


def _now(who: User) -> dict[str, Any]:
    """What waits, runs and has failed. campaigns: the experiments whose runs are shares of one piece of work."""
    running = without_shards(Run.objects.owned_by(who)).live().with_totals()
    running = running.filter(~Q(state=Run.State.WAITING) | Q(in_batch=True, is_held=False))
    campaigns = Experiment.objects.owned_by(who).filter(workflow__in=SHARDED, runs__state__in=LIVE_STATES)
    return {
        "waiting": notifications.waiting(who)[:LISTED],
        "running": [progress.of(run) for run in running.select_related("experiment").order_by("-created")[:LISTED]],
        "campaigns": campaigns.distinct()[:LISTED],
        "failed": notifications.failed(who)[:LISTED],
    }


def _favorites(who: User) -> dict[str, list[Any]]:
    """What the user marked, as far as the user may see it, by kind; nothing where all of it is empty."""
    of_runs, of_boards, contestants = favorites.marked(who).values()
    runs = Run.objects.visible_to(who).filter(pk__in=of_runs).select_related("experiment")
    boards = listing.visible_ladders(who).filter(slug__in=of_boards, withdrawn_reason="")
    found: dict[str, list[Any]] = {
        "runs": sorted(runs, key=lambda run: of_runs.index(str(run.pk))),
        "boards": sorted(boards, key=lambda board: of_boards.index(board.slug)),
        "contestants": contestants,
    }
    return found if any(found.values()) else {}


def _landing(request: HttpRequest) -> HttpResponse:
    """What the lab is, its public boards, and voting where visitors may."""
    boards = [one for one in listing.visible_ladders(request.user) if not one.withdrawn_reason]
    votes = list(votable_datasets(request.user).order_by("name")[:LISTED])
    has_arena = PublicArena.load().takes_prompts
    state = repr([[compute.state_of(one) for one in boards], [one.pk for one in votes], has_arena])

    def respond() -> HttpResponse:
        entries = [entry for entry in map(listing.entry, boards) if entry.top]
        entries.sort(key=lambda one: (-one.battles, one.title))
        context = {"entries": entries[:BOARDS], "votes": votes, "has_arena": has_arena}
        return render(request, "home/landing.html", context)

    return conditional_response(request, state, respond)
