"""A client as its own frontend asks, against a whole platform: it reads a stream, and reads on."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest

from tests.arenasite.platforms import Platform, manage
from tests.experiments.compatibility.conftest import FAST
from tests.parts.simulated import running

pytestmark = pytest.mark.system


PATIENCE = 240
SETTING_UP = """
from django.core.management import call_command
from accounts.models import User
User.objects.create_user("researcher", password="correct horse battery")
call_command("add_provider", "--name", "fast", "--base-url", "{base}", "--allow-private", "--model", *{models})
call_command("create_token", "researcher")
"""


@contextmanager
def events(client: httpx.Client, method: str, path: str, **more: Any) -> Iterator[Iterator[tuple[str, dict]]]:
    """(id, event) of a stream as they come."""

    def read(lines):
        for line in lines:
            if line.startswith("id: "):
                id_ = line.removeprefix("id: ")
            elif line.startswith("data: "):
                yield id_, json.loads(line.removeprefix("data: "))

    with client.stream(method, path, **more) as answer:
        assert answer.headers["Content-Type"] == "text/event-stream"
        yield read(answer.iter_lines())


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    platform = Platform(tmp_path_factory.mktemp("lab") / "data", "--workers", "1")
    try:
        platform.wait_until_ready()
        with running(tps=0) as provider:
            setting_up = SETTING_UP.format(base=provider.base_url, models=FAST)
            made = manage("shell", "-v0", "-c", setting_up, ARENA_DATA=str(platform.data))
            headers = {"Authorization": f"Bearer {made.stdout.split()[-1]}"}
            yield httpx.Client(base_url=f"http://localhost:{platform.port}/api/", headers=headers, timeout=PATIENCE)
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
    client.post("experiments/", json={"workflow": "council", "config": asked, "cast": cast})  # whom it will ask
    address = f"conversations/{client.post('conversations', json={}).json()['id']}"

    with events(client, "POST", f"{address}/message/stream", json={"content": "Why is the sky blue?"}) as told:
        last, first = next(told)  # and the client is gone
    goes_on = {"Last-Event-ID": last, "Accept": "text/event-stream"}
    with events(client, "GET", f"{address}/message/stream", headers=goes_on) as told:
        rest = [event for _id, event in told]
    with events(client, "GET", f"{address}/message/stream") as told:
        watched = [event for _id, event in told]

    assert first["type"] == "stage1_start"
    assert watched[1:] == rest
    assert rest[-1] == {"type": "complete"}
    concluded = next(event for event in rest if event["type"] == "stage3_complete")
    conversation = client.get(address).json()
    assert conversation["messages"][1]["stage3"] == concluded["data"]
    assert conversation["title"] == next(e["data"]["title"] for e in watched if e["type"] == "title_complete")
