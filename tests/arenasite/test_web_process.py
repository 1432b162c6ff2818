"""Web processes: limits of what they receive, backpressure of what they send, and their end."""

import contextlib
import hashlib
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator

import httpx
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from arenasite.server.websockets import KERNEL_BYTES, MOST_WAITING, TOO_SLOW, text_frame
from benchmarks.load import frames
from tests.arenasite.platforms import free_port
from tests.arenasite.serving import listens, served, started
from tests.fixtures import wait_until

pytestmark = pytest.mark.system

PIECE, PIECES = 1 << 16, 1_000
KERNEL_PIECES = 500  # that two kernels may keep between them: far fewer than there are
ECHO = f"""
import hashlib, json
from arenasite.server import http

long = {{"handed over": 0, "ended": 0}}

async def app(scope, receive, send):
    told, message = hashlib.sha256(), {{"more_body": scope["type"] == "http"}}
    length = 0
    while message.get("more_body"):
        message = await receive()
        told.update(message.get("body", b""))
        length += len(message.get("body", b""))
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    if scope["path"] == "/impatient":
        http.STALLED_SECONDS = 0
    if scope["path"] == "/broken":
        await send({{"type": "http.response.body", "body": b"a part", "more_body": True}})
        raise RuntimeError("the rest is missing")
    if scope["path"] != "/long":
        said = json.dumps({{"length": length, "hash": told.hexdigest(), **long}}).encode()
        return await send({{"type": "http.response.body", "body": said}})
    long.update({{"handed over": 0, "ended": 0}})
    for number in range({PIECES}):
        await send({{"type": "http.response.body", "body": bytes([number % 256]) * {PIECE}, "more_body": True}})
        long["handed over"] += 1
    await send({{"type": "http.response.body", "body": b"the end"}})
    long["ended"] = 1
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Takes files of a megabyte; says what it was handed, and how much of the answer at /long it has handed over."""
    folder = tmp_path_factory.mktemp("echo")
    (folder / "echo.py").write_text(ECHO)
    with served("echo:app", folder=folder, ARENA_UPLOAD_MB="1") as address:
        yield address + "/"


def told(server):
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(server, timeout=60).json()


def test_what_is_not_too_long_arrives_byte_for_byte_and_a_form_is_read_by_the_application_alone(server):
    """Twisted would read a form first, all of it, and refuse what is none."""
    for kind in ("", "multipart/form-data", "application/x-www-form-urlencoded"):
        for length in (0, 1, 65_536, 65_537, 1_900_000):
            body = os.urandom(length)
            said = httpx.post(server, content=body, headers={"Content-Type": kind} if kind else {}, timeout=60).json()
            assert (said["length"], said["hash"]) == (length, hashlib.sha256(body).hexdigest()), (kind, length)


def test_what_is_too_long_is_dropped_or_refused_and_a_body_with_a_websocket_takes_up_no_room(server):
    with httpx.Client(base_url=server, timeout=60) as client:
        assert client.post("/", content=b"x" * 5_000_000).json()["length"] == 0
        assert client.post("/", content=b"abc").json()["length"] == 3, "the next request is as if nothing had been"
        assert client.post("/", content=(b"x" * 100_000 for _piece in range(50))).status_code == 413

    headers = {"Upgrade": "websocket", "Connection": "Upgrade"}
    long = b"x" * 1_900_000  # nine of them are more than may be coming in at the same time

    refused = [httpx.post(server, content=long, headers=headers, timeout=60).status_code for _ in range(10)]

    assert refused == [400] * 10
    assert httpx.post(server, content=long, timeout=60).json()["length"] == len(long)


def test_a_request_with_two_ends_is_no_two_requests(server):
    """Were it read in two ways, the second request would be somebody else's."""
    port = int(server.rstrip("/").rpartition(":")[2])
    body = "0\r\n\r\nGET /hidden HTTP/1.1\r\nHost: x\r\nX: "
    for framing in (
        "Content-Length: 4\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 4",
        "Content-Length: 4\r\nContent-Length: 40",
        "Content-Length: +4",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding : chunked",
    ):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
            line.sendall(f"POST / HTTP/1.1\r\nHost: x\r\n{framing}\r\n\r\n{body}".encode())
            line.shutdown(socket.SHUT_WR)
            answered = b"".join(iter(lambda line=line: line.recv(65_536), b""))
        assert answered.count(b"HTTP/1.1 200") <= 1, framing


def test_what_nobody_takes_yet_stays_where_it_comes_from_and_a_slow_reader_has_all_of_it_in_the_end(server):
    with httpx.stream("GET", f"{server}long", timeout=60) as answer:
        pieces = answer.iter_bytes(PIECE)
        first = next(pieces)
        assert told(server)["handed over"] < KERNEL_PIECES
        rest = list(pieces)

    assert b"".join([first, *rest]) == b"".join(bytes([n % 256]) * PIECE for n in range(PIECES)) + b"the end"


