"""Delivers one answer in the manner its model name asks for."""

import asyncio
import time
from dataclasses import replace
from typing import Final

from experiments.gateway.simulated.answers import answer_to
from experiments.gateway.simulated.asgi import answer_json, start, write
from experiments.gateway.simulated.failures import answer_error, answer_wrong_type, error_body, error_event
from experiments.gateway.simulated.frames import final_frames, first_frame, generation_id, token_frames, whole_body
from experiments.gateway.simulated.outlet import Outlet
from experiments.gateway.simulated.reply import Reply, limit_tokens
from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.stream import Pacer

BREAKS: Final = ("cut", "reset", "stall", "error_event")
FOREVER: Final = 10.0**9


async def deliver(outlet: Outlet, request: Request, pacer: Pacer) -> None:
    fail = outlet.fail
    if fail is not None and fail.isdigit():
        await answer_error(outlet, int(fail), retry_after=request.behaviour.retry_after)
    elif fail == "silent":
        await asyncio.sleep(FOREVER)
    elif fail in ("html", "garbage"):
        await asyncio.sleep(request.behaviour.first)
        await answer_wrong_type(outlet, fail, stream=request.stream)
    elif request.stream:
        await _stream(outlet, request, _reply(request, fail), pacer)
    else:
        await _whole(outlet, request, _reply(request, fail), pacer)


def _reply(request: Request, fail: str | None) -> Reply:
    if fail == "empty":
        return Reply("")
    reply = answer_to(request)
    return limit_tokens(reply, request.behaviour.after) if fail == "length" else reply


async def _stream(outlet: Outlet, request: Request, reply: Reply, pacer: Pacer) -> None:
    headers = {"cache-control": "no-cache", "x-generation-id": generation_id(request)}
    await start(outlet, 200, "text/event-stream; charset=utf-8", headers)
    await write(outlet, b": SIMULATED PROCESSING\n\n", more=True)
    await asyncio.sleep(request.behaviour.first)
    await write(outlet, first_frame(request), more=True)
    limit = request.behaviour.after if outlet.fail in BREAKS else None
    tps = request.behaviour.tokens_per_second(pacer.default_tps)
    await pacer.send(outlet, token_frames(request, reply), outlet.entry, tps=tps, limit=limit)
    if outlet.fail in BREAKS:
        await _break_off(outlet)
    else:
        await write(outlet, b"" if outlet.fail == "no_finish" else final_frames(request, reply))


async def _whole(outlet: Outlet, request: Request, reply: Reply, pacer: Pacer) -> None:
    tps = request.behaviour.tokens_per_second(pacer.default_tps)
    await asyncio.sleep(request.behaviour.first + (reply.token_count / tps if tps else 0))
    outlet.entry.first_byte = time.time()
    if outlet.fail == "error_event":
        await answer_json(outlet, error_body(502))
    elif outlet.fail in BREAKS:
        await start(outlet, 200, "application/json", {"content-length": "4096"})
        await write(outlet, b'{"id":"gen-sim","object":"chat.completion","choices":[{"index":0,"mess', more=True)
        await _break_off(outlet)
    else:
        outlet.entry.tokens_sent = reply.token_count
        finish = replace(reply, finish_reason=None) if outlet.fail == "no_finish" else reply
        await answer_json(outlet, whole_body(request, finish), headers={"x-generation-id": generation_id(request)})


async def _break_off(outlet: Outlet) -> None:
    if outlet.fail == "error_event":
        await write(outlet, error_event())
    elif outlet.fail == "stall":
        await asyncio.sleep(FOREVER)
    else:
        outlet.drop(reset=outlet.fail == "reset")
