"""What was done under an `Idempotency-Key` is done once: a repetition gets the first answer."""

import hashlib
import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, TypeVar

from django.db import IntegrityError, transaction
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from accounts.errors import Conflict
from experiments.models import IdempotentRequest
from experiments.tasks import clock

if TYPE_CHECKING:
    from accounts.models import User


Answer = TypeVar("Answer", bound=Mapping[str, Any])
BEGUN = "begun"  # the answer of what is not done yet
GIVEN_UP = timedelta(minutes=2)  # a process that has not finished by then was killed


class KeyReused(Conflict):
    """The `Idempotency-Key` was used before, with another request."""


class UnderWay(KeyReused):
    """The same request under the same key is being carried out at this moment."""


def once(act: Callable[[], Answer], *, by: "User", key: str, request: tuple[object, ...]) -> Answer:
    """What `act` returns, JSON values alone; under a key that was used before, what it returned then.

    request: what is asked for, by which a repetition is told from another request. Raises KeyReused, and what `act`
    raises: then the key is free again.
    """
    if not key:
        return act()
    fingerprint = _fingerprint(request)
    try:
        with transaction.atomic():
            row = IdempotentRequest.objects.create(owner=by, key=key, fingerprint=fingerprint)
            row.answer = answer = act()
            row.save(update_fields=["answer"])
            return answer
    except IntegrityError:
        known = IdempotentRequest.objects.filter(owner=by, key=key).first()
        if known is None:
            raise
    given: Answer = _answer(known, fingerprint)
    return given


def once_outside(act: Callable[[], Answer], *, by: "User", key: str, request: tuple[object, ...]) -> Answer:
    """As `once`, for what waits for others: no transaction is open while it acts. Raises UnderWay meanwhile; where the
    process was killed, the key is free again after two minutes.
    """
    if not key:
        return act()
    fingerprint = _fingerprint(request)
    given_up = IdempotentRequest.objects.filter(owner=by, key=key, answer__has_key=BEGUN)
    given_up.filter(created__lt=clock.ago(GIVEN_UP)).delete()
    with transaction.atomic():
        row, is_mine = IdempotentRequest.objects.get_or_create(
            owner=by, key=key, defaults={"fingerprint": fingerprint, "answer": {BEGUN: True}}
        )
        if is_mine:
            IdempotentRequest.objects.filter(pk=row.pk).update(created=Now())
    if not is_mine:
        given: Answer = _answer(row, fingerprint)
        return given
    try:
        row.answer = answer = act()
    except BaseException:
        row.delete()
        raise
    row.save(update_fields=["answer"])
    return answer


def _answer(known: IdempotentRequest, fingerprint: str) -> Any:
    if known.fingerprint != fingerprint:
        raise KeyReused(_("This Idempotency-Key was used for another request. Use a new one."))
    if BEGUN in known.answer:
        raise UnderWay(_("The same request is being processed. Ask again later."))
    return known.answer


def _fingerprint(request: tuple[object, ...]) -> str:
    return hashlib.sha256(json.dumps(request, default=str, sort_keys=True).encode()).hexdigest()
