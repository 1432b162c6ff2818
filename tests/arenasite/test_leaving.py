"""A web process that is asked to end finishes what it was asked, tells viewers to come back, and accepts nobody new."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import httpx
import pytest
from django.conf import settings
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from arenasite.supervisor.ports import any_free
from tests.fixtures import environment, wait_until

pytestmark = pytest.mark.system


SLOW = """
import asyncio
from pathlib import Path

async def app(scope, receive, send):
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        while (await receive())["type"] != "websocket.disconnect":
            pass
        return
    while (await receive()).get("more_body"):
        pass
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"8")]})
    if scope["path"] != "/quick":
        await send({"type": "http.response.body", "body": b"half", "more_body": True})
        while not Path(scope["query_string"].decode()).exists():
            await asyncio.sleep(0.02)
        await send({"type": "http.response.body", "body": b"half"})
    else:
        await send({"type": "http.response.body", "body": b"halfhalf"})
"""


WAITING = """
import asyncio
import django
from asgiref.sync import async_to_sync
from django.conf import settings
from django.urls import path

def waits(request):
    async_to_sync(asyncio.Event().wait)()

urlpatterns = [path("", waits)]
django.setup()
settings.ROOT_URLCONF, settings.MIDDLEWARE = __name__, []

from arenasite.handling import Handler
app = Handler()
"""


class Server:
    def __init__(self, folder, drain, source):
        self.port = any_free("127.0.0.1")
        (folder / "slow.py").write_text(source)
        path = os.pathsep.join([str(settings.BASE_DIR), str(folder)])
        variables = {"PYTHONPATH": path, "DJANGO_SETTINGS_MODULE": "arenasite.settings", "ARENA_DRAIN_SECONDS": drain}
        command = [sys.executable, "-m", "arenasite.bounded_daphne", "-p", str(self.port), "-v", "0", "slow:app"]
        self.process = subprocess.Popen(command, env=environment() | variables, cwd=settings.BASE_DIR)
        self.url = f"http://127.0.0.1:{self.port}"
        wait_until(self.accepts, "the server")

    def accepts(self):
        assert self.process.poll() is None
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        return False


@pytest.fixture
def serve(tmp_path):
    started = []

    def begin(drain="60", source=SLOW):
        started.append(Server(tmp_path, drain, source))
        return started[-1]

    yield begin
    for server in started:
        server.process.kill()
        server.process.wait()


def test_what_was_asked_is_answered_to_its_end_and_nobody_new_is_accepted(serve, tmp_path):
    server, answers = serve(), []
    with httpx.Client() as kept, httpx.Client() as slow:
        assert kept.get(f"{server.url}/quick").text == "halfhalf"
        begun = threading.Event()

        def ask():
            with slow.stream("GET", f"{server.url}/?{tmp_path / 'go'}", timeout=60) as answer:
                begun.set()
                answers.append(answer.read())

        thread = threading.Thread(target=ask)
        thread.start()
        assert begun.wait(60)
        server.process.send_signal(signal.SIGTERM)
        wait_until(lambda: _is_refused(server.port), "it to close its door")
        with pytest.raises(httpx.TransportError):
            kept.get(f"{server.url}/quick")
        (tmp_path / "go").touch()
        thread.join(60)

    assert answers == [b"halfhalf"]
    assert server.process.wait(60) == 0


def test_viewers_are_told_to_come_back_and_it_ends_at_once(serve):
    server = serve()
    with connect(f"ws://127.0.0.1:{server.port}/") as viewer:
        asked = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as told:
            viewer.recv(60)

    assert told.value.rcvd.code == 1012
    assert server.process.wait(60) == 0
    assert time.monotonic() - asked < 30


def test_a_request_that_takes_too_long_does_not_hold_it_up(serve, tmp_path):
    server = serve(drain="0.2")
    with httpx.stream("GET", f"{server.url}/?{tmp_path / 'never'}", timeout=60) as answer:
        server.process.send_signal(signal.SIGTERM)
        with pytest.raises(httpx.TransportError):
            answer.read()

    assert server.process.wait(60) == 0


def test_a_view_that_waits_for_something_does_not_keep_the_process_from_ending(serve):
    server = serve(drain="0.2", source=WAITING)
    threading.Timer(1, server.process.terminate).start()
    with pytest.raises(httpx.TransportError):
        httpx.get(server.url, timeout=60)

    assert server.process.wait(60) == 0


def _is_refused(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except ConnectionRefusedError:
        return True
    except OSError:
        pass
    return False
