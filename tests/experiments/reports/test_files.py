"""Files that a worker makes: once, whole, and in spite of whoever dies over it."""

import os
import subprocess
import sys
import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from experiments.models import Experiment, Export, Run
from experiments.runs.reports import jobs, narrative
from experiments.runs.reports.document import each
from experiments.runs.reports.formats import FORMATS, Format
from experiments.tasks import waiting
from tests.experiments.reports.records import Record
from tests.fixtures import environment, wait_until
from tests.making import maker
from tests.rivals import at_once


@maker
def ask(alice, /, run, format_="csv", language="en"):
    return jobs.request_file(run, by=alice, format_=FORMATS[format_], language=language)


@maker
def written(monkeypatch, /, write):
    monkeypatch.setitem(FORMATS, "odd", Format("odd", "Odd", "text/plain", write, lambda run: "odd.txt"))


def again(export):
    return Export.objects.get(pk=export.pk)


def test_the_file_holds_what_the_button_of_a_short_run_gives(played, ask, make_files, with_totals, monkeypatch):
    now = timezone.now()
    monkeypatch.setattr(narrative, "timezone", SimpleNamespace(now=lambda: now))  # the moment of its making
    run = played(max_turns=1)
    wanted = [("html", "zh-hans"), *((format_, "en") for format_ in FORMATS)]
    asked = [(ask(run, format_, language), format_) for format_, language in wanted]

    make_files()

    for export, format_ in asked:
        done = again(export)
        assert (done.state, done.progress, done.error) == ("done", 1, ""), format_
        data = done.path.read_bytes()
        assert done.size == len(data)
        if format_ != "pdf":  # which carries the moment of its making
            expected = FORMATS[format_].chunks(with_totals(run), export.language, lambda done: None)
            assert data == b"".join(expected), format_
    assert {path.name for path in done.path.parent.iterdir()} == {str(export.pk) for export, _format in asked}
    assert done.path.parent.stat().st_mode & 0o777 == 0o700


@pytest.fixture
def run(alice):
    """One that was written, as nothing depends on how it was played."""
    record = Record(alice)
    record.reply("A", 1, "Hello.")
    return record.run


def test_a_renderer_that_stumbles_ends_its_file_and_no_other_and_can_be_asked_again(run, ask, written, make_files):
    broken, seen = [True], []

    def write(run, language, progress):
        yield b"half"
        if broken:
            raise ValueError("no such glyph")
        for share in (0.25, 0.5, 0.505, 1.0):
            progress(share)
            seen.append(again(second).progress)

    written(write)
    odd, table = ask(run, "odd"), ask(run, "csv")
    make_files()

    assert (again(odd).state, again(odd).error) == ("failed", "ValueError: no such glyph")
    assert again(table).state == "done"
    assert [path.name for path in table.path.parent.iterdir()] == [str(table.pk)]
    broken.clear()
    second = ask(run, "odd")
    make_files()
    assert odd != second
    assert again(second).path.read_bytes() == b"half"
    assert seen == [0.25, 0.5, 0.5, 1.0]

    assert ask(run, "csv") == table, "the same state of a run gives the same file"
    Run.objects.filter(pk=run.pk).update(last_seq=99)
    assert ask(Run.objects.get(pk=run.pk), "csv") != table


@pytest.mark.databases
def test_one_worker_makes_it_however_many_try(run, ask, monkeypatch):
    """The rival claims it between our look and our claim."""
    export = ask(run)
    monkeypatch.setattr(waiting, "Now", lambda: silent(export, seconds=0) or Now())

    assert waiting.claim_next(Export) is None
    assert again(export).attempt == 1


@pytest.mark.parametrize("why", ["lost its claim", "is asked to end"])
def test_a_worker_that_lost_its_claim_or_is_asked_to_end_leaves_the_file_to_another(run, ask, written, why):
    stop = threading.Event()

    def write(run, language, progress):
        yield b"mine"
        if why == "lost its claim":
            Export.objects.update(attempt=7)
        else:
            stop.set()
        progress(0.5)

    written(write)
    export = ask(run, "odd")

    jobs.make_all(stop)

    left = again(export)
    expected = ("running", 7) if why == "lost its claim" else ("queued", 0)
    assert (left.state, left.attempt, left.progress) == (*expected, 0)
    assert list(export.path.parent.iterdir()) == []


def silent(export, seconds=3600, **fields):
    """A worker died over it so long ago."""
    beat = timezone.now() - timedelta(seconds=seconds)
    Export.objects.filter(pk=export.pk).update(**{"state": "running", "attempt": 1, "beat": beat, **fields})


@pytest.mark.databases
def test_what_a_dead_worker_held_is_made_by_the_next_until_it_killed_three(run, ask, make_files):
    export = ask(run)
    silent(export, seconds=1)
    assert (jobs.sweep(), again(export).state) == (0, "running"), "what a worker makes is left to it"

    silent(export, progress=0.4)
    assert jobs.sweep() == 1
    make_files()
    assert (again(export).state, again(export).attempt) == ("done", 2)

    silent(export, attempt=waiting.MOST_ATTEMPTS)
    assert jobs.sweep() == 0
    assert again(export).state == "failed"
    assert "3 times" in again(export).error


@pytest.mark.django_db(transaction=True)
def test_a_worker_says_that_it_is_alive_while_a_renderer_says_nothing(run, ask, written, settings, make_files):
    settings.EXPORT_LEASE_SECONDS = 0.2
    beats = set()

    def write(run, language, progress):
        wait_until(lambda: beats.add(Export.objects.get().beat) or len(beats) > 2, "beats")
        yield b"x"

    written(write)
    ask(run, "odd")
    make_files()

    assert Export.objects.get().state == "done"


def test_files_of_last_week_are_forgotten(run, ask, make_files):
    old, new = ask(run, "csv"), ask(run, "json")
    make_files()
    Export.objects.filter(pk=old.pk).update(ended=timezone.now() - timedelta(days=8))
    orphan = old.path.with_name("orphan")
    orphan.touch()
    os.utime(orphan, (0, 0))

    jobs.sweep()

    assert list(Export.objects.all()) == [new]
    assert [path.name for path in new.path.parent.iterdir()] == [str(new.pk)]


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_a_real_worker_takes_up_what_a_killed_one_left(arena, start, drive, ask, settings):
    settings.EXPORTS_DIR = settings.DATA_DIR / "exports"
    run = start(arena(max_turns=1))
    drive()
    export = ask(Run.objects.get(pk=run.pk))
    silent(export)
    kind = "experiments.runs.reports.jobs.ReportsWorker"
    command = [sys.executable, "manage.py", "rqworker", "reports", "--worker-class", kind, "--skip-checks"]
    variables = environment() | {"ARENA_SWEEP_SECONDS": "0.2"}
    worker = subprocess.Popen(command, env=variables, stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: again(export).state == "done", "the file")
        assert again(export).path.stat().st_size == again(export).size
    finally:
        worker.terminate()
        code = worker.wait(timeout=80)
    assert code == 0


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_what_others_write_while_rows_are_read_holds_no_file_up(alice):
    record = Record(alice)
    for turn in range(1, 4):
        record.reply("A", turn, "Hello.")

    def rename(title):
        Experiment.objects.filter(pk=record.run.experiment_id).update(title=title)

    lines = 0
    for _row in each(record.run.messages.all(), at_once=1):
        at_once(lambda: rename("Elsewhere"))
        rename("Here")
        lines += 1

    assert lines == 3
