"""What a viewer of a run has not seen yet: its next events, and the text of the calls under way."""

import asyncio
from contextvars import Context
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from accounts.people import for_readers
from experiments.models import Call, Event, Run
from experiments.models.work import Envelope
from experiments.runs.timeline import look_of, render_envelope
from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.steps import SPOKEN

ROWS = 200

Rows = tuple[list[Envelope], list[dict[str, Any]]]


def number_of(asked: str) -> int | None:
    """The number of an event as an address has it; None for what is none."""
    return int(asked) if asked.isascii() and asked.isdigit() and len(asked) <= 18 else None


def events_after(run_id: UUID, seq: int) -> list[Envelope]:
    """The envelopes of the next events, at most ROWS of them."""
    events = Event.objects.filter(run_id=run_id, seq__gt=seq).order_by("seq")[:ROWS]
    return [event.envelope for event in events]


def partials(run_id: UUID) -> list[JsonObject]:
    """The replies under way from their first character on, in the shape of a piece of streaming text."""
    speaking = Call.objects.filter(run_id=run_id, state=Call.State.SENT, step__purpose__in=SPOKEN)
    return [
        {
            "call": str(call.pk),
            "seat": call.step.seat,
            "turn": call.step.turn,
            "purpose": call.step.purpose,
            "offset": 0,
            "text": call.text,
            "reasoning_offset": 0,
            "reasoning": call.reasoning,
        }
        for call in speaking.select_related("step").defer("request", "logprobs")
    ]


@for_readers
@require_GET
def run_news(request: HttpRequest, pk: UUID) -> HttpResponse:
    """For a page whose WebSocket is blocked, what the socket would send: the events after number `after` with their
    fragments, and the text that is being written. more: there is more to be asked for now.
    """
    run = get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)
    if (after := number_of(request.GET.get("after", "0"))) is None:
        return JsonResponse({"after": [_("Enter a whole number.")]}, status=400)
    language, look, cast = get_language(), look_of(run.experiment), run.experiment.labels
    events = [
        {**envelope, "html": render_envelope(envelope, language, look, cast)}
        for envelope in events_after(run.pk, after)
    ]
    return JsonResponse({"events": events, "partials": partials(run.pk), "more": len(events) == ROWS})


class Backfill:
    """One visit to the database for all who ask the same at the same time: many viewers lose the same piece together.

    Belongs to one event loop. No answer is older than its question: who asks during a visit waits for the next one.
    """

    def __init__(self) -> None:
        self._asked: dict[tuple[UUID, int], asyncio.Task[Rows]] = {}
        self._visiting = asyncio.Lock()

    async def rows(self, run_id: UUID, seq: int) -> Rows:
        """The next events after that number, and the text of the calls under way."""
        key = run_id, seq
        if key not in self._asked:
            # In a context of its own: it may outlive the first socket that asked, and its thread.
            self._asked[key] = asyncio.get_running_loop().create_task(self._visit(*key), context=Context())
        return await asyncio.shield(self._asked[key])

    async def _visit(self, run_id: UUID, seq: int) -> Rows:
        async with self._visiting:
            del self._asked[run_id, seq]  # a question from now on may know of more events
            return await _read(run_id, seq)


@database_sync_to_async
def _read(run_id: UUID, seq: int) -> Rows:
    return events_after(run_id, seq), partials(run_id)
