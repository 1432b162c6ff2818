"""The battle browser: a board's battles and samples, and everything that is known of one battle."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from accounts.people import person
from accounts.refusing import back_to
from experiments.library.datasets.images import thumbnails
from experiments.models import Battle, Board, Contestant, Experiment, Run, Sample
from experiments.workflows.battles.campaign import voiding
from leaderboard.boards.listing import head_of
from leaderboard.boards.titles import judge_words
from leaderboard.models import Ladder
from leaderboard.pages import battle_details, battle_search
from leaderboard.pages.battle_search import MOST_CONTESTANTS, PageStart, read_filter

SAMPLES_PER_PAGE = 20
OUTPUTS_PER_PAGE = 20


def board_of(request: HttpRequest, slug: str) -> tuple[Ladder, Board]:
    """A ladder that the person may see, and its board. Raises Http404, also for a ladder of runs, which has none."""
    ladder = get_object_or_404(Ladder.objects.visible_to(request.user).with_board(), slug=slug)
    if ladder.board is None:
        raise Http404
    return ladder, ladder.board


@require_GET
def battles(request: HttpRequest, slug: str) -> HttpResponse:
    """The battles of a ladder's board that fit a filter, newest first; the address says all of it."""
    ladder, board = board_of(request, slug)
    if ladder.withdrawn_reason:
        return redirect(ladder)
    chosen = read_filter(request.GET, board)
    if newer := _number(request, "after"):
        place = PageStart(newer, is_ascending=True)
    else:
        older = _number(request, "before") or None
        place = PageStart(older, is_ascending=older is None and "last" in request.GET)
    page = battle_search.battle_page(board, chosen, place)
    names = [one.name for one in chosen.contestants]
    names += [""] * (min(max(2, len(names) + 1), MOST_CONTESTANTS) - len(names))  # at least two, and one more
    contestants = list(Contestant.objects.filter(dataset=board.dataset_id).order_by("name"))
    ladders = Ladder.objects.visible_to(request.user).beside(board.dataset)
    boards = [one.board for one in ladders.select_related("board__judge_model").order_by("board") if one.board]
    context = {
        **head_of(ladder),
        "chosen": chosen,
        "page": page,
        "lines": battle_details.battle_lines(page.battles, with_outputs=board.dataset.modality == "image"),
        "choices": battle_search.sample_choices(board.dataset),
        "sample": Sample.objects.filter(dataset=board.dataset_id, pk=int(chosen.sample or 0)).first(),
        "selects": [{"number": n, "name": name, "contestants": contestants} for n, name in enumerate(names)],
        "boards": [{"slug": one.ladder.slug, "judge": judge_words(one), "prompt": one.prompt} for one in boards],
    }
    return render(request, "leaderboard/battles.html", context)


@require_GET
def battle(request: HttpRequest, pk: int) -> HttpResponse:
    """One battle, with its neighbours in what was looked for."""
    found = _visible(request, pk)
    board = found.board
    chosen = read_filter(request.GET, board)
    newer, older = battle_search.neighbours(board, chosen, found)
    said = battle_details.judgments(found)
    ladder = Ladder.objects.filter(board=board).with_board().first()
    context = {
        **(head_of(ladder) if ladder else {}),
        "battle": found,
        "board": board,
        "dataset": board.dataset,
        "ladder": ladder,
        "chosen": chosen,
        "newer": newer,
        "older": older,
        "sides": battle_details.sides(found),
        "said": said,
        "spent": battle_details.spent(said),
        "others": battle_details.others_on_it(found),
        "judge": judge_words(board),
        "may_void": voiding.may_void(board.dataset, request.user),
        "may_see_calls": Run.objects.visible_to(request.user).filter(pk__in=[found.run_id]).exists(),
        "may_see_experiment": Experiment.objects.visible_to(request.user).filter(pk__in=[found.experiment_id]).exists(),
        "is_mine": found.voter_id is not None and found.voter_id == request.user.pk,
    }
    return render(request, "leaderboard/battle.html", context)


