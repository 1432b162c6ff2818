"""The pages of campaigns: one with its live figures, the list of somebody's, stopping and resuming."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from accounts.people import for_readers, person
from accounts.refusing import back_to
from experiments.lab.budgets import views as budget_views
from experiments.library.datasets.making import may_curate
from experiments.models import Battle, Board, Call, Campaign, Dataset, Experiment, Output, Run, Sample
from experiments.runs.admission import may_change
from experiments.workflows.base.limits import WORDS
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.campaign.counting import pair_totals
from experiments.workflows.battles.campaign.progress import progress
from experiments.workflows.battles.campaign.scope import Pair, Scope, name_of, scope_of
from experiments.workflows.shards import SHARDED

MOST_IN_A_TABLE = 24  # contestants: a larger table shows nothing any more, so each contestant has one row then
SHADES = 5
STANDING_ROWS = 8
LATEST = 12
RUNS_LISTED = 50
PER_PAGE = 10
PLAN_LINES = {
    "all": gettext_lazy("every pair on every sample"),
    "sample": gettext_lazy("%(per_pair)s samples per pair"),
    "adaptive": gettext_lazy("until intervals are %(width)s Elo wide"),
}


def campaign(request: HttpRequest, shown: Experiment) -> HttpResponse:
    """The page of an experiment whose work is shared out over many runs."""
    dataset = Dataset.objects.visible_to(request.user).filter(slug=shown.config.get("dataset", "")).first()
    participants = list(shown.participants.select_related("model__provider"))
    sampling = shown.config.get("sampling") or {}
    numbers = {"per_pair": sampling.get("per_pair"), "width": sampling.get("target_width")}
    context = {
        **_live(shown, request),
        "config": shown.config,
        "dataset": dataset,
        "participants": participants,
        "is_simulated": any(one.model.provider.is_simulated for one in participants),
        "plan_line": PLAN_LINES[sampling.get("plan", "all")] % numbers if sampling else "",
        "joins": not shown.config.get("contestants"),  # contestants that join the dataset take part on resume
        "is_archived": shown.is_archived,
        "may_fill": dataset is not None and may_curate(request.user, dataset),
        **budget_views.of_experiment(shown, request),
    }
    return render(request, "workflows/battles/campaign.html", context)


@for_readers
@require_GET
def live(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The parts of the page that change while it runs."""
    found = _live(_visible(request, pk), request)
    template = "workflows/battles/_withheld.html" if found.get("is_withheld") else "workflows/battles/_live.html"
    return render(request, template, found)


def progress_of(shown: Experiment, request: HttpRequest) -> dict[str, object]:
    """The progress of a campaign. It counts all runs, so it is withheld from a reader who cannot see all of them."""
    campaign = Campaign.objects.filter(pk=shown.pk).first()
    limits = (campaign.plan.get("limits") if campaign else None) or shown.config.get("limits") or {}
    found: dict[str, Any] = {
        "experiment": shown,
        "campaign": campaign,
        "may_control": may_change(shown, request.user),
        "is_battles": shown.workflow == "battles",
        "limits": {name: value for name, value in limits.items() if value is not None},
    }
    visible_runs = Run.objects.visible_to(request.user).values("pk")
    if campaign is None or shown.runs.exclude(pk__in=visible_runs).exists():
        return found | {"is_withheld": campaign is not None}
    now = progress(shown)
    runs = Run.objects.filter(experiment=shown)
    states = dict(runs.order_by().values_list("state").annotate(count=Count("pk")))
    return found | {
        "progress": now,
        "runs": list(runs.order_by("-created", "-id")[:RUNS_LISTED]),
        "run_states": [(label, states[state]) for state, label in Run.State.choices if state in states],
        "run_count": sum(states.values()),
        "failed_calls": _failed_calls(shown) if now.failed_calls else [],
    }


