"""A `ChatRequest` becomes the JSON body and the headers that one provider model accepts."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from experiments.gateway.types import Capabilities, ChatMessage, ChatRequest, ImagePart, Routing

SCHEMA_REQUEST = "Answer with one JSON value that follows this JSON schema, and with nothing else:\n"


@dataclass(frozen=True, slots=True)
class Prepared:
    """body: ready for JSON. warnings: what the model does not accept and was therefore left out or put elsewhere."""

    body: dict[str, object]
    headers: Mapping[str, str]
    warnings: tuple[str, ...] = ()


def prepare(request: ChatRequest, *, stream: bool) -> Prepared:
    """Body and headers for POST {base}/chat/completions; the key is the client's business."""
    warnings: list[str] = []
    body: dict[str, Any] = {"model": request.model, "messages": _messages(request, warnings), "stream": stream}
    body |= _parameters(request, warnings) | _response_format(request, warnings)
    if stream and request.capabilities.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if request.routing is not None:
        body["provider"] = _provider(request.routing)
    headers = {
        "Content-Type": "application/json",
        "Accept": "text/event-stream" if stream else "application/json",
        "Accept-Encoding": "identity",  # compression would hold back pieces, and a small answer could unpack to a bomb
    }
    if request.request_id:
        headers["X-Client-Request-Id"] = request.request_id
    return Prepared(body, headers, tuple(warnings))


def _messages(request: ChatRequest, warnings: list[str]) -> list[dict[str, Any]]:
    messages = request.messages
    if request.schema is not None and request.capabilities.schema != "json_schema":
        messages = _with_system(messages, SCHEMA_REQUEST + json.dumps(request.schema, ensure_ascii=False))
    if not request.capabilities.system_role and any(message.role == "system" for message in messages):
        messages = _without_system(messages)
        warnings.append("no system role: the system text was put before the first user message")
    if not request.capabilities.images and any(message.pictures for message in messages):
        messages = tuple(ChatMessage(message.role, message.text) for message in messages)
        warnings.append("no images: the prompt's images were left out")
    return [{"role": message.role, "content": _content(message)} for message in messages]


def _content(message: ChatMessage) -> str | list[dict[str, Any]]:
    """A text by itself stays a text; otherwise the parts in order, with neighbouring texts made into one."""
    if message.is_text:
        return message.text
    content: list[dict[str, Any]] = []
    for part in (*(message.parts or (message.content,)), *message.images):
        if isinstance(part, ImagePart):
            content.append({"type": "image_url", "image_url": {"url": part.url}})
        elif content and content[-1]["type"] == "text":
            content[-1]["text"] += part
        elif part:
            content.append({"type": "text", "text": part})
    return content


def _with_system(messages: tuple[ChatMessage, ...], text: str) -> tuple[ChatMessage, ...]:
    """Adds to the system message at the front, because many chat templates accept only one."""
    if messages and messages[0].role == "system":
        return (ChatMessage("system", f"{messages[0].text}\n\n{text}"), *messages[1:])
    return (ChatMessage("system", text), *messages)


def _without_system(messages: tuple[ChatMessage, ...]) -> tuple[ChatMessage, ...]:
    text = "\n\n".join(message.text for message in messages if message.role == "system")
    others = [message for message in messages if message.role != "system"]
    for index, message in enumerate(others):
        if message.role == "user":
            lead = f"{text}\n\n"
            if message.parts:
                others[index] = replace(message, parts=(lead, *message.parts))
            else:
                others[index] = replace(message, content=lead + message.content)
            return tuple(others)
    return (ChatMessage("user", text), *others)


def _parameters(request: ChatRequest, warnings: list[str]) -> dict[str, Any]:
    params, accepts = request.params, request.capabilities
    wanted: list[tuple[str, object, bool]] = [
        ("temperature", params.temperature, accepts.temperature),
        ("top_p", params.top_p, accepts.temperature),  # who refuses the one refuses the other
        ("seed", params.seed, accepts.seed),
        ("stop", list(params.stop) or None, True),
        ("reasoning_effort", params.reasoning_effort, accepts.reasoning_effort),
        ("logprobs", None if params.top_logprobs is None else True, accepts.logprobs),
        (accepts.max_tokens_field, _max_tokens(params.max_tokens, accepts, warnings), True),
    ]
    refused = [name for name, value, accepted in wanted if value is not None and not accepted]
    warnings.extend(f"{name} was left out: this model does not accept it" for name in refused)
    sent = {name: value for name, value, accepted in wanted if value is not None and accepted}
    if "logprobs" in sent and params.top_logprobs:
        sent["top_logprobs"] = params.top_logprobs
    return sent


def _max_tokens(asked: int | None, accepts: Capabilities, warnings: list[str]) -> int | None:
    limit = accepts.max_output_tokens
    if asked is None or limit is None or asked <= limit:
        return asked
    warnings.append(f"max_tokens was lowered from {asked} to {limit}, the most that this model produces")
    return limit


def _response_format(request: ChatRequest, warnings: list[str]) -> dict[str, Any]:
    """The strictest that the model honours; below a schema of its own, the prompt carries the schema's text."""
    if request.schema is None:
        return {}
    if request.capabilities.schema == "json_schema":
        schema = {"name": request.schema_name, "strict": True, "schema": request.schema}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    warnings.append("no schema support: the JSON schema is asked for in the prompt")
    if request.capabilities.schema == "json_object":
        return {"response_format": {"type": "json_object"}}
    return {}


def _provider(routing: Routing) -> dict[str, Any]:
    block: dict[str, Any] = {
        "allow_fallbacks": routing.allow_fallbacks,
        "require_parameters": routing.require_parameters,
        "order": list(routing.order),
        "only": list(routing.only),
        "quantizations": list(routing.quantizations),
        "data_collection": routing.data_collection,
    }
    return {name: value for name, value in block.items() if value not in ([], None)}
