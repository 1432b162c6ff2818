"""Campaigns: one experiment, its work shared out over many runs. Verbs (start, stop, resume), and what keeps it going.

Whoever comes by feeds: the worker whose run has ended, the sweep, the person who starts or resumes. A pass is planned,
runs are begun while there is room for more, and the end is noticed. What is to be done is found without a lock; of two
who found it at the same time, the edition of the campaign lets one do it. A campaign that runs is in one of these
states, told by its Cursor:

    not planned  --_planned-->  sharing out (place is set)  --_shared_out-->  all shared out (place is None)
    all shared out  --_planned (again, or another round)-->  sharing out
    all shared out  --_concluded-->  open or completed;  any of them  --_ended-->  stopped or failed
    stopped, open, completed, failed  --resume-->  what it was, and planned again once all is shared out
"""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, OuterRef, Q, Subquery
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext as _
from pydantic import BaseModel, ValidationError

from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import User
from experiments.engine import jobs, reservations
from experiments.engine.events import emit
from experiments.engine.leases import INTERNAL_ERROR
from experiments.engine.pauses import rested
from experiments.lab.budgets.budgeting import require_budget
from experiments.models import LIVE_STATES, Call, Campaign, Dataset, Experiment, Run, Step
from experiments.runs import admission
from experiments.runs.admission import queue, require_change, require_models, require_role, require_spending
from experiments.runs.steering.steering import FRESH
from experiments.workflows import services_of
from experiments.workflows.base.events import ExperimentState, JsonObject
from experiments.workflows.base.limits import Limits
from experiments.workflows.battles import WORKFLOW
from experiments.workflows.battles.campaign import adaptive
from experiments.workflows.battles.campaign.planning import (
    BattleGround,
    Ground,
    Lane,
    OutputGround,
    Place,
    Survey,
    draw,
)
from experiments.workflows.battles.campaign.scope import check, name_version, scope_of
from experiments.workflows.outputs import WORKFLOW as OUTPUTS

logger = logging.getLogger(__name__)

MOST_MOVES = 8  # of one feeding; the sweep does the rest
FEWEST_TASKS = 4  # of a run, where little is left to be shared out
ENOUGH_ROOM = 0.25  # of the runs of a campaign at once: to find what is next takes as long for one as for several
MOST_LIVE_CAMPAIGNS = 20
MOST_INTERNAL_ERRORS = 2  # of one run
State = Campaign.State
OVER = (State.STOPPED, State.OPEN, State.COMPLETED, State.FAILED)


class Cursor(BaseModel):
    """How far a campaign is. planned: whether a pass has been planned. place: where sharing out goes on; None when all
    of the pass is shared out. drawn: tasks of this pass. again: what is missing is planned anew after this pass.

    live: the runs that count as under way, also those that ended before their work was done. spent: by the others.
    asked_before: calls that were made before it was resumed.
    """

    planned: bool = False
    again: bool = False
    place: Place | None = None
    drawn: int = 0
    live: list[str] = []
    spent: reservations.Totals = reservations.Totals()
    asked_before: int = 0

    @property
    def is_shared_out(self) -> bool:
        return self.planned and self.place is None

    def after(self, **changes: Any) -> "Cursor":
        return self.model_copy(update=changes)

    @property
    def data(self) -> JsonObject:
        return self.model_dump(mode="json")


def start(experiment: Experiment, *, by: User, seed: int | None = None) -> list[Run]:
    """Plan the campaign and begin its first runs; the others follow by themselves.

    seed: decides which samples are drawn, and in which sequence; without one it is 0, so that campaigns that draw some
    of the samples draw the same ones. Raises Conflict when it has been started before, or when the very same one is
    under way (somebody pressed the button twice, and would pay for every battle twice), Forbidden or Invalid
    when it cannot be played. No run is begun when nothing is missing: the campaign is completed then.
    """
    _require_playable(experiment, by)
    with transaction.atomic():
        _refuse_beside_others(experiment)
        campaign, is_new = Campaign.objects.get_or_create(experiment=experiment, defaults={"seed": seed or 0})
        if not is_new:
            raise Conflict(_("This experiment was started before. Resume it to ask for what is missing."))
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
        has_stopped |= admission.stop(run, by=by)
    return has_stopped


