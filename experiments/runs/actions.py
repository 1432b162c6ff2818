"""The verbs: pages, API, admin and commands all call these. Each is one transaction and emits its event."""

import secrets
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Max
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Conflict, Forbidden, Invalid
from experiments.api.idempotency import once
from experiments.engine import jobs
from experiments.engine.events import emit
from experiments.engine.executions import SANDBOX_FAILURES
from experiments.engine.leases import INTERNAL_ERROR
from experiments.engine.pauses import REOPENED, rested
from experiments.engine.recording import FORGIVEN
from experiments.engine.text import is_storable
from experiments.lab.budgets.budgeting import require_budget
from experiments.library.search import indexing
from experiments.models import Call, Experiment, Participant, Run, SeatedPerson, Step
from experiments.runs import admission
from experiments.runs.admission import (
    queue,
    require_change,
    require_models,
    require_role,
    require_sandbox,
    require_spending,
)
from experiments.runs.sharing.sharing import checked_project
from experiments.runs.steering import steering
from experiments.setup.casting import Lookups, checked_cast, checked_config, checked_people, require_visible_instrument
from experiments.workflows import services_of
from experiments.workflows.base.events import CallRetried, ExperimentState
from experiments.workflows.base.steps import SPOKEN
from experiments.workflows.shards import without_shards

if TYPE_CHECKING:
    from accounts.models import User

__all__ = ["archive", "create", "rename", "resume", "start", "stop"]

LONGEST_TITLE = 200
MOST_REPEATS = 50
MOST_LIVE_RUNS = 200


def create(
    *,
    owner: "User",
    workflow: str,
    title: str = "",
    config: Any,
    cast: Mapping[str, Any],
    project: str = "",
    uses_batches: bool = False,
) -> Experiment:
    """A new experiment. project: the id of one that its owner has a share of; its members see it then. uses_batches:
    its runs wait for the batch APIs of providers that have one. Raises Invalid when it could not be played.
    """
    require_role(owner)
    shared = checked_project(project, owner=owner)
    checked = checked_config(workflow, config)
    lookups = Lookups(owner)
    participants = checked_cast(workflow, checked, cast, owner=owner, lookups=lookups)
    people = checked_people(workflow, checked, cast)
    require_visible_instrument(checked, lookups=lookups)
    services_of(workflow).check(workflow, checked, participants, owner=owner)
    experiment = Experiment(
        owner=owner,
        workflow=workflow,
        title=_title(title, checked),
        config=checked.model_dump(mode="json"),
        project=shared,
        visibility=Experiment.Visibility.PROJECT if shared else Experiment.Visibility.PRIVATE,
        uses_batches=uses_batches,
    )
    with transaction.atomic():
        experiment.save(force_insert=True)
        for participant in participants:
            participant.experiment = experiment
        for person in people:
            person.experiment = experiment
        Participant.objects.bulk_create(participants)
        SeatedPerson.objects.bulk_create(people)
        indexing.setup(experiment.pk)
    return experiment


def rename(experiment: Experiment, *, by: "User", title: str) -> bool:
    """Give an experiment, and so its runs, another title. False when it had it. Raises Forbidden and Invalid."""
    require_change(experiment, by)
    fresh = checked_title(title)
    if not fresh:
        raise Invalid(title=_("Enter a title."))
    with transaction.atomic():
        before = Experiment.objects.select_for_update(of=("self",)).get(pk=experiment.pk).title
        if before == fresh:
            return False
        Experiment.objects.filter(pk=experiment.pk).update(title=fresh)
        indexing.setup(experiment.pk)
        audit.record(audit.Action.RENAMED, by=by, of=experiment, name=fresh, before=before)
    experiment.title = fresh
    return True


def archive(runs: Collection[Run], *, by: "User", is_archived: bool = True) -> int:
    """Leave runs out of the lists, or list them again; how many that changed. All of them or none: raises Forbidden,
    and Conflict for what has not ended.
    """
    experiments = {run.experiment_id for run in runs}
    if Experiment.objects.changeable_by(by).filter(pk__in=experiments).count() < len(experiments):
        raise Forbidden(_("You cannot change some of these, so nothing changed. Select the ones you can change."))
    with transaction.atomic():
        rows = Run.objects.filter(pk__in=[run.pk for run in runs], archived__isnull=is_archived)
        if is_archived and rows.live().exists():
            raise Conflict(_("A run that has not ended cannot be archived. Stop it first."))
        changed = list(rows.select_related("experiment").select_for_update(of=("self",)))
        rows.update(archived=timezone.now() if is_archived else None)
        action = audit.Action.ARCHIVED if is_archived else audit.Action.RESTORED
        for experiment in {run.experiment for run in changed}:
            count = sum(run.experiment_id == experiment.pk for run in changed)
            audit.record(action, by=by, of=experiment, runs=count)
    return len(changed)


def start(
    experiment: Experiment, *, by: "User", seed: int | None = None, repeats: int = 1, idempotency_key: str = ""
) -> list[Run]:
    """Queue runs with successive seeds. A repetition under the same key gets the runs of the first request."""
    require_role(by)
    require_spending(experiment, by)
    answer = once(
        lambda: {"runs": [str(run.pk) for run in _start(experiment, by, seed, repeats)]},
        by=by,
        key=idempotency_key,
        request=("start", str(experiment.pk), seed, repeats),
    )
    return list(Run.objects.filter(pk__in=answer["runs"]).select_related("experiment__owner").order_by("seed"))


