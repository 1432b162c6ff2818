"""What administrators do with providers: add, change, enable, sync, delete. The audit log has each change."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db import transaction
from django.db.models import ProtectedError, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts import audit
from accounts.errors import Conflict
from accounts.models import User
from experiments.engine.keys import NoKey, key_for
from experiments.gateway import (
    BadAnswer,
    BadKey,
    ForbiddenAddress,
    GatewayError,
    OutcomeUnknown,
    RateLimited,
    Unreachable,
)
from experiments.lab.catalog import syncing, unlisted
from experiments.lab.keys import keyring
from experiments.lab.keys.testing import KEY_REFUSED, LONGEST_WORDS
from experiments.models import Provider

NOT_FOUND, NO_SUCH_METHOD = 404, 405
SETTINGS = (  # of a provider, that people and programs set
    "name",
    "base_url",
    "needs_key",
    "allow_private",
    "routes",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "api_key_env",
    "usage_api",
    "usage_key_env",
    "batch_api",
    "batch_share",
)
RESERVED = (syncing.SIMULATED, *unlisted.PROVIDERS)

Contact = Provider.Contact


@dataclass(frozen=True, slots=True)
class Contacted:
    """What came of asking a provider for its models. words: what it said, where it failed, without the key."""

    outcome: Provider.Contact
    listed: int = 0
    words: str = ""

    @property
    def is_well(self) -> bool:
        return self.outcome is Contact.LISTED

    @property
    def sentence(self) -> str:
        return str(self.outcome.label)


def managed() -> QuerySet[Provider]:
    """Those that administrators look after: not the simulated ones, nor the places of imported runs."""
    return Provider.objects.filter(is_simulated=False).exclude(name__in=unlisted.PROVIDERS)


@sensitive_variables("key")
def add(provider: Provider, *, by: User, key: str = "") -> Provider:
    """Save a new provider, with the lab's key for it where one is given. Raises what `keyring.add` raises."""
    with transaction.atomic():
        provider.save(force_insert=True)
        audit.record(audit.Action.PROVIDER_ADDED, by=by, of=provider, base_url=provider.base_url)
        if key:
            keyring.add(by=by, provider=provider, key=key, for_lab=True)
    return provider


def change(provider: Provider, *, by: User, changed: Sequence[str]) -> None:
    """Save these fields of a provider."""
    if not changed:
        return
    with transaction.atomic():
        provider.save(update_fields=changed)
        now = {name: getattr(provider, name) for name in changed}
        now |= {name: str(value) for name, value in now.items() if isinstance(value, Decimal)}
        audit.record(audit.Action.PROVIDER_CHANGED, by=by, of=provider, now=now)


def enable(provider: Provider, *, by: User, enabled: bool) -> None:
    """Offer its models, or offer them no more. Runs under way keep asking it."""
    provider.is_active = enabled
    change(provider, by=by, changed=["is_active"])


def remove(provider: Provider, *, by: User) -> None:
    """Delete a provider with its models and keys. Raises Conflict where anything refers to one of its models."""
    try:
        with transaction.atomic():
            audit.record(audit.Action.PROVIDER_REMOVED, by=by, of=provider, base_url=provider.base_url)
            provider.delete()
    except ProtectedError as error:
        words = _("Runs or datasets refer to models of %(provider)s, so it cannot be deleted. Disable it instead.")
        raise Conflict(words % {"provider": provider.name}) from error


@sensitive_variables("key")
def contact(provider: Provider, key: str = "") -> Contacted:
    """Ask a provider, which need not be saved, for its models. Takes up to 20 seconds. key: "" for the lab's."""
    try:
        text = key or (key_for(provider, None).text if provider.pk else "")
        listed = len(syncing.listed(provider, text))
    except NoKey as error:
        return Contacted(Contact.NO_KEY, words=str(error)[:LONGEST_WORDS])
    except GatewayError as error:
        return _failed(error, has_key=bool(text))
    return Contacted(Contact.LISTED if listed else Contact.EMPTY, listed)


def sync(provider: Provider, *, by: User | None) -> tuple[Contacted, syncing.Counts]:
    """List a provider's models and take over what changed. What came of it is stored. by: None for a command. Up to 20
    seconds, in which no transaction is open.
    """
    counts = syncing.Counts()
    try:
        entries = syncing.list_models(provider)
    except GatewayError as error:
        contacted = _failed(error, has_key=not provider.lacks_key)
    else:
        counts = syncing.sync_models(provider, entries, timezone.now())
        contacted = Contacted(Contact.LISTED if counts.listed else Contact.EMPTY, counts.listed)
    with transaction.atomic():
        told = {"synced": timezone.now(), "sync_outcome": contacted.outcome.value, "sync_words": contacted.words}
        Provider.objects.filter(pk=provider.pk).update(**told)
        if by:
            audit.record(
                audit.Action.MODELS_SYNCED, by=by, of=provider, outcome=contacted.outcome.value, added=counts.added
            )
    provider.refresh_from_db(fields=list(told))
    return contacted, counts


def _failed(error: GatewayError, *, has_key: bool) -> Contacted:
    by_kind = {RateLimited: Contact.LIMITED, OutcomeUnknown: Contact.TIMED_OUT, Unreachable: Contact.UNREACHABLE}
    if isinstance(error, ForbiddenAddress):
        outcome = Contact.PRIVATE
    elif isinstance(error, BadKey) or error.status in KEY_REFUSED:
        outcome = Contact.REFUSED if has_key else Contact.NO_KEY
    elif isinstance(error, BadAnswer) or error.status in (NOT_FOUND, NO_SUCH_METHOD):
        outcome = Contact.NO_LIST
    else:
        outcome = next((found for kind, found in by_kind.items() if isinstance(error, kind)), Contact.FAILED)
    return Contacted(outcome, words=str(error)[:LONGEST_WORDS])
