"""A client as its own frontend asks, against a whole platform: it reads a stream, and reads on."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
import pytest

from experiments.gateway.simulated import running
from tests.arenasite.platforms import Platform, manage
from tests.experiments.compatibility.conftest import FAST

pytestmark = pytest.mark.system


PATIENCE = 240
SETTING_UP = """
from django.core.management import call_command
from accounts.models import User
User.objects.create_user("researcher", password="correct horse battery")
call_command("add_provider", "--name", "fast", "--base-url", "{base}", "--allow-private", "--model", *{models})
call_command("create_token", "researcher")
"""


class Client:
    """An original client: it knows its addresses, and sends a token with every request."""

    def __init__(self, url: str, token: str) -> None:
        self.http = httpx.Client(base_url=f"{url}/api/", headers={"Authorization": f"Bearer {token}"}, timeout=PATIENCE)

    def get(self, path, **params):
        return self.http.get(path, params=params).raise_for_status().json()

    def post(self, path, body=None):
        return self.http.post(path, json=body).raise_for_status().json()

    @contextmanager
    def events(self, method, path, body=None, **headers) -> Iterator[Iterator[tuple[str, dict]]]:
        """(id, event) of a stream as they come."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        with self.http.stream(method, path, json=body, headers=named) as answer:
            assert answer.headers["Content-Type"] == "text/event-stream"
            yield self._read(answer.iter_lines())

    def _read(self, lines):
        id_ = ""
        for line in lines:
            if line.startswith("id: "):
                id_ = line.removeprefix("id: ")
            elif line.startswith("data: "):
                yield id_, json.loads(line.removeprefix("data: "))


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    platform = Platform(tmp_path_factory.mktemp("lab") / "data", "--workers", "1")
    try:
        platform.wait_until_ready()
        with running(tps=0) as provider:
            made = manage(
                "shell",
                "-v0",
                "-c",
                SETTING_UP.format(base=provider.base_url, models=FAST),
                ARENA_DATA=str(platform.data),
            )
            yield Client(f"http://localhost:{platform.port}", made.stdout.split()[-1])
    finally:
        platform.process.terminate()
        try:
            platform.process.wait(80)
        except subprocess.TimeoutExpired:
            platform.process.kill()


def test_llm_council_streams_is_cut_off_and_reads_on_while_another_one_watches(client):
    members = {f"member-{number}": {"model": model} for number, model in enumerate(FAST, 1)}
    cast = {**members, "chair": {"model": FAST[2]}}
    asked = {"question": "What do you know?", "title": False}
    client.post("experiments/", {"workflow": "council", "config": asked, "cast": cast})  # whom it will ask
    address = f"conversations/{client.post('conversations', {})['id']}/message/stream"

    with client.events("POST", address, {"content": "Why is the sky blue?"}) as events:
        last, first = next(events)  # and the client is gone
    with client.events("GET", address, Last_Event_ID=last, Accept="text/event-stream") as events:
        rest = [event for _id, event in events]
    with client.events("GET", address) as events:
        watched = [event for _id, event in events]

    assert first["type"] == "stage1_start"
    assert watched[1:] == rest
    assert rest[-1] == {"type": "complete"}
    concluded = next(event for event in rest if event["type"] == "stage3_complete")
    conversation = client.get(address.removesuffix("/message/stream"))
    assert conversation["messages"][1]["stage3"] == concluded["data"]
    assert conversation["title"] == next(e["data"]["title"] for e in watched if e["type"] == "title_complete")
