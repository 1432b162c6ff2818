"""A provider that says, word for word and byte for byte, what a test has written down for it."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from experiments.models import Provider, ProviderModel

Delta = dict[str, Any]
Answer = str | list[Delta | str] | int | Callable[[dict[str, Any]], "Answer"]


class Scripted:
    """Each model has its answers, given in order; the last one is given again and again.

    An answer is a text, the deltas of a stream (a text among them is a delta of content), a status of failure, or a
    function of the request's body that gives one of these. {"finish": reason} among the deltas says how the stream
    ends, if not with "stop". received: the headers and the body of each request. pause: seconds after each delta.
    """

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.received: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.pause = 0.0
        self.error = b'{"error": {"message": "scripted failure"}}'
        self.provider: Provider | None = None
        self.server = Server(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, name="scripted-provider", daemon=True).start()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def model(self, slug: str, *answers: Answer, **fields: Any) -> str:
        """The slug of a model that gives these answers."""
        self.answers[slug] = list(answers)
        ProviderModel.objects.update_or_create(
            slug=slug, defaults={"provider": self.provider, "upstream": slug, "label": slug, **fields}
        )
        return slug

    def answer(self, body: dict[str, Any]) -> Any:
        answers = self.answers[body["model"]]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        return answer(body) if callable(answer) else answer

    def asked(self, slug: str) -> list[dict[str, Any]]:
        """The bodies of the requests to a model."""
        return [body for _headers, body in self.received if body["model"] == slug]


class Server(ThreadingHTTPServer):
    request_queue_size = 128  # a contest asks for ninety answers at once; of its usual five, a busy machine loses some


def _handler(scripted: Scripted) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.0"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            scripted.received.append((dict(self.headers), body))
            answer = scripted.answer(body)
            if isinstance(answer, int):
                self._send(answer, "application/json", scripted.error)
            else:
                deltas = [answer] if isinstance(answer, str) else answer
                self._send(200, "text/event-stream", *map(_frame, deltas), _end(deltas))

        def _send(self, status: int, kind: str, *body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.end_headers()
            if not scripted.pause:
                self.wfile.write(b"".join(body))
                return
            for part in body:
                self.wfile.write(part)
                time.sleep(scripted.pause)

        def log_message(self, *_: Any) -> None:
            pass

    return Handler


def _frame(delta: Delta | str) -> bytes:
    given = (
        {"content": delta}
        if isinstance(delta, str)
        else {k: v for k, v in delta.items() if k not in ("logprobs", "finish")}
    )
    choice: Delta = {"index": 0, "delta": given, "finish_reason": None}
    if isinstance(delta, dict) and "logprobs" in delta:
        choice["logprobs"] = delta["logprobs"]
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


def _end(deltas: list[Delta | str]) -> bytes:
    reason = next((delta["finish"] for delta in deltas if isinstance(delta, dict) and "finish" in delta), "stop")
    finish = {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": max(1, len(deltas))}}
    return b"".join(b"data: " + json.dumps(part).encode() + b"\n\n" for part in (finish, usage)) + b"data: [DONE]\n\n"


@pytest.fixture
def scripted(provider: Any) -> Iterator[Scripted]:
    """Entered in the catalogue beside the simulated provider."""
    scripted = Scripted()
    scripted.provider = Provider.objects.create(name="scripted", base_url=scripted.base_url, allow_private=True)
    yield scripted
    scripted.server.shutdown()
    scripted.server.server_close()
