"""A commit whose confirmation is lost has happened: the driver tries again, and nothing is there twice."""

import itertools

import pytest
from django.db import OperationalError

from experiments.engine import driver, pauses, playing, recording
from experiments.models import Run
from tests.experiments.engine import test_crashes
from tests.experiments.engine.test_crashes import (
    FAST,
    assert_books_balance,
    interventions,
    nothing,
    on_each_write,
    operate,
    transcript,
    verdicts,
    writes_of,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

WRITERS = [
    (recording, "record_facts"),
    (recording, "open_call"),
    (recording, "close_call"),
    (pauses, "open_pause"),
    (pauses, "park"),
    (pauses, "rest"),
    (playing, "finish"),
]


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(driver, "DATABASE_PAUSE", 0)
    monkeypatch.setattr(test_crashes, "WRITERS", WRITERS)


def lost_at(monkeypatch, moment):
    """The `moment`-th write is committed, and its writer hears that the connection has ended."""
    counter = itertools.count(1)

    def lose():
        if next(counter) == moment:
            raise OperationalError("server closed the connection unexpectedly")

    on_each_write(monkeypatch, nothing, lose)


def told(run):
    return [event.type for event in run.events.all()]


def test_at_any_write_of_a_run(arena, start, drive, provider, monkeypatch):
    experiment = arena(**FAST)
    undisturbed = start(experiment)
    writes = writes_of(monkeypatch, drive)

    for moment in range(1, writes + 1):
        run = start(experiment)
        with monkeypatch.context() as patch:
            lost_at(patch, moment)
            drive()

        run.refresh_from_db()
        assert run.state == Run.State.COMPLETED, f"lost at write {moment}: {run.error}"
        assert transcript(run) == transcript(undisturbed)
        assert verdicts(run) == verdicts(undisturbed)
        assert sorted(told(run)) == sorted(told(undisturbed)), f"lost at write {moment}"
        assert_books_balance(run, provider)


def test_at_any_write_of_a_run_with_a_person(arena, start, drive, alice, provider, monkeypatch):
    experiment = arena(**FAST, mode="manual")
    undisturbed = start(experiment)
    writes = writes_of(monkeypatch, lambda: operate(undisturbed, alice, drive))

    for moment in range(1, writes + 1):
        run = start(experiment)
        with monkeypatch.context() as patch:
            lost_at(patch, moment)
            operate(run, alice, drive)

        run.refresh_from_db()
        assert run.state == Run.State.COMPLETED, f"lost at write {moment}: {run.error}"
        assert transcript(run) == transcript(undisturbed)
        assert interventions(run) == interventions(undisturbed)
        assert sorted(told(run)) == sorted(told(undisturbed)), f"lost at write {moment}"


def test_when_a_council_has_come_to_rest(council, start, drive, provider, monkeypatch):
    run = start(council())
    with monkeypatch.context() as patch:
        patch.setattr(test_crashes, "WRITERS", [(pauses, "rest")])
        lost_at(patch, 1)
        drive()

    run.refresh_from_db()
    assert run.state == Run.State.COMPLETED
    assert told(run).count("experiment_stopped") == 1
    assert run.last_seq == run.events.count()