def _live(shown: Experiment, request: HttpRequest) -> dict[str, object]:
    """What changes while it runs."""
    found = progress_of(shown, request)
    if "progress" not in found or not Dataset.objects.filter(slug=shown.config.get("dataset", "")).exists():
        return found
    return found | (_of_battles(shown) if found["is_battles"] else {"made": made_by_each(shown)})


def _failed_calls(shown: Experiment) -> list[Call]:
    failed = Call.objects.filter(run__experiment=shown, state__in=(Call.State.FAILED, Call.State.LOST))
    fields = ("pk", "error_kind", "error", "sent", "step__seat", "step__key")
    return list(failed.select_related("step").only(*fields).order_by("-pk")[:LATEST])


def _of_battles(shown: Experiment) -> dict[str, object]:
    scope = scope_of(shown)
    boards = {board.pk: board for board in Board.objects.filter(pk__in=scope.boards.values())}
    labels = shown.labels
    judges = [judge_of(labels.get(seat, seat), boards.get(pk)) for seat, pk in sorted(scope.boards.items())]
    decided = Battle.objects.filter(experiment=shown, judged__isnull=False)
    latest = decided.select_related("sample", "left", "right", "board__judge_model").order_by("-judged", "-pk")
    return {
        "grid": pair_table(scope),
        "judges": judges,
        "awaits_ladder": any(judge.is_behind for judge in judges),
        "latest": list(latest[:LATEST]),
    }


def listed(request: HttpRequest) -> dict[str, object]:
    """The campaigns that somebody has set up, newest first."""
    mine = Experiment.objects.changeable_by(request.user).filter(workflow__in=SHARDED)
    rows = mine.select_related("campaign").prefetch_related("participants__model").order_by("-created", "-id")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    slugs = {one.config.get("dataset") for one in page.object_list}
    known = {one.slug: one for one in Dataset.objects.visible_to(request.user).filter(slug__in=slugs)}
    items = []
    for one in page.object_list:
        judges = dict.fromkeys(p.model.label for p in one.participants.all() if p.seat.startswith("judge"))
        item = {"experiment": one, "dataset": known.get(one.config.get("dataset", "")), "judges": ", ".join(judges)}
        items.append({**item, "progress": progress(one) if hasattr(one, "campaign") else None})
    return {"page": page, "items": items}


@login_required
@require_POST
def stop(request: HttpRequest, pk: UUID) -> HttpResponse:
    told = _("Nothing was in progress any more.")
    return _done(request, pk, lambda shown: campaigns.stop(shown, by=person(request)), told)


