"""What the runs of a campaign have cost together: summed up for those that are over, read anew for the others."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce

from experiments.models import Call, Campaign
from experiments.workflows.base.events import JsonObject


@dataclass(frozen=True, slots=True)
class Totals:
    """Calls, those of them that failed, tokens, US dollars (with what is set aside), and calls at an unknown cost.
    under_way: tokens set aside for calls that have not ended.
    """

    calls: int = 0
    failed: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: Decimal = Decimal(0)
    unpriced: int = 0
    under_way: int = 0

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(
            self.calls + other.calls,
            self.failed + other.failed,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cost + other.cost,
            self.unpriced + other.unpriced,
            self.under_way + other.under_way,
        )

    @property
    def data(self) -> JsonObject:
        return {**asdict(self), "cost": str(self.cost)}

    @staticmethod
    def read(data: Mapping[str, Any]) -> "Totals":
        return Totals(**{**data, "cost": Decimal(data.get("cost", 0))})


def of_runs(runs: Collection[UUID | str]) -> Totals:
    if not runs:
        return Totals()
    failed = Q(state__in=(Call.State.FAILED, Call.State.LOST))
    unpriced = Q(cost__isnull=True) & ~Q(state=Call.State.SENT)
    found = Call.objects.filter(run__in=list(runs)).aggregate(
        calls=Count("pk"),
        failed=Count("pk", filter=failed),
        input_tokens=Sum("input_tokens", default=0),
        output_tokens=Sum("output_tokens", default=0),
        unpriced=Count("pk", filter=unpriced),
        under_way=Sum("reserved_tokens", filter=Q(state=Call.State.SENT), default=0),
        money=Sum(Coalesce("cost", "reserved"), default=Decimal(0)),
    )
    return Totals(cost=found.pop("money"), **found)


def of_campaign(campaign: Campaign) -> Totals:
    """Everything so far, calls under way included."""
    cursor = campaign.cursor
    return Totals.read(cursor.get("spent", {})) + of_runs(cursor.get("live", ()))


def spent(experiment_id: UUID) -> Totals:
    """What all runs of an experiment's campaign have used together."""
    campaign = Campaign.objects.only("cursor").filter(pk=experiment_id).first()
    return of_campaign(campaign) if campaign else Totals()


@contextmanager
def held(experiment_id: UUID) -> Iterator[None]:
    """A transaction in which nobody else begins a call of the campaign: of two workers that see room for one more call,
    one makes it. The campaign's row is taken before that of any run.
    """
    with transaction.atomic():
        Campaign.objects.select_for_update().only("pk").filter(pk=experiment_id).first()
        yield


def begun(experiment_id: UUID) -> datetime | None:
    """When the campaign began, or was last resumed."""
    row = Campaign.objects.filter(pk=experiment_id).values_list("resumed", "created").first()
    return (row[0] or row[1]) if row else None
