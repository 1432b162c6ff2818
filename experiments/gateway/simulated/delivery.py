"""Delivers one answer in the manner its model name asks for, and says how it ended."""

import asyncio
import time
from dataclasses import replace
from typing import Final

from experiments.gateway.simulated.answers import answer_to
from experiments.gateway.simulated.asgi import Send, answer_json, start, write
from experiments.gateway.simulated.failures import (
    answer_error,
    answer_wrong_type,
    drop_connection,
    error_body,
    error_event,
)
from experiments.gateway.simulated.frames import (
    final_frames,
    first_frame,
    generation_id,
    token_frames,
    whole_body,
)
from experiments.gateway.simulated.ledger import Entry
from experiments.gateway.simulated.reply import Reply, limit_tokens
from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.stream import Pacer

BREAKS: Final = ("cut", "reset", "stall", "error_event")
FOREVER: Final = 10.0**9


async def deliver(send: Send, request: Request, entry: Entry, pacer: Pacer, *, fail: str | None, tps: float) -> str:
    """Returns the ledger's outcome. `fail` is the failure to act out now, `tps` the server's default pace."""
    if fail is not None and fail.isdigit():
        await answer_error(send, int(fail), retry_after=request.behaviour.retry_after)
        return f"failed_{fail}"
    if fail == "silent":
        await asyncio.sleep(FOREVER)
    if fail in ("html", "garbage"):
        await asyncio.sleep(request.behaviour.first)
        await answer_wrong_type(send, request.behaviour, stream=request.stream)
        return fail
    reply = _reply(request, fail)
    pace = request.behaviour.tokens_per_second(tps)
    if request.stream:
        return await _stream(send, request, reply, entry, pacer, fail=fail, tps=pace)
    return await _whole(send, request, reply, entry, fail=fail, tps=pace)


def _reply(request: Request, fail: str | None) -> Reply:
    if fail == "empty":
        return Reply("")
    reply = answer_to(request)
    return limit_tokens(reply, request.behaviour.after) if fail == "length" else reply


async def _stream(
    send: Send, request: Request, reply: Reply, entry: Entry, pacer: Pacer, *, fail: str | None, tps: float
) -> str:
    headers = {"cache-control": "no-cache", "x-generation-id": generation_id(request)}
    await start(send, 200, "text/event-stream; charset=utf-8", headers)
    await write(send, b": SIMULATED PROCESSING\n\n", more=True)
    await asyncio.sleep(request.behaviour.first)
    await write(send, first_frame(request), more=True)
    limit = request.behaviour.after if fail in BREAKS else None
    await pacer.send(send, token_frames(request, reply), entry, tps=tps, limit=limit)
    if fail in BREAKS:
        return await _break_off(send, fail)
    await write(send, b"" if fail == "no_finish" else final_frames(request, reply))
    return fail or "finished"


async def _whole(send: Send, request: Request, reply: Reply, entry: Entry, *, fail: str | None, tps: float) -> str:
    await asyncio.sleep(request.behaviour.first + (reply.token_count / tps if tps else 0))
    entry.first_byte = time.time()
    if fail == "error_event":
        await answer_json(send, error_body(502))
        return fail
    if fail in BREAKS:
        return await _break_body(send, fail)
    finish = replace(reply, finish_reason="") if fail == "no_finish" else reply
    await answer_json(send, whole_body(request, finish), headers={"x-generation-id": generation_id(request)})
    entry.tokens_sent = reply.token_count
    return fail or "finished"


async def _break_body(send: Send, fail: str) -> str:
    """Half of a JSON body whose length was announced."""
    await start(send, 200, "application/json", {"content-length": "4096"})
    await write(send, b'{"id":"gen-sim","object":"chat.completion","choices":[{"index":0,"mess', more=True)
    return await _break_off(send, fail)


async def _break_off(send: Send, fail: str) -> str:
    if fail == "error_event":
        await write(send, error_event())
    elif fail == "stall":
        await asyncio.sleep(FOREVER)
    else:
        drop_connection(send, reset=fail == "reset")
    return fail
