"""Keeps the catalogue in step with what providers list: models, what they accept, and what they cost since when."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from experiments.engine.keys import Key, NoKey, key_for
from experiments.gateway import BadKey, Client, guarded_transport
from experiments.lab.catalog.listing import Listing, read_listing
from experiments.lab.catalog.unlisted import adopt
from experiments.models import ModelPrice, Provider, ProviderModel

OPENROUTER_KEY = "OPENROUTER_API_KEY"
SIMULATED = "simulated"
SIMULATED_JUDGE, SIMULATED_FILTER = "sim/judge", "sim/filter"
SIMULATED_TOOLS = (SIMULATED_JUDGE, SIMULATED_FILTER, "sim/vision-judge")


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
    """Nobody serves it now: its models are not offered."""
    Provider.objects.filter(is_simulated=True, is_active=True).update(is_active=False)


def list_models(provider: Provider) -> list[dict[str, object]]:
    """What the provider lists, as it lists it, asked with the lab's key. Raises a GatewayError."""
    try:
        key = key_for(provider, None)
    except NoKey as error:
        raise BadKey(str(error)) from error
    return asyncio.run(_list_models(provider, key))


async def _list_models(provider: Provider, key: Key) -> list[dict[str, Any]]:
    async with guarded_transport(allow_private=provider.allow_private) as transport:
        return await Client(provider.base_url, key.text, transport).models()


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
        _add(provider, [listings[name] for name in listings.keys() - known.keys()], counts)
        _change([(known[name], listings[name]) for name in listings.keys() & known.keys()], counts)
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


def _add(provider: Provider, listings: Sequence[Listing], counts: Counts) -> None:
    slugs = free_slugs(provider, [listing.upstream for listing in listings])
    counts.added = len(
        ProviderModel.objects.bulk_create(
            ProviderModel(
                provider=provider,
                slug=slugs[listing.upstream],
                upstream=listing.upstream,
                label=listing.label,
                capabilities=listing.capabilities,
            )
            for listing in sorted(listings, key=lambda listing: listing.upstream)
        )
    )


def _change(pairs: Sequence[tuple[ProviderModel, Listing]], counts: Counts) -> None:
    for model, listing in pairs:
        counts.inactive += not model.is_active
        capabilities = {**model.capabilities, **listing.capabilities}
        if (model.label, model.capabilities) == (listing.label, capabilities):
            continue
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
            new.append(
                ModelPrice(
                    model=model,
                    since=now,
                    input=listed.input,
                    output=listed.output,
                    cached_input=listed.cached_input,
                    per_request=listed.per_request,
                )
            )
    counts.priced = len(ModelPrice.objects.bulk_create(new))