def resume(experiment: Experiment, *, by: User, limits: dict[str, object] | None = None) -> bool:
    """Go on where it was stopped, then ask again what is open or missing, also for contestants that joined later.

    limits: those that hold from now on, in place of the experiment's. False when it runs already, was never started, or
    nothing is left to be asked. Raises Conflict while its runs are still stopping.
    """
    _require_playable(experiment, by)
    campaign = Campaign.objects.filter(pk=experiment.pk, state__in=OVER).first()
    if campaign is None:
        return False
    try:
        checked = None if limits is None else Limits.model_validate(limits).model_dump(mode="json")
    except ValidationError as error:
        raise Invalid({"limits": [_("These are not valid limits for a campaign.")]}) from error
    with transaction.atomic():
        _refuse_beside_others(experiment)
        if Run.objects.filter(experiment=experiment, state=Run.State.STOPPING).exists():
            raise Conflict(_("The last runs are still stopping: try again in a moment."))
        cursor = Cursor.model_validate(campaign.cursor)
        unfinished = _unfinished(cursor)
        fields: dict[str, Any] = {"cursor": _resumed(cursor, unfinished).data} if campaign.cursor else {}
        if checked is not None:
            fields["plan"] = {**campaign.plan, "limits": checked}
        rows = Campaign.objects.filter(pk=campaign.pk, state=campaign.state, edition=campaign.edition)
        moved = {"state": State.RUNNING, "resumed": Now(), "ended": None, "note": ""}
        if not rows.update(passes=F("passes") + 1, edition=F("edition") + 1, **moved, **fields):
            return False  # somebody else has changed it meanwhile
        for run in unfinished:
            _revive(run, by, checked)
        _name_newcomers(experiment)
    feed(campaign.pk)
    return not Campaign.objects.filter(pk=campaign.pk, state=State.COMPLETED).exists()


def _require_playable(experiment: Experiment, by: User) -> None:
    require_role(by)
    require_spending(experiment, by)
    require_models(experiment)
    services = services_of(experiment.workflow)
    if services.ground:
        seated = list(experiment.participants.select_related("model"))
        services.check(experiment.workflow, experiment.parsed_config(), seated, owner=experiment.owner)
    else:
        check(experiment)
    require_budget(experiment)


def _name_newcomers(experiment: Experiment) -> None:
    if experiment.workflow == WORKFLOW.slug:
        name_version(scope_of(experiment))


def _resumed(cursor: Cursor, unfinished: list[Run]) -> Cursor:
    """The cursor after which everything that is missing is planned anew, also what was left by runs that failed for
    good: they are not gone on with, and what they cost is entered in the ledger now.
    """
    going_on = {run.pk for run in unfinished}
    live: list[str] = []
    failed: list[str] = []
    for pk, state in Run.objects.filter(pk__in=cursor.live).values_list("pk", "state"):
        (failed if state == Run.State.FAILED and pk not in going_on else live).append(str(pk))
    spent = cursor.spent + reservations.spent_by_runs(failed)
    asked_before = spent.calls + reservations.spent_by_runs(live).calls
    return cursor.after(again=True, live=live, spent=spent, asked_before=asked_before)


def _unfinished(cursor: Cursor) -> list[Run]:
    """Runs that were stopped, or that the engine failed: they go on from what is recorded of them. One that fails every
    time is not tried for ever: it would end every resume.
    """
    rows = Run.objects.filter(pk__in=cursor.live, state__in=(Run.State.STOPPED, Run.State.FAILED))
    found = []
    for run in rows.select_related("experiment"):
        errors = run.events.filter(type="experiment_error")
        if run.state == Run.State.STOPPED or (
            run.stop_reason == INTERNAL_ERROR and errors.count() < MOST_INTERNAL_ERRORS
        ):
            found.append(run)
    return found


def _revive(run: Run, by: User, limits: JsonObject | None) -> None:
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
        message = _("You already have %(most)s campaigns running. Stop some, or wait.")
        raise Forbidden(message % {"most": MOST_LIVE_CAMPAIGNS})
    if same := next((other for other in others if _asked(other) == _asked(experiment)), None):
        message = _("The same campaign is already running: “%(title)s”. Open it, or wait until it ends.")
        raise Conflict(message % {"title": same.title})


def _asked(experiment: Experiment) -> tuple[Any, ...]:
    """What is asked of whom: equal where two experiments do not differ."""
    cast = sorted((one.seat, one.model_id, str(sorted(one.params.items()))) for one in experiment.participants.all())
    return experiment.workflow, experiment.config, cast


