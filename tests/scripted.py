"""A provider that says, word for word and byte for byte, what a test has written down for it."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from inspect import isawaitable
from typing import Any

import pytest

from experiments.gateway.simulated.stream import read_body, start, write
from experiments.models import Provider, ProviderModel
from tests.parts import in_process
from tests.parts.simulated import serve

Delta = dict[str, Any]
Answer = str | list[Delta | str] | int | Callable[[dict[str, Any]], "Answer"]


class Scripted:
    """Each model has its answers, given in order; the last one is given again and again.

    An answer is a text, the deltas of a stream (a text among them is a delta of content), a status of failure, or a
    function of the request's body, or a coroutine function, that gives one of these. {"finish": reason} among the
    deltas says how the stream ends, if not with "stop". received: the headers and the body of each request. pause:
    seconds after each delta.
    """

    def __init__(self) -> None:
        self.answers: dict[str, list[Answer]] = {}
        self.received: list[tuple[dict[str, str], dict[str, Any]]] = []
        self.pause = 0.0
        self.error = b'{"error": {"message": "scripted failure"}}'
        self.provider: Provider | None = None
        self.base_url = ""
        self.is_over_http = False

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

    async def _answer_beside(self, body: dict[str, Any]) -> Any:
        """In a thread of its own: an answer may wait for the test."""
        with ThreadPoolExecutor(1) as thread:
            return await asyncio.get_running_loop().run_in_executor(thread, self.answer, body)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """The ASGI app."""
        body = json.loads(await read_body(receive))
        headers = {name.decode().title(): value.decode() for name, value in scope["headers"]}
        self.received.append((headers, body))
        answer = await self._answer_beside(body) if self.is_over_http else self.answer(body)
        if isawaitable(answer):
            answer = await answer
        if isinstance(answer, int):
            await start(send, answer, "application/json")
            await write(send, self.error)
            return
        await start(send, 200, "text/event-stream")
        deltas = [answer] if isinstance(answer, str) else answer
        for delta in deltas:
            await write(send, _frame(delta), more=True)
            if self.pause:
                await asyncio.sleep(self.pause)
        await write(send, _end(deltas))


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
def scripted(request: pytest.FixtureRequest, provider: Any) -> Iterator[Scripted]:
    """Entered in the catalogue beside the simulated provider; over HTTP for system tests."""
    scripted = Scripted()
    scripted.is_over_http = request.node.get_closest_marker("system") is not None
    with serving(scripted, over_http=scripted.is_over_http) as base_url:
        scripted.base_url = base_url
        scripted.provider = Provider.objects.create(name="scripted", base_url=base_url, allow_private=True)
        yield scripted


@contextmanager
def serving(app: Any, *, over_http: bool) -> Iterator[str]:
    """Serves an ASGI app, in this process or on a free port; gives its base URL."""
    if over_http:
        with serve(app) as base_url:
            yield base_url
        return
    with in_process.served(app) as base_url:
        yield base_url
