"""Keeps the catalogue in step with what providers list: models, what they accept, and what they cost since when.

An entry of a provider's `/models` list is read as OpenRouter writes it, and what other servers give of that.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from experiments.engine.keys import NoKey, key_for
from experiments.gateway import BadKey, Client, OutcomeUnknown, guarded_transport
from experiments.gateway.types import Price
from experiments.lab.catalog.unlisted import adopt
from experiments.models import ModelPrice, Provider, ProviderModel

OPENROUTER_KEY = "OPENROUTER_API_KEY"
SIMULATED = "simulated"
SIMULATED_JUDGE, SIMULATED_FILTER = "sim/judge", "sim/filter"
SIMULATED_TOOLS = (SIMULATED_JUDGE, SIMULATED_FILTER, "sim/vision-judge")
LONGEST_NAME = 200
PRICE_PLACES = Decimal("1e-14")
HIGHEST_PRICE = Decimal(100_000)
SECONDS = 20.0  # for which a list is waited for


@dataclass(frozen=True, slots=True)
class Listing:
    """A model as listed. capabilities: only those that the entry says something about. price: None when not listed."""

    upstream: str
    label: str
    capabilities: dict[str, object]
    price: Price | None


@dataclass(slots=True)
class Counts:
    """What a synchronisation changed. inactive: listed again, but switched off here, which it leaves so."""

    listed: int = 0
    added: int = 0
    changed: int = 0
    priced: int = 0
    gone: int = 0
    inactive: int = 0


def real_providers() -> list[str]:
    """The names of those that can be asked with what is configured."""
    providers = Provider.objects.filter(is_active=True, is_simulated=False)
    return list(providers.exclude(pk__in=Provider.objects.lacking_key()).values_list("name", flat=True))


def ensure_openrouter() -> Provider:
    """The provider that an OpenRouter key opens. An administrator's changes to it stay."""
    defaults = {"base_url": "https://openrouter.ai/api/v1", "api_key_env": OPENROUTER_KEY, "routes": True}
    return Provider.objects.get_or_create(name="openrouter", defaults=defaults)[0]


def register_simulated(base_url: str) -> Provider:
    """The simulated provider at its address of today, with all its models active. Raises a GatewayError."""
    defaults = {"base_url": base_url, "api_key_env": "", "is_simulated": True, "allow_private": True, "is_active": True}
    defaults |= {"batch_api": Provider.BatchApi.OPENAI}
    provider, _ = Provider.objects.update_or_create(name=SIMULATED, defaults=defaults)
    sync_models(provider, list_models(provider), timezone.now())
    with transaction.atomic():
        provider.models.filter(is_active=False).update(is_active=True)
        provider.models.filter(upstream__in=SIMULATED_TOOLS, is_tool=False).update(is_tool=True)
        if not ProviderModel.objects.filter(is_default_judge=True).exists():
            provider.models.filter(upstream=SIMULATED_JUDGE).update(is_default_judge=True)
        if not ProviderModel.objects.filter(is_default_filter=True).exists():
            provider.models.filter(upstream=SIMULATED_FILTER).update(is_default_filter=True)
    return provider


def retire_simulated() -> None:
    """It is not served now: its models are not offered."""
    Provider.objects.filter(is_simulated=True, is_active=True).update(is_active=False)


def list_models(provider: Provider) -> list[dict[str, object]]:
    """What the provider lists, as it lists it, asked with the lab's key. Raises a GatewayError."""
    try:
        key = key_for(provider, None)
    except NoKey as error:
        raise BadKey(str(error)) from error
    return listed(provider, key.text)


@sensitive_variables("key")
def listed(provider: Provider, key: str) -> list[dict[str, object]]:
    """As `list_models`, of a provider that need not be saved, with this key."""
    return asyncio.run(_listed(provider, key))


@sensitive_variables("key")
async def _listed(provider: Provider, key: str) -> list[dict[str, Any]]:
    async with client_of(provider, key) as client:
        if provider.routes and key:
            await client.check_key()
        return await client.models()


@asynccontextmanager
async def client_of(provider: Provider, key: str) -> AsyncIterator[Client]:
    """Asks a provider outside of runs, for SECONDS at most. Raises OutcomeUnknown when they are over."""
    try:
        async with asyncio.timeout(SECONDS), guarded_transport(allow_private=provider.allow_private) as transport:
            yield Client(provider.base_url, key, transport)
    except TimeoutError as error:
        raise OutcomeUnknown(f"{provider.base_url} did not answer within {SECONDS:g} s.") from error


