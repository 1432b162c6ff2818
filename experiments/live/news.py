"""What somebody who watches a run has not seen yet: its next events, and the text of the calls under way."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from experiments.fragments import render_envelope
from experiments.models import Call, Event
from experiments.workflows.base.steps import SPOKEN

ROWS = 200


def events_after(run_id: UUID, seq: int) -> list[dict[str, Any]]:
    """The envelopes of the next events, at most ROWS of them."""
    events = Event.objects.filter(run_id=run_id, seq__gt=seq).order_by("seq")[:ROWS]
    return [event.envelope for event in events]


def partials(run_id: UUID) -> list[dict[str, Any]]:
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


def since(run_id: UUID, seq: int, language: str, look: str, cast: Mapping[str, str]) -> dict[str, Any]:
    """For a page that gets no WebSocket: what the socket would have sent. more: there is more to be asked for now."""
    envelopes = events_after(run_id, seq)
    events = [{**envelope, "html": render_envelope(envelope, language, look, cast)} for envelope in envelopes]
    return {"events": events, "partials": partials(run_id), "more": len(events) == ROWS}
