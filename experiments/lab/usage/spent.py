"""What was spent in a time: by person, project, model, role and day; in a fixed number of queries."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import F, QuerySet, Sum

from accounts.models import Project, User
from experiments.lab.usage.days import calls_since, grouped, last_day, midnight
from experiments.models import Experiment, ProviderModel, UsageDay
from experiments.models.money import SMALLEST

DIMENSIONS = ("person", "project", "model", "role", "day")
KEYS = {
    "person": F("experiment__owner__username"),
    "project": F("experiment__project__name"),
    "model": F("model__label"),
    "role": F("purpose"),
    "day": F("day"),
}
TOGETHER = (("person", "project"), ("model", "role"), ("day",))  # few combinations: one reading for both
LONGEST = 3 * 366  # days


@dataclass(slots=True)
class Totals:
    """lost and unpriced: calls whose cost nobody knows (the lost are among the unpriced): cost is a lower bound then,
    and may be higher by possible_cost at most.
    """

    calls: int = 0
    lost: int = 0
    unpriced: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    possible_cost: Decimal = Decimal(0)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def add(self, other: "Totals") -> None:
        for name in Totals.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose usage: one's own (me), a project's, or the lab's."""

    kind: str
    person: User
    project: Project | None = None

    def of(self, experiments: QuerySet[Experiment]) -> QuerySet[Experiment]:
        if self.kind == "me":
            return experiments.filter(owner=self.person)
        return experiments.filter(project=self.project) if self.kind == "project" else experiments


@dataclass(frozen=True, slots=True)
class Usage:
    """by: dimension to its rows, the dearest first; days in their order, those without a call among them."""

    since: date
    until: date
    total: Totals
    by: dict[str, list[tuple[str, Totals]]] = field(default_factory=dict)


def usage(scope: Scope, since: date, until: date) -> Usage:
    """Of the days from `since` to `until`, both included."""
    found: dict[str, dict[Any, Totals]] = {name: {} for name in DIMENSIONS}
    last = last_day()
    rows = UsageDay.objects.filter(day__gte=since, day__lte=until).order_by()
    if scope.kind != "lab":
        rows = rows.filter(experiment__in=scope.of(Experiment.objects.all()))
    for names in TOGETHER:
        for row in _sums(rows.values(**{f"{name}_key": KEYS[name] for name in names})):
            for name in names:
                _add(found[name], row[f"{name}_key"], _totals(row))
    live_since = since if last is None else max(since, last + timedelta(days=1))
    if live_since <= until:
        _add_live(found, scope, live_since, until)
    days = {day: found["day"].get(day, Totals()) for day in _days(since, until)}
    total = Totals()
    for one in days.values():
        total.add(one)
    by = {name: _ranked(found[name]) for name in DIMENSIONS[:-1]}
    return Usage(since, until, total, {**by, "day": [(day.isoformat(), one) for day, one in days.items()]})


def _sums(rows: Any) -> Any:
    return rows.annotate(
        calls_=Sum("calls"),
        lost_=Sum("lost"),
        unpriced_=Sum("unpriced"),
        input_=Sum("input_tokens"),
        output_=Sum("output_tokens"),
        cost_=Sum("cost"),
        possible_=Sum("possible_cost"),
    )


def _totals(row: dict[str, Any]) -> Totals:
    calls, lost, unpriced, read, written = (
        int(row[name]) for name in ("calls_", "lost_", "unpriced_", "input_", "output_")
    )
    return Totals(calls, lost, unpriced, read, written, Decimal(row["cost_"]), Decimal(row["possible_"]))


def _add_live(found: dict[str, dict[Any, Totals]], scope: Scope, since: date, until: date) -> None:
    """Days that are not added up yet: today, and what still waits for a call to end."""
    live = calls_since(since).filter(sent__lt=midnight(until + timedelta(days=1)))
    if scope.kind != "lab":
        live = live.filter(run__experiment__in=scope.of(Experiment.objects.all()))
    rows = list(grouped(live))
    ids = {row["experiment_id"] for row in rows}
    named = Experiment.objects.filter(pk__in=ids).values_list("pk", "owner__username", "project__name")
    experiments = {pk: (owner, project) for pk, owner, project in named}
    models = ProviderModel.objects.filter(pk__in={row["model_id"] for row in rows}).values_list("pk", "label")
    labels = dict(models)
    for row in rows:
        owner, project = experiments[row["experiment_id"]]
        cost, possible = int(row["cost_"]) * SMALLEST, int(row["possible_cost"]) * SMALLEST
        calls, lost, unpriced = row["calls"], row["lost"], row["unpriced"]
        one = Totals(calls, lost, unpriced, row["input_tokens_"], row["output_tokens_"], cost, possible)
        keys = (owner, project, labels[row["model_id"]], row["purpose"], row["day"])
        for name, key in zip(DIMENSIONS, keys, strict=True):
            _add(found[name], key, one)


def _add(into: dict[Any, Totals], key: Any, one: Totals) -> None:
    into.setdefault(key, Totals()).add(one)


def _ranked(found: dict[Any, Totals]) -> list[tuple[str, Totals]]:
    named = [(key or "", totals) for key, totals in found.items()]
    by_cost: Callable[[tuple[str, Totals]], Any] = lambda item: (-item[1].cost, -item[1].tokens, item[0])  # noqa: E731 — typed where it is used as a key
    return sorted(named, key=by_cost)


def _days(since: date, until: date) -> Iterable[date]:
    return (since + timedelta(days=number) for number in range((until - since).days + 1))
