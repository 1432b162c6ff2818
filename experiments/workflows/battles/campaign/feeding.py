"""Keeps a campaign going: plans a pass, begins runs while there is room for more, and notices the end.

Whoever comes by feeds: the worker whose run has ended, the sweep, the person who starts or resumes. What is to be done
is found without a lock; of two who found it at the same time, the edition of the campaign lets one do it.
"""

import logging
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, transaction
from django.db.models import F, Q
from django.utils import timezone

from experiments.engine import ledger
from experiments.models import LIVE_STATES, Battle, Campaign, Dataset, Run
from experiments.runs.running import queue
from experiments.workflows.base.events import JsonObject
from experiments.workflows.battles.campaign import adaptive
from experiments.workflows.battles.campaign.grid import OPEN_STILL
from experiments.workflows.battles.campaign.lanes import Drawn, Lane, Place, draw
from experiments.workflows.battles.campaign.outputs import OutputGround
from experiments.workflows.battles.campaign.planning import BattleGround, Survey, survey
from experiments.workflows.battles.campaign.scope import scope_of
from experiments.workflows.outputs import WORKFLOW as OUTPUTS

logger = logging.getLogger(__name__)

MOST_MOVES = 8  # of one feeding; the sweep does the rest
FEWEST_TASKS = 4  # of a run, where little is left to be shared out
ENOUGH_ROOM = 0.25  # of the runs of a campaign at once: to find what is next takes as long for one as for several
State = Campaign.State


@dataclass(frozen=True, slots=True)
class Move:
    """A change of a campaign: fields of its row, and the runs to begin with these tasks."""

    fields: dict[str, Any]
    shards: Sequence[list[JsonObject]] = ()


@dataclass(slots=True)
class Shards:
    """The runs of a campaign that count as under way: live ones, and those that ended before their work was done."""

    live: list[str] = field(default_factory=list)
    ended: list[Run] = field(default_factory=list)
    completed: list[str] = field(default_factory=list)

    @property
    def kept(self) -> list[str]:
        return [*self.live, *(str(run.pk) for run in self.ended)]


def feed(experiment_id: UUID) -> list[Run]:
    """Do what the campaign needs now. Returns the runs that were begun; nothing happens unless it is running."""
    begun: list[Run] = []
    rows = Campaign.objects.select_related("experiment__project").defer(
        "plan"
    )  # it may be long, and is seldom looked at
    for _ in range(MOST_MOVES):
        campaign = rows.filter(pk=experiment_id, state=State.RUNNING).first()
        if campaign is None:
            break
        move = _found(campaign)
        if move is None:
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
        return _end(State.FAILED, "Its dataset is gone. Nothing recorded is lost.")
    except Exception as bug:
        logger.exception("campaign=%s could not be planned", campaign.pk)
        return _end(State.FAILED, f"The plan could not be made ({type(bug).__name__}). Nothing recorded is lost.")


def _next(campaign: Campaign) -> Move | None:
    cursor, shards = campaign.cursor, _shards(campaign)
    if _is_archived(campaign) and (not cursor.get("planned") or cursor["place"] is not None):
        return None if shards.live else _end(State.STOPPED, "Its project was archived: nothing more begins in it.")
    if not cursor.get("planned"):
        return None if shards.live else _plan(campaign, shards)
    if bad := next(filter(_ends_all, shards.ended), None):
        state = State.FAILED if bad.state == Run.State.FAILED else State.STOPPED
        return _end(state, bad.error or bad.stop_reason)
    room = settings.RUNS_PER_CAMPAIGN - len(shards.live)
    if cursor["place"] is not None:
        return _share_out(campaign, shards, room) if room >= ENOUGH_ROOM * settings.RUNS_PER_CAMPAIGN else None
    if shards.live:
        return None
    return _after_pass(campaign, shards)


def _is_archived(campaign: Campaign) -> bool:
    project = campaign.experiment.project
    return project is not None and project.archived


def _done(campaign: Campaign, move: Move) -> list[Run]:
    """Carry the move out, unless somebody else has changed the campaign meanwhile."""
    with transaction.atomic():
        rows = Campaign.objects.filter(pk=campaign.pk, state=State.RUNNING, edition=campaign.edition)
        if not rows.update(edition=F("edition") + 1, **move.fields):
            return []
        runs = [_begin(campaign, tasks) for tasks in move.shards]
        if runs:
            cursor = move.fields["cursor"]
            cursor = {**cursor, "live": [*cursor["live"], *(str(run.pk) for run in runs)]}
            Campaign.objects.filter(pk=campaign.pk).update(cursor=cursor)
        return runs


def _begin(campaign: Campaign, tasks: list[dict[str, Any]]) -> Run:
    limits = campaign.plan.get("limits")
    overrides = {"tasks": tasks, **({"limits": limits} if limits else {})}
    return queue(campaign.experiment, secrets.randbelow(2**31), overrides)


# --- planning and sharing out ---


