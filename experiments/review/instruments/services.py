"""The verb that sends a sample of what an instrument has judged to reviewers, blind."""

import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.db.models import Q
from django.shortcuts import get_list_or_404
from django.utils.translation import gettext as _

from accounts.errors import Conflict, Invalid
from accounts.models import Project
from experiments.library.instruments.builtin import words_of
from experiments.models import (
    TERMINAL_STATES,
    Annotation,
    Experiment,
    Instrument,
    InstrumentVersion,
    ReviewQueue,
    ReviewRubric,
)
from experiments.review import queues
from experiments.review.instruments.sampling import Sample
from experiments.review.instruments.units import annotations_of
from experiments.workflows.base.instruments import rubric_of

if TYPE_CHECKING:
    from accounts.models import User

RUBRICS = uuid.UUID("c1b3e7a4-2f0d-4f55-8d3e-7a0a5b0f9e21")  # the families are derived from it


def version_of(scan: Experiment, user: "User") -> InstrumentVersion:
    """The version of an instrument with which an experiment has judged. Raises Http404 where there is none that
    somebody may know of.
    """
    made = Annotation.objects.visible_to(user).filter(made_in__experiment=scan).values("version")
    named = Q(pk=scan.config["version"]) if "definition" in scan.config else Q(pk__in=made)
    rows = InstrumentVersion.objects.filter(named).select_related("instrument")
    return get_list_or_404(rows.order_by("-created"))[0]


def numbered(instrument: Instrument, number: str) -> InstrumentVersion:
    """The version with this number, or the newest without one. Raises Http404."""
    versions = instrument.versions.select_related("instrument").order_by("-number")
    if number:
        versions = versions.filter(number=number) if number.isdecimal() else versions.none()
    return get_list_or_404(versions)[0]


def judges_of(version: InstrumentVersion, scan: Experiment) -> list[str]:
    rows = annotations_of(version, scan).exclude(judge="").order_by("judge")
    return list(rows.values_list("judge", flat=True).distinct())


def draw(
    *,
    by: "User",
    version: InstrumentVersion,
    scan: Experiment,
    dimension: str,
    size: int,
    judge: str = "",
    seed: int = 0,
    name: str = "",
    overlap: int = 1,
    instructions: str = "",
    lock_minutes: int = 20,
    project: Project | None = None,
    is_lab: bool = False,
    members: Sequence[str] = (),
) -> ReviewQueue:
    """A blind queue with a sample of what the scan has judged, equally many of each value of the dimension. judge:
    whose values, the only one's without it. size: 1 to MOST_DRAWN units. members: user names. Runs that the queue may
    not show are not drawn from.

    Raises what `queues.make` raises; Invalid naming the field where nothing can be drawn, or the sample is too small
    for the values; Conflict while the scan has not ended.
    """
    if scan.runs.exclude(state__in=TERMINAL_STATES).exists():
        raise Conflict(_("The scan has not ended yet. Stop it, or draw the sample when it has."))
    definition = version.parsed
    if dimension not in definition.by_name:
        raise Invalid(dimension=_("The instrument has no such dimension."))
    judges = judges_of(version, scan)
    if judge not in judges and (judge or len(judges) != 1):
        raise Invalid(judge=_("Choose one of the judges of the scan."))
    sample = Sample(dimension=dimension, judge=judge or judges[0], size=size, seed=seed)
    return queues.make(
        by=by,
        name=name or _("%(instrument)s, held to people") % {"instrument": words_of(version.instrument)[0]},
        rubric=_rubric(version, by),
        over=ReviewQueue.Over.UNITS,
        overlap=overlap,
        instructions=instructions,
        lock_minutes=lock_minutes,
        project=project,
        is_lab=is_lab,
        members=members,
        of_scan={"version": version, "scan": scan, "sample": sample.model_dump()},
    )


def _rubric(version: InstrumentVersion, by: "User") -> ReviewRubric:
    """The rubric of the instrument's dimensions, one for each person who asks by it."""
    title, description = words_of(version.instrument)
    rubric = rubric_of(version.parsed)
    words = {"title": title, "description": description, "owner": by}
    family = uuid.uuid5(RUBRICS, f"{version.pk}:{by.pk}")
    return ReviewRubric.objects.get_or_create(family=family, version=1, defaults={**rubric.model_dump(), **words})[0]
