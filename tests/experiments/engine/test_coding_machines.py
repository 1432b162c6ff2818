"""Which machine runs the code of a contest, and that it runs what was written."""

import json
import threading

import pytest
from django.utils import timezone

from experiments import actions
from experiments.engine import executions
from experiments.engine.events import announce_now
from experiments.engine.recording import Book
from experiments.models import Execution, Run, SandboxHost
from experiments.sandboxing import hosts, running
from experiments.workflows.steps import Execute
from tests.experiments.contest_rows import Contest

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]
TESTS = ({"name": "1", "arguments": [{"b": 1, "a": 2}, 1e16, "é"], "expected": {"z": [], "y": None}},)


@pytest.fixture
def waiting(alice):
    """An execution that waits."""
    run = Contest(alice, is_bare=True).run
    Run.objects.filter(pk=run.pk).update(state="running")
    book = Book(run.pk, Run.objects.get(pk=run.pk).fence, announce_now)
    executions.begin(book, Execute("x", "coder-1", "def f(*a): pass", "f", TESTS, turn=1))
    return Execution.objects.get()


def work():
    running.run_all(threading.Event())


def test_arguments_come_back_with_their_names_in_order_and_their_numbers_as_they_were(waiting):
    assert json.dumps(waiting.tests) == json.dumps(list(TESTS))


def test_a_machine_that_cannot_leaves_the_work_to_one_that_can(waiting, settings):
    settings.SANDBOX_BACKEND = "off"
    hosts.check()
    SandboxHost.objects.create(name="other", backend="bubblewrap", is_sufficient=True, checked=timezone.now())

    work()

    assert Execution.objects.get().state == "waiting"


@pytest.mark.system
def test_a_want_of_a_moment_is_tried_again_before_anything_fails(waiting, settings):
    settings.SANDBOX_BACKEND = "off"
    over = threading.Timer(1.0, setattr, (settings, "SANDBOX_BACKEND", ""))
    over.start()

    work()

    over.join()
    assert (Execution.objects.get().state, Execution.objects.get().claim) == ("done", 2)


def test_what_a_run_that_is_stopped_before_its_next_driver_had_waiting_is_not_run(waiting, alice):
    run = waiting.run
    Run.objects.filter(pk=run.pk).update(state="queued")

    actions.stop(run, by=alice)
    work()

    assert Execution.objects.get().state == "cancelled"


def test_without_any_machine_that_can_it_fails_with_the_reason(waiting, settings):
    settings.SANDBOX_BACKEND = "off"
    work()

    failed = Execution.objects.get()
    assert (failed.state, failed.error_kind, failed.error) == ("failed", "sandbox_unavailable", hosts.SWITCHED_OFF)


@pytest.mark.system
def test_what_an_administrator_has_named_unsafe_is_used_and_says_so(waiting, settings):
    settings.SANDBOX_BACKEND = "unsafe"
    hosts.check(is_fresh=True)
    assert hosts.refusal() == ""

    work()

    assert (Execution.objects.get().state, Execution.objects.get().is_unsafe) == ("done", True)
