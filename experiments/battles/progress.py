"""How far a campaign is: what is decided, open and under way, how fast, and what it has cost. A few cheap queries."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Max, Min, Q
from django.utils import timezone

from experiments.battles import ledger
from experiments.models import LIVE_STATES, Battle, Campaign, Contestant, Experiment, Output, Participant, Run, Step
from experiments.workflows.battles.config import JUDGES

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
    decided: int
    open: int
    share: float | None
    recent: int
    first: datetime | None
    reasons: tuple[tuple[str, int], ...]


def progress(experiment: Experiment) -> Progress:
    campaign = Campaign.objects.filter(pk=experiment.pk).first()
    if campaign is None:
        return Progress()
    now = timezone.now()
    found = _of_outputs(experiment, now) if experiment.workflow == "outputs" else _of_battles(experiment, now)
    live = Run.objects.filter(pk__in=campaign.cursor.get("live", ()), state__in=LIVE_STATES)
    under_way, runs = _under_way(experiment, list(live))
    is_running = campaign.state == Campaign.State.RUNNING
    per_minute = _rate(found, campaign, now) if is_running else None
    spent = ledger.of_campaign(campaign)
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
        cost=spent.cost,
        unpriced_calls=spent.unpriced,
        calls=spent.calls,
        failed_calls=spent.failed,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        runs=runs,
        round=campaign.round,
        began=campaign.created,
        ended=campaign.ended,
        open_reasons=found.reasons,
    )


def _of_battles(experiment: Experiment, now: datetime) -> _Found:
    rows = Battle.objects.filter(experiment=experiment).order_by()
    judged = Q(judged__isnull=False)
    counts = rows.aggregate(
        decided=Count("pk", filter=judged),
        open=Count("pk", filter=~judged),
        consistent=Count("pk", filter=judged & Q(is_consistent=True)),
        both_orders=Count("pk", filter=judged & Q(is_consistent__isnull=False)),
    )
    recent = rows.filter(judged__gte=now - RECENT).aggregate(count=Count("pk"), first=Min("judged"))
    share = counts["consistent"] / counts["both_orders"] if counts["both_orders"] else None
    return _Found(counts["decided"], counts["open"], share, recent["count"], recent["first"], _reasons(rows))


def _reasons(rows: Any) -> tuple[tuple[str, int], ...]:
    """Why battles are open, the most frequent reason first."""
    found = rows.filter(judged__isnull=True).values_list("open_reason").annotate(count=Count("pk"))
    return tuple((reason, count) for reason, count in found.order_by("-count", "open_reason")[:MOST_REASONS])


def _of_outputs(experiment: Experiment, now: datetime) -> _Found:
    names = experiment.participants.values_list("seat", flat=True)
    steps = Step.objects.filter(run__experiment=experiment, purpose="output_made")
    made = Output.objects.filter(contestant__in=_asked(experiment))
    recent = made.filter(created__gte=now - RECENT).aggregate(count=Count("pk"), first=Min("created"))
    failed = steps.filter(data__has_key="failed").values_list("data__failed").annotate(count=Count("pk"))
    reasons = tuple((str(reason), count) for reason, count in failed.order_by("-count")[:MOST_REASONS]) if names else ()
    return _Found(made.count(), 0, None, recent["count"], recent["first"], reasons)


def _asked(experiment: Experiment) -> Any:
    config = experiment.parsed_config()
    models = experiment.participants.values_list("model", flat=True)
    rows = Contestant.objects.filter(dataset__slug=config.dataset)
    return rows.filter(name__in=config.contestants) if config.contestants else rows.filter(model__in=models)


def _under_way(experiment: Experiment, live: list[Run]) -> tuple[int, int]:
    """Tasks of live runs that are not recorded yet, and the number of all runs."""
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


def last_change(experiment: Experiment) -> datetime | None:
    """When something was decided last."""
    newest = Battle.objects.filter(experiment=experiment).aggregate(newest=Max("judged"))
    found: datetime | None = newest["newest"]
    return found
