"""A viewer of a run: backfill from the table, then live; whatever the wire drops is read again from the table."""

import json
import logging
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import AnonymousUser
from django.utils import translation

from accounts.models import User
from experiments.engine.live import group_of
from experiments.fragments import render_envelope
from experiments.models import Call, Event, Run
from experiments.models.event import ENVELOPE_VERSION
from experiments.watching import watch

logger = logging.getLogger(__name__)

SIGNED_OUT = 4401
BACKFILL_ROWS = 200


class RunConsumer(AsyncWebsocketConsumer):
    """`/ws/runs/ID/?after=SEQ[&html=1]`. The rights are checked here and again every few seconds."""

    async def connect(self) -> None:
        scope: Any = self.scope
        self.user: User | AnonymousUser = scope["user"]
        self.token: str | None = scope["token"]
        self.session_key: str | None = None if self.token else scope["session"].session_key
        self.run_id: UUID = scope["url_route"]["kwargs"]["run_id"]
        self.seen = 0
        self.is_live = False
        query = parse_qs(scope["query_string"].decode("ascii", "replace"))
        after = query.get("after", ["0"])[0]
        self.wants_html = query.get("html") == ["1"]
        self.language = translation.get_supported_language_variant(query.get("language", ["en"])[0][:16])
        if not after.isascii() or not after.isdigit() or len(after) > 18 or not await self._may_see():
            await self.close()
            return
        self.seen = int(after)
        await self.accept()
        await self.subscribe()
        await self.catch_up()
        await self._send_partials()
        watch.add(self)

    async def disconnect(self, code: int) -> None:
        watch.discard(self)
        try:
            await self.channel_layer.group_discard(group_of(self.run_id), self.channel_name)
        except Exception as error:  # redis, its client and the channel layer raise errors without a common base
            logger.warning("run=%s viewer left while Redis was away: %s", self.run_id, type(error).__name__)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """`{"type": "sync", "after": SEQ}`: a client that noticed a gap, or a long silence, asks again."""
        message = _decoded(text_data)
        if message.get("type") != "sync":
            return
        after = message.get("after")
        if isinstance(after, int) and 0 <= after < self.seen:
            self.seen = after
        await self.catch_up()
        await self._send_partials()

    async def subscribe(self) -> None:
        """Join the run's group; without Redis the watch keeps the viewer up to date from the table and tries again."""
        try:
            await self.channel_layer.group_add(group_of(self.run_id), self.channel_name)
            self.is_live = True
        except Exception as error:  # redis, its client and the channel layer raise errors without a common base
            self.is_live = False
            logger.warning("run=%s viewer is not live: %s", self.run_id, type(error).__name__)

    async def catch_up(self) -> None:
        """Send what the table has beyond what was sent."""
        while envelopes := await self._rows_after(self.seen):
            for envelope in envelopes:
                await self._send_event(envelope)

    async def sign_out(self) -> None:
        await self.close(code=SIGNED_OUT)

    # --- from the channel layer ---

    async def run_event(self, message: dict[str, Any]) -> None:
        seq = message["envelope"]["seq"]
        if seq == self.seen + 1:
            await self._send_event(message["envelope"])
        elif seq > self.seen:
            await self.catch_up()

    async def run_delta(self, message: dict[str, Any]) -> None:
        await self._send_delta(message["data"])

    # --- to the browser ---

    async def _send_event(self, envelope: dict[str, Any]) -> None:
        if envelope["seq"] != self.seen + 1:
            return
        self.seen += 1
        if self.wants_html:
            envelope = {**envelope, "html": render_envelope(envelope, self.language)}
        await self.send(json.dumps(envelope, ensure_ascii=False))

    async def _send_delta(self, data: dict[str, Any]) -> None:
        message = {"v": ENVELOPE_VERSION, "run": str(self.run_id), "type": "message_stream", "data": data}
        await self.send(json.dumps(message, ensure_ascii=False))

    async def _send_partials(self) -> None:
        for data in await self._partials():
            await self._send_delta(data)

    # --- from the database ---

    @database_sync_to_async
    def _may_see(self) -> bool:
        return bool(Run.objects.visible_to(self.user).filter(pk=self.run_id).exists())

    @database_sync_to_async
    def _rows_after(self, seq: int) -> list[dict[str, Any]]:
        events = Event.objects.filter(run_id=self.run_id, seq__gt=seq).order_by("seq")[:BACKFILL_ROWS]
        return [event.envelope for event in events]

    @database_sync_to_async
    def _partials(self) -> list[dict[str, Any]]:
        speaking = Call.objects.filter(run_id=self.run_id, state=Call.State.SENT, step__purpose="reply")
        return [
            {
                "call": str(call.pk),
                "seat": call.step.seat,
                "turn": call.step.turn,
                "offset": 0,
                "text": call.text,
                "reasoning_offset": 0,
                "reasoning": call.reasoning,
            }
            for call in speaking.select_related("step").defer("request", "logprobs")
        ]


def _decoded(text: str | None) -> dict[str, Any]:
    try:
        message = json.loads(text or "")
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}
