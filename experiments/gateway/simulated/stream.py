"""What goes over a connection: ASGI messages, server-sent events at a pace, a body; and the ledger of what did."""

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import cached_property
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

from experiments.gateway.simulated.models import BATCH_SHARE, DEFAULT_TPS, INPUT_PRICE, OUTPUT_PRICE
from experiments.gateway.simulated.request import Request
from experiments.gateway.simulated.text import split_tokens

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

BATCH, WRITES_PER_SECOND = 64, 3000
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ALTERNATIVES: Final = " the| a| we| I| to| our| and| that| this| but| you| it| not| with| for| more| could|.|,|;|:"


@dataclass(slots=True)
class Entry:
    """One chat completion request. Times are unix seconds. outcome: open, then finished, client_closed,
    failed_<status>, the failure that the model's name asked for, or unfinished.
    """

    n: int
    request_id: str
    body_sha256: str
    received: float
    model: str = ""
    first_byte: float | None = None
    ended: float | None = None
    outcome: str = "open"
    tokens_sent: int = 0


class Ledger:
    """Kept in memory, and appended to a JSONL file as each request ends."""

    def __init__(self, path: Path | None = None) -> None:
        self._path, self._entries = path, list[Entry]()
        self._failed = Counter[str]()  # how often each body has

    def open(self, request_id: str, body_sha256: str) -> Entry:
        self._entries.append(Entry(len(self._entries) + 1, request_id, body_sha256, time.time()))
        return self._entries[-1]

    def close(self, entry: Entry, outcome: str) -> None:
        """Only the first call counts."""
        if entry.ended is None:
            entry.ended, entry.outcome = time.time(), outcome
            if self._path is not None:
                with self._path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(entry)) + "\n")

    def may_fail(self, body_sha256: str, times: int | None) -> bool:
        """Whether this body still has a failure left, which is then used up. times: None means always."""
        self._failed[body_sha256] += 1
        return times is None or self._failed[body_sha256] <= times

    def rows(self) -> list[dict[str, object]]:
        return [asdict(entry) for entry in self._entries]


async def read_body(receive: Receive) -> bytes:
    """Of a client that disconnects in the middle, what it had sent."""
    body, more = b"", True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    return body


async def start(send: Send, status: int, content_type: str, **headers: str) -> None:
    """headers: by their names with `_` for `-`."""
    given = {"content-type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
    encoded = [(name.encode(), value.encode()) for name, value in given.items()]
    await send({"type": "http.response.start", "status": status, "headers": encoded})


async def write(send: Send, body: bytes, *, more: bool = False) -> None:
    await send({"type": "http.response.body", "body": body, "more_body": more})


async def answer_json(send: Send, value: object, status: int = 200, **headers: str) -> None:
    await start(send, status, "application/json", **headers)
    await write(send, json.dumps(value).encode())


async def answer_bytes(send: Send, content: bytes, status: int = 200) -> None:
    await start(send, status, "application/octet-stream")
    await write(send, content)


@dataclass(frozen=True)
class Reply:
    text: str
    reasoning: str = ""
    finish_reason: str = "stop"

    @cached_property
    def tokens(self) -> tuple[list[str], list[str]]:
        return split_tokens(self.reasoning), split_tokens(self.text)

    @property
    def token_count(self) -> int:
        return sum(map(len, self.tokens))

    def limited(self, limit: int | None) -> "Reply":
        """Reasoning counts, as it does at providers: a small limit can leave no text at all."""
        if limit is None or self.token_count <= limit:
            return self
        reasoning, text = self.tokens
        return Reply("".join(text[: max(0, limit - len(reasoning))]), "".join(reasoning[:limit]), "length")


def frame(request: Request, **choice: Any) -> bytes:
    usage = {"usage": choice.pop("usage")} if "usage" in choice else {}
    choices = [{"index": 0, "logprobs": None, "finish_reason": None, **choice}] if choice else []
    return b"data: " + _dumps({**_identity(request, "chat.completion.chunk"), "choices": choices, **usage}) + b"\n\n"


def token_frames(request: Request, reply: Reply) -> Iterator[bytes]:
    """One frame per token: the reasoning's, then the text's. What is the same in all of them is encoded once."""
    rng = Random(request.seed)
    for name, tokens in zip(("reasoning", "content"), reply.tokens, strict=True):
        before, middle, after = frame(request, delta={name: "\0"}, logprobs="\0").split(b'"\\u0000"')
        for token in tokens:
            found = _logprobs(rng, [token], request.top_logprobs if name == "content" else None)
            yield before + _dumps(found) + middle + _dumps(token) + after


def final_frames(request: Request, reply: Reply) -> bytes:
    usage = frame(request, usage=count_usage(request, reply)) if request.include_usage else b""
    return frame(request, delta={}, finish_reason=reply.finish_reason) + usage + b"data: [DONE]\n\n"


def whole_body(request: Request, reply: Reply, *, is_batched: bool = False) -> dict[str, object]:
    message = {"role": "assistant", "content": reply.text, "reasoning": reply.reasoning or None}
    logprobs = _logprobs(Random(request.seed), reply.tokens[1], request.top_logprobs)
    choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": reply.finish_reason}
    usage = count_usage(request, reply, BATCH_SHARE if is_batched else 1)
    return {**_identity(request, "chat.completion"), "choices": [choice], "usage": usage}


def count_usage(request: Request, reply: Reply, share: Decimal | int = 1) -> dict[str, object]:
    """share: of the usual price."""
    read, written = request.prompt.tokens, reply.token_count
    cost = {"cost": float((read * INPUT_PRICE + written * OUTPUT_PRICE) * share)} if request.behaviour.cost else {}
    details = {"completion_tokens_details": {"reasoning_tokens": len(reply.tokens[0])}}
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written, **details, **cost}


