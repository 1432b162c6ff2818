"""What the pages of instruments show: the list by where they come from, and what was made with one."""

from typing import TYPE_CHECKING

from django.db.models import Count, Exists, OuterRef, QuerySet

from experiments.library.instruments.builtin import words_of
from experiments.library.instruments.forms import initial_of
from experiments.models import Annotation, Experiment, Instrument, InstrumentVersion
from experiments.workflows.base.instruments import Definition

if TYPE_CHECKING:
    from accounts.models import User

MOST_LISTED = 300


def listed(person: "User", *, archived: bool) -> dict[str, list[Instrument]]:
    """The instruments that a person sees: built-in ones, own ones, and those of others; with newest_number, and
    runs_measured, how many of the runs that they see were measured with any version.
    """
    rows = Instrument.objects.visible_to(person).filter(archived__isnull=not archived)
    groups: dict[str, list[Instrument]] = {"builtin": [], "mine": [], "others": []}
    seen = Annotation.objects.visible_to(person).order_by().values_list("version__instrument")
    measured = dict(seen.annotate(runs=Count("run", distinct=True)))
    for one in rows.with_newest().select_related("owner", "project").prefetch_related("versions")[:MOST_LISTED]:
        one.runs_measured = measured.get(one.pk, 0)  # type: ignore[attr-defined]  # for its card
        group = "builtin" if one.is_builtin else "mine" if one.owner_id == person.pk else "others"
        groups[group].append(one)
    return groups


def initial(source: InstrumentVersion | None) -> dict[str, object]:
    """What the editor begins with: a version that is there, or a blank one with the usual prompt."""
    if source is None:
        return initial_of(Definition.model_construct(dimensions=[]))
    title, description = words_of(source.instrument)
    return {"title": title, "description": description, **initial_of(source.parsed)}


def scans_of(instrument: Instrument, person: "User") -> QuerySet[Experiment]:
    """Those in which a version judged something, as far as the person sees them, newest first."""
    made = Annotation.objects.filter(version__instrument=instrument, made_in__experiment=OuterRef("pk"))
    return Experiment.objects.visible_to(person).filter(Exists(made)).order_by("-created", "-id")
