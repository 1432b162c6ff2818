"""What providers say that they billed, fetched once a day and compared with our own ledger by day and model.

OpenRouter lists the activity of the last thirty days (`GET /activity`), OpenAI the costs of an organization
(`GET /organization/costs`). Both want a key of their own and know one account: what people spent with their own keys
is in our ledger alone.
"""

import asyncio
import logging
import os
import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet, Sum
from django.utils import timezone

from experiments.gateway import Client, GatewayError, guarded_transport
from experiments.lab.usage.days import last_day, midnight
from experiments.models import BilledDay, Provider, ProviderKey, UsageDay
from experiments.tasks.threads import WorkerThread

logger = logging.getLogger(__name__)

UsageApi = Provider.UsageApi
DAYS = 7  # that are fetched again: bills of a day may still change on the next ones
MOST_PAGES = 20
LEAST, SHARE = Decimal("0.01"), Decimal("0.01")  # dollars, and of the larger amount: no alarm below either
LONGEST_MODEL = int(BilledDay._meta.get_field("model").max_length or 0)
Bills = dict[tuple[date, str], Decimal]  # by day and model, in US dollars


@dataclass(frozen=True, slots=True)
class Difference:
    """ours: what is known of our calls, which may have come to `possible` more. billed: what the provider says."""

    day: date
    provider: str
    model: str
    ours: Decimal
    possible: Decimal
    billed: Decimal
    has_other_keys: bool

    @property
    def amount(self) -> Decimal:
        """Above zero where more was billed than we know of."""
        if self.ours <= self.billed <= self.ours + self.possible:
            return Decimal(0)
        return self.billed - self.ours - (self.possible if self.billed > self.ours else 0)

    @property
    def is_alarming(self) -> bool:
        is_explained = self.amount < 0 and self.has_other_keys
        return not is_explained and abs(self.amount) > max(LEAST, SHARE * max(self.ours, self.billed))


def fetch_all(stop: threading.Event) -> None:
    """Of every provider that can be asked. What differs too much is an error in the log; the usage page shows it."""
    for provider in _askable():
        try:
            fetch(provider)
        except GatewayError as error:
            logger.warning("provider=%s: its bills could not be fetched: %s", provider.name, error)
    today = timezone.now().astimezone(UTC).date()
    for found in differences(today - timedelta(days=DAYS), today):
        if found.is_alarming:
            logger.error(
                "provider=%s model=%s day=%s: billed $%.4f, our calls cost $%.4f",
                *(found.provider, found.model, found.day, found.billed, found.ours),
            )


fetcher = WorkerThread("bills", fetch_all)


def wake() -> None:
    """Fetch them in a thread of this worker, where there is a provider that can be asked."""
    if _askable().exists():
        fetcher.begin()


def _askable() -> QuerySet[Provider]:
    return Provider.objects.filter(is_active=True).exclude(usage_api="")


def fetch(provider: Provider) -> int:
    """Ask the provider for its bills of the last days, and keep them. Returns how many. Raises a GatewayError."""
    since = timezone.now().astimezone(UTC).date() - timedelta(days=DAYS)
    bills = asyncio.run(_asked(provider, since))
    rows = []
    for (day, model), cost in bills.items():
        row = BilledDay(provider=provider, day=day, model=model[:LONGEST_MODEL], fetched=timezone.now())
        row.cost = cost
        rows.append(row)
    unique = ("provider", "day", "model")
    BilledDay.objects.bulk_create(rows, update_conflicts=True, unique_fields=unique, update_fields=("cost", "fetched"))
    return len(rows)


async def _asked(provider: Provider, since: date) -> Bills:
    bills: defaultdict[tuple[date, str], Decimal] = defaultdict(Decimal)
    async with guarded_transport(allow_private=provider.allow_private) as transport:
        client = Client(provider.base_url, os.environ.get(provider.usage_key_env, ""), transport)
        if provider.usage_api == UsageApi.OPENROUTER:
            for key, cost in _of_activity(await client.fetch("/activity")):
                bills[key] += cost
            return {key: cost for key, cost in bills.items() if key[0] >= since}
        asked = {"start_time": int(midnight(since).timestamp()), "bucket_width": "1d", "group_by": "line_item"}
        page: Mapping[str, Any] = {"next_page": ""}
        for _number in range(MOST_PAGES):
            more = {"page": page["next_page"]} if page["next_page"] else {}
            page = _mapping(await client.fetch(f"/organization/costs?{urlencode({**asked, **more})}"))
            for key, cost in _of_costs(page):
                bills[key] += cost
            if not page.get("next_page"):
                break
    return dict(bills)


def _of_activity(answer: Any) -> Iterable[tuple[tuple[date, str], Decimal]]:
    """Lines of OpenRouter: a model at one of its hosts on a day."""
    for line in _list(_mapping(answer).get("data")):
        day, cost = _day(str(line.get("date"))[:10]), _money(line.get("usage"))
        if day and cost is not None and isinstance(line.get("model"), str):
            yield (day, line["model"]), cost


def _of_costs(answer: Any) -> Iterable[tuple[tuple[date, str], Decimal]]:
    """Buckets of OpenAI: of each day, what was billed for a line such as `gpt-4o-2024-08-06, input`."""
    for bucket in _list(_mapping(answer).get("data")):
        if not isinstance(start := bucket.get("start_time"), int):
            continue
        for result in _list(bucket.get("results")):
            cost, line = _money(_mapping(result.get("amount")).get("value")), result.get("line_item")
            if cost is not None and isinstance(line, str):
                yield (datetime.fromtimestamp(start, UTC).date(), line.partition(",")[0]), cost


def differences(since: date, until: date) -> list[Difference]:
    """Bills beside our own ledger, of the days that are added up; by day, the newest first, then provider and model."""
    last = last_day()
    bills = BilledDay.objects.filter(day__gte=since, day__lte=min(until, last)) if last else BilledDay.objects.none()
    billed: defaultdict[tuple[date, str, str], Decimal] = defaultdict(Decimal)
    ours: dict[tuple[date, str, str], tuple[Decimal, Decimal]] = {}
    providers = set(bills.values_list("provider", flat=True))
    days = UsageDay.objects.filter(model__provider__in=providers, day__in=set(bills.values_list("day", flat=True)))
    rows = days.order_by().values_list("day", "model__provider__name", "model__upstream")
    for day, provider, model, cost, possible in rows.annotate(a=Sum("cost"), b=Sum("possible_cost")):
        ours[day, provider, model] = (cost, possible)
    for day, provider, model, cost in bills.values_list("day", "provider__name", "model", "cost"):
        known = [name for on, at, name in ours if (on, at) == (day, provider) and model.startswith(name)]
        billed[day, provider, max(known, key=len, default=model)] += cost
    shared = ProviderKey.objects.filter(provider__in=providers, owner__isnull=False)
    others = set(shared.values_list("provider__name", flat=True))
    found = (
        Difference(*key, *ours.get(key, (Decimal(0), Decimal(0))), billed.get(key, Decimal(0)), key[1] in others)
        for key in {*ours, *billed}
    )
    return sorted(found, key=lambda one: (-one.day.toordinal(), one.provider, one.model))


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _money(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        return None
    return amount if amount.is_finite() and 0 <= amount < 10**6 else None