class Pacer:
    """Paces all streams of a server. A write costs far more than a token: many streams write less often."""

    def __init__(self, default_tps: float = DEFAULT_TPS) -> None:
        self.default_tps, self._active = default_tps, 0

    async def send(self, send: Send, frames: Iterator[bytes], entry: Entry, tps: float) -> None:
        """Sends the frames at `tps` a second, 0 meaning without delay. The first is due at once."""
        began, due = asyncio.get_running_loop().time(), 1 if tps else BATCH
        self._active += 1
        try:
            while batch := list(islice(frames, due)):
                entry.first_byte = entry.first_byte or time.time()
                await write(send, b"".join(batch), more=True)
                entry.tokens_sent += len(batch)
                due = await self._due(began, entry.tokens_sent, tps) if tps else await asyncio.sleep(0, BATCH)
        finally:
            self._active -= 1

    async def _due(self, began: float, sent: int, tps: float) -> int:
        """Waits until the next frame is due. Returns how many are by then."""
        now = asyncio.get_running_loop().time
        await asyncio.sleep(max(began + sent / tps - now(), self._active / WRITES_PER_SECOND))
        return max(1, int((now() - began) * tps) + 1 - sent)


def _identity(request: Request, kind: str) -> dict[str, Any]:
    served = {"model": request.model, "provider": "Simulated", "system_fingerprint": "fp_simulated"}
    return {"id": f"gen-sim-{request.seed:016x}", "object": kind, "created": int(time.time()), **served}


def _dumps(value: object) -> bytes:
    return _ENCODE(value).encode("utf-8", "surrogatepass")


def _logprobs(rng: Random, tokens: list[str], count: int | None) -> dict[str, Any] | None:
    """Plausible probabilities in OpenAI's shape: each token's, and those of `count` alternatives that include it."""
    entries = []
    for token in tokens if count is not None else ():
        others = rng.sample([one for one in _ALTERNATIVES.split("|") if one != token], max(0, (count or 1) - 1))
        share = rng.uniform(0.5, 0.97)
        shares = {token: share, **{one: (1 - share) * 0.5**place for place, one in enumerate(others, 1)}}
        found = ((one, math.log(part), list(one.encode())) for one, part in shares.items())
        listed = [dict(zip(("token", "logprob", "bytes"), one, strict=True)) for one in found]
        entries.append({**listed[0], "top_logprobs": listed[:count]})
    return None if count is None else {"content": entries}
