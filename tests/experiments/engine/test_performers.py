"""Every call that is handed over is reported, whenever it is stopped."""

import time
from uuid import uuid4

import pytest

from experiments.engine.performers import Endpoint, Performers, Work
from experiments.gateway import ChatMessage, ChatRequest


class Nobody:
    """Viewers that are not there."""

    def __init__(self):
        self.is_closed = False

    async def send(self, news):
        pass

    async def close(self):
        self.is_closed = True


@pytest.fixture
def performers():
    started = Performers(Nobody())
    started.start()
    yield started
    started.close()


def work(simulated, model="sim/cooperative:tps=20:first=0:words=2000"):
    request = ChatRequest(model=model, messages=(ChatMessage("user", "Hello"),))
    return Work(uuid4(), uuid4(), Endpoint(simulated.base_url, "", True, model), request)


def test_a_call_stopped_before_it_has_begun_is_reported(performers, simulated):
    for _ in range(50):
        asked = work(simulated)
        performers.submit(asked)
        performers.stop(asked.call_id)

        report = performers.reports.get(timeout=60)

        assert (report.call_id, report.is_stopped) == (asked.call_id, True)


@pytest.mark.system
@pytest.mark.parametrize("seconds", [0.0, 0.001, 0.005, 0.02, 0.1, 0.3])
def test_a_call_stopped_at_any_moment_is_reported(performers, simulated, seconds):
    asked = work(simulated)
    performers.submit(asked)
    time.sleep(seconds)
    performers.stop(asked.call_id)

    report = performers.reports.get(timeout=60)

    assert report.is_stopped
    assert report.error is None


@pytest.mark.system
def test_a_call_that_was_stopped_after_its_end_is_reported_once(performers, simulated):
    asked = work(simulated, "sim/cooperative:tps=0:first=0:words=5")
    performers.submit(asked)
    report = performers.reports.get(timeout=60)

    performers.stop(asked.call_id)
    time.sleep(0.1)

    assert report.completion.text
    assert performers.reports.empty()


def test_closing_closes_the_way_to_the_viewers():
    viewers = Nobody()
    performers = Performers(viewers)
    performers.start()

    performers.close()

    assert viewers.is_closed
