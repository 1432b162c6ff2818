"""The bytes of an answer: server-sent events, or one JSON body. The constant parts of a frame are encoded once."""

import json
import time
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from experiments.gateway.simulated.catalogue import cost_of
from experiments.gateway.simulated.logprobs import describe_token
from experiments.gateway.simulated.reply import Reply
from experiments.gateway.simulated.request import Request

DONE: Final = b"data: [DONE]\n\n"
FINGERPRINT: Final = "fp_simulated"
_ENCODE: Final = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def generation_id(request: Request) -> str:
    return f"gen-sim-{request.seed:016x}"


def token_frames(request: Request, reply: Reply) -> Iterator[bytes]:
    """One frame per token: the reasoning's, then the text's."""
    done = len(reply.reasoning_tokens)
    yield from _frames(request, reply, reply.reasoning_field, reply.reasoning_tokens, 0)
    yield from _frames(request, reply, "content", reply.text_tokens, done)


def _frames(request: Request, reply: Reply, field: str, tokens: list[str], done: int) -> Iterator[bytes]:
    head = f'{_head(request)},"choices":[{{"index":0,"delta":{{"{field}":'.encode()
    rng = Random(request.seed) if field == "content" and request.top_logprobs is not None else None
    if rng is None and request.behaviour.usage != "each":
        tail = b'},"logprobs":null,"finish_reason":null}]}\n\n'
        yield from (head + _dumps(token) + tail for token in tokens)
        return
    for number, token in enumerate(tokens, done + 1):
        logprobs, usage = _logprobs(rng, token, request), _running_usage(request, reply, number)
        yield head + _dumps(token) + b"}" + logprobs + b',"finish_reason":null}]' + usage + b"}\n\n"


def first_frame(request: Request) -> bytes:
    return f'{_head(request)},"choices":[{{"index":0,"delta":{{"role":"assistant","content":""}},'.encode() + (
        b'"logprobs":null,"finish_reason":null}]}\n\n'
    )


def final_frames(request: Request, reply: Reply) -> bytes:
    """The finish reason, the usage where it was asked for, and the end mark."""
    finish = f'{_head(request)},"choices":[{{"index":0,"delta":{{}},"logprobs":null,"finish_reason":'.encode()
    frames = finish + _dumps(reply.finish_reason) + b"}]}\n\n"
    if request.include_usage and request.behaviour.usage != "none":
        usage = _dumps(count_usage(request, reply, reply.token_count))
        frames += f'{_head(request)},"choices":[],"usage":'.encode() + usage + b"}\n\n"
    return frames + DONE


def whole_body(request: Request, reply: Reply) -> dict[str, Any]:
    """The answer to a request without `stream`."""
    message = {"role": "assistant", "content": reply.text, "refusal": None}
    if reply.reasoning:
        message[reply.reasoning_field] = reply.reasoning
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish_reason}
    if request.top_logprobs is not None:
        rng, count = Random(request.seed), request.top_logprobs
        choice["logprobs"] = {"content": [describe_token(rng, token, count) for token in reply.text_tokens]}
    body = {**_identity(request), "object": "chat.completion", "choices": [choice]}
    if request.behaviour.usage != "none":
        body["usage"] = count_usage(request, reply, reply.token_count)
    return body


def count_usage(request: Request, reply: Reply, output_tokens: int) -> dict[str, Any]:
    input_tokens = request.prompt.token_count
    usage: dict[str, Any] = {
        "prompt_tokens": input_tokens,
        "completion_tokens": output_tokens,
        "total_tokens": input_tokens + output_tokens,
        "prompt_tokens_details": {"cached_tokens": request.prompt.cached_token_count},
        "completion_tokens_details": {"reasoning_tokens": min(output_tokens, len(reply.reasoning_tokens))},
    }
    if request.behaviour.cost:
        usage["cost"] = float(cost_of(input_tokens, output_tokens))
    return usage


def _identity(request: Request) -> dict[str, Any]:
    served = {"model": request.model, "provider": "Simulated", "system_fingerprint": FINGERPRINT}
    return {"id": generation_id(request), "created": int(time.time()), **served}


def _head(request: Request) -> str:
    identity = {**_identity(request), "object": "chat.completion.chunk"}
    return "data: " + json.dumps(identity, separators=(",", ":"))[:-1]


def _dumps(value: object) -> bytes:
    return _ENCODE(value).encode("utf-8", "surrogatepass")


def _logprobs(rng: Random | None, token: str, request: Request) -> bytes:
    if rng is None or request.top_logprobs is None:
        return b',"logprobs":null'
    return b',"logprobs":{"content":[' + _dumps(describe_token(rng, token, request.top_logprobs)) + b"]}"


def _running_usage(request: Request, reply: Reply, done: int) -> bytes:
    if request.behaviour.usage != "each":
        return b""
    return b',"usage":' + _dumps(count_usage(request, reply, done))
