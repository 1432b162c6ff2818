"""What was done under an `Idempotency-Key` is done once: a repetition gets the first answer."""

import hashlib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from experiments.models import IdempotentRequest

if TYPE_CHECKING:
    from accounts.models import User


class KeyReused(Exception):
    """The `Idempotency-Key` was used before, with another request."""


def once(act: Callable[[], dict[str, Any]], *, by: "User", key: str, request: tuple[object, ...]) -> dict[str, Any]:
    """What `act` returns, JSON values alone; under a key that was used before, what it returned then.

    request: what is asked for, by which a repetition is told from another request. Raises KeyReused, and what `act`
    raises: then the key is free again.
    """
    if not key:
        return act()
    fingerprint = hashlib.sha256(json.dumps(request).encode()).hexdigest()
    try:
        with transaction.atomic():
            row = IdempotentRequest.objects.create(owner=by, key=key, fingerprint=fingerprint)
            row.answer = act()
            row.save(update_fields=["answer"])
            return dict(row.answer)
    except IntegrityError:
        known = IdempotentRequest.objects.filter(owner=by, key=key).first()
        if known is None:
            raise
    if known.fingerprint != fingerprint:
        raise KeyReused(_("This Idempotency-Key was used before, for another request: use a new one."))
    return dict(known.answer)