# --- what keeps it going ---


@dataclass(frozen=True, slots=True)
class Move:
    """A change of a campaign: fields of its row, where it is then, and the runs to begin with these tasks."""

    fields: dict[str, Any]
    cursor: Cursor | None = None
    shards: Sequence[list[JsonObject]] = ()


@dataclass(frozen=True, slots=True)
class Shards:
    """The runs that the cursor counts as under way: live ones, those that ended before their work was done, and those
    that have completed since.
    """

    cursor: Cursor
    live: list[Run]
    ended: list[Run]
    completed: list[Run]

    def settled(self) -> Cursor:
        """The cursor with the completed runs entered in the ledger."""
        spent = self.cursor.spent + reservations.spent_by_runs([run.pk for run in self.completed])
        return self.cursor.after(live=[str(run.pk) for run in (*self.live, *self.ended)], spent=spent)


def feed(experiment_id: UUID) -> list[Run]:
    """Do what the campaign needs now. Returns the runs that were begun; nothing happens unless it is running."""
    begun: list[Run] = []
    rows = Campaign.objects.select_related("experiment__project").defer("plan")  # it may be long, and is seldom read
    for _move in range(MOST_MOVES):
        campaign = rows.filter(pk=experiment_id, state=State.RUNNING).first()
        move = _found(campaign) if campaign else None
        if campaign is None or move is None:
            break
        begun += _done(campaign, move)
    return begun


def feed_all() -> None:
    """What the sweep does: no campaign stands still because whoever should have fed it has died, or because another
    one has trouble.
    """
    for experiment_id in list(Campaign.objects.filter(state=State.RUNNING).values_list("pk", flat=True)):
        try:
            feed(experiment_id)
        except DatabaseError as error:
            logger.warning("campaign=%s waits for the next sweep (%s)", experiment_id, type(error).__name__)


def _found(campaign: Campaign) -> Move | None:
    """The top of a campaign: whatever goes wrong in planning ends it, and says so."""
    try:
        return _next(campaign)
    except DatabaseError:
        raise  # it may answer later; the sweep looks again
    except Dataset.DoesNotExist:
        return _ended(State.FAILED, "Its dataset is gone. Nothing recorded is lost.")
    except Exception as bug:
        logger.exception("campaign=%s could not be planned", campaign.pk)
        return _ended(State.FAILED, f"The plan could not be made ({type(bug).__name__}). Nothing recorded is lost.")


def _done(campaign: Campaign, move: Move) -> list[Run]:
    """Carry the move out, unless somebody else has changed the campaign meanwhile."""
    fields = dict(move.fields)
    with transaction.atomic():
        rows = Campaign.objects.filter(pk=campaign.pk, state=State.RUNNING, edition=campaign.edition)
        if move.cursor:
            fields["cursor"] = move.cursor.data
        if not rows.update(edition=F("edition") + 1, **fields):
            return []
        limits = campaign.plan.get("limits") if move.shards else None
        more = {"limits": limits} if limits else {}
        runs = [queue(campaign.experiment, secrets.randbelow(2**31), {"tasks": tasks, **more}) for tasks in move.shards]
        if runs and move.cursor:
            cursor = move.cursor.after(live=[*move.cursor.live, *(str(run.pk) for run in runs)])
            Campaign.objects.filter(pk=campaign.pk).update(cursor=cursor.data)
        return runs


# --- the transitions ---


def _next(campaign: Campaign) -> Move | None:
    """The transition that is due; None while there is something to wait for."""
    cursor = Cursor.model_validate(campaign.cursor)
    shards = _shards(campaign, cursor)
    project = campaign.experiment.project
    if project is not None and project.archived and not cursor.is_shared_out:
        return None if shards.live else _ended(State.STOPPED, "Its project was archived: nothing more begins in it.")
    if not cursor.planned:
        return None if shards.live else _planned(campaign, shards)
    for run in shards.ended:  # one that failed, or met a limit that all share; one that somebody stopped ends nothing
        if run.state == Run.State.FAILED or run.stop_reason != "manual_stop":
            state = State.FAILED if run.state == Run.State.FAILED else State.STOPPED
            return _ended(state, run.error or run.stop_reason)
    if cursor.place is not None:
        room = settings.RUNS_PER_CAMPAIGN - len(shards.live)
        has_room = room >= ENOUGH_ROOM * settings.RUNS_PER_CAMPAIGN
        return _shared_out(campaign, shards, cursor.place, room) if has_room else None
    return None if shards.live else _concluded(campaign, shards)


