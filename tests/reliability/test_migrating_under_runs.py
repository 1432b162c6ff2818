"""The database is migrated while runs are under way; jobs of another release end nobody; commits wait for the disk."""

import threading

import django_rq
import pytest
from django.db import connection, migrations, models
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.loader import MigrationLoader

from experiments.engine import jobs
from experiments.models import Call, Run
from tests.experiments.engine.crashes import assert_books_balance
from tests.fixtures import Worker, wait_until
from tests.parts import stepped_engine

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases, pytest.mark.system]
STEADY = "sim/cooperative:first=0:tps=30:words=40"


class OfTheNextRelease(migrations.Migration):
    """A column more in the tables to which runs write, as `test_migrations_are_online` lets a release add it."""

    operations = [
        migrations.AddField(table, "of_the_next_release", models.JSONField(default=dict, db_default={}))
        for table in ("run", "call", "message", "judgment", "event")
    ]


@pytest.fixture
def driving(transactional_db):
    with stepped_engine.driving(threading.Event()):
        yield


def test_a_run_of_this_release_goes_on_while_the_next_one_migrates(arena, start, driving, provider):
    migration = OfTheNextRelease("9999_of_the_next_release", "experiments")
    state = MigrationLoader(connection).project_state()
    run = start(arena(a=STEADY, b=STEADY))
    wait_until(lambda: run.calls.filter(state=Call.State.SENT).exclude(text="").exists(), "the first words")

    with connection.schema_editor() as editor:
        migration.apply(state.clone(), editor)
    try:
        spoken = run.messages.count()
        wait_until(lambda: run.messages.count() > spoken, "another message")
        wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "its end")
    finally:
        with connection.schema_editor() as editor:
            migration.unapply(state.clone(), editor)

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
    with Worker() as worker:
        wait_until(lambda: Run.objects.get(pk=run.pk).is_over, "its end")
        assert worker.process.poll() is None
    queue.empty()

    assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED


SETTING = {"sqlite": ("PRAGMA synchronous", 2), "postgresql": ("SHOW synchronous_commit", "on")}  # 2 is FULL


def test_every_commit_of_a_run_waits_for_the_disk(arena, start, drive, monkeypatch):
    connection.close()  # one that a test without system parts has opened does not wait
    in_force = []
    commit = BaseDatabaseWrapper._commit

    def observed(database):
        question, _ = SETTING[database.vendor]
        in_force.append((database.vendor, database.connection.execute(question).fetchone()[0]))
        commit(database)

    experiment = arena(max_turns=1)
    monkeypatch.setattr(BaseDatabaseWrapper, "_commit", observed)
    start(experiment)
    drive()

    calls = Call.objects.filter(state=Call.State.COMPLETED).count()
    assert calls
    assert len(in_force) >= 2 * calls  # each is written ahead and settled
    assert all(setting == SETTING[vendor][1] for vendor, setting in in_force)