def test_an_answer_that_fails_breaks_off_and_nothing_waits_for_a_reader_who_has_gone_or_takes_nothing(server):
    with httpx.stream("GET", f"{server}broken", timeout=60) as answer, pytest.raises(httpx.TransportError):
        answer.read()

    with httpx.stream("GET", f"{server}long", timeout=60) as answer:
        next(answer.iter_raw())
    wait_until(lambda: told(server)["ended"], "the end of what nobody reads")

    with httpx.stream("GET", f"{server}long", timeout=60) as answer:
        reading = answer.iter_raw()
        next(reading)
        httpx.get(f"{server}impatient", timeout=60)
        wait_until(lambda: told(server)["ended"], "the end of what nobody takes")


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


TEXT = "x" * 10_000
TEXTS = 400  # four megabytes, more than all buffers hold

SAYING = f"""
import json
from arenasite.server import websockets

async def app(scope, receive, send):
    if scope["type"] != "websocket":
        return
    frames = scope["extensions"][websockets.EXTENSION]
    await receive()
    await send({{"type": "websocket.accept"}})
    piece = frames.framed({TEXT!r})
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            with open("left", "a") as file:
                file.write(str(message["code"]) + " ")
            return
        if message["text"] == "much":
            told = [frames.write(piece) for _ in range({TEXTS})]
            waiting = frames._protocol.waiting
            with open("told.json", "w") as file:
                json.dump({{"written": sum(told), "waiting": waiting, "is_behind": frames.is_behind}}, file)
        elif message["text"] == "slowly":
            for _ in range({TEXTS}):
                if await frames.has_room():
                    frames.write(piece)
        else:
            await send({{"type": "websocket.send", "text": message["text"]}})
"""
IMPATIENT = """
import runpy
from arenasite.server import websockets
websockets.STALLED_SECONDS = 1.0
runpy.run_module("arenasite.server", run_name="__main__")
"""


@pytest.fixture(scope="module")
def saying(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Saying"]:
    """A server that sends much at once when asked; a client that reads nothing for a second is disconnected."""
    folder, port = tmp_path_factory.mktemp("saying"), free_port()
    (folder / "saying.py").write_text(SAYING)
    (folder / "impatient.py").write_text(IMPATIENT)
    with started("-p", str(port), "saying:app", program=("impatient.py",), folder=folder) as process:
        wait_until(lambda: listens(port) or process.poll() is not None, "the server")
        yield Saying(port, folder)


class Saying:
    def __init__(self, port, folder):
        self.port, self.url, self._folder = port, f"ws://127.0.0.1:{port}/", folder

    def told(self):
        """What it has noticed when it said much."""
        told = self._folder / "told.json"
        wait_until(lambda: told.exists() and told.read_text().endswith("}"), "what was noticed")
        return json.loads(told.read_text())

    def sent_away(self):
        left = self._folder / "left"
        return left.read_text().split().count(str(TOO_SLOW)) if left.exists() else 0


class Deaf:
    """A connection that reads nothing until it is asked to."""

    def __init__(self, saying):
        self._server, self._before = saying, saying.sent_away()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(60)
        self.socket.connect(("127.0.0.1", saying.port))
        self.socket.sendall(frames.handshake("/", saying.port, ""))
        self._data = bytearray()
        while b"\r\n\r\n" not in self._data:
            self._data += self.socket.recv(1)
        self._data.clear()
        self.socket.sendall(frames.masked(frames.TEXT, b"much"))

    def is_sent_away(self):
        """Wait until it has been too slow: the last word comes behind all that was sent, which it has not read."""
        wait_until(lambda: self._server.sent_away() > self._before, "that it is sent away")

    def close(self):
        self.socket.close()

    def reads_all(self):
        """The frames until the connection ends."""
        found = []
        while data := self.socket.recv(1 << 16):
            self._data += data
            found += frames.taken(self._data)
            if found and found[-1].opcode == frames.CLOSE:
                break
        return found


def test_little_waits_for_one_who_does_not_read_who_is_sent_away_while_nobody_else_waits(saying):
    with connect(saying.url, max_size=None) as reader, contextlib.closing(Deaf(saying)) as deaf:
        reader.send("hello")
        assert reader.recv(timeout=60) == "hello"
        told = saying.told()
        assert told["is_behind"]
        assert told["waiting"] <= MOST_WAITING + 2 * len(TEXT)
        held = told["written"] * len(TEXT)
        assert held <= MOST_WAITING + 2 * KERNEL_BYTES + 100_000 < 1 << 20, "with what the kernel has, under a megabyte"

        deaf.is_sent_away()  # meanwhile the reader has said nothing, and was told nothing
        reader.send("still here")
        assert reader.recv(timeout=60) == "still here"

        reader.send("slowly")
        assert all(reader.recv(timeout=60) == TEXT for _ in range(TEXTS)), "everything, at its own pace"

        said = deaf.reads_all()
        assert {frame.payload for frame in said[:-1]} == {TEXT.encode()}, "every frame that was begun is whole"
        assert said[-1] == frames.Frame(frames.CLOSE, TOO_SLOW.to_bytes(2, "big"))


def test_a_frame_is_read_by_others_as_the_text_it_was_made_of():
    for length in (0, 1, 125, 126, 65_535, 65_536):
        [frame] = frames.taken(bytearray(text_frame("é" * (length // 2) + "x" * (length % 2))))
        assert (frame.opcode, len(frame.payload)) == (frames.TEXT, length)
