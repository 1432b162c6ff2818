"""A web process that is asked to end finishes what it was asked, tells viewers to come back, and accepts nobody new."""

import contextlib
import signal
import threading

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tests.arenasite.platforms import free_port
from tests.arenasite.serving import listens, started
from tests.fixtures import wait_until

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

from arenasite.server.handling import Handler
app = Handler()
"""


@pytest.fixture
def serve(tmp_path):
    """Starts a server, and gives the process and its address."""
    with contextlib.ExitStack() as servers:

        def begin(drain, source):
            port = free_port()
            (tmp_path / "slow.py").write_text(source)
            arguments = ("-p", str(port), "slow:app")
            process = servers.enter_context(started(*arguments, folder=tmp_path, ARENA_DRAIN_SECONDS=drain))
            wait_until(lambda: listens(port) or process.poll() is not None, "the server")
            assert process.poll() is None
            return process, f"127.0.0.1:{port}"

        yield begin


def test_what_was_asked_is_answered_viewers_are_told_to_come_back_and_nobody_new_is_accepted(serve, tmp_path):
    (process, host), answers, begun = serve("60", SLOW), [], threading.Event()

    def ask():
        with httpx.stream("GET", f"http://{host}/?{tmp_path / 'go'}", timeout=60) as answer:
            begun.set()
            answers.append(answer.read())

    thread = threading.Thread(target=ask)
    with httpx.Client(base_url=f"http://{host}") as kept, connect(f"ws://{host}") as viewer:
        assert kept.get("/quick").text == "halfhalf"
        thread.start()
        assert begun.wait(60)
        process.send_signal(signal.SIGTERM)
        with pytest.raises(ConnectionClosed) as told:
            viewer.recv(60)
        assert told.value.rcvd.code == 1012
        wait_until(lambda: not listens(int(host.rpartition(":")[2])), "it to close its door")
        with pytest.raises(httpx.TransportError):
            kept.get("/quick")
    (tmp_path / "go").touch()
    thread.join(60)

    assert answers == [b"halfhalf"]
    assert process.wait(60) == 0


def test_a_view_that_waits_for_something_does_not_keep_the_process_from_ending(serve):
    process, host = serve("0.2", WAITING)
    threading.Timer(1, process.terminate).start()
    with pytest.raises(httpx.TransportError):
        httpx.get(f"http://{host}", timeout=60)

    assert process.wait(60) == 0