def sync_models(provider: Provider, entries: Sequence[Mapping[str, Any]], now: datetime) -> Counts:
    """Take over a `/models` list. A model that is gone becomes inactive: runs refer to it.

    An empty list changes nothing: it is far more often a failure of the provider than the truth.
    """
    listings = {listing.upstream: listing for entry in entries if (listing := read_listing(entry))}
    counts = Counts(listed=len(listings))
    if not listings:
        return counts
    with transaction.atomic():
        adopt(provider, listings)
        known = {model.upstream: model for model in provider.models.all()}
        new = sorted(listings.keys() - known.keys())
        slugs = free_slugs(provider, new)
        counts.added = len(
            ProviderModel.objects.bulk_create(
                ProviderModel(
                    provider=provider,
                    slug=slugs[name],
                    upstream=name,
                    label=listings[name].label,
                    capabilities=listings[name].capabilities,
                )
                for name in new
            )
        )
        for name in listings.keys() & known.keys():
            _change(known[name], listings[name], counts)
        _price(provider, listings, now, counts)
        gone = provider.models.filter(is_active=True, upstream__in=known.keys() - listings.keys())
        counts.gone = gone.update(is_active=False)
    return counts


def add_model(provider: Provider, upstream: str) -> ProviderModel:
    """A model entered by hand; one that was known becomes active."""
    adopt(provider, [upstream])
    model, _ = ProviderModel.objects.update_or_create(
        provider=provider,
        upstream=upstream,
        defaults={"is_active": True},
        create_defaults={"slug": free_slugs(provider, [upstream])[upstream], "label": upstream},
    )
    return model


def free_slugs(provider: Provider, upstreams: Sequence[str]) -> dict[str, str]:
    """Our name for each new model: the provider's own, or with the provider before it where another has that name."""
    taken = set(ProviderModel.objects.values_list("slug", flat=True))
    return {upstream: f"{provider.name}/{upstream}" if upstream in taken else upstream for upstream in upstreams}


def _change(model: ProviderModel, listing: Listing, counts: Counts) -> None:
    counts.inactive += not model.is_active
    capabilities = {**model.capabilities, **listing.capabilities}
    if (model.label, model.capabilities) != (listing.label, capabilities):
        model.label, model.capabilities = listing.label, capabilities
        model.save(update_fields=["label", "capabilities"])
        counts.changed += 1


def _price(provider: Provider, listings: Mapping[str, Listing], now: datetime, counts: Counts) -> None:
    """A new row only where the price is another than the last one; prices that are not listed any more stay."""
    latest: dict[int, ModelPrice] = {}
    for price in ModelPrice.objects.filter(model__provider=provider, since__lte=now).order_by("since"):
        latest[price.model_id] = price
    new = []
    for model in provider.models.filter(upstream__in=listings):
        listed = listings[model.upstream].price
        if listed and (model.pk not in latest or latest[model.pk].value != listed):
            new.append(ModelPrice(model=model, since=now, **asdict(listed)))
    counts.priced = len(ModelPrice.objects.bulk_create(new))


def read_listing(entry: Mapping[str, Any]) -> Listing | None:
    """None when the entry has no name that could be stored and asked for."""
    name = entry.get("id")
    if not isinstance(name, str) or not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        return None
    label = entry.get("name")
    if not isinstance(label, str) or not label.strip() or not label.isprintable():
        label = name
    return Listing(name, label[:LONGEST_NAME], _capabilities(entry), _listed_price(entry.get("pricing")))


def _capabilities(entry: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    supported = entry.get("supported_parameters")
    if isinstance(supported, list):
        names = {name for name in supported if isinstance(name, str)}
        only_new_limit = "max_completion_tokens" in names and "max_tokens" not in names
        has_object = "response_format" in names
        found |= {name: name in names for name in ("temperature", "seed", "logprobs")}
        found["schema"] = "json_schema" if "structured_outputs" in names else "json_object" if has_object else "none"
        found["max_tokens_field"] = "max_completion_tokens" if only_new_limit else "max_tokens"
        found["reasoning_effort"] = "reasoning" in names or "reasoning_effort" in names
    modalities = _mapping(entry.get("architecture")).get("input_modalities")
    if isinstance(modalities, list):
        found["images"] = "image" in modalities
    for field, value in (
        ("context_tokens", entry.get("context_length") or entry.get("max_model_len")),
        ("max_output_tokens", _mapping(entry.get("top_provider")).get("max_completion_tokens")),
    ):
        if type(value) is int and value > 0:
            found[field] = value
    return found


def _listed_price(pricing: Any) -> Price | None:
    """Dollars per token. A negative price means that it depends on where a router sends the request: not known."""
    pricing = _mapping(pricing)
    input_price, output_price = _amount(pricing.get("prompt")), _amount(pricing.get("completion"))
    if input_price is None or output_price is None:
        return None
    return Price(
        input_price,
        output_price,
        _amount(pricing.get("input_cache_read")),
        _amount(pricing.get("request")) or Decimal(0),
    )


def _amount(value: Any) -> Decimal | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        amount = Decimal(str(value))
        return amount.quantize(PRICE_PLACES) if 0 <= amount < HIGHEST_PRICE else None
    except InvalidOperation:
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
