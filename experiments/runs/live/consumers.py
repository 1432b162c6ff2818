"""A viewer's WebSocket: backfill from the table, then live; what the channel layer drops is read from the table."""

import json
import time
from collections import Counter
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.utils import translation

from accounts.addresses import address_in
from accounts.models import User
from experiments.engine.events import delta
from experiments.models import Run
from experiments.models.work import Envelope
from experiments.runs.live.backlog import ROWS, events_after, number_of
from experiments.runs.live.viewers import EncodedText, Entry, viewers
from experiments.runs.timeline import look_of, render_envelope

MESSAGES, SECONDS = 60, 10.0  # a page asks once in some seconds, and a few times at once after it was asleep
SIGNED_OUT, TOO_FAST = 4401, 4429
FRAMES = "arena.frames"  # what our own web server offers beyond ASGI: arenasite/server/websockets.py


class MessageRate:
    """At most MESSAGES in SECONDS, counted anew when those are over."""

    def __init__(self) -> None:
        self._since, self._count = time.monotonic(), 0

    def has_room(self) -> bool:
        now = time.monotonic()
        if now - self._since >= SECONDS:
            self._since, self._count = now, 0
        self._count += 1
        return self._count <= MESSAGES


class SocketCounter:
    """How many sockets of this process a person or, without an account, an address holds open."""

    def __init__(self) -> None:
        self._held: Counter[str] = Counter()

    def take(self, holder: str) -> bool:
        """Whether there is room for one more, which is then counted until it is given back."""
        if self._held[holder] >= settings.SOCKETS_PER_PERSON:
            return False
        self._held[holder] += 1
        return True

    def give_back(self, holder: str) -> None:
        self._held[holder] -= 1
        if not self._held[holder]:
            del self._held[holder]


open_sockets = SocketCounter()


class RunConsumer(AsyncWebsocketConsumer):
    """`/ws/runs/ID/?after=SEQ[&html=1&language=CODE]`. The rights are checked here, and again every few seconds.

    A client that reads too slowly misses what happens meanwhile, and gets it from the table once there is room.
    """

    channel_layer_alias = None  # type: ignore[assignment]  # `Viewers` subscribes, once per run and process
    holder = ""  # who this socket is counted for, until it is given back

    async def __call__(self, *given: Any) -> None:
        """Daphne cancels a consumer whose client is gone while it waits: `disconnect` is not called then."""
        try:
            await super().__call__(*given)
        finally:
            await self._go()

    async def connect(self) -> None:
        scope: Any = self.scope
        self.rate = MessageRate()
        session_key = scope["session"].session_key if "session" in scope else None  # there is none beside a token
        self.user: User | AnonymousUser = scope["user"]
        self.run_id: UUID = scope["url_route"]["kwargs"]["run_id"]
        self.entry = Entry(session_key, scope["token"], self.user.pk or 0, self.run_id)
        query = parse_qs(scope["query_string"].decode("ascii", "replace"))
        after = number_of(query.get("after", ["0"])[0])
        self.wants_html = query.get("html") == ["1"]
        self.language = _offered(query.get("language", [""])[0])
        if after is None or (found := await self._visible()) is None:
            await self.close()
            return
        holder = str(self.user.pk or address_in(scope))
        if not open_sockets.take(holder):
            await self.close()
            return
        self.holder = holder
        self.look, self.cast = found
        self.frames = (scope.get("extensions") or {}).get(FRAMES)
        self.is_catching_up = False
        self.seen = after
        await self.accept()
        await viewers().join(self)
        await self._send_what_there_is()

    async def disconnect(self, code: int) -> None:
        await self._go()

    async def _go(self) -> None:
        if self.holder:
            open_sockets.give_back(self.holder)
            self.holder = ""
            await viewers().leave(self)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """`{"type": "sync", "after": SEQ}`: a client that noticed a gap, or a long silence, asks again."""
        if not self.rate.has_room():
            await self._leave(TOO_FAST)
            return
        try:
            message = json.loads(text_data or "")
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict) or message.get("type") != "sync":
            return
        after = message.get("after")
        if isinstance(after, int) and 0 <= after < self.seen:
            self.seen = after
        await self._send_what_there_is()

    async def catch_up(self) -> None:
        """Send what the table has beyond what was sent, at the pace at which it is taken."""
        if self.is_catching_up:
            return
        self.is_catching_up = True
        try:
            while envelopes := await database_sync_to_async(events_after)(self.run_id, self.seen):
                before = self.seen
                if not await self._send_in_turn(envelopes) or self.seen == before:
                    return  # closed, or the next number is missing: asking again would not bring it
        finally:
            self.is_catching_up = False

    async def sign_out(self) -> None:
        """Nothing more is sent, however long the client takes to go."""
        await self._leave(SIGNED_OUT)

    async def _leave(self, code: int) -> None:
        await self.close(code=code)
        await viewers().leave(self)

    async def take_piece(self, piece: EncodedText) -> None:
        """Text as it comes. A client that misses some of it asks again, or finds the whole in the finished message."""
        await self._write(piece)

    async def take_event(self, envelope: Envelope, encoded: dict[str, EncodedText] | None = None) -> bool:
        """Send the event if it is the next one. False when there are others before it: those are in the table.

        encoded: how it was encoded already, in each language, since many ask for the same.
        """
        if envelope["seq"] == self.seen + 1 and not (self.frames and self.frames.is_behind):
            self.seen += 1
            await self._write(self._encoded(envelope, {} if encoded is None else encoded))
        return bool(envelope["seq"] <= self.seen + 1)

    async def _write(self, encoded: EncodedText) -> None:
        if self.frames is None:
            await self.send(encoded.text)
        else:
            self.frames.write(encoded.framed(self.frames.framed))

    def _encoded(self, envelope: Envelope, encoded: dict[str, EncodedText]) -> EncodedText:
        key = self.language if self.wants_html else ""
        if key not in encoded:
            html = render_envelope(envelope, self.language, self.look, self.cast) if self.wants_html else ""
            sent = {**envelope, "html": html} if self.wants_html else envelope
            encoded[key] = EncodedText(json.dumps(sent, ensure_ascii=False))
        return encoded[key]

    async def _send_in_turn(self, envelopes: list[Envelope]) -> bool:
        """False when the socket is closed."""
        for envelope in envelopes:
            if self.frames and not await self.frames.has_room():
                return False
            await self.take_event(envelope)
        return True

    async def _send_what_there_is(self) -> None:
        """The events not sent yet and the text of the calls under way."""
        envelopes, texts = await viewers().backfill.rows(self.run_id, self.seen)
        if not await self._send_in_turn(envelopes):
            return
        if len(envelopes) == ROWS:
            await self.catch_up()
        for data in texts:
            await self.send(delta(self.run_id, data))

    @database_sync_to_async
    def _visible(self) -> tuple[str, dict[str, str]] | None:
        """Whose fragments show the run, and the names of its seats. None when this person may not see it."""
        run = Run.objects.visible_to(self.user).select_related("experiment").filter(pk=self.run_id).first()
        return (look_of(run.experiment), run.experiment.labels) if run else None


def _offered(language: str) -> str:
    try:
        return translation.get_supported_language_variant(language[:16])
    except LookupError:
        return str(settings.LANGUAGE_CODE)
