"""One who opens a WebSocket and reads nothing holds little memory, keeps nobody else waiting, and is sent away."""

import contextlib
import json
import socket
from collections.abc import Iterator

import pytest
from websockets.sync.client import connect

from arenasite.server.websockets import KERNEL_BYTES, MOST_WAITING, TOO_SLOW, text_frame
from benchmarks.load import frames
from tests.arenasite.platforms import free_port
from tests.arenasite.serving import listens, started
from tests.fixtures import wait_until

pytestmark = pytest.mark.system


PIECE = "x" * 10_000
PIECES = 400  # four megabytes, which nobody's buffers hold

SAYING = f"""
import json
from arenasite.server import websockets

async def app(scope, receive, send):
    if scope["type"] != "websocket":
        return
    frames = scope["extensions"][websockets.EXTENSION]
    await receive()
    await send({{"type": "websocket.accept"}})
    piece = frames.framed({PIECE!r})
    while True:
        message = await receive()
        if message["type"] == "websocket.disconnect":
            with open("left", "a") as file:
                file.write(str(message["code"]) + " ")
            return
        if message["text"] == "much":
            told = [frames.write(piece) for _ in range({PIECES})]
            waiting = frames._protocol.waiting
            with open("told.json", "w") as file:
                json.dump({{"written": sum(told), "waiting": waiting, "is_behind": frames.is_behind}}, file)
        elif message["text"] == "slowly":
            for _ in range({PIECES}):
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
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator["Saying"]:
    """One that says much at once when it is asked to; whoever takes nothing for a second has to go."""
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

    def __init__(self, server):
        self._server, self._before = server, server.sent_away()
        self.socket = socket.socket()
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.socket.settimeout(60)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.sendall(frames.handshake("/", server.port, ""))
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


def test_little_waits_for_one_who_does_not_read_who_is_sent_away_while_nobody_else_waits(server):
    with connect(server.url, max_size=None) as reader, contextlib.closing(Deaf(server)) as deaf:
        reader.send("hello")
        assert reader.recv(timeout=60) == "hello"
        told = server.told()
        assert told["is_behind"]
        assert told["waiting"] <= MOST_WAITING + 2 * len(PIECE)
        held = told["written"] * len(PIECE)
        assert held <= MOST_WAITING + 2 * KERNEL_BYTES + 100_000 < 1 << 20, "with what the kernel has, under a megabyte"

        deaf.is_sent_away()  # meanwhile the reader has said nothing, and was told nothing
        reader.send("still here")
        assert reader.recv(timeout=60) == "still here"

        reader.send("slowly")
        assert all(reader.recv(timeout=60) == PIECE for _ in range(PIECES)), "everything, at its own pace"

        said = deaf.reads_all()
        assert {frame.payload for frame in said[:-1]} == {PIECE.encode()}, "every frame that was begun is whole"
        assert said[-1] == frames.Frame(frames.CLOSE, TOO_SLOW.to_bytes(2, "big"))


def test_a_frame_is_read_by_others_as_the_text_it_was_made_of():
    for length in (0, 1, 125, 126, 65_535, 65_536):
        [frame] = frames.taken(bytearray(text_frame("é" * (length // 2) + "x" * (length % 2))))
        assert (frame.opcode, len(frame.payload)) == (frames.TEXT, length)
