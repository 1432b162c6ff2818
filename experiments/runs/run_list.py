"""The list of runs: what it is asked for, and the runs that fit."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.errors import Invalid, NotFound
from accounts.models import Project
from experiments.library.annotations import tags
from experiments.library.search.query import Sought, mark
from experiments.library.search.runs import beginnings, set_up_with, with_message
from experiments.models import Experiment, Run
from experiments.models.labels import FLAGS
from experiments.workflows import REGISTRY, surface_of

if TYPE_CHECKING:
    from accounts.models import User

MOST_NAMED = 500
WHOSE = ("mine", "shared", "all")
ARCHIVED = ("no", "yes", "all")
Narrowing = Callable[["RunRows", str, "User"], "RunRows"]
RunRows = QuerySet[Run]


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that is set. without: the query of the list without it."""

    text: str
    without: str


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the list is asked for, by the names in its address. Empty: not asked for."""

    search: str = ""
    state: str = ""
    workflow: str = ""
    whose: str = ""
    flag: str = ""
    model: str = ""
    by: str = ""
    project: str = ""
    since: str = ""
    until: str = ""
    tag: str = ""
    archived: str = "no"
    sort: str = ""

    @property
    def further(self) -> list[str]:
        """Values of the filters that are folded away."""
        archived = self.archived if self.archived != "no" else ""
        values = (self.flag, self.model, self.by, self.project, self.since, self.until, archived)
        return [value for value in values if value]

    @property
    def is_narrow(self) -> bool:
        return bool(self.search or self.state or self.workflow or self.tag or self.further)


def chosen(asked: Mapping[str, str], person: "User") -> Chosen:
    values = {name: asked.get(name, "").replace("\0", "").strip()[:200] for name in Chosen.__slots__}
    usual = "mine" if person.may_experiment else "all"
    whose = values["whose"] if values["whose"] in WHOSE else usual
    archived = values["archived"] if values["archived"] in ARCHIVED else "no"
    return Chosen(**values | {"whose": whose, "archived": archived})


def fitting(chosen: Chosen, person: "User") -> RunRows:
    """The runs that somebody may see and has asked for, in no sequence. Shared are those of others."""
    seen = Experiment.objects.owned_by(person) if chosen.whose == "mine" else Experiment.objects.visible_to(person)
    seen = seen.exclude(owner=person) if chosen.whose == "shared" else seen
    rows: RunRows = Run.objects.filter(experiment__in=seen.order_by()).order_by()
    rows = rows.filter(experiment__workflow=chosen.workflow) if chosen.workflow in REGISTRY else rows
    return _narrowed(rows, chosen, person, NARROWINGS)


def _narrowed(rows: RunRows, chosen: Chosen, person: "User", names: Iterable[str]) -> RunRows:
    asked = asdict(chosen)
    for name in names:
        if asked[name]:
            rows = NARROWINGS[name](rows, asked[name], person)
    return rows


def newest_of_each(chosen: Chosen, person: "User") -> RunRows:
    """Of each experiment the newest run that fits."""
    newer = Q(created__gt=OuterRef("created")) | Q(created=OuterRef("created"), pk__gt=OuterRef("pk"))
    beside = _narrowed(Run.objects.filter(newer, experiment=OuterRef("experiment")), chosen, person, OF_A_RUN)
    return fitting(chosen, person).exclude(Exists(beside))


def chips(chosen: Chosen, projects: Iterable[Project]) -> list[Chip]:
    """What the list is narrowed by."""
    names = {str(project.pk): project.name for project in projects}
    shown: dict[str, Callable[[str], object]] = {
        "workflow": lambda value: surface_of(value).name if value in REGISTRY else value,
        "state": lambda value: dict(Run.State.choices).get(value, value),
        "flag": lambda value: FLAGS.get(value, value),
        "project": lambda value: names.get(value, _("unknown")),
        "archived": lambda value: {"yes": _("archived only"), "all": _("with archived")}[value],
    }
    asked = {name: value for name, value in asdict(chosen).items() if value and (name, value) != ("archived", "no")}

    def without(one: str) -> str:
        return urlencode({name: value for name, value in asked.items() if name != one})

    return [
        Chip(LABELS[name] % {"value": shown.get(name, str)(value)}, without(name))
        for name, value in asked.items()
        if name in LABELS
    ]


def named(runs: Sequence[str], experiments: Sequence[str], person: "User") -> list[Run]:
    """The runs of these ids, and all those of these experiments. Raises NotFound where one of them is not to be seen,
    and Invalid for none and for more than MOST_NAMED.
    """
    try:
        keys, wholes = {UUID(one) for one in runs}, {UUID(one) for one in experiments}
    except ValueError as error:
        raise NotFound from error
    if len(keys | wholes) > MOST_NAMED:
        raise Invalid(run=_("Select at most %(most)s runs at once.") % {"most": MOST_NAMED})
    rows = Run.objects.visible_to(person).filter(Q(pk__in=keys) | Q(experiment__in=wholes)).select_related("experiment")
    found = list(rows)
    if keys - {run.pk for run in found} or wholes - {run.experiment_id for run in found}:
        raise NotFound
    if not found:
        raise Invalid(run=_("Select runs first."))
    return found


def _project(rows: RunRows, value: str, person: "User") -> RunRows:
    try:
        wanted = UUID(value)
    except ValueError:
        return rows.none()
    return rows.filter(experiment__project__in=Project.objects.visible_to(person).filter(pk=wanted))


def _since(rows: RunRows, value: str, person: "User") -> RunRows:
    day = midnight(value)
    return rows.filter(created__gte=day) if day else rows


def _until(rows: RunRows, value: str, person: "User") -> RunRows:
    day = midnight(value)
    return rows.filter(created__lt=day + timedelta(days=1)) if day else rows


def midnight(value: str) -> datetime | None:
    try:
        day = date.fromisoformat(value)
    except ValueError:
        return None
    return datetime.combine(day, time(), UTC) if 2000 <= day.year <= 2200 else None


NARROWINGS: dict[str, Narrowing] = {
    "search": lambda rows, value, person: rows.filter(set_up_with(Sought(beginnings(value)))),
    "model": lambda rows, value, person: rows.filter(set_up_with(Sought(marks=((mark("model", value),),)))),
    "state": lambda rows, value, person: rows.filter(state=value) if value in Run.State.values else rows,
    "flag": lambda rows, value, person: rows.filter(with_message(Sought(marks=((mark("flag", value),),)))),
    "by": lambda rows, value, person: rows.filter(experiment__owner__username=value),
    "project": _project,
    "since": _since,
    "until": _until,
    "tag": lambda rows, value, person: tags.with_tag(rows, value),
    "archived": lambda rows, value, person: rows if value == "all" else rows.filter(archived__isnull=value != "yes"),
}
OF_A_RUN = ("state", "flag", "since", "until", "tag", "archived")  # where runs of one experiment differ
LABELS = {
    "search": gettext_lazy("Text: %(value)s"),
    "workflow": gettext_lazy("Workflow: %(value)s"),
    "state": gettext_lazy("State: %(value)s"),
    "tag": gettext_lazy("Tag: %(value)s"),
    "flag": gettext_lazy("Flag: %(value)s"),
    "model": gettext_lazy("Model: %(value)s"),
    "by": gettext_lazy("Set up by: %(value)s"),
    "project": gettext_lazy("Project: %(value)s"),
    "since": gettext_lazy("From: %(value)s"),
    "until": gettext_lazy("To: %(value)s"),
    "archived": gettext_lazy("Archive: %(value)s"),
}
