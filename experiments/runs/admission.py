"""Who may experiment and change what, whether an experiment can be played now, and how a run is queued and stopped."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Forbidden
from accounts.models import Project
from experiments.api.serializers import ParticipantSerializer
from experiments.engine import batches, executions, jobs
from experiments.engine.events import emit
from experiments.engine.keys import where
from experiments.engine.recording import lose_calls
from experiments.models import Experiment, ProviderModel, Run
from experiments.models.signals import run_finished
from experiments.sandbox.host import hosts
from experiments.workflows import workflow_of
from experiments.workflows.base.events import (
    BranchedFrom,
    ExperimentCreated,
    ExperimentState,
    ExperimentStopped,
    Seated,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


def require_role(person: "User") -> None:
    if not person.may_experiment:
        raise Forbidden(_("Your role does not allow experiments. Ask an administrator for the role of researcher."))


def may_change(experiment: Experiment, person: "User | AnonymousUser") -> bool:
    """Looking is not steering: only its owner, and those who share its project, may move a run or begin one."""
    return Experiment.objects.changeable_by(person).filter(pk=experiment.pk).exists()


def require_change(experiment: Experiment, person: "User | AnonymousUser") -> None:
    if not may_change(experiment, person):
        raise Forbidden(_("You can view this but not change it. Its owner and the project's members can."))


def require_spending(experiment: Experiment, person: "User") -> None:
    """Before anything is asked of a model for it: who may change it, and whether its project pays for what they do."""
    require_change(experiment, person)
    if experiment.project is None:
        return
    if experiment.project.archived:
        raise Forbidden(_("Its project is archived, so nothing new can start in it. A lead can restore it."))
    if not Project.objects.with_share_of(person).filter(pk=experiment.project.pk).exists():
        message = _("Its project would pay for this, and you are not one of its members. Ask a lead.")
        raise Forbidden(message)


def require_sandbox(experiment: Experiment) -> None:
    """Where nothing can keep code apart, none is run: it is said before anything is paid for."""
    if workflow_of(experiment.workflow).executes and (refusal := hosts.refusal()):
        raise Forbidden(_("Code cannot be run here, so nothing was started. %(why)s") % {"why": refusal})


def require_models(experiment: Experiment) -> None:
    """Imported and demonstrated experiments name models that nobody can ask; others may have been switched off, or the
    workflow may be gone.
    """
    if workflow_of(experiment.workflow).is_missing:
        raise Forbidden(
            _("The workflow of this experiment is no longer installed. Its runs can be read but not resumed.")
        )
    asked = {
        participant.model_id: participant.model.label for participant in experiment.participants.select_related("model")
    }
    available = set(ProviderModel.objects.available().filter(pk__in=asked).values_list("pk", flat=True))
    if missing := [label for pk, label in asked.items() if pk not in available]:
        message = _("These models are not available: %(models)s. Set the experiment up again with other models.")
        raise Forbidden(message % {"models": ", ".join(missing)})
    # Calls are made in the name of the experiment's owner: whoever else starts it lends it no key.
    askable = ProviderModel.objects.askable(experiment.owner).filter(pk__in=asked)
    keyless = ProviderModel.objects.filter(pk__in=asked).exclude(pk__in=askable.values("pk")).select_related("provider")
    if first := keyless.first():
        message = _("Nothing was started: %(models)s needs a key of %(provider)s. %(where)s")
        raise Forbidden(message % {"models": ", ".join(model.label for model in keyless), **where(first.provider)})


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
    participants = ParticipantSerializer(experiment.seated, many=True).data
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
            batches.end_of_run(run.pk)
            emit(run.pk, *lose_calls(run), stopped)
            executions.cancel(run.pk)
            Run.objects.filter(pk=run.pk).update(is_held=False)
            transaction.on_commit(lambda: run_finished.send(Run, run_id=run.pk))
            return True
    return False
