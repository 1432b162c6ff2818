"""How far a campaign is: what is decided, open and under way, how fast, and what it has cost. A few cheap queries."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from experiments.engine import reservations
from experiments.models import LIVE_STATES, Battle, Campaign, Experiment, Output, Participant, Run, Step
from experiments.models.labels import END_REASONS
from experiments.workflows import services_of
from experiments.workflows.battles.campaign.planning import OPEN_STILL
from experiments.workflows.battles.campaign.scope import name_of
from experiments.workflows.battles.config import JUDGES
from experiments.workflows.outputs import WORKFLOW as OUTPUTS

RECENT = timedelta(minutes=2)  # over which the rate is taken
MOST_REASONS = 20
RECORDED = ("battle_judged", "output_made", "unit_judged")
NOTES = {
    "Some could not be decided: resume to ask again.": _("Some could not be decided."),
    "Nothing was missing.": _("Nothing was missing: everything had already been decided."),
    "The target width was not reached.": _(
        "Some intervals are wider than the target: no further battles are left to draw within the limits of the plan."
    ),
}


@dataclass(frozen=True, slots=True)
class Progress:
    """A battle counts once for each judge. recent: decided in the last two minutes. consistent_share: 0 to 1 of those
    judged in both orders; None before the first. per_minute: None when nothing runs. eta_seconds: None when it cannot
    be known. cost: US dollars with what is set aside; unpriced calls cost something on top. state: the campaign's; ""
    when it was never started. open_reasons: why something is not done, the most frequent reason first.
    """

    state: str = ""
    note: str = ""
    wanted: int = 0
    decided: int = 0
    recent: int = 0
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
    open_reasons: tuple[tuple[str, int], ...] = ()

    @property
    def share(self) -> float:
        """How much of what is wanted is decided, 0 to 1."""
        if self.wanted:
            return min(1.0, self.decided / self.wanted)
        return 1.0 if self.state == Campaign.State.COMPLETED else 0.0

    @property
    def percent(self) -> int:
        """How much is done in whole per cent: never 100 before everything is."""
        return int(100 * self.share)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    @property
    def state_label(self) -> Any:
        return Campaign.State(self.state).label if self.state else ""

    @property
    def run_state(self) -> str:
        """The state of a run that looks like this one."""
        return "waiting" if self.state == Campaign.State.OPEN else self.state or "queued"

    @property
    def note_label(self) -> Any:
        """Why the campaign ended, in words: ends of runs have theirs."""
        return END_REASONS.get(self.note) or NOTES.get(self.note, self.note)


def progress(experiment: Experiment) -> Progress:
    campaign = Campaign.objects.filter(pk=experiment.pk).first()
    if campaign is None:
        return Progress()
    now = timezone.now()
    counted = _of_outputs if experiment.workflow == OUTPUTS.slug else _of_battles
    found: Progress = (services_of(experiment.workflow).progress or counted)(experiment, now)
    began = max(
        now - RECENT, campaign.resumed or campaign.created
    )  # the rate of one that is younger is taken from then
    seconds, left = (now - began).total_seconds(), campaign.wanted - found.decided
    is_running = campaign.state == Campaign.State.RUNNING
    per_minute = 60 * found.recent / seconds if is_running and found.recent and seconds > 0 else None
    live = list(Run.objects.filter(pk__in=campaign.cursor.get("live", ()), state__in=LIVE_STATES))
    judges = Participant.objects.filter(experiment=experiment, seat__in=JUDGES).count() or 1
    tasks = sum(len(task.get("seats", ())) or judges for run in live for task in run.overrides.get("tasks", ()))
    recorded = Step.objects.filter(run__in=[run.pk for run in live], purpose__in=RECORDED).count() if live else 0
    spent = reservations.spent_by_campaign(campaign)
    return replace(
        found,
        state=campaign.state,
        note=campaign.note,
        wanted=max(campaign.wanted, found.decided),
        under_way=max(0, tasks - recorded),
        per_minute=per_minute,
        eta_seconds=60 * left / per_minute if per_minute and left > 0 else None,
        cost=spent.cost,
        unpriced_calls=spent.unpriced,
        calls=spent.calls,
        failed_calls=spent.failed,
        input_tokens=spent.input_tokens,
        output_tokens=spent.output_tokens,
        runs=Run.objects.filter(experiment=experiment).count(),
        round=campaign.round,
    )


def _of_battles(experiment: Experiment, now: datetime) -> Progress:
    """Battles that are decided are counted in their index alone; those that are open are read, and are few."""
    rows = Battle.objects.filter(experiment=experiment).order_by()
    decided = rows.filter(judged__isnull=False)
    counts = decided.aggregate(
        all=Count("pk"),
        consistent=Count("pk", filter=Q(is_consistent=True)),
        both_orders=Count("pk", filter=Q(is_consistent__isnull=False)),
    )
    is_open = rows.filter(OPEN_STILL, judged__isnull=True)
    return Progress(
        decided=counts["all"],
        recent=decided.filter(judged__gte=now - RECENT).count(),
        open=is_open.count(),
        consistent_share=counts["consistent"] / counts["both_orders"] if counts["both_orders"] else None,
        open_reasons=reasons(is_open, "open_reason"),
    )


def _of_outputs(experiment: Experiment, now: datetime) -> Progress:
    """The outputs of those who are asked, wherever they came from. Open are those that were asked for since the
    campaign began, or was resumed, and did not come.
    """
    config = experiment.parsed_config()
    names = [name_of(config, one) for one in experiment.participants.select_related("model")]
    made = Output.objects.filter(contestant__dataset__slug=config.dataset, contestant__name__in=names)
    if config.subsets:
        made = made.filter(sample__subset__in=config.subsets)
    steps = Step.objects.filter(run__experiment=experiment, purpose="output_made")
    failed = steps.filter(ended__gte=reservations.campaign_began(experiment.pk), data__has_key="failed").order_by()
    recent = made.filter(created__gte=now - RECENT).count()
    why = reasons(failed, "data__failed")
    return Progress(decided=made.count(), recent=recent, open=failed.count(), open_reasons=why)


def reasons(rows: QuerySet[Any], field: str) -> tuple[tuple[str, int], ...]:
    """The most frequent ones first, with how often each occurs."""
    found = rows.values_list(field).annotate(count=Count("pk"))
    return tuple((str(reason), count) for reason, count in found.order_by("-count", field)[:MOST_REASONS])
