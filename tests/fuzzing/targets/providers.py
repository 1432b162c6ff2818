"""What a provider says beside the text: errors, waiting times, token counts, probabilities."""

import json
import math
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from experiments.gateway.batches import completion_of
from experiments.gateway.errors import LONGEST, SHORTEST, GatewayError, Origin, classify, classify_event, retry_after
from experiments.gateway.streaming import LEAST_LOGPROB, normal_finish, parse_chunk, parse_logprobs, read_error
from experiments.gateway.types import ChatRequest, Completion, Price, Usage
from experiments.gateway.usage import cost, parse_usage
from tests.fuzzing.target import Target, text_of

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
KEY = "sk-live-0123456789abcdef"
ORIGIN = Origin("http://provider.test/v1", "lab/one", KEY)
STATUSES = (302, 400, 401, 402, 403, 404, 408, 413, 422, 429, 500, 503, 529)
WAITS = ("retry-after", "retry-after-ms", "x-ratelimit-reset", "x-ratelimit-reset-tokens")
MOST_TOKENS = 2**31 - 1
PRICE = Price(Decimal("0.000001"), Decimal("0.000002"))


def value_in(data: bytes) -> Any:
    """The JSON value that the bytes are, as the gateway would decode it; None where they are none."""
    try:
        return json.loads(text_of(data))
    except (ValueError, RecursionError):
        return None


def errors_of(data: bytes) -> list[GatewayError]:
    found = [classify(status, {}, data, now=NOW, origin=ORIGIN) for status in STATUSES]
    if error := read_error(value_in(data)):
        found.append(classify_event(error, origin=ORIGIN))
    return found


def check_errors(data: bytes) -> None:
    for error in errors_of(data):
        assert isinstance(error, GatewayError)
        assert len(str(error)) < 1000
        assert "\n" not in str(error)
        assert KEY not in str(error)
        assert error.retry_after is None or SHORTEST <= error.retry_after <= LONGEST
        assert error.status is not None
        assert 100 <= error.status <= 599


def waits_of(data: bytes) -> list[float | None]:
    return [retry_after({name: text_of(data)}, NOW) for name in WAITS]


def check_waits(data: bytes) -> None:
    assert all(wait is None or SHORTEST <= wait <= LONGEST for wait in waits_of(data))


def usage_of(data: bytes) -> Usage | None:
    said = value_in(data)
    return parse_usage(said) if isinstance(said, Mapping) else None


def check_usage(data: bytes) -> None:
    usage = usage_of(data)
    if usage is None:
        return
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_input_tokens, usage.cache_write_tokens)
    assert all(type(count) is int and 0 <= count <= MOST_TOKENS for count in counts)
    assert any(counts), "counts of nothing are no counts"
    assert 0 <= usage.reasoning_tokens <= usage.output_tokens
    assert usage.provider_cost is None or (usage.provider_cost.is_finite() and 0 <= usage.provider_cost < 2_000_000)
    money, source = cost(usage, PRICE)
    assert money is not None
    assert money >= 0
    assert (source == "provider") == (usage.provider_cost is not None)


def logprobs_of(data: bytes) -> Any:
    return parse_logprobs(value_in(data))


def check_logprobs(data: bytes) -> None:
    for token in logprobs_of(data):
        for number in (token.logprob, *(other.logprob for other in token.alternatives)):
            assert math.isfinite(number)
            assert LEAST_LOGPROB <= number <= 0
        (token.token + "".join(other.token for other in token.alternatives)).encode()


def delta_of(data: bytes) -> Any:
    said = value_in(data)
    return parse_chunk(said) if isinstance(said, dict) else None


def check_delta(data: bytes) -> None:
    """Every text in it is a text that was sent, and a finish reason that nobody knows is none."""
    if delta := delta_of(data):
        sent = json.dumps(value_in(data), ensure_ascii=False)
        for said in (delta.finish, delta.model, delta.provider, delta.refusal):
            assert json.dumps(said, ensure_ascii=False)[1:-1] in sent
        assert normal_finish(delta.finish) in (None, "stop", "length", "content_filter", "tool_calls")


