"""Receivers in this process, and webhooks that tell them."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

import pytest

from experiments.lab.webhooks import delivering, hooks
from experiments.lab.webhooks.outbox import Kind
from experiments.models import Webhook
from tests.parts import in_process


class Receiver:
    """Keeps what it was sent; no port is opened. status, headers, body: what it answers; `stands_still`: it does not.
    `noticed` is called for each letter.
    """

    def __init__(self) -> None:
        self.received: list[SimpleNamespace] = []
        self.status, self.headers, self.body, self.stands_still = 200, {}, b"ok", False
        self.noticed: Callable[[], None] = lambda: None
        self._serving = ExitStack()
        base_url = self._serving.enter_context(in_process.served(self))
        self.url = f"{base_url.removesuffix('/v1')}/in?token=of-the-path"

    def close(self) -> None:
        self._serving.close()

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(one.body) for one in self.received]

    @property
    def types(self) -> list[str]:
        return [one["type"] for one in self.told]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        body = (await receive())["body"]
        self.received.append(SimpleNamespace(headers=headers, body=body, path=scope["path"]))
        self.noticed()
        if self.stands_still:
            await receive()  # until the sender has left
            return
        answered = [(name.encode(), value.encode()) for name, value in self.headers.items()]
        await send({"type": "http.response.start", "status": self.status, "headers": answered})
        await send({"type": "http.response.body", "body": self.body})


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def hook(alice: Any, receiver: Receiver) -> Webhook:
    """Of Alice's own runs, told of everything."""
    return hook_of(alice, receiver.url)


def hook_of(owner: Any, url: str, project: Any = None, events: Any = tuple(Kind)) -> Webhook:
    """One that may go to this machine, as administrators allow it."""
    allowed = [one for one in events if one in {kind.value for kind in hooks.offered_kinds(project)}]
    made, _secret = hooks.add(by=owner, url="https://example.org/", events=allowed, project=project)
    Webhook.objects.filter(pk=made.pk).update(url=url, allow_private=True)
    made.refresh_from_db()
    return made


@pytest.fixture
def deliver(db: None) -> Callable[[], None]:
    """Send what is due now, in this process."""
    return lambda: delivering.send_all(threading.Event())
