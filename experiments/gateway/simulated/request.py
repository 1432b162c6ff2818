"""A request's body, checked as far as a provider would check it."""

import json
from dataclasses import dataclass
from typing import Any

from experiments.gateway.simulated.names import SEEING, Behaviour, parse_name
from experiments.gateway.simulated.prompt import BadRequest, Prompt, read_prompt, seed_of


@dataclass(frozen=True, slots=True)
class Request:
    """max_tokens: None without a limit. top_logprobs: None when no logprobs were asked for."""

    model: str
    behaviour: Behaviour
    prompt: Prompt
    seed: int
    stream: bool
    include_usage: bool
    max_tokens: int | None
    stops: list[str]
    top_logprobs: int | None
    response_format: dict[str, Any]


def parse_body(raw: bytes) -> dict[str, Any]:
    """Raises BadRequest."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"the body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    if not isinstance(body.get("model"), str):
        raise BadRequest("'model' must be a string")
    return body


def read_request(body: dict[str, Any]) -> Request:
    """Raises BadRequest, UnknownName."""
    behaviour = parse_name(body["model"])
    prompt = read_prompt(body)
    if prompt.pictures and behaviour.personality not in SEEING:
        raise BadRequest(f"sim/{behaviour.personality} does not accept images")
    return Request(
        model=body["model"],
        behaviour=behaviour,
        prompt=prompt,
        seed=seed_of(behaviour.identity, prompt, body.get("seed")),
        stream=body.get("stream") is True,
        include_usage=_object(body, "stream_options").get("include_usage") is True,
        max_tokens=_max_tokens(body),
        stops=_stops(body.get("stop")),
        top_logprobs=_top_logprobs(body),
        response_format=_object(body, "response_format"),
    )


def _object(body: dict[str, Any], name: str) -> dict[str, Any]:
    value = body.get(name)
    if value is not None and not isinstance(value, dict):
        raise BadRequest(f"'{name}' must be an object")
    return value or {}


def _max_tokens(body: dict[str, Any]) -> int | None:
    value = body.get("max_completion_tokens", body.get("max_tokens"))
    if value is not None and (not isinstance(value, int) or value < 1):
        raise BadRequest("'max_tokens' must be a whole number of at least 1")
    return value


def _stops(value: object) -> list[str]:
    if value is None:
        return []
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or not all(isinstance(stop, str) for stop in stops):
        raise BadRequest("'stop' must be a string or an array of strings")
    return stops


def _top_logprobs(body: dict[str, Any]) -> int | None:
    count = body.get("top_logprobs") or 0
    if not isinstance(count, int) or not 0 <= count <= 20:
        raise BadRequest("'top_logprobs' must be a whole number from 0 to 20")
    return count if body.get("logprobs") is True else None
