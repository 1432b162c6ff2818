"""How a run comes to be queued, and how it is stopped: what the verbs of runs and those of campaigns share."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from experiments.api.serializers import ParticipantSerializer
from experiments.engine import executions, jobs
from experiments.engine.events import emit
from experiments.engine.recording import lose_calls
from experiments.models import Experiment, Run
from experiments.models.signals import run_finished
from experiments.workflows.base.events import (
    BranchedFrom,
    ExperimentCreated,
    ExperimentState,
    ExperimentStopped,
    Seated,
)

if TYPE_CHECKING:
    from accounts.models import User


def queue(experiment: Experiment, seed: int, overrides: Mapping[str, Any] | None = None) -> Run:
    """A run that waits for a driver. Call inside a transaction."""
    mode = experiment.config.get("mode", Run.Mode.MANUAL)
    run = Run.objects.create(experiment=experiment, seed=seed, mode=mode, overrides=dict(overrides or {}))
    emit(run.pk, created(run))
    jobs.wake(run.pk)
    return run


def created(run: Run, branch: BranchedFrom | None = None) -> ExperimentCreated:
    """What a run is a run of, as its first event tells it."""
    experiment = run.experiment
    participants = ParticipantSerializer(experiment.participants.select_related("model"), many=True).data
    of_branch = {} if branch is None else {"branch": branch}
    return ExperimentCreated(
        workflow=experiment.workflow,
        title=experiment.title,
        seed=run.seed,
        config=experiment.config,
        cast=[Seated(**seated) for seated in participants],
        **of_branch,
    )


def stop(run: Run, *, by: "User") -> bool:
    """Stop a live run; what was said so far is kept. False when it had ended or was being stopped already."""
    with transaction.atomic():
        Run.objects.select_for_update().filter(pk=run.pk).first()  # nobody claims it between the two moves
        if run.move(Run.State.STOPPING, from_=(Run.State.RUNNING,)):
            emit(run.pk, ExperimentState(state=Run.State.STOPPING.value, by=by.get_username()))
            return True
        ended = {"stop_reason": "manual_stop", "ended": timezone.now()}
        if run.move(Run.State.STOPPED, from_=(Run.State.QUEUED, Run.State.WAITING), fields=ended):
            stopped = ExperimentStopped(state=Run.State.STOPPED.value, reason="manual_stop", message="")
            emit(run.pk, *lose_calls(run), stopped)
            executions.cancel(run.pk)
            Run.objects.filter(pk=run.pk).update(is_held=False)
            transaction.on_commit(lambda: run_finished.send(Run, run_id=run.pk))
            return True
    return False