@login_required
@require_POST
def battle_void(request: HttpRequest, pk: int) -> HttpResponse:
    """Leave a battle out of the ratings, with a reason that is shown; or (`restore`) take it in again."""
    found = _visible(request, pk)
    reason, query = request.POST.get("reason", "").strip(), request.META.get("QUERY_STRING", "")
    page = reverse("battle", args=[pk]) + (f"?{query}" if query else "")
    back_to(request, page)
    if "restore" in request.POST:
        voiding.restore(found, by=person(request))
        messages.success(request, _("The battle counts again."))
    else:
        voiding.void(found, by=person(request), reason=reason)
        messages.success(request, _("The battle is void. It stays here with the reason and no longer counts."))
    return redirect(page)


@require_GET
def sample_list(request: HttpRequest, slug: str) -> HttpResponse:
    """The samples of a ladder's dataset, in sequence, with a search."""
    ladder, board = board_of(request, slug)
    if ladder.withdrawn_reason:
        return redirect(ladder)
    chosen = read_filter(request.GET, board)
    rows = battle_search.fitting_samples(board.dataset_id, chosen)
    before, after = (_number(request, name) or None for name in ("before", "after"))
    backwards, key = before is not None or "last" in request.GET, before or after
    if key is not None:
        rows = rows.filter(pk__lt=key) if backwards else rows.filter(pk__gt=key)
    found = list(rows.order_by("-pk" if backwards else "pk")[: SAMPLES_PER_PAGE + 1])
    goes_on, shown = len(found) > SAMPLES_PER_PAGE, found[:SAMPLES_PER_PAGE]
    context = {
        **head_of(ladder),
        "chosen": chosen,
        "samples": shown[::-1] if backwards else shown,
        "thumbs": thumbnails(board.dataset, shown),
        "has_before": goes_on if backwards else key is not None,
        "has_after": (key is not None) if backwards else goes_on,
        "choices": battle_search.sample_choices(board.dataset),
    }
    return render(request, "leaderboard/samples.html", context)


@require_GET
def sample_page(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """All outputs on one sample, the most successful on it first."""
    ladder, board = board_of(request, slug)
    if ladder.withdrawn_reason:
        return redirect(ladder)
    samples = Sample.objects.filter(dataset=board.dataset_id)
    found = get_object_or_404(samples, pk=pk)
    standings = battle_details.on_sample(board, found)
    wanted = request.GET.get("contestant", "")
    whole = next((row for row in standings if row.contestant.name == wanted), None)
    start = min(_number(request, "from"), max(len(standings) - 1, 0)) // OUTPUTS_PER_PAGE * OUTPUTS_PER_PAGE
    end = start + OUTPUTS_PER_PAGE
    context = {
        **head_of(ladder),
        "sample": found,
        "standings": [whole] if whole else standings[start:end],
        "whole": whole,
        "count": len(standings),
        "start": start,
        "next_start": end if end < len(standings) else None,
        "previous_start": start - OUTPUTS_PER_PAGE if start else None,
        "before": samples.filter(pk__lt=pk).order_by("-pk").values_list("pk", flat=True).first(),
        "after": samples.filter(pk__gt=pk).order_by("pk").values_list("pk", flat=True).first(),
    }
    return render(request, "leaderboard/sample.html", context)


def _visible(request: HttpRequest, pk: int) -> Battle:
    related = ("sample", "left", "right", "voided_by", "run__experiment", "experiment")
    rows = Battle.objects.visible_to(request.user).revealed()
    return get_object_or_404(rows.select_related("board__dataset", "board__judge_model__provider", *related), pk=pk)


def _number(request: HttpRequest, name: str) -> int:
    """What digits in the address say; 0 for everything else."""
    word = request.GET.get(name, "")
    return int(word) if word.isascii() and word.isdigit() and len(word) <= 18 else 0
