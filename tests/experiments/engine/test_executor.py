"""Every call that is handed over is reported, whenever it is stopped, and its viewers are told now and then."""

import os
import threading
import time
from itertools import pairwise
from uuid import uuid4

import pytest

from experiments.engine import executor as module
from experiments.engine.events import News
from experiments.engine.executor import CallExecutor, Endpoint, PendingCall
from experiments.gateway import ChatMessage, ChatRequest
from experiments.gateway.transport import GuardedTransport
from tests.fixtures import wait_until
from tests.parts import stepped_engine


class Viewers:
    def __init__(self):
        self.pieces, self.posts, self.is_closed, self.reached = [], 0, False, threading.Event()
        self.are_away, self.times = False, []

    async def send(self, news):
        self.posts += 1
        pieces = [message["data"] for _run, message in news if message["type"] == "run.delta"]
        self.pieces, self.times = self.pieces + pieces, self.times + [time.monotonic()] * len(pieces)
        self.reached.set()
        return news if self.are_away else []

    async def close(self):
        self.is_closed = True


@pytest.fixture
def viewers():
    return Viewers()


@pytest.fixture
def executor(viewers):
    started = CallExecutor(viewers)
    started.start()
    yield started
    started.close()


def work(base_url, model="sim/cooperative:tps=20:first=0:words=2000", **shown):
    request = ChatRequest(model=model, messages=(ChatMessage("user", "Hello"),))
    return PendingCall(uuid4(), uuid4(), Endpoint(base_url, "", True, model), request, **shown)


@pytest.mark.system
def test_a_call_stopped_at_any_moment_is_reported_once(executor, simulated):
    for seconds in (0.0, 0.001, 0.005, 0.02, 0.1, 0.3):
        asked = work(simulated.base_url)
        executor.submit(asked)
        time.sleep(seconds)
        executor.stop(asked.call_id)

        result = executor.results.get(timeout=60)
        executor.stop(asked.call_id)
        time.sleep(0.1)

        assert (result.is_stopped, result.error, executor.results.empty()) == (True, None, True), seconds


def test_an_executor_that_was_closed_leaves_nothing_open():
    """A worker makes a new one for every job."""
    before = len(os.listdir("/proc/self/fd"))

    everybody = [Viewers() for _job in range(10)]
    ended = [CallExecutor(viewers) for viewers in everybody]
    for one in ended:
        one.start()
        one.close()

    assert len(os.listdir("/proc/self/fd")) == before
    assert all(viewers.is_closed for viewers in everybody)


def test_the_connections_to_providers_are_closed_with_the_executor(viewers, simulated, monkeypatch):
    closed = []

    async def noted(transport):
        closed.append(transport)

    monkeypatch.setattr(GuardedTransport, "aclose", noted)
    ended = CallExecutor(viewers)
    ended.start()
    for model in ("sim/cooperative:tps=0:first=0", "sim/neutral:tps=0:first=0"):
        ended.submit(work(simulated.base_url, model))
        assert ended.results.get(timeout=60).error is None
    ended.close()

    assert sorted(one.allow_private for one in closed) == [False, True], "one for each kind of address"


def test_what_is_sent_reaches_the_viewers_though_no_call_is_under_way(executor, viewers):
    executor.send(News(uuid4(), {"type": "run.delta", "data": "a piece"}))

    assert viewers.reached.wait(30)
    assert viewers.pieces == ["a piece"]


def test_the_pieces_of_a_reply_follow_each_other_without_a_gap(viewers, arena, start, drive, monkeypatch):
    monkeypatch.setattr(stepped_engine, "MemoryOutlet", lambda: viewers)
    run = start(arena("sim/cooperative:first=0:tps=20:think=native", max_turns=1))
    drive()

    text, reasoning, said = "", "", run.messages.get(seat="A")
    pieces = [piece for piece in viewers.pieces if piece["call"] == str(said.call_id)]
    for piece in pieces:
        assert (piece["offset"], piece["reasoning_offset"]) == (len(text), len(reasoning))
        text, reasoning = text + piece["text"], reasoning + piece["reasoning"]
    assert (text, reasoning) == (said.raw_text, said.reasoning)
    assert len(pieces) > 5


@pytest.mark.system
def test_text_that_nobody_listens_for_is_sent_less_often_and_whoever_comes_misses_nothing(
    executor, viewers, simulated, monkeypatch
):
    monkeypatch.setattr(module, "UNHEARD_SECONDS", 0.2)
    viewers.are_away = True
    executor.submit(work(simulated.base_url, "sim/cooperative:tps=60:first=0:words=90", is_shown=True))
    wait_until(lambda: len(viewers.pieces) > 1, "a piece that is sent again")
    assert {piece["offset"] for piece in viewers.pieces} == {0}

    [saved] = executor.partials()
    executor.saved([saved])
    wait_until(lambda: viewers.pieces[-1]["offset"], "a piece after what is saved")
    assert viewers.pieces[-1]["offset"] == len(saved.text)

    viewers.are_away = False
    told, text = len(viewers.pieces), saved.text
    result = executor.results.get(timeout=60)
    wait_until(lambda: result.completion.text.endswith(viewers.pieces[-1]["text"]), "the last piece")
    for piece in viewers.pieces[told:]:
        assert piece["offset"] <= len(text), "there is no gap"
        text = text[: piece["offset"]] + piece["text"]
    assert text == result.completion.text
    assert min(later - earlier for earlier, later in pairwise(viewers.times[:told])) > 0.19


def heard(executor, viewers, base_url, model):
    """The result of a call, and how long it took; its text is what the pieces make that were sent on."""
    begun = time.monotonic()
    executor.submit(work(base_url, model, seat="A", turn=1, is_shown=True))
    result = executor.results.get(timeout=120)
    seconds = time.monotonic() - begun
    wait_until(lambda: sum(len(p["text"]) for p in viewers.pieces) >= len(result.completion.text), "the last piece")
    text = ""
    for piece in viewers.pieces:
        assert piece["offset"] == len(text), "the pieces follow each other without a gap"
        text += piece["text"]
    assert text == result.completion.text
    return text, seconds


@pytest.mark.system
def test_every_character_reaches_the_viewers_at_its_place_and_a_thousand_of_them_in_a_few_pieces(
    executor, viewers, scripted
):
    letters = [chr(97 + n % 26) for n in range(1_000)]
    for says in (["All of it, at once. " * 30_000], ["🎈🎈", "漢", "👩‍👩‍👧", "end"], letters):
        viewers.pieces.clear()
        viewers.posts = 0
        text, seconds = heard(executor, viewers, scripted.base_url, scripted.model("scripted/one", says))
        assert text == "".join(says)

    assert len(viewers.pieces) <= seconds / module.FLUSH_SECONDS + 2
    assert viewers.posts <= seconds / module.FLUSH_SECONDS + 5
