"""Whether those who are watching may still watch: for all sockets of a process in a few queries."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any, NamedTuple
from uuid import UUID

from channels.db import database_sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiToken, User
from experiments.models import Run


class Entry(NamedTuple):
    """By what a viewer was let in: the session or the token, the person (0 for a visitor), the run."""

    session: str | None
    token: str | None
    user_id: int
    run_id: UUID


@database_sync_to_async
def allowed(entries: set[Entry]) -> set[Entry]:
    """Those whose session or token still holds and whose person may still see the run."""
    sessions = _alive(Session.objects.filter(expire_date__gt=timezone.now()), {e.session for e in entries})
    unexpired = Q(expiry__isnull=True) | Q(expiry__gt=timezone.now())
    tokens = _alive(ApiToken.objects.filter(unexpired), {e.token for e in entries})
    runs_of: dict[int, set[UUID]] = defaultdict(set)
    for entry in entries:
        runs_of[entry.user_id].add(entry.run_id)
    visible = {(user_id, run_id) for user_id, runs in runs_of.items() for run_id in _visible(user_id, runs)}
    known = {e for e in entries if e.session in sessions or e.token in tokens or not e.user_id}
    return {e for e in known if (e.user_id, e.run_id) in visible}


@database_sync_to_async
def newest_events(run_ids: set[UUID]) -> dict[UUID, int]:
    return dict(Run.objects.filter(pk__in=run_ids).values_list("pk", "last_seq"))


def _alive(rows: Any, keys: set[str | None]) -> set[str]:
    return set(rows.filter(pk__in=[key for key in keys if key]).values_list("pk", flat=True))


def _visible(user_id: int, runs: Iterable[UUID]) -> list[UUID]:
    user = User.objects.filter(pk=user_id, is_active=True).first() if user_id else AnonymousUser()
    return list(Run.objects.visible_to(user).filter(pk__in=runs).values_list("pk", flat=True)) if user else []
