"""Receivers on this machine, and webhooks that tell them."""

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from experiments.models import Webhook, WebhookDelivery
from experiments.webhooks import delivering, hooks
from experiments.webhooks.kinds import Kind

EVERYTHING = [kind.value for kind in Kind]


class Receiver:
    """Keeps what it was sent. status, headers, body: what it answers; `stands_still`: it does not, until `go_on`."""

    def __init__(self) -> None:
        self.received: list[SimpleNamespace] = []
        self.status, self.headers, self.body, self.stands_still = 200, {}, b"ok", False
        self.go_on = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/in?token=of-the-path"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def close(self) -> None:
        self.go_on.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def told(self) -> list[dict[str, Any]]:
        return [json.loads(one.body) for one in self.received]

    @property
    def types(self) -> list[str]:
        return [one["type"] for one in self.told]

    def _handler(receiver) -> type[BaseHTTPRequestHandler]:  # noqa: N805 - the handler has a self of its own
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                receiver.received.append(SimpleNamespace(headers=dict(self.headers), body=body, path=self.path))
                if receiver.stands_still:
                    receiver.go_on.wait(20)
                self.send_response(receiver.status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(receiver.body)

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def admin(db: None, django_user_model: Any) -> Any:
    return django_user_model.objects.create_user("ada", role="admin", is_staff=True, is_superuser=True)


@pytest.fixture
def hook(alice: Any, receiver: Receiver) -> Webhook:
    """Of Alice's own runs, told of everything."""
    return hook_of(alice, receiver.url)


def hook_of(owner: Any, url: str, project: Any = None, events: Any = EVERYTHING) -> Webhook:
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


@pytest.fixture
def in_time() -> Callable[[], None]:
    """As if the next attempt of everything were due."""
    return lambda: WebhookDelivery.objects.waiting().update(next_at=timezone.now()) and None
