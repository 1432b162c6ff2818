"""How far a campaign is: what is decided, open and under way, how fast, and what it has cost. A few cheap queries."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from experiments.engine import ledger
from experiments.models import LIVE_STATES, Battle, Campaign, Experiment, Output, Participant, Run, Step
from experiments.workflows.battles.campaign.grid import OPEN_STILL
from experiments.workflows.battles.campaign.naming import name_of
from experiments.workflows.battles.config import JUDGES
from experiments.workflows.outputs import WORKFLOW as OUTPUTS

RECENT = timedelta(minutes=2)  # over which the rate is taken
MOST_REASONS = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """A battle counts once for each judge. consistent_share: 0 to 1 of those judged in both orders; None before the
    first. per_minute: decided in the last two minutes; None when nothing runs. eta_seconds: None when it cannot be
    known. cost: US dollars with what is set aside; unpriced calls cost something on top. state: the campaign's; "" when
    it was never started.
    """

    state: str = ""
    note: str = ""
    wanted: int = 0
    decided: int = 0
    open: int = 0
    under_way: int = 0
    consistent_share: float | None = None
    per_minute: float | None = None
    eta_seconds: float | None = None
    cost: Decimal = Decimal(0)
    unpriced_calls: int = 0
    calls: int = 0
    failed_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    runs: int = 0
    round: int = 0
    began: datetime | None = None
    ended: datetime | None = None
    open_reasons: tuple[tuple[str, int], ...] = ()

    @property
    def share(self) -> float:
        """How much of what is wanted is decided, 0 to 1."""
        if self.wanted:
            return min(1.0, self.decided / self.wanted)
        return 1.0 if self.state == Campaign.State.COMPLETED else 0.0


@dataclass(frozen=True, slots=True)
class _Found:
    """What is recorded. recent: decided within RECENT."""

    decided: int
    open: int
    share: float | None
    recent: int
    reasons: tuple[tuple[str, int], ...]


def progress(experiment: Experiment) -> Progress:
    campaign = Campaign.objects.filter(pk=experiment.pk).first()
    if campaign is None:
        return Progress()
    now = timezone.now()
    found = _of_outputs(experiment, now) if experiment.workflow == OUTPUTS.slug else _of_battles(experiment, now)
    under_way, runs = _under_way(experiment, campaign)
    per_minute = _rate(found, campaign, now) if campaign.state == Campaign.State.RUNNING else None
    return Progress(
        state=campaign.state,
        note=campaign.note,
        wanted=max(campaign.wanted, found.decided),
        decided=found.decided,
        open=found.open,
        under_way=under_way,
        consistent_share=found.share,
        per_minute=per_minute,
        eta_seconds=_eta(campaign, found, per_minute),
        runs=runs,
        round=campaign.round,
        began=campaign.created,
        ended=campaign.ended,
        open_reasons=found.reasons,
        **_account(campaign),
    )


def _account(campaign: Campaign) -> dict[str, Any]:
    spent = ledger.of_campaign(campaign)
    tokens = {"input_tokens": spent.input_tokens, "output_tokens": spent.output_tokens}
    calls = {"calls": spent.calls, "failed_calls": spent.failed, "unpriced_calls": spent.unpriced}
    return {"cost": spent.cost, **calls, **tokens}


def _of_battles(experiment: Experiment, now: datetime) -> _Found:
    """Battles that are decided are counted in their index alone; those that are open are read, and are few."""
    rows = Battle.objects.filter(experiment=experiment).order_by()
    decided = rows.filter(judged__isnull=False)
    counts = decided.aggregate(
        all=Count("pk"),
        consistent=Count("pk", filter=Q(is_consistent=True)),
        both_orders=Count("pk", filter=Q(is_consistent__isnull=False)),
    )
    is_open = rows.filter(OPEN_STILL, judged__isnull=True)
    share = counts["consistent"] / counts["both_orders"] if counts["both_orders"] else None
    recent = decided.filter(judged__gte=now - RECENT).count()
    return _Found(counts["all"], is_open.count(), share, recent, _reasons(is_open, "open_reason"))


def _reasons(rows: Any, field: str) -> tuple[tuple[str, int], ...]:
    """Why something is not done, the most frequent reason first."""
    found = rows.values_list(field).annotate(count=Count("pk"))
    return tuple((str(reason), count) for reason, count in found.order_by("-count", field)[:MOST_REASONS])


def _of_outputs(experiment: Experiment, now: datetime) -> _Found:
    """Outputs that are open were asked for since the campaign began, or was resumed, and did not come."""
    made = _made(experiment)
    steps = Step.objects.filter(
        run__experiment=experiment, purpose="output_made", ended__gte=ledger.begun(experiment.pk)
    )
    failed = steps.filter(data__has_key="failed").order_by()
    recent = made.filter(created__gte=now - RECENT).count()
    return _Found(made.count(), failed.count(), None, recent, _reasons(failed, "data__failed"))


def _made(experiment: Experiment) -> QuerySet[Output]:
    """The outputs of those who are asked, wherever they came from."""
    config = experiment.parsed_config()
    names = [name_of(config, one) for one in experiment.participants.select_related("model")]
    rows = Output.objects.filter(contestant__dataset__slug=config.dataset, contestant__name__in=names)
    return rows.filter(sample__subset__in=config.subsets) if config.subsets else rows


def _under_way(experiment: Experiment, campaign: Campaign) -> tuple[int, int]:
    """Tasks of live runs that are not recorded yet, and the number of all runs."""
    live = list(Run.objects.filter(pk__in=campaign.cursor.get("live", ()), state__in=LIVE_STATES))
    judges = Participant.objects.filter(experiment=experiment, seat__in=JUDGES).count() or 1
    tasks = [task for run in live for task in run.overrides.get("tasks", ())]
    wanted = sum(len(task.get("seats", ())) or judges for task in tasks)
    kinds = ("battle_judged", "output_made")
    recorded = Step.objects.filter(run__in=[run.pk for run in live], purpose__in=kinds).count() if live else 0
    return max(0, wanted - recorded), Run.objects.filter(experiment=experiment).count()


def _rate(found: _Found, campaign: Campaign, now: datetime) -> float | None:
    """Decided per minute, lately; from the first of them on while the campaign is younger than that."""
    began = max(now - RECENT, campaign.resumed or campaign.created)
    seconds = (now - began).total_seconds()
    return 60 * found.recent / seconds if found.recent and seconds > 0 else None


def _eta(campaign: Campaign, found: _Found, per_minute: float | None) -> float | None:
    left = campaign.wanted - found.decided
    return 60 * left / per_minute if per_minute and left > 0 else None
