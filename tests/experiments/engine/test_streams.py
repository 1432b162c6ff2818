"""How much a stream may say at once, and how often its viewers are told."""

import os
import time
from uuid import uuid4

import pytest

from experiments.engine import performers as module
from experiments.engine.performers import Endpoint, Performers, Work
from experiments.gateway import ChatMessage, ChatRequest
from tests.fixtures import wait_until

pytestmark = pytest.mark.django_db


class Listeners:
    """Viewers that write down what reaches them."""

    def __init__(self):
        self.pieces, self.posts = [], 0

    async def send(self, news):
        self.posts += 1
        self.pieces += [message["data"] for _run, message in news]

    async def close(self):
        pass


@pytest.fixture
def listeners():
    return Listeners()


@pytest.fixture
def performers(listeners):
    started = Performers(listeners)
    started.start()
    yield started
    started.close()


def heard(performers, listeners, base_url, model):
    """The report of a call, how long it took, and the pieces of text that were sent on."""
    request = ChatRequest(model=model, messages=(ChatMessage("user", "Hello"),))
    work = Work(uuid4(), uuid4(), Endpoint(base_url, "", True, model), request, seat="A", turn=1, is_shown=True)
    begun = time.monotonic()
    performers.submit(work)
    report = performers.reports.get(timeout=120)
    seconds = time.monotonic() - begun
    wait_until(lambda: sum(len(p["text"]) for p in listeners.pieces) >= len(report.completion.text), "the last piece")
    return report, seconds, listeners.pieces


def joined(pieces):
    text = ""
    for piece in pieces:
        assert piece["offset"] == len(text), "the pieces follow each other without a gap"
        text += piece["text"]
    return text


def test_ten_thousand_chunks_of_one_character_reach_the_viewers_in_a_few_pieces(performers, listeners, scripted):
    letters = [chr(97 + n % 26) for n in range(10_000)]
    slug = scripted.model("scripted/letters", letters)
    report, seconds, pieces = heard(performers, listeners, scripted.base_url, slug)

    assert report.completion.text == "".join(letters) == joined(pieces)
    assert len(pieces) <= seconds / module.FLUSH_SECONDS + 2
    assert listeners.posts <= seconds / module.FLUSH_SECONDS + 5


@pytest.mark.system
def test_one_very_long_chunk_reaches_the_viewers_whole(performers, listeners, scripted):
    text = "All of it, at once. " * 30_000
    report, _seconds, pieces = heard(performers, listeners, scripted.base_url, scripted.model("scripted/long", text))

    assert report.completion.text == text == joined(pieces)


@pytest.mark.system
def test_an_emoji_is_one_character_of_an_offset_as_it_is_for_the_page(performers, listeners, scripted):
    slug = scripted.model("scripted/emoji", ["🎈🎈", "漢", "👩‍👩‍👧", "end"])
    report, _seconds, pieces = heard(performers, listeners, scripted.base_url, slug)

    assert joined(pieces) == report.completion.text == "🎈🎈漢👩‍👩‍👧end"


def test_performers_that_have_ended_leave_nothing_open():
    """A worker has new ones for every bell."""
    before = open_descriptors()

    ended = [Performers(Listeners()) for _bell in range(10)]
    for one in ended:
        one.start()
        one.close()

    assert open_descriptors() == before


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))
