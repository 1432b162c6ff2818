"""What the page of a StarChamber talk needs beside the run."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils.translation import gettext as _

from accounts.models import User
from experiments.library.builtin import CUSTOM
from experiments.library.presets import find_preset
from experiments.models import Participant, Run
from experiments.runs.timeline import Entry
from experiments.workflows.judging import WORKFLOW as JUDGING
from experiments.workflows.starchamber import DEFAULT_PARAMS
from experiments.workflows.starchamber.pages import figures


def context(reader: User | AnonymousUser, run: Run, entries: Sequence[Entry]) -> dict[str, Any]:
    """defaults: what the model is asked with when nothing is set."""
    return {
        "figures": figures.of(run),
        "preset": _preset(run, reader),
        "judgings": _judgings(run, reader),
        "defaults": DEFAULT_PARAMS,
    }


def _preset(run: Run, reader: User | AnonymousUser) -> str:
    """How the system context is called in the library; "" for one that is not there any more."""
    id_ = str(run.config.get("preset") or "")
    if id_ == CUSTOM:
        return _("Custom")
    found = find_preset(reader, id_) if id_ else None
    return str(found.label) if found else ""


def _judgings(run: Run, reader: User | AnonymousUser) -> QuerySet[Any]:
    """The runs in which the transcript was judged again and that the reader may see, the latest first, each with its
    judge's `judge_label`.
    """
    judge = Participant.objects.filter(experiment=OuterRef("experiment"), seat="judge").values("model__label")[:1]
    judgings = Run.objects.visible_to(reader).filter(parent=run, experiment__workflow=JUDGING.slug)
    return judgings.annotate(judge_label=Subquery(judge))
