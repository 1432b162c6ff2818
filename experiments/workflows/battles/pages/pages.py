"""What the page of a campaign shows, and the list of somebody's campaigns."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.urls import reverse

from experiments.library.datasets.making import may_curate
from experiments.models import Battle, Board, Call, Campaign, Dataset, Experiment, Run
from experiments.runs.admission import may_change
from experiments.workflows.battles.campaign.progress import Progress, progress
from experiments.workflows.battles.campaign.scope import scope_of
from experiments.workflows.battles.pages import grid as campaign_grid
from experiments.workflows.battles.pages import made as campaign_made
from experiments.workflows.shards import SHARDED

LATEST = 12
RUNS_LISTED = 50
PER_PAGE = 10
STANDING_ROWS = 8


@dataclass(frozen=True, slots=True)
class StandingRow:
    """A row of a ladder as it is stored; see `figures.Ranked`."""

    name: str
    label: str
    component: int
    rating: float | None
    lower: float | None
    upper: float | None
    reason: str
    rank: int | None
    best: int | None
    worst: int | None
    battles: int


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge of the battles with its board. rows: the beginning of its ladder, as far as that has been computed.
    is_behind: battles have been decided since.
    """

    seat: str
    label: str
    board: Board | None
    ladder: str
    rows: Sequence[StandingRow]
    is_behind: bool


@dataclass(frozen=True, slots=True)
class Item:
    """A campaign in the list. progress None: it was never started."""

    experiment: Experiment
    dataset: Dataset | None
    progress: Progress | None
    judges: str


def context(shown: Experiment, request: HttpRequest) -> dict[str, object]:
    """Everything; `live` alone is what changes while it runs."""
    dataset = Dataset.objects.visible_to(request.user).filter(slug=shown.config.get("dataset", "")).first()
    participants = list(shown.participants.select_related("model__provider"))
    return {
        **live(shown, request),
        "dataset": dataset,
        "participants": participants,
        "is_simulated": any(one.model.provider.is_simulated for one in participants),
        "joins": _joins(shown),
        "may_fill": dataset is not None and may_curate(request.user, dataset),
    }


def live(shown: Experiment, request: HttpRequest) -> dict[str, object]:
    campaign = Campaign.objects.filter(pk=shown.pk).first()
    is_battles = shown.workflow == "battles"
    found: dict[str, Any] = {
        "experiment": shown,
        "campaign": campaign,
        "may_control": may_change(shown, request.user),
        "is_battles": is_battles,
        "limits": _limits(shown, campaign),
    }
    if campaign is None or not _sees_all(shown, request):
        return found | {"is_withheld": campaign is not None}
    now = progress(shown)
    found |= {"progress": now, **_runs(shown), "failed_calls": _failed_calls(shown) if now.failed_calls else []}
    if not Dataset.objects.filter(slug=shown.config.get("dataset", "")).exists():
        return found
    return found | (_of_battles(shown) if is_battles else _of_outputs(shown))


def listed(request: HttpRequest) -> dict[str, object]:
    """The campaigns that somebody has set up, newest first."""
    mine = Experiment.objects.changeable_by(request.user).filter(workflow__in=SHARDED)
    rows = mine.select_related("campaign").prefetch_related("participants__model").order_by("-created", "-id")
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    slugs = {one.config.get("dataset") for one in page.object_list}
    known = {one.slug: one for one in Dataset.objects.visible_to(request.user).filter(slug__in=slugs)}
    return {"page": page, "items": [_item(one, known.get(one.config.get("dataset", ""))) for one in page.object_list]}


def _item(one: Experiment, dataset: Dataset | None) -> Item:
    judges = ", ".join(dict.fromkeys(p.model.label for p in one.participants.all() if p.seat.startswith("judge")))
    return Item(one, dataset, progress(one) if hasattr(one, "campaign") else None, judges)


def _of_battles(shown: Experiment) -> dict[str, Any]:
    scope = scope_of(shown)
    boards = {board.pk: board for board in Board.objects.filter(pk__in=scope.boards.values())}
    seats = {seat: boards.get(pk) for seat, pk in scope.boards.items()}
    labels = shown.labels
    judges = [judge_of(seat, labels.get(seat, seat), board) for seat, board in sorted(seats.items())]
    return {
        "grid": campaign_grid.of(scope),
        "judges": judges,
        "awaits_ladder": any(judge.is_behind for judge in judges),
        "latest": _latest(shown),
    }


def _of_outputs(shown: Experiment) -> dict[str, Any]:
    return {"made": campaign_made.of(shown)}


def judge_of(seat: str, label: str, board: Board | None) -> Judge:
    """The ladder belongs to the floor above: it is reached through its board."""
    ladder: Any = getattr(board, "ladder", None) if board else None
    standing: Any = getattr(ladder, "standing", None) if ladder else None
    stored = standing.data.get("rows", [])[:STANDING_ROWS] if standing else []
    rows = [StandingRow(**{one.name: row[one.name] for one in fields(StandingRow)}) for row in stored]
    is_behind = board is not None and board.changes > (standing.changes if standing else 0)
    return Judge(seat, label, board, reverse("ladder", args=[ladder.slug]) if ladder else "", rows, is_behind)


def _latest(shown: Experiment) -> list[Battle]:
    decided = Battle.objects.filter(experiment=shown, judged__isnull=False)
    rows = decided.select_related("sample", "left", "right", "board__judge_model")
    return list(rows.order_by("-judged", "-pk")[:LATEST])


def _sees_all(shown: Experiment, request: HttpRequest) -> bool:
    """Its figures tell of all of its runs: whoever may not see one of them is told none."""
    return not shown.runs.exclude(pk__in=Run.objects.visible_to(request.user).values("pk")).exists()


def _runs(shown: Experiment) -> dict[str, Any]:
    """The newest runs, and how many there are in each state."""
    rows: QuerySet[Run] = Run.objects.filter(experiment=shown)
    states = dict(rows.order_by().values_list("state").annotate(count=Count("pk")))
    counted = [(label, states[state]) for state, label in Run.State.choices if state in states]
    return {"runs": list(rows.order_by("-created", "-id")[:RUNS_LISTED]), "run_states": counted,
            "run_count": sum(states.values())}  # fmt: skip


def _failed_calls(shown: Experiment) -> list[Call]:
    failed = Call.objects.filter(run__experiment=shown, state__in=(Call.State.FAILED, Call.State.LOST))
    return list(failed.select_related("step").only("pk", "error_kind", "error", "sent", "step__seat", "step__key")
                .order_by("-pk")[:LATEST])  # fmt: skip


def _joins(shown: Experiment) -> bool:
    """Whether contestants that join the dataset take part on resume without being named."""
    return not shown.config.get("contestants")


def _limits(shown: Experiment, campaign: Campaign | None) -> dict[str, Any]:
    """Those that hold now: changed on resume, or as it was set up."""
    changed = campaign.plan.get("limits") if campaign else None
    return {name: value for name, value in (changed or shown.config.get("limits") or {}).items() if value is not None}
