"""Files of other systems become runs of whoever sends them: marked, each once, with a page that shows what was said."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.errors import Forbidden
from accounts.models import User
from experiments.library.imports import queueing, storing
from experiments.models import Dataset, Experiment, ImportedRun, Run, RunImport
from experiments.models.waiting import WorkState
from experiments.runs import timeline
from experiments.workflows.battles.campaign.logs.importing import make_dataset
from tests.experiments.imports import folders
from tests.making import maker

FILES = {  # whose it is, how many runs are in it, and what one of their pages shows
    "arena.json": ("arena", 1, "I take the first four."),
    "starchamber.json": ("starchamber", 1, "Nothing that has a name on it."),
    "council.json": ("council", 1, "Blue light scatters most in air."),
    "debate.json": ("debate", 2, "Mend the dome first."),
    "battles.jsonl": ("matrixarena", 2, "Chrono-Gated Courier Network"),
    "inspect.json": ("inspect", 2, "Found: parameters."),
    "cycle.zip": ("matrixarena", 1, "Largest less smallest."),
}


def contents(name):
    return folders.zipped(folders.cycle()) if name == "cycle.zip" else folders.read(name)


@pytest.fixture(autouse=True)
def uploads_of_their_own(settings, tmp_path):
    settings.UPLOADS_DIR = tmp_path / "uploads"


@maker
def send(alice, /, name, data=None, *, by=None, **how):
    file = SimpleUploadedFile(name, contents(name) if data is None else data)
    return queueing.keep(file, by=by or alice, language="en", **how)


def test_runs_are_stored_as_imported_and_their_pages_show_what_was_said(send, browser):
    for name, (source, count, phrase) in FILES.items():
        row = send(name, is_wanted=True)

        assert (row.state, row.report["stored"]) == (WorkState.DONE, count), (row.error, row.report)
        pages = []
        for run in Run.objects.filter(imported__file_sha256=row.sha256):
            assert (run.origin, run.imported.source) == (Run.Origin.IMPORTED, source), name
            replayed = timeline.replayed(run.events.all())
            assert [entry.anchor for entry in timeline.from_rows(run)] == [entry.anchor for entry in replayed], name
            page = browser.get(run.get_absolute_url())
            assert page.status_code == 200, name
            assert row.sha256 in page.content.decode(), name
            pages.append(page.content.decode())
        assert len(pages) == count
        assert phrase in "".join(pages), name
        assert not row.folder.exists(), name


@pytest.mark.databases
def test_the_same_file_makes_nothing_new_unless_it_is_somebody_elses_or_its_run_was_deleted(send):
    send("debate.json", is_wanted=True)

    again = send("renamed.json", contents("debate.json"), is_wanted=True)

    assert (again.report["stored"], again.report["known"]) == (0, 2)
    assert Run.objects.count() == ImportedRun.objects.count() == 2
    assert send("debate.json", by=User.objects.create_user("bob"), is_wanted=True).report["stored"] == 2
    Experiment.objects.all().delete()
    assert send("debate.json", is_wanted=True).report["stored"] == 2


def test_a_preview_stores_nothing_until_its_sender_says_so_and_nothing_once_cancelled_or_forgotten(send):
    row, other = send("council.json"), send("council.json")
    assert (row.state, row.report["found"], Run.objects.count()) == (WorkState.READY, 1, 0)
    assert row.report["runs"][0]["models"] == ["google/gemini-3-pro", "openai/gpt-5.1", "x-ai/grok-4"]

    forgotten = send("arena.json")
    RunImport.objects.filter(pk=forgotten.pk).update(created="2020-01-01T00:00Z")
    queueing.sweep()
    forgotten.refresh_from_db()
    assert (forgotten.state, forgotten.path.exists()) == (WorkState.CANCELLED, False)
    assert queueing.cancel(other)
    assert not other.folder.exists()
    assert queueing.confirm(other).state == WorkState.CANCELLED
    assert not Run.objects.exists()
    for _time in range(2):
        row = queueing.confirm(row)
        assert (row.state, Run.objects.count()) == (WorkState.DONE, 1)


def test_what_cannot_be_read_is_refused_with_its_place_and_does_not_keep_the_others_out(send):
    broken = [*json.loads(contents("debate.json")), {"rawPrompt": "", "finalPrompt": "", "summaryResult": None}]

    row = send("debate.json", json.dumps(broken).encode(), is_wanted=True)
    no_json = send("broken.json", b'{"messages": [\n  {"role": \n]}')
    of_another = send("council.json", source="matrixarena")

    assert (row.report["stored"], row.report["refused"]) == (2, 1)
    assert row.report["refusals"][0]["place"] == "debate.json [2]"
    assert (no_json.state, of_another.state) == (WorkState.FAILED, WorkState.FAILED)
    assert "line 3" in no_json.error
    assert "LLM Council" in of_another.error
    report = storing.Report()
    for number in range(103):
        report.refuse(f"a.json [{number}]", "It has no messages.")
    assert (report.refused, len(report.refusals), report.refusals[-1]["place"]) == (103, 100, "a.json [99]")


def test_a_large_file_is_left_to_a_worker(send, monkeypatch, django_capture_on_commit_callbacks):
    rung = []
    monkeypatch.setattr(queueing, "AT_ONCE_BYTES", 10)
    monkeypatch.setattr(queueing, "wake", lambda: rung.append(True))
    with django_capture_on_commit_callbacks(execute=True):
        row = send("arena.json", is_wanted=True)
    assert (row.state, rung) == (WorkState.QUEUED, [True])
    assert row.folder.stat().st_mode & 0o777 == 0o700

    queueing.read_all(queueing.threading.Event())

    row.refresh_from_db()
    assert (row.state, row.progress, Run.objects.count()) == (WorkState.DONE, 1, 1)


@pytest.mark.databases
def test_a_worker_that_was_ended_half_way_is_followed_by_another(send):
    row = send("debate.json", is_wanted=True)
    Run.objects.order_by("created").last().experiment.delete()
    row.path.parent.mkdir(parents=True)
    row.path.write_bytes(contents("debate.json"))
    RunImport.objects.update(state=WorkState.RUNNING, beat="2020-01-01T00:00Z", attempt=1)

    queueing.waiting.sweep(RunImport)
    queueing.read_all(queueing.threading.Event())

    row.refresh_from_db()
    assert (row.state, row.report["stored"], row.report["known"]) == (WorkState.DONE, 1, 1)


@pytest.mark.databases
def test_battles_become_a_dataset_unless_they_are_refused_or_cancelled(send):
    damaged = contents("genarena.jsonl") + b'{"model_a": "x", "model_b": "y", "winner": "z"}\n'
    refused = send("genarena.jsonl", damaged, is_wanted=True)
    assert (refused.state, refused.dataset, Dataset.objects.count()) == (WorkState.FAILED, None, 0)
    assert "winner is" in refused.error

    begun = send("genarena.jsonl")
    RunImport.objects.filter(pk=begun.pk).update(dataset=make_dataset(owner=begun.owner, name="Begun"))
    queueing.cancel(begun)
    queueing.sweep()
    assert not Dataset.objects.exists()

    row = send("genarena.jsonl", is_wanted=True)

    assert (row.state, row.source) == (WorkState.DONE, "genarena"), row.error
    assert row.dataset == Dataset.objects.get()
    assert row.dataset.boards.get().battles.count() == 2


def test_who_may_not_import_or_has_too_many_files_waiting_is_refused(send, alice):
    for _time in range(queueing.MOST_WAITING):
        send("arena.json")
    with pytest.raises(Forbidden, match="still wait"):
        send("arena.json")

    RunImport.objects.all().delete()
    User.objects.filter(pk=alice.pk).update(role="reviewer")
    with pytest.raises(Forbidden, match="researcher"):
        send("arena.json", by=User.objects.get(pk=alice.pk))
