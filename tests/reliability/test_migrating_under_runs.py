"""The database is migrated while runs are under way, and what another release has put into the queue ends nobody."""

import threading

import django_rq
import pytest
from django.core.management import call_command
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from experiments.engine import jobs
from experiments.engine.driver import Driver
from experiments.models import Call, Run
from tests.experiments.engine.crashes import assert_books_balance
from tests.fixtures import Worker, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases, pytest.mark.system]
STEADY = "sim/cooperative:first=0:tps=30:words=40"


def newest(app):
    """Its last migration, and the one before."""
    graph = MigrationLoader(None).graph
    [leaf] = graph.leaf_nodes(app)
    before = [parent.key for parent in graph.node_map[leaf].parents if parent.key[0] == app]
    return leaf[1], before[0][1]


@pytest.fixture
def driving(transactional_db):
    stop = threading.Event()

    def work():
        Driver(stop).drive(idle_seconds=60)
        connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    stop.set()
    thread.join(80)


@pytest.mark.parametrize("app", ["accounts", "experiments"])
def test_a_run_goes_on_while_the_newest_migration_is_taken_back_and_made_again(arena, start, driving, provider, app):
    leaf, before = newest(app)
    run = start(arena(a=STEADY, b=STEADY))
    wait_until(lambda: run.calls.filter(state=Call.State.SENT).exclude(text="").exists(), "the first words")

    try:
        call_command("migrate", app, before, verbosity=0)
        spoken = run.messages.count()
        wait_until(lambda: run.messages.count() > spoken or Run.objects.get(pk=run.pk).is_over, "another message")
    finally:
        call_command("migrate", app, leaf, verbosity=0)
    wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "its end")

    run = Run.objects.get(pk=run.pk)
    assert run.state == Run.State.COMPLETED
    assert not run.calls.filter(state=Call.State.LOST).exists()
    assert_books_balance(run, provider)


def test_jobs_of_another_release_end_no_worker_and_no_run(arena, start, provider):
    queue = django_rq.get_queue(jobs.QUEUE)
    run = start(arena())
    queue.enqueue("experiments.engine.jobs.of_another_release", str(run.pk))
    queue.enqueue(jobs.drive, str(run.pk), "more than this release takes")
    queue.enqueue(jobs.drive, "of a run that is gone")
    worker = Worker()
    try:
        wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "its end")
        assert worker.process.poll() is None
    finally:
        worker.kill()
        queue.empty()

    assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED
