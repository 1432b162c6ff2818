"""The verbs of campaigns: start, stop, resume, feed. One experiment, its work shared out over many runs."""

from typing import Any

from django.db import transaction
from django.db.models import F, OuterRef, Subquery
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import ValidationError

from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import User
from experiments.engine import jobs, ledger
from experiments.engine.events import emit
from experiments.engine.leases import INTERNAL_ERROR
from experiments.lab.budgets.budgeting import require_budget
from experiments.models import LIVE_STATES, Call, Campaign, Experiment, Run, Step
from experiments.runs import running
from experiments.runs.admission import require_change, require_models, require_role, require_spending
from experiments.runs.steering.steering import FRESH, rested
from experiments.workflows.base.events import ExperimentState
from experiments.workflows.base.limits import Limits
from experiments.workflows.battles import WORKFLOW
from experiments.workflows.battles.campaign.admission import check
from experiments.workflows.battles.campaign.feeding import feed, feed_all
from experiments.workflows.battles.campaign.scope import name_version, scope_of

__all__ = ["feed", "feed_all", "resume", "start", "stop"]

MOST_LIVE_CAMPAIGNS = 20
MOST_INTERNAL_ERRORS = 2  # of one run
State = Campaign.State
OVER = (State.STOPPED, State.OPEN, State.COMPLETED, State.FAILED)


def start(experiment: Experiment, *, by: User, seed: int | None = None) -> list[Run]:
    """Plan the campaign and begin its first runs; the others follow by themselves.

    seed: decides which samples are drawn, and in which sequence; without one it is 0, so that campaigns that draw some
    of the samples draw the same ones. Raises Conflict when it has been started before, or when the very same one is
    under way (somebody pressed the button twice, and would pay for every battle twice), Forbidden or Invalid
    when it cannot be played. No run is begun when nothing is missing: the campaign is completed then.
    """
    require_role(by)
    require_spending(experiment, by)
    require_models(experiment)
    check(experiment)
    require_budget(experiment)
    with transaction.atomic():
        _refuse_beside_others(experiment)
        campaign, is_new = Campaign.objects.get_or_create(experiment=experiment, defaults={"seed": seed or 0})
        if not is_new:
            raise Conflict(_("This experiment has been started already: resume it to ask what is missing."))
        Campaign.objects.filter(pk=campaign.pk).update(created=Now())  # its limit of time counts from then
        _name_newcomers(experiment)
    return feed(campaign.pk)


def stop(experiment: Experiment, *, by: User) -> bool:
    """Begin nothing more, and stop the runs under way, also those of a campaign that has ended before them; what is
    recorded stays. False when nothing was under way.
    """
    require_change(experiment, by)
    rows = Campaign.objects.filter(pk=experiment.pk, state=State.RUNNING)
    note = f"Stopped by {by.get_username()}."
    has_stopped = bool(rows.update(state=State.STOPPED, ended=timezone.now(), note=note, edition=F("edition") + 1))
    for run in Run.objects.filter(experiment=experiment, state__in=LIVE_STATES):
        has_stopped |= running.stop(run, by=by)
    return has_stopped


def resume(experiment: Experiment, *, by: User, limits: dict[str, object] | None = None) -> bool:
    """Go on where it was stopped, then ask again what is open or missing, also for contestants that joined later.

    limits: those that hold from now on, in place of the experiment's. False when it runs already, was never started, or
    nothing is left to be asked. Raises Conflict while its runs are still stopping.
    """
    require_role(by)
    require_spending(experiment, by)
    require_models(experiment)
    check(experiment)
    require_budget(experiment)
    campaign = Campaign.objects.filter(pk=experiment.pk, state__in=OVER).first()
    if campaign is None:
        return False
    checked = None if limits is None else _checked(limits)
    with transaction.atomic():
        _refuse_beside_others(experiment)
        if Run.objects.filter(experiment=experiment, state=Run.State.STOPPING).exists():
            raise Conflict(_("The last runs are still stopping: try again in a moment."))
        unfinished = _unfinished(campaign)
        if not _move_on(campaign, unfinished, checked):
            return False
        for run in unfinished:
            _revive(run, by, checked)
        _name_newcomers(experiment)
    feed(campaign.pk)
    return not Campaign.objects.filter(pk=campaign.pk, state=State.COMPLETED).exists()


def _name_newcomers(experiment: Experiment) -> None:
    if experiment.workflow == WORKFLOW.slug:
        name_version(scope_of(experiment))


