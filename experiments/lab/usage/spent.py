"""What was spent in a time, by person, project, model, role and day, in few queries; and who may see what of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import F, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Invalid, NotFound
from accounts.models import Project, User
from experiments.lab.usage.days import COUNTED, MONEY, calls_since, grouped, last_day, midnight
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
USUAL_DAYS, LONGEST = 30, 3 * 366  # days


@dataclass(slots=True)
class Totals:
    """lost and unpriced: calls without a known cost (the lost are among the unpriced): cost is a lower bound then,
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

    def of(self, rows: Any, experiment: str) -> Any:
        """Those rows whose experiment, in the column of this name, is of this scope."""
        if self.kind == "lab":
            return rows
        mine = {"owner": self.person} if self.kind == "me" else {"project": self.project}
        return rows.filter(**{f"{experiment}__in": Experiment.with_deleted.filter(**mine)})


@dataclass(frozen=True, slots=True)
class Usage:
    """by: dimension to its rows, the dearest first; days in their order, those without a call among them."""

    since: date
    until: date
    total: Totals
    by: dict[str, list[tuple[str, Totals]]] = field(default_factory=dict)


def scope_of(person: User, asked: Mapping[str, str]) -> Scope:
    """What `scope` and `project` ask for. Raises NotFound for what the person may not see, or not know of."""
    kind = asked.get("scope") or ("project" if asked.get("project") else "me")
    if kind == "me" or (kind == "lab" and person.role == User.Role.ADMIN):
        return Scope(kind, person)
    try:
        wanted = projects_of(person).filter(pk=UUID(asked.get("project", ""))) if kind == "project" else None
    except ValueError as error:
        raise NotFound from error
    if wanted is None or (project := wanted.first()) is None:
        raise NotFound
    return Scope("project", person, project)


def projects_of(person: User) -> QuerySet[Project]:
    """Those whose usage a person may see."""
    return Project.objects.all() if person.role == User.Role.ADMIN else Project.objects.led_by(person)


def days_of(asked: Mapping[str, str]) -> tuple[date, date]:
    """From `since` to `until`, the last thirty days by default. Raises Invalid."""
    today = timezone.now().astimezone(UTC).date()
    refusal = Invalid(since=_("Choose two dates, the first before the last and at most three years apart."))
    try:
        until = date.fromisoformat(asked["until"]) if asked.get("until") else today
        usual = until - timedelta(days=USUAL_DAYS - 1)
        since = date.fromisoformat(asked["since"]) if asked.get("since") else usual
    except (ValueError, OverflowError) as error:
        raise refusal from error
    if not 0 <= (until - since).days < LONGEST or not 2000 <= since.year <= until.year <= 2200:
        raise refusal
    return since, until


def usage(scope: Scope, since: date, until: date) -> Usage:
    """Of the days from `since` to `until`, both included."""
    found: dict[str, dict[Any, Totals]] = {name: {} for name in DIMENSIONS}
    rows = scope.of(UsageDay.objects.filter(day__gte=since, day__lte=until).order_by(), "experiment")
    for names in TOGETHER:
        keys = rows.values(**{f"{name}_key": KEYS[name] for name in names})
        for row in keys.annotate(**{f"{name}_": Sum(name) for name in (*COUNTED, *MONEY)}):
            for name in names:
                found[name].setdefault(row[f"{name}_key"], Totals()).add(_totals(row, Decimal(1)))
    last = last_day()
    live_since = since if last is None else max(since, last + timedelta(days=1))
    if live_since <= until:
        _add_live(found, scope, live_since, until)
    days = [since + timedelta(days=number) for number in range((until - since).days + 1)]
    by_day = {day: found["day"].get(day, Totals()) for day in days}
    total = Totals()
    for one in by_day.values():
        total.add(one)
    by = {
        name: sorted(
            ((key or "", totals) for key, totals in found[name].items()),
            key=lambda item: (-item[1].cost, -item[1].tokens, item[0]),
        )
        for name in DIMENSIONS[:-1]
    }
    return Usage(since, until, total, {**by, "day": [(day.isoformat(), one) for day, one in by_day.items()]})


def _totals(row: Mapping[str, Any], unit: Decimal) -> Totals:
    """unit: of money in this row, in US dollars."""
    totals: dict[str, Any] = {name: int(row[f"{name}_"]) for name in COUNTED}
    totals |= {name: Decimal(row[f"{name}_"]) * unit for name in MONEY}
    return Totals(**totals)


def _add_live(found: dict[str, dict[Any, Totals]], scope: Scope, since: date, until: date) -> None:
    """Days that are not added up yet: today, and what still waits for a call to end."""
    live = calls_since(since).filter(sent__lt=midnight(until + timedelta(days=1)))
    rows = list(grouped(scope.of(live, "run__experiment")))
    named = Experiment.with_deleted.filter(pk__in={row["experiment_id"] for row in rows})
    experiments = {pk: names for pk, *names in named.values_list("pk", "owner__username", "project__name")}
    models = ProviderModel.objects.filter(pk__in={row["model_id"] for row in rows})
    labels = dict(models.values_list("pk", "label"))
    for row in rows:
        keys = (*experiments[row["experiment_id"]], labels[row["model_id"]], row["purpose"], row["day"])
        for name, key in zip(DIMENSIONS, keys, strict=True):
            found[name].setdefault(key, Totals()).add(_totals(row, SMALLEST))
