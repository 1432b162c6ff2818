"""The verbs of campaigns: start, stop, resume, feed. One experiment, its work shared out over many runs."""

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from experiments import running
from experiments.admission import require_models, require_role
from experiments.battles.admission import check
from experiments.battles.feeding import feed, feed_all
from experiments.battles.scope import name_version, scope_of
from experiments.casting import InvalidExperiment
from experiments.engine import jobs
from experiments.engine.events import Fact, emit
from experiments.models import LIVE_STATES, Call, Campaign, Experiment, Run, Step
from experiments.refusals import NotAllowed, Rivalled
from experiments.steering import FRESH, rested
from experiments.workflows.limits import Limits

if TYPE_CHECKING:
    from accounts.models import User

__all__ = ["feed", "feed_all", "resume", "start", "stop"]

MOST_LIVE_CAMPAIGNS = 20
State = Campaign.State
OVER = (State.STOPPED, State.OPEN, State.COMPLETED, State.FAILED)


def start(experiment: Experiment, *, by: "User", seed: int | None = None) -> list[Run]:
    """Plan the campaign and begin its first runs; the others follow by themselves.

    seed: decides which samples are drawn, and in which sequence; without one it is 0, so that campaigns that draw some
    of the samples draw the same ones. Raises Rivalled when it has been started before, NotAllowed or InvalidExperiment
    when it cannot be played. No run is begun when nothing is missing: the campaign is completed then.
    """
    require_role(by)
    require_models(experiment)
    check(experiment)
    _require_room(experiment)
    with transaction.atomic():
        campaign, is_new = Campaign.objects.get_or_create(experiment=experiment, defaults={"seed": seed or 0})
        if not is_new:
            raise Rivalled(_("This experiment has been started already: resume it to ask what is missing."))
        _name_newcomers(experiment)
    return feed(campaign.pk)


def stop(experiment: Experiment, *, by: "User") -> bool:
    """Begin nothing more, and stop the runs under way; what is recorded stays. False when it was not running."""
    with transaction.atomic():
        rows = Campaign.objects.filter(pk=experiment.pk, state=State.RUNNING)
        note = f"Stopped by {by.get_username()}."
        if not rows.update(state=State.STOPPED, ended=timezone.now(), note=note, edition=F("edition") + 1):
            return False
    for run in Run.objects.filter(experiment=experiment, state__in=LIVE_STATES):
        running.stop(run, by=by)
    return True


def resume(experiment: Experiment, *, by: "User", limits: dict[str, Any] | None = None) -> bool:
    """Go on where it was stopped, then ask again what is open or missing, also for contestants that joined later.

    limits: those that hold from now on, in place of the experiment's. False when it runs already, was never started, or
    nothing is left to be asked. Raises Rivalled while its runs are still stopping.
    """
    require_role(by)
    require_models(experiment)
    check(experiment)
    campaign = Campaign.objects.filter(pk=experiment.pk, state__in=OVER).first()
    if campaign is None:
        return False
    _require_room(experiment)
    checked = None if limits is None else _checked(limits)
    with transaction.atomic():
        if Run.objects.filter(experiment=experiment, state=Run.State.STOPPING).exists():
            raise Rivalled(_("The last runs are still stopping: try again in a moment."))
        if not _move_on(campaign, checked):
            return False
        for run in _unfinished(campaign):
            _revive(run, by, checked)
        _name_newcomers(experiment)
    feed(campaign.pk)
    return not Campaign.objects.filter(pk=campaign.pk, state=State.COMPLETED).exists()


def _name_newcomers(experiment: Experiment) -> None:
    if experiment.workflow == "battles":
        name_version(scope_of(experiment))


def _move_on(campaign: Campaign, limits: dict[str, Any] | None) -> bool:
    live = [str(run.pk) for run in _unfinished(campaign)]
    dropped = Run.objects.filter(pk__in=campaign.cursor.get("live", ())).exclude(pk__in=live)
    live += [str(pk) for pk in dropped.exclude(state=Run.State.FAILED).values_list("pk", flat=True)]
    fields: dict[str, Any] = {"cursor": {**campaign.cursor, "again": True, "live": live}} if campaign.cursor else {}
    if limits is not None:
        fields["plan"] = {**campaign.plan, "limits": limits}
    rows = Campaign.objects.filter(pk=campaign.pk, state=campaign.state, edition=campaign.edition)
    moved = {"state": State.RUNNING, "resumed": timezone.now(), "ended": None, "note": ""}
    return bool(rows.update(passes=F("passes") + 1, edition=F("edition") + 1, **moved, **fields))


def _unfinished(campaign: Campaign) -> list[Run]:
    """Runs that were stopped, or that the engine failed: they go on from what is recorded of them."""
    runs = Run.objects.filter(pk__in=campaign.cursor.get("live", ()))
    ended = runs.filter(state__in=(Run.State.STOPPED, Run.State.FAILED)).select_related("experiment")
    return [run for run in ended if run.state == Run.State.STOPPED or run.stop_reason == "internal_error"]


def _revive(run: Run, by: "User", limits: dict[str, Any] | None) -> None:
    """Calls that were cut off are made again; everything else that is recorded stands."""
    cut_off = run.steps.filter(state=Step.State.FAILED, calls__state=Call.State.STOPPED).values("pk")
    Step.objects.filter(pk__in=list(cut_off.values_list("pk", flat=True))).update(state=Step.State.OPEN, ended=None)
    fields = {**rested(run), **FRESH}
    if limits is not None:
        fields["overrides"] = {**run.overrides, "limits": limits}
    if run.move(Run.State.QUEUED, from_=(Run.State.STOPPED, Run.State.FAILED), fields=fields):
        emit(run.pk, Fact("experiment_state", {"state": Run.State.QUEUED.value, "by": by.get_username()}))
        jobs.wake(run.pk)


def _require_room(experiment: Experiment) -> None:
    live = Campaign.objects.filter(experiment__owner=experiment.owner_id, state=State.RUNNING)
    if live.exclude(pk=experiment.pk).count() >= MOST_LIVE_CAMPAIGNS:
        message = _("You have %(most)s campaigns under way already: stop some, or wait.")
        raise NotAllowed(message % {"most": MOST_LIVE_CAMPAIGNS})


def _checked(limits: dict[str, Any]) -> dict[str, Any]:
    try:
        return Limits.model_validate(limits).model_dump(mode="json")
    except ValidationError as error:
        raise InvalidExperiment({"limits": [_("These are no limits that a campaign could have.")]}) from error
