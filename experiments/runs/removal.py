"""Deleting runs and experiments: what was said goes for good, and what was paid stays, so that usage still adds up."""

from collections.abc import Collection
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import audit
from accounts.errors import Conflict, Forbidden
from experiments.models import (
    Annotation,
    Ballot,
    BatchedCall,
    Battle,
    Call,
    Campaign,
    ClientTalk,
    Cycle,
    Event,
    Execution,
    Experiment,
    Export,
    ImportedRun,
    Judgment,
    Message,
    Note,
    Participant,
    Passage,
    ReviewItem,
    Run,
    RunReview,
    SeatedPerson,
    ShareLink,
    Step,
    Tagging,
    shared_files,
)
from experiments.models.signals import run_curated
from experiments.workflows.shards import SCORING

if TYPE_CHECKING:
    from accounts.models import User

OF_RUNS = (  # in an order in which no row is left that another one needs
    *(Passage, Note, Tagging, ReviewItem, RunReview, ImportedRun, ClientTalk, Export),
    *(Judgment, Annotation, Ballot, Execution, Cycle, Message, Event),
)
OF_EXPERIMENTS = (Passage, Tagging, ShareLink, Participant, SeatedPerson, Campaign)
EMPTY_CALL: dict[str, Any] = {"request": {}, "text": "", "reasoning": "", "logprobs": None, "error": "", "warnings": []}


def why_not(runs: Collection[Run], by: "User") -> Conflict | Forbidden | None:
    """What keeps somebody from deleting these runs, as the refusal that `remove` raises."""
    experiments = {run.experiment_id: run.experiment for run in runs}
    if any(experiment.owner_id != by.pk for experiment in experiments.values()):
        return Forbidden(_("Only the owner of an experiment can delete it and its runs."))
    judgings = _judgings(runs)
    if any(run.experiment.owner_id != by.pk for run in judgings):
        return Conflict(_("Someone else judges it again, and their run shows its transcript. It can only be archived."))
    active = Campaign.objects.filter(experiment__in=experiments, state=Campaign.State.RUNNING)
    if any(not run.is_over for run in (*runs, *judgings)) or active.exists():
        return Conflict(_("It has not ended yet. Stop it before you delete it."))
    if any(experiment.visibility == Experiment.Visibility.PUBLIC for experiment in experiments.values()):
        return Conflict(_("It is public. A curator can unpublish it; then you can delete it."))
    return None


def remove(runs: Collection[Run], *, by: "User") -> int:
    """Delete runs, what judged them again, and the experiments that have no run left. Returns how many were asked for.
    Their owner's alone: raises Forbidden, and Conflict for what has not ended, is public, or is judged again by others.
    """
    with transaction.atomic():
        rows = Run.objects.filter(pk__in=[run.pk for run in runs]).select_related("experiment")
        held = list(rows.select_for_update(of=("self",)))
        if refusal := why_not(held, by):
            raise refusal
        gone = [*held, *_judgings(held)]
        _erase_runs([run.pk for run in gone])
        emptied = {run.experiment for run in gone if not run.experiment.runs.exists()}
        for run in held:
            transaction.on_commit(partial(run_curated.send, sender=None, run_id=run.pk))
            if run.experiment not in emptied:
                audit.record(audit.Action.DELETED, by=by, of=run, name=run.experiment.title)
        for experiment in emptied:
            _erase_experiment(experiment, by)
    return len(held)


def remove_experiment(experiment: Experiment, *, by: "User") -> None:
    """The same of all its runs, and of one that was never started. Raises Forbidden and Conflict."""
    if runs := list(experiment.runs.select_related("experiment")):
        remove(runs, by=by)
        return
    if experiment.owner_id != by.pk:
        raise Forbidden(_("Only the owner of an experiment can delete it and its runs."))
    with transaction.atomic():
        _erase_experiment(experiment, by)


def consequences(runs: Collection[Run], reader: "User") -> list[str]:
    """What deleting these runs does, in sentences for their owner."""
    keys = [run.pk for run in runs]
    experiments = {run.experiment_id for run in runs}
    notes = Note.objects.visible_to(reader).filter(run__in=keys).count()
    files = Export.objects.visible_to(reader).filter(run__in=keys).count()
    links = ShareLink.objects.open().filter(experiment__in=experiments).count()
    battles = Battle.objects.filter(Q(run__in=keys) | Q(experiment__in=experiments, ballot="")).count()
    rated = Ballot.objects.filter(run__in=keys).count() + Cycle.objects.counted().filter(run__in=keys).count()
    messages = Message.objects.filter(run__in=keys).count()
    counted = (
        (messages, ngettext("%(n)s message is deleted.", "%(n)s messages are deleted.", messages)),
        (notes, ngettext("%(n)s note is deleted.", "%(n)s notes are deleted.", notes)),
        (files, ngettext("%(n)s report or export is deleted.", "%(n)s reports and exports are deleted.", files)),
        (links, ngettext("%(n)s read-only link stops working.", "%(n)s read-only links stop working.", links)),
        (
            battles,
            ngettext(
                "%(n)s battle stays on its board and counts in the ratings.",
                "%(n)s battles stay on their board and count in the ratings.",
                battles,
            ),
        ),
        (
            rated,
            ngettext(
                "%(n)s ballot or cycle no longer counts on the leaderboard.",
                "%(n)s ballots and cycles no longer count on the leaderboard.",
                rated,
            ),
        ),
    )
    return [
        *(sentence % {"n": n} for n, sentence in counted if n),
        _("Judgments, review answers, tags and flags are deleted. Branches of it stay, as runs of their own."),
        _("Its calls and costs stay in usage and budgets, without any text."),
    ]


def _judgings(runs: Collection[Run]) -> list[Run]:
    """Runs that judge these again: they show the transcript, so they go with it."""
    rows = Run.objects.filter(parent__in=[run.pk for run in runs], experiment__workflow__in=SCORING)
    return list(rows.select_related("experiment"))


def _erase_runs(keys: list[UUID]) -> None:
    paths = [export.path for export in Export.objects.filter(run__in=keys)]
    Run.objects.filter(branched_from__run__in=keys).update(branched_from=None)
    Battle.objects.filter(run__in=keys).update(run=None)
    judged = Annotation.objects.filter(run__in=keys)
    Call.objects.filter(step__in=judged.values("call__step")).update(**EMPTY_CALL)  # they show the transcript
    Annotation.objects.filter(made_in__in=keys).delete()
    for model in OF_RUNS:
        model._default_manager.filter(run__in=keys).delete()
    Call.objects.filter(run__in=keys).update(**EMPTY_CALL)
    BatchedCall.objects.filter(call__run__in=keys).update(answer="", error="", warnings=[])
    Step.objects.filter(run__in=keys).update(data={})
    Run.objects.filter(pk__in=keys).update(deleted=timezone.now(), overrides={}, error="")
    for path in paths:
        transaction.on_commit(partial(shared_files.forget, path))


def _erase_experiment(experiment: Experiment, by: "User") -> None:
    audit.record(audit.Action.DELETED, by=by, of=experiment)
    experiment.battles.update(experiment=None)
    for model in OF_EXPERIMENTS:
        model._default_manager.filter(experiment=experiment).delete()
    experiment.budgets.update(active=False)
    Experiment.objects.filter(pk=experiment.pk).update(deleted=timezone.now(), title="", config={})
