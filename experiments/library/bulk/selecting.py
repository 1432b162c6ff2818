"""Which runs somebody means: by ids, an experiment, a project, an import, a search, or the filters of the list."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl
from uuid import UUID

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from accounts.models import Project
from experiments.library.search.finding import matching
from experiments.library.search.views import asked_by
from experiments.models import Experiment, Run, RunImport
from experiments.runs import run_list
from experiments.workflows import REGISTRY
from experiments.workflows.shards import without_shards

if TYPE_CHECKING:
    from accounts.models import User

MOST_RUNS = 20_000
PASSED_OVER = (
    "before",
    "after",
    "page",
    "sort",
    "csrfmiddlewaretoken",
    "format",
)  # what chooses nothing
KINDS = ("runs", "experiment", "project", "imported", "found")  # found: the address of a search, after its "?"
FREE = ("search", "flag", "model", "by", "since", "until", "tag", "archived")  # filters that fit whatever they say
FILTERS = (*FREE, "state", "workflow", "whose")
WHOSE = ("mine", "shared", "all")


def normal(asked: Mapping[str, Any]) -> dict[str, object]:
    """The selection with nothing in it that says nothing. Raises Invalid for names that are not known: a
    filter that is passed over would export more than was meant.
    """
    said = {name: value for name, value in asked.items() if name not in PASSED_OVER and value not in ("", None, [])}
    if unknown := sorted(set(said) - {*KINDS, *FILTERS}):
        known = ", ".join((*KINDS, *FILTERS))
        message = _("Runs cannot be selected by this. Use: %(known)s.") % {"known": known}
        raise Invalid({name: [message] for name in unknown})
    return said


def chosen(asked: Mapping[str, Any], *, by: "User") -> QuerySet[Run]:
    """Those of the runs that the person may see, the newest first. Raises Invalid."""
    said = normal(asked)
    whose = said.get("whose", "all")
    rows: QuerySet[Run] = Run.objects.owned_by(by) if whose == "mine" else Run.objects.visible_to(by)
    rows = rows.exclude(experiment__owner=by) if whose == "shared" else rows
    if whose not in WHOSE:
        raise Invalid(whose=_("Choose mine, shared or all."))
    if "state" in said and said["state"] not in Run.State.values:
        raise Invalid(state=_("There is no such state."))
    if "workflow" in said:
        if said["workflow"] not in REGISTRY:
            raise Invalid(workflow=_("There is no workflow of this name."))
        rows = rows.filter(experiment__workflow=said["workflow"])
    for name in ("since", "until"):
        if name in said and run_list.midnight(str(said[name])) is None:
            raise Invalid({name: [_("Write the date as year-month-day, such as 2026-02-28.")]})
    for name in {"state", *FREE} & set(said):
        rows = run_list.NARROWINGS[name](rows, str(said[name]).strip(), by)
    if "runs" in said:
        rows = rows.filter(pk__in=_ids("runs", said["runs"]))
    if "experiment" in said:
        rows = rows.filter(experiment__in=_seen("experiment", Experiment.objects.visible_to(by), said))
    if "project" in said:
        rows = rows.filter(experiment__project__in=_seen("project", Project.objects.visible_to(by), said))
    if "imported" in said:
        rows = rows.filter(imported__brought_by__in=_seen("imported", RunImport.objects.visible_to(by), said))
    if "found" in said:
        passages = matching(asked_by(dict(parse_qsl(str(said["found"])))), by)
        rows = rows.filter(pk__in=passages.exclude(run=None).values("run"))
    is_named = {"runs", "experiment", "workflow"} & set(said)
    return (rows if is_named else without_shards(rows)).order_by("-created", "-id")


def ids(asked: Mapping[str, Any], *, by: "User") -> list[str]:
    """Raises Invalid when there are none, or too many."""
    found = [str(pk) for pk in chosen(asked, by=by).values_list("pk", flat=True)[: MOST_RUNS + 1]]
    if not found:
        raise Invalid(runs=_("No run matches. There is nothing to export."))
    if len(found) > MOST_RUNS:
        message = _("More than %(most)s runs match. Select fewer, such as those of one project.")
        raise Invalid(runs=message % {"most": MOST_RUNS})
    return found


def _ids(field: str, value: Any) -> list[UUID]:
    given = value if isinstance(value, list | tuple) else [value]
    if len(given) > MOST_RUNS:
        raise Invalid({field: [_("Select at most %(most)s runs at once.") % {"most": MOST_RUNS}]})
    try:
        return [UUID(str(one)) for one in given]
    except ValueError as error:
        raise Invalid({field: [_("This is not the id of a run.")]}) from error


def _seen(field: str, rows: Any, said: Mapping[str, Any]) -> Any:
    """What is not there and what may not be seen is the same to whoever asks."""
    [pk] = _ids(field, said[field])[:1]
    found = rows.filter(pk=pk)
    if not found.exists():
        raise Invalid({field: [_("You can see nothing with this id.")]})
    return found
