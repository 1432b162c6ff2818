"""What administrators do with models: add one by name, change what is known of it and its price, and try it."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Unavailable
from accounts.models import User
from experiments.engine.keys import NoKey, key_for
from experiments.gateway import Completion, GatewayError
from experiments.gateway.types import Price
from experiments.lab.catalog import syncing
from experiments.lab.keys.testing import ask
from experiments.models import ModelPrice, Provider, ProviderModel

TRIAL_TOKENS = 300


def add(provider: Provider, upstream: str, *, by: User) -> ProviderModel:
    """A model that its provider does not list, by its name there; one that was known is enabled."""
    with transaction.atomic():
        model = syncing.add_model(provider, upstream)
        audit.record(audit.Action.MODEL_CHANGED, by=by, of=model, added=True)
    return model


def change(model: ProviderModel, *, by: User, changed: Sequence[str], price: Price | None = None) -> None:
    """Save these fields, and what it costs from now on; past calls keep their price. price: None leaves it as it is."""
    now = timezone.now()
    before = model.price_at(now)
    is_priced = price is not None and (before is None or before.value != price)
    if not (changed or is_priced):
        return
    with transaction.atomic():
        model.save(update_fields=changed)
        if price is not None and is_priced:
            ModelPrice.objects.create(model=model, since=now, **asdict(price))
        audit.record(audit.Action.MODEL_CHANGED, by=by, of=model, fields=[*changed, *(["price"] if is_priced else [])])


def try_out(model: ProviderModel, prompt: str) -> Completion:
    """One short answer, with the lab's key, outside of runs and budgets. Up to 20 seconds, in which no transaction is
    open. Raises Unavailable with what the provider said.
    """
    try:
        return asyncio.run(ask(model, key_for(model.provider, None).text, prompt, max_tokens=TRIAL_TOKENS))
    except (NoKey, GatewayError) as error:
        raise Unavailable(_("The model did not answer. %(why)s") % {"why": error}) from error
