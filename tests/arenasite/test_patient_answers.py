"""An answer that comes in pieces waits for its reader where it comes from, and not in the web server's memory."""

import contextlib

import httpx
import pytest

from tests.arenasite.serving import served
from tests.fixtures import wait_until

pytestmark = pytest.mark.system


PIECE, PIECES = 1 << 16, 1_000
KERNEL_PIECES = 500  # that two kernels may keep between them: far fewer than there are
LONG = f"""
import asyncio, json
from arenasite import patient_answers

told = {{"handed over": 0, "ended": 0}}

async def app(scope, receive, send):
    await receive()
    await send({{"type": "http.response.start", "status": 200, "headers": []}})
    if scope["path"] == "/impatient":
        patient_answers.STALLED_SECONDS = 0
    if scope["path"] == "/broken":
        await send({{"type": "http.response.body", "body": b"a part", "more_body": True}})
        raise RuntimeError("the rest is missing")
    if scope["path"] != "/long":
        return await send({{"type": "http.response.body", "body": json.dumps(told).encode()}})
    told.update({{"handed over": 0, "ended": 0}})
    for number in range({PIECES}):
        await send({{"type": "http.response.body", "body": bytes([number % 256]) * {PIECE}, "more_body": True}})
        told["handed over"] += 1
    await send({{"type": "http.response.body", "body": b"the end"}})
    told["ended"] = 1
"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Says at any path but /long how much of that it has handed over."""
    folder = tmp_path_factory.mktemp("long")
    (folder / "long.py").write_text(LONG)
    with served("long:app", folder=folder) as address:
        yield address


def _told(server):
    with contextlib.suppress(httpx.TransportError):
        return httpx.get(server, timeout=60).json()


def test_what_nobody_takes_yet_stays_where_it_comes_from_and_a_slow_reader_has_all_of_it_in_the_end(server):
    with httpx.stream("GET", f"{server}/long", timeout=60) as answer:
        pieces = answer.iter_bytes(PIECE)
        first = next(pieces)
        assert _told(server)["handed over"] < KERNEL_PIECES
        rest = list(pieces)

    assert b"".join([first, *rest]) == b"".join(bytes([n % 256]) * PIECE for n in range(PIECES)) + b"the end"


def test_for_a_reader_who_has_gone_nothing_waits(server):
    with httpx.stream("GET", f"{server}/long", timeout=60) as answer:
        next(answer.iter_raw())
    wait_until(lambda: _told(server)["ended"], "the end of what nobody reads")


def test_a_reader_who_takes_nothing_for_long_is_cut_off(server):
    with httpx.stream("GET", f"{server}/long", timeout=60) as answer:
        reading = answer.iter_raw()
        next(reading)
        httpx.get(f"{server}/impatient", timeout=60)

        wait_until(lambda: _told(server)["ended"], "the end of what nobody takes")


def test_an_answer_that_fails_half_way_breaks_off(server):
    with httpx.stream("GET", f"{server}/broken", timeout=60) as answer, pytest.raises(httpx.TransportError):
        answer.read()
