"""Whatever dies while a contest is played, nothing is paid twice, and it comes to what it would have come to."""

import threading

import pytest

from experiments.engine import executions
from experiments.engine.jobs import wake
from experiments.models import Call, Cycle
from experiments.workflows.coding.config import coder
from tests.experiments.contesting import (
    asked,
    assert_told_once,
    begun,
    models,
    quick,
    record,
    sandbox_as_played,
)
from tests.experiments.contests import judgment
from tests.experiments.deliberating import fresh
from tests.experiments.engine import test_crashes
from tests.experiments.engine.test_crashes import PowerCut, crash_at, expire_leases, writes_of
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

EVERY = 4  # of the writes, one is cut off


class Gate:
    """Lets so many judgments pass, and holds all others back until it is opened."""

    def __init__(self, most: int) -> None:
        self._left, self._lock, self._open = most, threading.Lock(), threading.Event()

    def judgment(self, _body):
        with self._lock:
            passes = self._left > 0
            self._left -= 1
        return judgment(7) if passes or self._open.wait(120) else 500

    def open(self) -> None:
        self._open.set()


@pytest.mark.system
def test_killed_after_40_of_90_judgments_it_asks_exactly_the_missing_50(alice, start, drive, scripted):
    gate = Gate(40)
    run = begun(alice, start, models(scripted, *[quick(judgment=gate.judgment)] * 10))
    with sandbox_as_played():
        wake(run.pk)
        worker = Worker()
        try:
            wait_until(lambda: run.judgments.count() == 40, "40 judgments", seconds=60)
        finally:
            worker.kill()
        judged = set(run.judgments.values_list("judge_seat", "subject"))
        before = len(scripted.received)
        gate.open()
        expire_leases()
        drive()

    run = fresh(run)
    assert (run.state, run.cycles.get().state, run.judgments.count()) == ("completed", "rated", 90)
    again = scripted.received[before:]
    assert len(again) == 50
    lost = run.calls.filter(state=Call.State.LOST).select_related("step")
    assert {call.step.purpose for call in lost} <= {"judge"}
    completed = run.calls.filter(step__purpose="judge", state=Call.State.COMPLETED)
    assert completed.count() == completed.values("step").distinct().count() == 90
    assert len(judged) == 40
    seats = [coder(number) for number in range(1, 11)]
    pairs = set(run.judgments.values_list("judge_seat", "subject"))
    assert pairs == {(judge, solver) for judge in seats for solver in seats if judge != solver}
    assert (len(asked(scripted, "problem")), len(asked(scripted, "solution"))) == (1, 10)
    assert_told_once(run)


def test_a_power_cut_at_any_write_changes_nothing(alice, start, drive, scripted, monkeypatch):
    writers = [*test_crashes.WRITERS[:3], (executions, "begin")]
    monkeypatch.setattr(test_crashes, "WRITERS", writers)
    slugs = models(scripted, quick(judgment=judgment(9)), quick(solution="No."), None)
    with sandbox_as_played():
        undisturbed = begun(alice, start, slugs)
        writes = writes_of(monkeypatch, drive)
        for moment in range(1, writes + 1, EVERY):
            Cycle.objects.update(fingerprint=[])  # or the problem would be none that is new
            run = begun(alice, start, slugs)
            scripted.received.clear()
            with monkeypatch.context() as patch:
                crash_at(patch, moment, after=moment % 2 == 0)
                with pytest.raises(PowerCut):
                    drive()
            expire_leases()
            drive()

            assert fresh(run).state == "completed", f"cut at write {moment}"
            assert record(run) == record(undisturbed), f"cut at write {moment}"
            lost = run.calls.filter(state=Call.State.LOST).count()
            assert len(scripted.received) <= run.calls.count() == undisturbed.calls.count() + lost
            assert_told_once(run)