def _move_on(campaign: Campaign, unfinished: list[Run], limits: dict[str, Any] | None) -> bool:
    """Let it run again. False when somebody else has changed it meanwhile."""
    fields: dict[str, Any] = {"cursor": _resumed(campaign, unfinished)} if campaign.cursor else {}
    if limits is not None:
        fields["plan"] = {**campaign.plan, "limits": limits}
    rows = Campaign.objects.filter(pk=campaign.pk, state=campaign.state, edition=campaign.edition)
    moved = {"state": State.RUNNING, "resumed": Now(), "ended": None, "note": ""}
    return bool(rows.update(passes=F("passes") + 1, edition=F("edition") + 1, **moved, **fields))


def _resumed(campaign: Campaign, unfinished: list[Run]) -> dict[str, Any]:
    """The cursor after which everything that is missing is planned anew, also what was left by runs that failed for
    good: they are not gone on with, and what they cost is entered in the ledger now.
    """
    going_on = {run.pk for run in unfinished}
    live: list[str] = []
    failed: list[str] = []
    for pk, state in Run.objects.filter(pk__in=campaign.cursor["live"]).values_list("pk", "state"):
        (failed if state == Run.State.FAILED and pk not in going_on else live).append(str(pk))
    spent = ledger.Totals.read(campaign.cursor.get("spent", {})) + ledger.of_runs(failed)
    asked = spent.calls + ledger.of_runs(live).calls
    return {**campaign.cursor, "again": True, "live": live, "spent": spent.data, "asked_before": asked}


def _unfinished(campaign: Campaign) -> list[Run]:
    """Runs that were stopped, or that the engine failed: they go on from what is recorded of them."""
    runs = Run.objects.filter(pk__in=campaign.cursor.get("live", ()))
    ended = runs.filter(state__in=(Run.State.STOPPED, Run.State.FAILED)).select_related("experiment")
    return [run for run in ended if run.state == Run.State.STOPPED or _may_go_on(run)]


def _may_go_on(run: Run) -> bool:
    """Whether a run that the engine failed is tried once more; one that fails every time would end every resume."""
    errors = run.events.filter(type="experiment_error").count()
    return run.stop_reason == INTERNAL_ERROR and errors < MOST_INTERNAL_ERRORS


def _revive(run: Run, by: User, limits: dict[str, Any] | None) -> None:
    """Calls that were cut off are made again; everything else that is recorded stands."""
    newest = Call.objects.filter(step=OuterRef("pk")).order_by("-attempt").values("state")[:1]
    failed = run.steps.filter(state=Step.State.FAILED).annotate(newest=Subquery(newest))
    cut_off = list(failed.filter(newest=Call.State.STOPPED).values_list("pk", flat=True))
    Step.objects.filter(pk__in=cut_off).update(state=Step.State.OPEN, ended=None)
    fields = {**rested(run), **FRESH}
    if limits is not None:
        fields["overrides"] = {**run.overrides, "limits": limits}
    if run.move(Run.State.QUEUED, from_=(Run.State.STOPPED, Run.State.FAILED), fields=fields):
        emit(run.pk, ExperimentState(state=Run.State.QUEUED.value, by=by.get_username()))
        jobs.wake(run.pk)


def _refuse_beside_others(experiment: Experiment) -> None:
    """Raises Forbidden when its owner has enough campaigns under way, Conflict when one of them is the very same. Call
    inside the transaction that starts it: of two that are started at once, the second sees the first.
    """
    User.objects.select_for_update().get(pk=experiment.owner_id)
    mine = Experiment.objects.filter(owner=experiment.owner_id, campaign__state=State.RUNNING)
    others = list(mine.exclude(pk=experiment.pk).prefetch_related("participants"))
    if len(others) >= MOST_LIVE_CAMPAIGNS:
        message = _("You have %(most)s campaigns under way already: stop some, or wait.")
        raise Forbidden(message % {"most": MOST_LIVE_CAMPAIGNS})
    if same := next((other for other in others if _asked(other) == _asked(experiment)), None):
        message = _("The very same is under way already, as “%(title)s”: look there, or wait until it is over.")
        raise Conflict(message % {"title": same.title})


def _asked(experiment: Experiment) -> tuple[Any, ...]:
    """What is asked of whom: equal where two experiments do not differ."""
    cast = sorted((one.seat, one.model_id, str(sorted(one.params.items()))) for one in experiment.participants.all())
    return experiment.workflow, experiment.config, cast


def _checked(limits: dict[str, Any]) -> dict[str, Any]:
    try:
        return Limits.model_validate(limits).model_dump(mode="json")
    except ValidationError as error:
        raise Invalid({"limits": [_("These are no limits that a campaign could have.")]}) from error