def stop(run: Run, *, by: "User") -> bool:
    """Stop a live run; what was said so far is kept. False when it had ended or was being stopped already."""
    require_change(run.experiment, by)
    return admission.stop(run, by=by)


def resume(run: Run, *, by: "User") -> bool:
    """Go on with a failed run, whose recorded steps stay and whose failed one is tried again, with a paused one, or
    with one that a budget has stopped. False when there is nothing to go on with.
    """
    require_spending(run.experiment, by)
    with transaction.atomic():
        return steering.release(run, by=by) or _resume_within_budget(run, by) or _resume_failed(run, by)


def _resume_within_budget(run: Run, by: "User") -> bool:
    """Everything that is recorded stands; the call for which there was no room is the next one."""
    fresh = steering.locked(run)
    if not fresh.is_stopped_by_budget:
        return False
    require_budget(fresh.experiment)
    if run.calls.filter(state=Call.State.STOPPED).exists():
        raise Forbidden(_("An answer was cut off when the run stopped. Branch from a message, or run it again."))
    steering.go_on(fresh, by=by)
    run.state = fresh.state
    return True


def _resume_failed(run: Run, by: "User") -> bool:
    if not run.may_resume:
        return False
    require_role(by)
    require_budget(run.experiment)
    require_models(run.experiment)
    require_sandbox(run.experiment)
    fields = {**rested(run), **steering.FRESH}
    if not run.move(Run.State.QUEUED, from_=(Run.State.FAILED,), fields=fields):
        return False
    failed = _ended_by(run)
    newest = run.steps.aggregate(newest=Max("pk"))["newest"]
    for step in failed:
        data = {**step.data, REOPENED: newest, FORGIVEN: step.calls.filter(state=Call.State.FAILED).count()}
        run.steps.filter(pk=step.pk).update(state=Step.State.OPEN, ended=None, data=data)
    moved = ExperimentState(state=Run.State.QUEUED.value, by=by.get_username())
    calls = [call for step in failed if (call := step.calls.order_by("attempt").last())]
    retried = [
        CallRetried(
            call=str(call.pk),
            seat=call.step.seat,
            turn=call.step.turn,
            attempt=call.attempt,
            purpose=call.step.purpose,
            kind=call.error_kind,
            message=call.error,
            seconds=0,
        )
        for call in calls
    ]
    emit(run.pk, moved, *retried)
    jobs.wake(run.pk)
    return True


def _ended_by(run: Run) -> list[Step]:
    """The answers whose failure ended the run: those of the last one's kind after the last that somebody gave. What
    came of earlier failures is recorded, and stands. Where the sandbox failed, what it was to run in the last cycle.
    """
    if run.stop_reason == INTERNAL_ERROR:
        return []  # the fault was nobody's answer
    if run.stop_reason in SANDBOX_FAILURES:  # earlier cycles stay as they were rated
        executions = run.steps.filter(kind="execute")
        last = executions.aggregate(last=Max("turn"))["last"]
        return list(executions.filter(turn=last, state=Step.State.FAILED).order_by("id"))
    failed: list[Step] = []
    for step in run.steps.filter(purpose__in=SPOKEN).exclude(state=Step.State.OPEN).order_by("-id"):
        is_same = not failed or (step.turn, step.purpose) == (failed[0].turn, failed[0].purpose)
        if step.state != Step.State.FAILED or not is_same:
            break
        failed.insert(0, step)
    return failed


def _start(experiment: Experiment, by: "User", seed: int | None, repeats: int) -> list[Run]:
    services = services_of(experiment.workflow)
    if services.start:
        if repeats > 1:
            said = _("It is already shared over many runs, so it has no repeats.")
            raise Invalid({"repeats": [said]})
        return services.start(experiment, by=by, seed=seed)
    live = without_shards(Run.objects.live().filter(experiment__owner=experiment.owner_id))
    if live.count() + repeats > MOST_LIVE_RUNS:
        raise Forbidden(_("You already have %(most)s live runs. Stop some, or wait.") % {"most": MOST_LIVE_RUNS})
    require_models(experiment)
    require_sandbox(experiment)
    require_budget(experiment)
    first = secrets.randbelow(2**31) if seed is None else seed
    with transaction.atomic():
        runs = [queue(experiment, first + number) for number in range(repeats)]
        for run in runs:
            services.queued(run)
        return runs


def checked_title(title: str) -> str:
    """In one line. Raises Invalid for what cannot be stored."""
    if not is_storable(title):
        raise Invalid({"title": [_("The title has characters that cannot be stored.")]})
    if len(title) > LONGEST_TITLE:
        raise Invalid({"title": [_("The title is longer than %(most)s characters.") % {"most": LONGEST_TITLE}]})
    return " ".join(title.split())


def _title(title: str, config: Any) -> str:
    """The title given, else the beginning of the first instructions."""
    words = checked_title(title) or " ".join(config.summary().split())
    return words if len(words) <= LONGEST_TITLE else words[: LONGEST_TITLE - 1] + "…"
