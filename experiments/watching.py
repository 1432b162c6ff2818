"""Looks after all viewers of a process: still signed in, still allowed, and not behind the table."""

import asyncio
import logging
from collections import defaultdict
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

from channels.db import database_sync_to_async
from django.contrib.auth import get_user_model
from django.contrib.sessions.models import Session
from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone

from accounts.models import ApiToken
from experiments.models import Run

if TYPE_CHECKING:
    from experiments.consumers import RunConsumer

logger = logging.getLogger(__name__)

WATCH_SECONDS = 3.0


class Watch:
    """A few queries every three seconds for all sockets of the process, instead of a few for each of them."""

    def __init__(self) -> None:
        self._viewers: set[RunConsumer] = set()
        self._task: asyncio.Task[None] | None = None

    def add(self, viewer: "RunConsumer") -> None:
        self._viewers.add(viewer)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._watch_forever())

    def discard(self, viewer: "RunConsumer") -> None:
        self._viewers.discard(viewer)

    async def _watch_forever(self) -> None:
        while self._viewers:
            await asyncio.sleep(WATCH_SECONDS)
            try:
                await self._look(list(self._viewers))
            except DatabaseError as error:
                logger.warning("viewers could not be looked after: %s", type(error).__name__)

    async def _look(self, viewers: "list[RunConsumer]") -> None:
        allowed = await _allowed({_pass(viewer) for viewer in viewers})
        newest = await _newest({viewer.run_id for viewer in viewers})
        for viewer in viewers:
            try:
                await self._look_after(viewer, _pass(viewer) in allowed, newest.get(viewer.run_id, 0))
            except Exception:
                logger.exception("run=%s a viewer could not be looked after", viewer.run_id)
                self.discard(viewer)

    async def _look_after(self, viewer: "RunConsumer", is_allowed: bool, newest: int) -> None:
        if not is_allowed:
            self.discard(viewer)
            await viewer.sign_out()
            return
        if not viewer.is_live:
            await viewer.subscribe()
        if newest > viewer.seen:
            await viewer.catch_up()


class Pass(NamedTuple):
    """By what a viewer is let in: the session or the token, the person, the run."""

    session: str | None
    token: str | None
    user_id: int
    run_id: UUID


def _pass(viewer: "RunConsumer") -> Pass:
    return Pass(viewer.session_key, viewer.token, viewer.user.pk or 0, viewer.run_id)


@database_sync_to_async
def _allowed(passes: set[Pass]) -> set[Pass]:
    sessions = _alive(Session.objects.filter(expire_date__gt=timezone.now()), {p.session for p in passes})
    unexpired = Q(expiry__isnull=True) | Q(expiry__gt=timezone.now())
    tokens = _alive(ApiToken.objects.filter(unexpired), {p.token for p in passes})
    runs_of: dict[int, set[UUID]] = defaultdict(set)
    for p in passes:
        runs_of[p.user_id].add(p.run_id)
    visible = {(user_id, run_id) for user_id, runs in runs_of.items() for run_id in _visible(user_id, runs)}
    return {p for p in passes if (p.session in sessions or p.token in tokens) and (p.user_id, p.run_id) in visible}


def _alive(rows: Any, keys: set[str | None]) -> set[str]:
    return set(rows.filter(pk__in=[key for key in keys if key]).values_list("pk", flat=True))


def _visible(user_id: int, runs: Iterable[UUID]) -> list[UUID]:
    user = get_user_model().objects.filter(pk=user_id, is_active=True).first()
    return list(Run.objects.visible_to(user).filter(pk__in=runs).values_list("pk", flat=True)) if user else []


@database_sync_to_async
def _newest(run_ids: set[UUID]) -> dict[UUID, int]:
    return dict(Run.objects.filter(pk__in=run_ids).values_list("pk", "last_seq"))


watch = Watch()
