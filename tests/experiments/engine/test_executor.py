"""Every call that is handed over is reported, its viewers are told now and then, and its words are kept."""

import logging
import os
import threading
import time
from uuid import uuid4

import pytest
from django.db import OperationalError

from experiments.engine import executor as module
from experiments.engine import partial_text
from experiments.engine.events import News
from experiments.engine.executor import CallExecutor, Endpoint, PendingCall
from experiments.engine.partial_text import Partial, PartialTextWriter
from experiments.gateway import ChatMessage, ChatRequest
from experiments.gateway.transport import GuardedTransport
from experiments.models import Call, Step
from tests.fixtures import wait_until
from tests.parts import stepped_engine


class Viewers:
    def __init__(self):
        self.pieces, self.posts, self.is_closed, self.reached = [], 0, False, threading.Event()

    async def send(self, news):
        self.posts += 1
        self.pieces += [message["data"] for _run, message in news if message["type"] == "run.delta"]
        self.reached.set()

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


def test_an_executor_that_was_closed_leaves_nothing_open_and_no_connection_to_a_provider(
    viewers, simulated, monkeypatch
):
    """A worker makes a new one for every job."""
    before, everybody = len(os.listdir("/proc/self/fd")), [Viewers() for _job in range(10)]
    for watching in everybody:
        one = CallExecutor(watching)
        one.start()
        one.close()
    assert len(os.listdir("/proc/self/fd")) == before
    assert all(watching.is_closed for watching in everybody)

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
def test_every_character_reaches_the_viewers_at_its_place_and_a_thousand_of_them_in_a_few_pieces(
    executor, viewers, scripted
):
    letters = [chr(97 + n % 26) for n in range(1_000)]
    for says in (["All of it, at once. " * 30_000], ["🎈🎈", "漢", "👩‍👩‍👧", "end"], letters):
        viewers.pieces.clear()
        viewers.posts = 0
        begun, asked = time.monotonic(), scripted.model("scripted/one", says)
        executor.submit(work(scripted.base_url, asked, seat="A", turn=1, is_shown=True))
        said = executor.results.get(timeout=120).completion.text
        seconds = time.monotonic() - begun
        wait_until(lambda said=said: sum(len(p["text"]) for p in viewers.pieces) >= len(said), "the last piece")
        text = ""
        for piece in viewers.pieces:
            assert piece["offset"] == len(text), "the pieces follow each other without a gap"
            text += piece["text"]
        assert text == said == "".join(says)

    assert len(viewers.pieces) <= seconds / module.FLUSH_SECONDS + 2
    assert viewers.posts <= seconds / module.FLUSH_SECONDS + 5


class Talk:
    """A source of words. said: so far; heard: how much of it was kept."""

    def __init__(self, call):
        self.call, self.said, self.heard = call, "One panel", 0

    def partials(self):
        size = len(self.said)
        return [Partial(self.call.pk, self.said, "", (size, 0))] if size > self.heard else []

    def saved(self, partials):
        self.heard = partials[-1].size[0]

    @property
    def is_kept(self):
        return Call.objects.get(pk=self.call.pk).text == self.said


@pytest.fixture
def talk(transactional_db, arena, start):
    run = start(arena())
    step = Step.objects.create(run=run, key="turn/1/A", kind="ask", purpose="reply")
    model = run.experiment.participants.first().model
    talk = Talk(Call.objects.create(run=run, step=step, model=model, attempt=1, request={}))
    talk.writer = PartialTextWriter(talk)
    yield talk
    talk.writer.close()


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_words_that_could_not_be_kept_are_kept_later_but_none_once_the_call_has_ended(talk, monkeypatch, caplog):
    save, errors = partial_text.save, [ValueError("a bug"), OperationalError("database is locked")]

    def write(words):
        if errors:
            raise errors.pop()
        save(words)

    monkeypatch.setattr(partial_text, "save", write)
    with caplog.at_level(logging.WARNING):
        talk.writer.start()
        assert wait_until(lambda: talk.is_kept, "the words")
    assert "not saved yet" in caplog.text
    talk.said += " for each village."
    assert wait_until(lambda: talk.is_kept, "the rest of them")

    Call.objects.filter(pk=talk.call.pk).update(state=Call.State.COMPLETED, text="One panel for each village.")
    talk.said += " Late"
    talk.writer.close()
    assert talk.heard == len(talk.said)
    assert Call.objects.get(pk=talk.call.pk).text == "One panel for each village."
