"""Providers whose answers are kept, or given again from what was kept."""

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

from experiments.gateway.simulated.stream import read_body

Answer = dict[str, Any]  # status, type and body, all of them as a response has them


class Keeping:
    """In front of the apps that answer, by the name of the model; keeps each answer by the bytes of its request."""

    def __init__(self, app_of: Callable[[str], Any]) -> None:
        self.kept: dict[str, list[Answer]] = {}
        self._app_of = app_of
        self._left, self._stop = 0, threading.Event()

    def stop_after(self, answers: int) -> threading.Event:
        """Is set as soon as so many more have been given."""
        self._left, self._stop = answers, threading.Event()
        return self._stop

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = await read_body(receive)
        answer: Answer = {"status": 0, "type": "", "body": ""}

        unread = [{"type": "http.request", "body": request, "more_body": False}]

        async def read_again() -> Any:
            return unread.pop() if unread else await receive()

        async def keep(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer["status"] = message["status"]
                answer["type"] = dict(message["headers"])[b"content-type"].decode()
            else:
                answer["body"] += message.get("body", b"").decode()
            await send(message)

        await self._app_of(json.loads(request)["model"])(scope, read_again, keep)
        self.kept.setdefault(digest(request), []).append(answer)
        self._left -= 1
        if not self._left:
            self._stop.set()


class Repeating:
    """Gives the kept answers. unknown: the requests that were never kept."""

    def __init__(self, kept: dict[str, list[Answer]]) -> None:
        self._kept = {request: list(answers) for request, answers in kept.items()}
        self.unknown: list[Any] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = await read_body(receive)
        answers = self._kept.get(digest(request), [])
        if not answers:
            self.unknown.append(json.loads(request))
            answers = [{"status": 400, "type": "application/json", "body": '{"error": {"message": "never asked"}}'}]
        answer = answers.pop(0) if len(answers) > 1 else answers[0]
        headers = [(b"content-type", answer["type"].encode())]
        await send({"type": "http.response.start", "status": answer["status"], "headers": headers})
        await send({"type": "http.response.body", "body": answer["body"].encode()})


def digest(request: bytes) -> str:
    return hashlib.sha256(request).hexdigest()[:24]