def _planned(campaign: Campaign, shards: Shards) -> Move:
    """A new pass: everything that is missing now is tried once, also what was left open before."""
    ground = ground_of(campaign)
    done = ground.count_done(campaign.pk)
    if isinstance(ground, BattleGround) and _is_adaptive(campaign):
        lanes = adaptive.next_round(ground)
        found = Survey(lanes, sum(lane.quota for lane in lanes) * len(ground.scope.boards))
    else:
        found = ground.survey()
    per_run = max(FEWEST_TASKS, -(-found.missing // settings.RUNS_PER_CAMPAIGN))
    plan = {**campaign.plan, "lanes": found.lanes, "per_run": min(per_run, settings.BATTLES_PER_RUN)}
    place = Place() if found.lanes else None
    cursor = shards.settled().after(planned=True, again=False, place=place, drawn=0)
    return Move({"plan": plan, "wanted": done + found.missing}, cursor)


def _shared_out(campaign: Campaign, shards: Shards, place: Place, room: int) -> Move:
    per_run = campaign.plan["per_run"]
    lanes = [Lane(*lane) for lane in campaign.plan["lanes"]]
    drawn = draw(ground_of(campaign), lanes, place, room * per_run)
    cursor = shards.settled().after(place=drawn.place, drawn=shards.cursor.drawn + drawn.count)
    return Move({}, cursor, [drawn.tasks[at : at + per_run] for at in range(0, len(drawn.tasks), per_run)])


def _concluded(campaign: Campaign, shards: Shards) -> Move:
    """All was tried. What was asked for since is planned anew, and an adaptive plan looks at what it has found."""
    if shards.cursor.again:
        return _planned(campaign, shards)
    if shards.cursor.drawn and _is_adaptive(campaign):
        move = _planned(campaign, shards)
        if move.cursor and move.cursor.place is not None:
            return Move({**move.fields, "round": campaign.round + 1}, move.cursor)
    cursor = shards.settled()
    ground = None if shards.ended else ground_of(campaign)
    if ground is None or ground.has_open(campaign.pk):
        return _ended(State.OPEN, "Some could not be decided: resume to ask again.", cursor)
    note = "" if cursor.spent.calls > cursor.asked_before else "Nothing was missing."
    if isinstance(ground, BattleGround) and _is_adaptive(campaign) and adaptive.misses_target(ground.scope):
        note = "The target width was not reached."
    wanted = ground.count_done(campaign.pk)  # less than was planned, where a contestant was left out since
    return _ended(State.COMPLETED, note, cursor, wanted=wanted)


def _ended(state: Campaign.State, note: str, cursor: Cursor | None = None, **fields: Any) -> Move:
    return Move({"state": state, "note": note, "ended": timezone.now(), **fields}, cursor)


# --- what they look at ---


def ground_of(campaign: Campaign) -> Ground:
    if own := services_of(campaign.experiment.workflow).ground:
        made: Ground = own(campaign, campaign.resumed)
        return made
    if campaign.experiment.workflow == OUTPUTS.slug:
        return OutputGround(campaign.experiment, campaign.seed)
    tried = None  # every sample is visited once
    if campaign.resumed is not None or _is_adaptive(campaign):  # what was tried since is tried again on the next resume
        tried = Q(experiment=campaign.pk, run__created__gte=campaign.resumed or campaign.created)
    return BattleGround(scope_of(campaign.experiment), campaign.seed, tried)


def _is_adaptive(campaign: Campaign) -> bool:
    return bool(campaign.experiment.config.get("sampling", {}).get("plan") == "adaptive")


def _shards(campaign: Campaign, cursor: Cursor) -> Shards:
    if not cursor.planned:
        return Shards(cursor, list(Run.objects.filter(experiment=campaign.pk, state__in=LIVE_STATES)), [], [])
    found = Shards(cursor, [], [], [])
    for run in Run.objects.filter(pk__in=cursor.live).only("state", "stop_reason", "error"):
        if run.state in LIVE_STATES:
            found.live.append(run)
        else:
            (found.completed if run.state == Run.State.COMPLETED else found.ended).append(run)
    return found
