"""The table of runs: one row for each experiment, sorted by a column, with the columns that its reader wants to see."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.core.paginator import Paginator
from django.db.models import Count, Exists, ExpressionWrapper, F, FloatField, OuterRef, Q, Subquery, Sum
from django.db.models.functions import Coalesce, Lower, Now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from experiments.api.pagination import Page, page_of
from experiments.models import CALLS_UNDER_WAY, LIVE_STATES, Battle, Call, Campaign, Experiment, Run, RunListColumns
from experiments.runs import progress, run_list

if TYPE_CHECKING:
    from accounts.models import User

ROWS_PER_PAGE = 25
SORTED_AMONG = 2000  # the newest rows that fit: so that a sort has an upper limit, however many runs there are
OPTIONAL = {
    "workflow": _("Workflow"),
    "state": _("State"),
    "turns": _("Turns"),
    "tokens": pgettext_lazy("of text", "Tokens"),
    "cost": _("Cost"),
    "duration": _("Duration"),
    "started": _("Started"),
}
FALLING_FIRST = ("turns", "tokens", "cost", "duration", "started")


@dataclass(frozen=True, slots=True)
class Column:
    """next: what `sort` says once its heading is pressed; direction: how the rows are sorted by it, "" for not."""

    name: str
    label: Any
    next: str
    direction: str
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class Group:
    """The runs of an experiment that has several, or a campaign. done of wanted are over; of a campaign with battles,
    decided. state: of a run that looks like all of them.
    """

    runs: int
    state: str
    done: int
    wanted: int
    failed: int
    tokens: int
    cost: Decimal | None
    unpriced: int
    is_campaign: bool

    @property
    def state_label(self) -> Any:
        return Run.State(self.state).label


@dataclass(frozen=True, slots=True)
class Row:
    """The newest run that fits of an experiment, and what is known of all its runs where there are several."""

    item: progress.Progress
    group: Group | None


@dataclass(frozen=True, slots=True)
class Table:
    """page: of the newest ones; sorted_page: of rows in another order, of which there are no more than SORTED_AMONG."""

    rows: list[Row]
    columns: list[Column]
    page: Page | None = None
    sorted_page: Any = None
    is_cut: bool = False
    shown: set[str] = field(default_factory=set)


def table(asked: Mapping[str, str], person: "User", chosen: run_list.Chosen) -> Table:
    sort = chosen.sort if chosen.sort.removeprefix("-") in ("title", *OPTIONAL) else ""
    columns = list(_columns(sort, hidden_columns(person)))
    shown = {column.name for column in columns if column.is_shown}
    rows = run_list.newest_of_each(chosen, person)
    if not sort:
        page = page_of(rows, asked, ROWS_PER_PAGE)
        return Table(_rows(page.keys), columns, page, shown=shown)
    keys = list(rows.order_by("-created", "-id").values_list("pk", flat=True)[: SORTED_AMONG + 1])
    sorted_rows = _sorted(keys[:SORTED_AMONG], sort)
    sorted_page = Paginator(sorted_rows, ROWS_PER_PAGE).get_page(asked.get("page"))
    found = _rows(list(sorted_page.object_list))
    return Table(found, columns, sorted_page=sorted_page, is_cut=len(keys) > SORTED_AMONG, shown=shown)


def hidden_columns(person: "User") -> list[str]:
    found = RunListColumns.objects.filter(owner=person).values_list("hidden", flat=True).first()
    return found or []


def show_columns(person: "User", names: Sequence[str]) -> None:
    """Show these of the optional columns from now on, and no others."""
    hidden = [name for name in OPTIONAL if name not in names]
    RunListColumns.objects.update_or_create(owner=person, defaults={"hidden": hidden})


def _columns(sort: str, hidden: Sequence[str]) -> Iterator[Column]:
    for name, label in (("title", _("Run")), *OPTIONAL.items()):
        steps = [name, f"-{name}", ""]
        if name in FALLING_FIRST:
            steps[:2] = reversed(steps[:2])
        following = steps[(steps.index(sort) + 1) % 3] if sort in steps[:2] else steps[0]
        direction = {name: "ascending", f"-{name}": "descending"}.get(sort, "")
        yield Column(name, label, following, direction, name not in hidden)


def _sorted(keys: Sequence[UUID], sort: str) -> list[UUID]:
    """What is the same in a column stays in the order of time; what is not known comes last."""
    calls = Call.objects.filter(run__experiment=OuterRef("experiment")).order_by().values("run__experiment")
    tokens = Coalesce(F("input_tokens"), 0) + Coalesce(F("output_tokens"), 0)
    by: dict[str, Any] = {
        "title": Lower("experiment__title"),
        "workflow": F("experiment__workflow"),
        "state": F("state"),
        "turns": F("turn"),
        "tokens": Subquery(calls.annotate(total=Sum(tokens)).values("total")),
        "cost": Subquery(calls.annotate(total=Sum("cost")).values("total")),
        "duration": ExpressionWrapper(Coalesce("ended", Now()) - F("started"), output_field=FloatField()),
        "started": F("created"),
    }
    key = by[sort.removeprefix("-")]
    order = key.desc(nulls_last=True) if sort.startswith("-") else key.asc(nulls_last=True)
    rows = Run.objects.filter(pk__in=keys).with_totals()
    return list(rows.order_by(order, "-created", "-id").values_list("pk", flat=True))


def _rows(keys: Sequence[UUID]) -> list[Row]:
    runs = Run.objects.with_totals().select_related("experiment__owner", "experiment__project").filter(pk__in=keys)
    found = {run.pk: run for run in runs.prefetch_related("experiment__participants__model", "experiment__people")}
    groups = _groups({run.experiment_id: run for run in found.values()})
    return [Row(progress.of(found[key]), groups.get(found[key].experiment_id)) for key in keys if key in found]


def _groups(newest: Mapping[UUID, Run]) -> dict[UUID, Group]:
    """Of those experiments that have several runs or are campaigns."""
    rows: Any = Experiment.objects.filter(pk__in=newest, runs__deleted__isnull=True).order_by()
    rows = rows.annotate(
        all=Count("runs"),
        live=Count("runs", filter=Q(runs__state__in=LIVE_STATES)),
        failed=Count("runs", filter=Q(runs__state=Run.State.FAILED)),
        is_campaign=Exists(Campaign.objects.filter(experiment=OuterRef("pk"))),
    )
    several = {row.pk: row for row in rows if row.all > 1 or row.is_campaign}
    if not several:
        return {}
    calls = Call.objects.filter(run__experiment__in=several).order_by().values("run__experiment")
    unpriced = Count("pk", filter=Q(cost__isnull=True) & ~Q(state__in=CALLS_UNDER_WAY))
    sums = {"read": Sum("input_tokens"), "written": Sum("output_tokens"), "paid": Sum("cost"), "unpriced": unpriced}
    spent = {row["run__experiment"]: row for row in calls.annotate(**sums)}
    planned = Campaign.objects.filter(experiment__in=several).values_list("experiment", "wanted", "state")
    campaigns = {pk: (wanted, state) for pk, wanted, state in planned}
    battles = Battle.objects.filter(experiment__in=campaigns, judged__isnull=False).order_by()
    decided = dict(battles.values_list("experiment").annotate(n=Count("pk")))
    return {
        pk: _group(row, newest[pk], spent.get(pk, {}), campaigns.get(pk), decided.get(pk))
        for pk, row in several.items()
    }


def _group(row: Any, newest: Run, spent: Mapping[str, Any], campaign: Any, decided: int | None) -> Group:
    wanted, done = row.all, row.all - row.live
    if campaign and decided is not None:
        wanted, done = max(campaign[0], decided), decided
    state = newest.state if not row.live or newest.state in LIVE_STATES else Run.State.RUNNING
    if campaign:
        state = Run.State.STOPPED if campaign[1] == Campaign.State.OPEN else campaign[1]
    return Group(
        runs=row.all,
        state=state,
        done=done,
        wanted=wanted,
        failed=row.failed,
        tokens=(spent.get("read") or 0) + (spent.get("written") or 0),
        cost=spent.get("paid"),
        unpriced=spent.get("unpriced", 0),
        is_campaign=campaign is not None,
    )