@login_required
@require_POST
def resume(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Ask again what was left open, and for the first time what has joined since."""
    limits: dict[str, object] | None = None
    if "changes-limits" in request.POST:  # as they were typed; whether they can hold is the verb's to say
        typed = {name: request.POST.get(name, "").strip() for name in WORDS}
        limits = {name: value for name, value in typed.items() if value}
    told = _("Nothing is open or missing: there is nothing to resume.")
    return _done(request, pk, lambda shown: campaigns.resume(shown, by=person(request), limits=limits), told)


def _done(request: HttpRequest, pk: UUID, verb: Callable[[Experiment], bool], otherwise: str) -> HttpResponse:
    shown = _visible(request, pk)
    back_to(request, "experiment", pk=shown.pk)
    if not verb(shown):
        messages.info(request, otherwise)
    return redirect("experiment", pk=shown.pk)


def _visible(request: HttpRequest, pk: UUID) -> Experiment:
    mine = Experiment.objects.visible_to(request.user).filter(workflow__in=SHARDED)
    return get_object_or_404(mine.select_related("owner", "campaign"), pk=pk)


# --- tables ---


@dataclass(frozen=True, slots=True)
class Cell:
    """One pair, or all pairs of a contestant. wanted None: as many as the ratings need."""

    done: int
    wanted: int | None

    @property
    def shade(self) -> int:
        """0 for nothing to SHADES for everything that is wanted."""
        if not self.done or self.wanted == 0:
            return 0
        return max(1, min(SHADES, SHADES * self.done // self.wanted)) if self.wanted else SHADES // 2


@dataclass(frozen=True, slots=True)
class PairRow:
    """Of a contestant: its pairs with those of higher numbers, and all of its pairs together. A cell is None where it
    would say the same twice.
    """

    number: int
    name: str
    cells: tuple[Cell | None, ...]
    total: Cell


@dataclass(frozen=True, slots=True)
class PairTable:
    """is_table: whether the rows have cells; of many contestants there are totals alone."""

    rows: list[PairRow]
    is_table: bool


def pair_table(scope: Scope) -> PairTable:
    """A row for each contestant.

    It counts what is on the boards, also what other experiments have decided: it is not judged again. Where two
    contestants have outputs on different samples, a pair wants fewer than is said here.
    """
    sampling, one_each = scope.config.sampling, scope.contestants
    outputs = Output.objects.filter(contestant__in=one_each)
    if scope.config.subsets:
        outputs = outputs.filter(sample__subset__in=scope.config.subsets)
    made = dict(outputs.order_by().values_list("contestant").annotate(made=Count("pk")))
    done = sum((Counter(pair_totals(board, scope.config.subsets)) for board in scope.boards.values()), Counter[Pair]())
    cells: dict[Pair, Cell] = {}
    for pair in scope.pairs:
        samples = min(made.get(pair[0], 0), made.get(pair[1], 0))
        if sampling.plan == "sample":
            samples = min(samples, sampling.per_pair)
        cells[pair] = Cell(done[pair], None if sampling.plan == "adaptive" else len(scope.boards) * samples)
    is_table, rows = len(one_each) <= MOST_IN_A_TABLE, []
    for number, one in enumerate(one_each, 1):
        own = [cell for pair, cell in cells.items() if one.pk in pair]
        wanted = None if any(cell.wanted is None for cell in own) else sum(cell.wanted or 0 for cell in own)
        line = tuple(cells.get((one.pk, other.pk)) for other in one_each) if is_table else ()
        total = Cell(sum(cell.done for cell in own), wanted)
        rows.append(PairRow(number, str(one), line, total))
    return PairTable(rows, is_table)


@dataclass(frozen=True, slots=True)
class Made:
    """How many of the outputs that are wanted a contestant has, and the model that answers for it."""

    name: str
    model: str
    done: int
    wanted: int


def made_by_each(shown: Experiment) -> list[Made]:
    config = shown.parsed_config()
    dataset = Dataset.objects.get(slug=config.dataset)
    samples, outputs = Sample.objects.filter(dataset=dataset), Output.objects.filter(contestant__dataset=dataset)
    if config.subsets:
        samples, outputs = samples.filter(subset__in=config.subsets), outputs.filter(sample__subset__in=config.subsets)
    wanted, found = samples.count(), []
    for one in shown.participants.select_related("model"):
        name = name_of(config, one)
        done = outputs.filter(contestant__name=name).count()
        found.append(Made(name, one.model.label, done, wanted))
    return found


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of the battles. ladder: its address. rows: the beginning of its ladder as it is stored, see
    `figures.Ranked`, as far as that has been computed. is_behind: battles have been decided since.
    """

    label: str
    ladder: str
    rows: list[SimpleNamespace]
    is_behind: bool


def judge_of(label: str, board: Board | None) -> Judge:
    """The ladder belongs to the floor above: it is reached through its board."""
    ladder: Any = getattr(board, "ladder", None)
    standing: Any = getattr(ladder, "standing", None)
    stored = standing.data.get("rows", [])[:STANDING_ROWS] if standing else []
    is_behind = board is not None and board.changes > (standing.changes if standing else 0)
    address = reverse("ladder", args=[ladder.slug]) if ladder else ""
    return Judge(label, address, [SimpleNamespace(**row) for row in stored], is_behind)
