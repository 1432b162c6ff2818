"""An acknowledged commit survives a loss of power: the database waits for the disk before it returns."""

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from experiments.models import Call

SETTING = {"sqlite": ("PRAGMA synchronous", 2), "postgresql": ("SHOW synchronous_commit", "on")}  # 2 is FULL


@pytest.mark.system  # others do not wait for the disk
@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
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
