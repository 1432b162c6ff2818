"""Writing the audit log, in the transaction that does what it tells: there is never one without the other."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db import models

from accounts.models import AuditEntry, User

Action = AuditEntry.Action
_address: ContextVar[str | None] = ContextVar("address of whoever asks", default=None)


def record(
    action: AuditEntry.Action,
    *,
    by: User | AnonymousUser | None,
    of: models.Model | None = None,
    target: str = "",
    name: str = "",
    **detail: Any,
) -> AuditEntry:
    """Write an entry. An action that is not there yet: a member of `AuditEntry.Action`, and
    a line in `tests/experiments/audited`.

    by: who did it. of: what it was done to; target: the same as `kind:id`, where the row is not at hand. name: what
    that is called, unless its text form says so. detail: more about it, never a secret. A name with line ends or
    control characters in it cannot look like another entry.
    """
    actor, name = by.get_username() if by else "", name or (str(of) if of is not None else "")
    return AuditEntry.objects.create(
        action=action,
        actor_id=by.pk if by else None,
        actor=_one_line(actor)[:150],
        target=target_of(of) if of is not None else target[:120],
        name=_one_line(name)[:200],
        detail=detail,
        address=_address.get(),
    )


def target_of(row: models.Model) -> str:
    """How an entry names a row: `experiment:0190…`."""
    return f"{row._meta.model_name}:{row.pk}"


@contextmanager
def asked_from(address: str | None) -> Iterator[None]:
    """What is recorded within was asked for from this address."""
    token = _address.set(address)
    try:
        yield
    finally:
        _address.reset(token)


def _one_line(text: str) -> str:
    return "".join(letter if letter.isprintable() else "�" for letter in text)
