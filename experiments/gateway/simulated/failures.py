"""The ways in which providers fail, on purpose."""

import json
from typing import Any, Final

from experiments.gateway.simulated.asgi import Send, answer_json, start, write
from experiments.gateway.simulated.frames import DONE

MESSAGES: Final = {
    400: ("invalid_request_error", "The request is malformed."),
    401: ("authentication_error", "No auth credentials found, or the key is wrong."),
    402: ("insufficient_credits", "Insufficient credits. Add more to continue."),
    404: ("not_found_error", "No such model or path."),
    405: ("invalid_request_error", "This path does not take that method."),
    413: ("request_too_large", "The request body is larger than 8 MiB."),
    429: ("rate_limit_exceeded", "Rate limit exceeded: too many requests. Try again later."),
    500: ("server_error", "Internal server error (simulated)."),
    502: ("server_error", "The upstream model returned an invalid answer (simulated)."),
    503: ("server_error", "No instance of the model is available at the moment (simulated)."),
}
GARBAGE: Final = (
    b'data: {"id":"gen-sim-garbage","choices":[{"delta":{"cont\n\n\xff\xfe\x00data data: }}}{{{\n\ndata: 42\n\n'
)
HTML: Final = b"<!DOCTYPE html><html><head><title>Just a moment</title></head><body><h1>Bad gateway</h1></body></html>"


def error_body(status: int, message: str = "") -> dict[str, Any]:
    kind, default = MESSAGES[status]
    return {"error": {"message": message or default, "type": kind, "param": None, "code": status}}


async def answer_error(send: Send, status: int, message: str = "", *, retry_after: float | None = None) -> None:
    headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
    await answer_json(send, error_body(status, message), status=status, headers=headers)


async def answer_wrong_type(send: Send, fail: str, *, stream: bool) -> None:
    """`html` and `garbage`: a complete answer with status 200 that is no chat completion."""
    if fail == "html":
        await start(send, 200, "text/html; charset=utf-8")
        await write(send, HTML)
        return
    await start(send, 200, "text/event-stream" if stream else "application/json")
    await write(send, GARBAGE)


def error_event() -> bytes:
    """An error after the answer had begun: status 200 is already out, so it comes as an event."""
    return b"data: " + json.dumps(error_body(502)).encode() + b"\n\n" + DONE
