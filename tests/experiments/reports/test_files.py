"""Files that a worker makes once, whole, in spite of whoever dies; each tells of no run that its reader may not see."""

import json
import os
import subprocess
import sys
import threading
from datetime import timedelta
from types import SimpleNamespace

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from accounts.models import Project
from experiments.library.bulk import making as bulk
from experiments.library.bulk.formats import FORMATS as BULK_FORMATS
from experiments.models import Cycle, Experiment, Export, Run
from experiments.runs.reports import jobs, narrative
from experiments.runs.reports.document import each
from experiments.runs.reports.formats import FORMATS, LINKED, Format, unheard
from experiments.tasks import waiting
from experiments.workflows.coding.services import remember_earlier
from experiments.workflows.judging.surface import rejudged
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.reports.records import SCORES, Record
from tests.experiments.sharing.published import approved, everybodys
from tests.fixtures import environment, signed_in, wait_until
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


def file_for(record, reader, name):
    run = record.fetched()
    run.reader = reader
    format_ = LINKED if name == LINKED.name else FORMATS[name]
    return b"".join(format_.chunks(run, "en", unheard)).decode()


def test_what_was_made_from_a_run_is_named_to_who_may_see_it(alice, charlie, settings, tmp_path):
    settings.BULK_EXPORTS_DIR, parent = tmp_path, Record(alice)
    said = parent.reply("B", 2, "Hello.")
    child = Record(alice, parent=parent.run, branched_from=said, origin="branch", title="Alice's own attempt")
    Experiment.objects.filter(pk=parent.run.experiment_id).update(visibility="lab")

    def assert_named_to(*readers, formats=("html", "md", "json", "jsonl", "inspect")):
        for name in formats:
            told = [one for one in (alice, charlie, None) if str(child.run.pk) in file_for(parent, one, name)]
            assert told == list(readers), name

    assert_named_to(alice)
    for person, sees in ((alice, True), (charlie, False)):
        row = bulk.ask({"runs": [str(parent.run.pk)]}, by=person, format_=BULK_FORMATS["jsonl"], language="en")
        bulk.make_all(threading.Event())
        assert (str(child.run.pk) in row.path.read_text()) is sees, "in a file for many runs"

    Experiment.objects.filter(pk=child.run.experiment_id).update(visibility="public")
    assert_named_to(alice, charlie)  # nobody has approved it
    assert_named_to(formats=[LINKED.name])  # a link's report shows what visitors see
    approved(child.run)
    assert_named_to(alice, charlie, None)


def test_first_scores_stand_beside_second_ones_for_who_may_see_the_first(alice, charlie, client):
    """Alice's private run, and its transcript judged again in a run that everybody sees."""
    record, turns = Record(alice), [{"turn": 1, "messages": {"A": "Hello."}, "deeds": []}]
    record.reply("A", 1, "Hello.")
    record.judged(1, {"A": {**SCORES, "cooperation": 0.123}})
    first, subjects = record.run, {"subjects": ["A"], "turns": turns, "workflow": "arena", "objectives": {}}
    again = Record(alice, "judging", {"source": str(first.pk), **subjects}, parent=first).run
    everybodys(again.experiment)

    assert rejudged(again, alice).source == first
    assert rejudged(again, charlie) is None
    assert str(first.pk) not in client.get(again.get_absolute_url()).content.decode()
    assert str(first.pk) in signed_in(alice).get(again.get_absolute_url()).content.decode()


@pytest.fixture
def contests(alice):
    """A contest of Alice's that nobody else sees, and one that is asked for now."""
    earlier, now = contest_rows.contest(alice, 1).run, contest_rows.Contest(alice).run
    Cycle.objects.filter(run=earlier).update(fingerprint=[1] * 32)
    return Project.objects.create(name="Solar lab"), earlier, now


def known(run):
    """The titles of earlier problems that a run is told of; "" for one that it is compared with and not told."""
    remember_earlier(run)
    problems = run.steps.get(purpose="problems_known").data["outcome"]["found"]["problems"]
    assert all(one["fingerprint"] for one in problems)
    return [one["title"] for one in problems]


@each_case(
    ("of_earlier", "of_now", "is_named"),
    [
        ("private", "private", True),
        ("private", "project", False),
        ("project", "project", True),
        ("project", "other project", False),
        ("project", "lab", False),
        ("lab", "project", True),
        ("lab", "lab", True),
        ("lab", "public", False),
    ],
)
def test_an_earlier_problem_is_named_where_all_who_read_that_may_see_it(contests, of_earlier, of_now, is_named):
    project, earlier, now = contests
    other = Project.objects.create(name="Wind lab")
    for run, visibility in ((earlier, of_earlier), (now, of_now)):
        seen = {"visibility": visibility.removeprefix("other "), "project": other if "other" in visibility else project}
        Experiment.objects.filter(pk=run.experiment_id).update(**seen)
        run.experiment.refresh_from_db()
    title = earlier.cycles.get().title

    assert known(now) == [title if is_named else ""], "it is compared with all of them"


def test_what_a_contest_was_told_is_in_its_owners_files_alone(contests, alice, charlie):
    """It may have been shared only later."""
    _project, earlier, now = contests
    title = earlier.cycles.get().title
    assert known(now) == [title]

    def told(reader):
        run = Run.objects.with_totals().get(pk=now.pk)
        run.reader = reader
        steps = json.loads(b"".join(FORMATS["json"].chunks(run, "en", unheard)))["steps"]
        [step] = [step for step in steps if step["purpose"] == "problems_known"]
        return title in json.dumps(step)

    assert [told(reader) for reader in (alice, charlie, None)] == [True, False, False]