def _plan(campaign: Campaign, shards: Shards) -> Move:
    """A new pass: everything that is missing now is tried once, also what was left open before."""
    found, done = _missing(campaign)
    lanes, missing = found.lanes, found.missing
    per_run = max(FEWEST_TASKS, -(-missing // settings.RUNS_PER_CAMPAIGN))
    plan = {**campaign.plan, "lanes": lanes, "per_run": min(per_run, settings.BATTLES_PER_RUN)}
    place = Place().data if lanes else None
    cursor = {**_settle(campaign, shards), "planned": True, "again": False, "place": place, "drawn": 0}
    return Move({"plan": plan, "cursor": cursor, "wanted": done + missing})


def _missing(campaign: Campaign) -> tuple[Survey, int]:
    """What is to be drawn now, and how much is done of what the campaign counts as wanted."""
    ground = ground_of(campaign)
    done = _count_done(campaign, ground)
    if isinstance(ground, OutputGround):
        return ground.survey(), done
    if not _is_adaptive(campaign):
        return survey(ground), done
    lanes = adaptive.next_round(ground)
    return Survey(lanes, sum(lane.quota for lane in lanes) * len(ground.scope.boards)), done


def _count_done(campaign: Campaign, ground: BattleGround | OutputGround) -> int:
    if isinstance(ground, OutputGround):
        return sum(int(ground.grid.outputs(one.contestant.pk).sum()) for one in ground.asked)
    return Battle.objects.filter(experiment=campaign.pk, judged__isnull=False).count()


def _share_out(campaign: Campaign, shards: Shards, room: int) -> Move:
    per_run = campaign.plan["per_run"]
    lanes = [Lane(*lane) for lane in campaign.plan["lanes"]]
    drawn: Drawn = draw(ground_of(campaign), lanes, Place(**campaign.cursor["place"]), room * per_run)
    cursor = {**_settle(campaign, shards), "place": drawn.place.data if drawn.place else None}
    cursor["drawn"] = cursor["drawn"] + drawn.count
    return Move({"cursor": cursor}, [drawn.tasks[at : at + per_run] for at in range(0, len(drawn.tasks), per_run)])


def _after_pass(campaign: Campaign, shards: Shards) -> Move:
    """All was tried. What was asked for since is planned anew, and an adaptive plan looks at what it has found."""
    if campaign.cursor["again"]:
        return _plan(campaign, shards)
    if campaign.cursor["drawn"] and _is_adaptive(campaign):
        move = _plan(campaign, shards)
        if move.fields["cursor"]["place"] is not None:
            return Move({**move.fields, "round": campaign.round + 1})
    is_open = bool(shards.ended) or has_open(campaign)
    cursor = _settle(campaign, shards)
    if is_open:
        return _end(State.OPEN, "Some could not be decided: resume to ask again.", cursor=cursor)
    has_asked = cursor["spent"]["calls"] > cursor.get("asked_before", 0)
    wanted = _count_done(campaign, ground_of(campaign))  # less than was planned, where a contestant was left out since
    return _end(State.COMPLETED, "" if has_asked else "Nothing was missing.", cursor=cursor, wanted=wanted)


def _end(state: Campaign.State, note: str, **fields: Any) -> Move:
    return Move({"state": state, "note": note, "ended": timezone.now(), **fields})


def ground_of(campaign: Campaign) -> BattleGround | OutputGround:
    if campaign.experiment.workflow == OUTPUTS.slug:
        return OutputGround(campaign.experiment, campaign.seed)
    return BattleGround(scope_of(campaign.experiment), campaign.seed, _tried(campaign))


def _tried(campaign: Campaign) -> Q | None:
    """What this campaign has tried since it was started or resumed: it is tried again on the next resume."""
    if campaign.resumed is None and not _is_adaptive(campaign):
        return None  # every sample is visited once
    return Q(experiment=campaign.pk, run__created__gte=campaign.resumed or campaign.created)


def has_open(campaign: Campaign) -> bool:
    """Whether something that was tried is still to be done."""
    if campaign.experiment.workflow == OUTPUTS.slug:
        return bool(OutputGround(campaign.experiment, campaign.seed).survey().missing)
    return Battle.objects.filter(OPEN_STILL, experiment=campaign.pk, judged__isnull=True).exists()


def _is_adaptive(campaign: Campaign) -> bool:
    return bool(campaign.experiment.config.get("sampling", {}).get("plan") == "adaptive")


# --- runs ---


def _shards(campaign: Campaign) -> Shards:
    found = Shards()
    if not campaign.cursor.get("planned"):
        live = Run.objects.filter(experiment=campaign.pk, state__in=LIVE_STATES)
        found.live = [str(pk) for pk in live.values_list("pk", flat=True)]
        return found
    for run in Run.objects.filter(pk__in=campaign.cursor["live"]).only("state", "stop_reason", "error"):
        if run.state in LIVE_STATES:
            found.live.append(str(run.pk))
        elif run.state == Run.State.COMPLETED:
            found.completed.append(str(run.pk))
        else:
            found.ended.append(run)
    return found


def _ends_all(run: Run) -> bool:
    """A run that failed, or met a limit that all share; one that somebody stopped by itself does not."""
    return bool(run.state == Run.State.FAILED or run.stop_reason != "manual_stop")


def _settle(campaign: Campaign, shards: Shards) -> dict[str, Any]:
    """The cursor with the completed runs entered in the ledger."""
    before = ledger.Totals.read(campaign.cursor.get("spent", {}))
    spent = before + ledger.of_runs(shards.completed)
    return {**campaign.cursor, "live": shards.kept, "spent": spent.data}
