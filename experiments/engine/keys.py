"""With which key a provider is asked in the name of whose experiment: their own, else the lab's, else the server's.

People who steer the experiment of another person never lend it a key: only its owner's counts.
"""

import os
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.crypto import Undecipherable, decrypt
from experiments.models import KeyUse, Provider, ProviderKey

if TYPE_CHECKING:
    from accounts.models import User

USED_AT_MOST_EVERY = timedelta(minutes=1)


class NoKey(Exception):
    """No call can be made: the key is missing, or cannot be decrypted. The message says what to do."""


@dataclass(frozen=True, slots=True)
class Key:
    """What a call is made with. row_id: of the stored key; None for the environment's, and where none is needed."""

    text: str = field(default="", repr=False)
    row_id: UUID | None = None


def key_for(provider: Provider, owner_id: int | None) -> Key:
    """As the keys stand now. owner_id: whose experiment asks; None for the lab itself. Raises NoKey."""
    mine = Q(owner__isnull=True) if owner_id is None else Q(owner__isnull=True) | Q(owner_id=owner_id)
    rows = ProviderKey.objects.active().filter(mine, provider=provider)
    if row := rows.order_by(F("owner").asc(nulls_last=True)).first():
        return _decrypted(row, provider)
    return _of_environment(provider)


def key_of_order(provider: Provider, row_id: UUID | None) -> Key:
    """The key that was chosen when the call was handed over, as it stands now. row_id: None where it was none of the
    stored ones. Raises NoKey, also where it was taken back since.
    """
    if row_id is None:
        return _of_environment(provider)
    row = ProviderKey.objects.active().filter(pk=row_id, provider=provider).first()
    if row is None:
        raise NoKey(_("%(provider)s was not asked, because there is no key. %(where)s") % where(provider))
    return _decrypted(row, provider)


def _decrypted(row: ProviderKey, provider: Provider) -> Key:
    try:
        return Key(decrypt(row.ciphertext), row.pk)
    except Undecipherable as error:
        words = _("%(provider)s was not asked, because its stored key cannot be read. %(why)s")
        raise NoKey(words % {"provider": provider.name, "why": error}) from error


def _of_environment(provider: Provider) -> Key:
    if text := os.environ.get(provider.api_key_env, "") if provider.api_key_env else "":
        return Key(text)
    if provider.wants_key:
        raise NoKey(_("%(provider)s was not asked, because there is no key. %(where)s") % where(provider))
    return Key()


def where(provider: Provider) -> dict[str, str]:
    """Where a key that is missing is added, in words."""
    words = _("Add your own under Account, Provider keys, or ask an administrator for a lab key.")
    return {"provider": provider.name, "where": words}


def note_use(key: Key, run_id: UUID, owner: "User") -> None:
    """Say that a run is asked with a stored key: when, to the minute, and in the audit log once a day."""
    if key.row_id is None:
        return
    now = timezone.now()
    stale = Q(last_used__isnull=True) | Q(last_used__lt=now - USED_AT_MOST_EVERY)
    row = ProviderKey.objects.filter(pk=key.row_id)
    row.filter(stale).update(last_used=now)
    if KeyUse.objects.filter(key=key.row_id, run=run_id, day=now.date()).exists():
        return
    with transaction.atomic():
        used = row.select_related("provider").get()
        _use, is_first = KeyUse.objects.get_or_create(key=used, run_id=run_id, day=now.date())
        if is_first:
            audit.record(audit.Action.KEY_USED, by=owner, of=used, run=str(run_id), of_lab=used.owner_id is None)
