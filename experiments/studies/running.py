"""Queues the runs of studies in their order, a few at a time; whoever comes first does it, and each run once."""

import logging
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import DatabaseError, transaction
from django.db.models import DecimalField, Subquery, Sum, Value
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Refusal
from experiments.lab.budgets.budgeting import require_budget
from experiments.models import Call, Run, Study, StudyRun
from experiments.models.signals import run_finished, swept
from experiments.runs import admission
from experiments.runs.actions import MOST_LIVE_RUNS
from experiments.workflows import services_of
from experiments.workflows.shards import without_shards

logger = logging.getLogger(__name__)


def advance(pk: UUID) -> int:
    """Queue as many runs as there is room for, in one transaction that holds the study's row; how many. Ends a study
    whose runs have all ended, and pauses one that nothing may be spent on, with the reason in its note.
    """
    with transaction.atomic():
        study = Study.objects.select_for_update(of=("self",)).select_related("owner", "project").get(pk=pk)
        if study.state != Study.State.RUNNING:
            return 0
        live = Run.objects.live().filter(planned__study=study).count()
        of_owner = without_shards(Run.objects.live().filter(experiment__owner=study.owner)).count()
        room = max(0, min(study.at_once - live, MOST_LIVE_RUNS - of_owner))
        waiting = study.planned_runs.filter(run__isnull=True).order_by("number")
        due = list(waiting.select_related("condition__experiment__owner", "condition__experiment__project")[:room])
        if not live and not waiting.exists():
            Study.objects.filter(pk=pk).update(state=Study.State.COMPLETED, ended=timezone.now())
            return 0
        if due and (refusal := _why_not(study, due)):
            Study.objects.filter(pk=pk).update(state=Study.State.PAUSED, note=refusal[:500])
            return 0
        for planned in due:
            experiment = planned.condition.experiment
            planned.run = admission.queue(experiment, planned.seed)
            services_of(experiment.workflow).queued(planned.run)
            planned.save(update_fields=["run"])
        return len(due)


def spent_on(study: Any) -> Any:
    """US dollars of all runs of a study, as far as costs are known, as an expression of its key."""
    calls = Call.objects.filter(run__planned__study=study).order_by().values("run__planned__study")
    total = Subquery(calls.annotate(total=Sum("cost")).values("total"))
    return Coalesce(total, Value(Decimal(0)), output_field=DecimalField(max_digits=20, decimal_places=10))


def _why_not(study: Study, due: list[StudyRun]) -> str:
    if Study.objects.filter(pk=study.pk, cost_limit__lte=spent_on(study.pk)).exists():
        return str(_("The cost limit of the study is reached. Raise it to go on."))
    try:
        for experiment in {one.condition.experiment for one in due}:
            admission.require_spending(experiment, study.owner)
            admission.require_models(experiment)
            admission.require_sandbox(experiment)
            require_budget(experiment)
    except Refusal as refusal:
        return str(refusal)
    return ""


def connect() -> None:
    run_finished.connect(_go_on, dispatch_uid="studies")
    swept.connect(_sweep, dispatch_uid="studies")


def _go_on(sender: Any, run_id: UUID, **more: Any) -> None:
    """What fails here is done by the next sweep."""
    try:
        for pk in Study.objects.filter(state=Study.State.RUNNING, planned_runs__run=run_id).values_list(
            "pk", flat=True
        ):
            advance(pk)
    except DatabaseError as error:
        logger.warning("run=%s: its study did not go on (%s)", run_id, type(error).__name__)


def _sweep(sender: Any, **more: Any) -> None:
    """What was not heard of, because a process died before it could tell."""
    for pk in Study.objects.filter(state=Study.State.RUNNING).values_list("pk", flat=True):
        advance(pk)
