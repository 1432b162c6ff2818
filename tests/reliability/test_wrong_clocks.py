"""A machine whose clock is an hour off neither takes what another one holds, nor loses what it holds itself."""

from contextlib import contextmanager
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.db.models import F
from django.utils import timezone

from experiments.api import idempotency
from experiments.api.idempotency import UnderWay
from experiments.engine import executions, leases
from experiments.engine.jobs import sweep
from experiments.lab.webhooks import delivering, outbox
from experiments.lab.webhooks.outbox import Kind
from experiments.library.datasets import reading
from experiments.models import (
    BulkExport,
    Dataset,
    Execution,
    Export,
    IdempotentRequest,
    LogImport,
    ReviewSlot,
    Run,
    SandboxHost,
    Step,
    Upload,
    Webhook,
    WebhookDelivery,
)
from experiments.review import slots
from experiments.runs.reports import jobs
from experiments.runs.steering import steering
from experiments.sandbox.host import hosts, worker
from experiments.tasks import clock, waiting
from experiments.workflows.battles.campaign.logs import queueing
from tests.cases import each_case
from tests.experiments.engine.crashes import PowerCut
from tests.experiments.reviews import reviewed

pytestmark = [pytest.mark.django_db, pytest.mark.databases]

LONG = timedelta(minutes=40)  # longer than every lease, and shorter than the clocks are off
right = timezone.now


@contextmanager
def machine(monkeypatch, off=timedelta(0)):
    """What is done inside is done on a machine whose clock is so far off."""
    with monkeypatch.context() as patch:
        patch.setattr(timezone, "now", lambda: right() + off)
        yield


class Work:
    """Something that one machine at a time holds. take: True for the one that got it. field: until when, or since."""

    def __init__(self, model, take, field):
        self.model, self.take, self.field = model, take, field

    def age(self):
        """As if so much time had passed."""
        self.model.objects.update(**{self.field: F(self.field) - LONG})


def of_run(run, alice, bob):
    def take():
        sweep()
        return leases.claim(run.pk, lambda event: None) is not None

    return Work(Run, take, "lease_until")


def of_export(run, alice, bob):
    Export.objects.create(run=run, owner=alice, format="json", language="en", last_seq=1)
    return Work(Export, lambda: bool(jobs.sweep() and waiting.claim_next(Export)), "beat")


def of_bulk_export(run, alice, bob):
    BulkExport.objects.create(owner=alice, format="jsonl")
    return Work(BulkExport, lambda: bool(waiting.sweep(BulkExport) and waiting.claim_next(BulkExport)), "beat")


def of_upload(run, alice, bob):
    Upload.objects.create(owner=alice, dataset=dataset(alice), kind="samples", name="a.csv", size=1, state="waiting")
    return Work(Upload, lambda: bool(reading.sweep_uploads() and waiting.claim_next(Upload)), "beat")


def of_log(run, alice, bob):
    row = LogImport.objects.create(owner=alice, dataset=dataset(alice), name="a.csv", size=1)

    def take():
        queueing.sweep()
        return queueing._claim(row)

    return Work(LogImport, take, "beat")


def of_delivery(run, alice, bob):
    hook = Webhook.objects.create(owner=alice, url="https://a.example/", secret="-", events=[Kind.RUN_STARTED])
    outbox.test(hook)

    def take():
        delivering.sweep()
        return bool(delivering._claim())

    return Work(WebhookDelivery, take, "next_at")


def of_place(run, alice, bob):
    queue = reviewed.queue(alice, alice, bob, turns=1)
    item, people = queue.items.first(), iter([alice, bob, bob])
    ReviewSlot.objects.exclude(item=item).delete()

    def take():
        try:
            return bool(slots.claim(item, by=next(people)))
        except slots.SlotUnavailable:
            return False

    return Work(ReviewSlot, take, "until")


def of_execution(run, alice, bob):
    step = Step.objects.create(run=run, key="run", kind="execute", purpose="solution")
    limits = {"seconds_limit": 1, "memory_limit": 1, "tests": []}
    place = {"turn": 1, "seat": "solver-1", "language": "python", "entry": "f", "code": "", "comparison": "equal"}
    Execution.objects.create(run=run, step=step, **place, **limits)

    def take():
        worker.sweep()
        return bool(executions.take(1))

    return Work(Execution, take, "lease_until")


def of_request(run, alice, bob):
    def take():
        try:
            idempotency.once_outside(Mock(side_effect=PowerCut), by=alice, key="a", request=("a",))
        except UnderWay:
            return False
        except PowerCut:
            return True

    return Work(IdempotentRequest, take, "created")


def dataset(owner):
    return Dataset.objects.create(owner=owner, slug="panels", name="Panels", state="reading", beat=clock.read())


@pytest.fixture
def run(arena, woken_runs, monkeypatch):
    monkeypatch.setattr(IdempotentRequest, "delete", lambda row: None)  # dead processes leave their requests
    return Run.objects.create(experiment=arena(), seed=7)


BEHIND, RIGHT, AHEAD = -timedelta(hours=1), timedelta(0), timedelta(hours=1)
WORK = [of_run, of_export, of_bulk_export, of_upload, of_log, of_delivery, of_execution, of_request, of_place]
each_work = each_case("make", WORK, ids=lambda make: make.__name__)


@each_case(("first", "second"), [(BEHIND, RIGHT), (RIGHT, AHEAD), (AHEAD, RIGHT), (RIGHT, BEHIND)])
@each_work
def test_what_one_machine_holds_no_other_takes_until_it_is_dead(run, alice, bob, monkeypatch, make, first, second):
    with machine(monkeypatch, first):
        held = make(run, alice, bob)
        assert held.take()

    with machine(monkeypatch, second):
        assert not held.take()
        held.age()
        assert held.take()


@each_work
def test_what_a_machine_that_is_ahead_wrote_down_another_takes_at_once(run, alice, bob, monkeypatch, make):
    with machine(monkeypatch, AHEAD):
        written = make(run, alice, bob)

    with machine(monkeypatch, RIGHT):
        assert written.take()


@each_case(("first", "second"), [(BEHIND, RIGHT), (RIGHT, BEHIND), (RIGHT, AHEAD)])
def test_no_time_is_lost_or_won_while_a_run_waits_and_plays(
    arena, start, drive, monkeypatch, alice, provider, first, second
):
    with machine(monkeypatch, first):
        run = start(arena(mode="manual", limits={"seconds": 600}))
        drive()
    with machine(monkeypatch, second):
        run = Run.objects.get(pk=run.pk)
        steering.say(run, by=alice, key=run.open_pauses[-1].key, action="default")
        drive()

    run = Run.objects.get(pk=run.pk)
    assert (run.state, run.stop_reason) == (Run.State.WAITING, "")
    assert 0 <= run.waited_seconds < 600


def test_a_machine_that_can_run_code_is_there_whatever_its_clock_says(monkeypatch):
    for name, off in (("a", BEHIND), ("b", AHEAD)):
        with machine(monkeypatch, off):
            SandboxHost.objects.create(name=name, backend="bubblewrap", is_sufficient=True, checked=clock.read())

    told = {host.name for host in hosts.known()}
    SandboxHost.objects.update(checked=F("checked") - LONG)
    assert told == {"a", "b"}
    assert hosts.known() == []