def batch_line_of(data: bytes) -> Completion | GatewayError:
    try:
        return completion_of(text_of(data), ChatRequest("lab/one", ()))
    except GatewayError as error:
        return error


def check_batch_line(data: bytes) -> None:
    """An answer has words, or says that there are none; anything else is an error with its reason."""
    found = batch_line_of(data)
    if isinstance(found, Completion):
        assert found.text.strip() or found.refusal or found.finish_reason == "content_filter"
    else:
        assert 5 < len(str(found)) < 1000


def target(name: str, read: Callable[[bytes], Any], check: Callable[[bytes], None], names: str, *seeds: Any) -> Target:
    return Target(name, read, check, names=tuple(names.split()), seeds=tuple(json.dumps(one).encode() for one in seeds))


ERRORS = "error message code status type detail msg object metadata raw headers choices Retry-After x-ratelimit-reset"
USAGE = (
    "prompt_tokens completion_tokens total_tokens input_tokens output_tokens reasoning_tokens cached_tokens cost "
    "prompt_tokens_details completion_tokens_details cache_read_input_tokens cache_creation_input_tokens is_byok "
    "cost_details upstream_inference_cost total_cost cache_write_tokens prompt_cache_hit_tokens"
)
LOGPROBS = "content tokens token_logprobs top_logprobs token logprob"
CHUNK = (
    "choices index delta message content text thinking reasoning reasoning_content reasoning_details summary refusal "
    "finish_reason native_finish_reason usage logprobs model provider id system_fingerprint x_groq"
)
OF_LINES = f"response status_code body error code {CHUNK}"
DATES = ("Sun, 01 Mar 2026 12:00:30 GMT", "1", "0", "-", "+", "e9", ".", "inf", "nan", "6m0s", "250ms", "1h", "9" * 20)

SAID_ERRORS = (
    {"error": {"message": "No such model", "code": 404, "type": "invalid_request_error"}},
    {"error": {"message": "Slow", "code": "429", "metadata": {"headers": {"Retry-After": "3"}, "raw": "{}"}}},
    {"object": "error", "message": "insufficient_quota"},
    {"detail": [{"msg": f"Bearer {KEY}"}]},
)
SAID_USAGE = (
    {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15, "cost": 0.01},
    {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 5, "is_byok": True, "cost": "1e-7"},
)
SAID_LOGPROBS = (
    {"content": [{"token": "a", "logprob": -0.5, "top_logprobs": [{"token": "b", "logprob": -1}]}]},
    {"tokens": ["a"], "token_logprobs": ["-inf"], "top_logprobs": [{"a": 0}]},
)
ANSWERED = {"choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]}
BATCH_LINES = (
    {"response": {"status_code": 200, "body": ANSWERED}},
    {"response": {"status_code": 429, "body": {"error": {"message": "busy"}}}},
    {"response": None, "error": {"code": "batch_expired", "message": "–"}},
)
CHUNKS = (
    {"choices": [{"index": 0, "delta": {"content": "a", "reasoning_details": [{"summary": "b"}]}}]},
    {"choices": [{"message": {"content": [{"type": "thinking", "thinking": [{"text": "b"}]}]}}], "model": "m"},
)


TARGETS = (
    target("provider-errors", errors_of, check_errors, ERRORS, *SAID_ERRORS),
    Target("retry-after", waits_of, check_waits, (*DATES, " ", ":", "a", "²")),
    target("usage", usage_of, check_usage, USAGE, *SAID_USAGE),
    target("logprobs", logprobs_of, check_logprobs, LOGPROBS, *SAID_LOGPROBS),
    target("batch_line", batch_line_of, check_batch_line, OF_LINES, *BATCH_LINES),
    target("chunk", delta_of, check_delta, CHUNK, *CHUNKS),
)
