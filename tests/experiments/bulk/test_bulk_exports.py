"""Many runs in one file: chosen by whoever may see them, described by a manifest, taken only as long as they may."""

import csv
import gc
import hashlib
import io
import json
import threading
import tracemalloc
import zipfile
from datetime import timedelta

import duckdb
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from accounts.errors import Forbidden, Invalid
from accounts.models import AuditEntry, User
from experiments.library.bulk import making, selecting
from experiments.library.bulk.formats import FORMATS, MANIFEST
from experiments.library.imports import queueing
from experiments.library.search import indexing
from experiments.models import Ballot, BulkExport, Call, Execution, Experiment, Judgment, Message, Run, RunImport
from experiments.models.waiting import WorkState
from tests.cases import each_case
from tests.experiments import contest_rows
from tests.experiments.imports import folders
from tests.experiments.reports import deliberations
from tests.experiments.reports.records import SCORES, Record
from tests.making import maker


def talk(owner, said="Yours are =1+1 of seven.", **run):
    """An arena run of one turn, with a score that is missing."""
    record = Record(owner, **run)
    record.turn(1)
    record.reply("A", 1, said)
    record.reply("B", 1, "No: 分享吧。", reasoning="Be firm.")
    record.judged(1, {"A": SCORES, "B": None})
    record.completed(1)
    return record.run


@pytest.fixture(autouse=True)
def quiet(settings, tmp_path, woken_runs):
    settings.UPLOADS_DIR = tmp_path / "uploads"


@pytest.fixture
def runs(alice):
    rows = [talk(alice), deliberations.council(alice).run, contest_rows.contest(alice, 1).run]
    indexing.everything()
    return rows


@maker
def export(alice, /, format_="jsonl", asked=None, by=None):
    row = making.ask(asked or {}, by=by or alice, format_=FORMATS[format_], language="en")
    making.make_all(threading.Event())
    row.refresh_from_db()
    return row


def unpacked(row):
    with zipfile.ZipFile(row.path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def facts(run):
    """What was said and found, whatever it is called here."""
    texts = [(m.turn, m.seat, m.raw_text, m.text, m.reasoning) for m in run.messages.all()]
    return {
        "texts": hashlib.sha256(json.dumps(texts).encode()).hexdigest(),
        "judgments": sorted(
            (j.turn, j.subject, j.judge_seat, str(j.scores), j.unscored_reason) for j in run.judgments.all()
        ),
        "ballots": [(b.turn, b.reviewer, b.order, b.labels, b.abstained_reason) for b in run.ballots.all()],
        "votes": [cycle.found.get("votes") for cycle in run.cycles.all()],
    }


@pytest.mark.databases
@pytest.mark.parametrize("format_", [name for name, one in FORMATS.items() if one.returns])
def test_what_is_exported_and_imported_on_an_empty_platform_is_equal(runs, export, alice, format_):
    row = export(format_)
    before = {run.experiment.workflow: facts(run) for run in runs}
    data = row.path.read_bytes()
    for model in (Ballot, Judgment, Message, Execution, Call, Experiment):
        model.objects.all().delete()

    sent = SimpleUploadedFile(row.name, data)
    brought = queueing.keep(sent, by=alice, language="en", is_wanted=True)
    queueing.read_all(threading.Event())

    brought.refresh_from_db()
    assert (brought.report["stored"], brought.report["refused"]) == (3, 0), brought.report["refusals"]
    assert {run.experiment.workflow: facts(run) for run in Run.objects.all()} == before


@pytest.mark.databases
def test_lines_and_tables_hold_every_run_and_row_and_no_formula(runs, export):
    row, said = export("jsonl"), export("messages", {"runs": [str(runs[0].pk)]})
    lines, messages = ([json.loads(line) for line in one.path.read_bytes().splitlines()] for one in (row, said))

    assert {line["run"]["id"] for line in lines} == {str(run.pk) for run in runs}
    assert row.sha256 == hashlib.sha256(row.path.read_bytes()).hexdigest()
    assert row.manifest["parts"] == [{"name": "runs.jsonl", "rows": 3, "size": row.size, "sha256": row.sha256}]
    assert [(line["seat"], line["run"]) for line in messages] == [("A", str(runs[0].pk)), ("B", str(runs[0].pk))]
    logs = export("inspect")
    assert {part["name"] for part in logs.manifest["parts"]} == unpacked(logs).keys() - {MANIFEST}

    files = unpacked(export("csv"))
    manifest = json.loads(files["manifest.json"])
    tables = {
        name: list(csv.DictReader(io.StringIO(data.decode("utf-8-sig"))))
        for name, data in files.items()
        if name != MANIFEST
    }

    assert len(tables["runs.csv"]) == 3
    assert len(tables["messages.csv"]) == sum(run.messages.count() for run in runs)
    assert len(tables["ballots.csv"]) == 3
    assert len(tables["executions.csv"]) == runs[2].executions.count()
    assert not [cell for rows in tables.values() for row in rows for cell in row.values() if cell and cell[0] in "=@+"]
    for part in manifest["parts"]:
        assert part["sha256"] == hashlib.sha256(files[part["name"]]).hexdigest()
        assert part["rows"] == len(tables[part["name"]])


@pytest.mark.system
def test_parquet_holds_the_same_rows_with_their_types(runs, export, tmp_path):
    row = export("parquet")
    assert row.state == WorkState.DONE, row.error
    for name, data in unpacked(row).items():
        (tmp_path / name).write_bytes(data)

    def asked(query, table):
        return duckdb.sql(query.format(f"'{tmp_path / table}.parquet'")).fetchall()

    assert asked("select count(*) from {}", "messages") == [(sum(run.messages.count() for run in runs),)]
    assert asked("select count(*) from {}", "battles") == [(0,)]
    assert asked("select text from {} where seat = 'B' and text like 'No%'", "messages") == [("No: 分享吧。",)]
    types = dict(row[:2] for row in asked("describe select * from {}", "calls"))
    assert (types["cost"], types["sent"]) == ("DECIMAL(20,10)", "TIMESTAMP WITH TIME ZONE")
    assert asked("select count(*) from {} where scores is null", "judgments") == [
        (sum(run.judgments.filter(scores__isnull=True).count() for run in runs),)
    ]


@pytest.mark.databases
def test_runs_are_chosen_as_in_their_list_and_none_that_may_not_be_seen(runs, alice):
    known = {"workflow=council": 1, "state=failed": 0, "search=contest": 1, "whose=shared": 0}
    assert {one: selecting.chosen(dict([one.split("=")]), by=alice).count() for one in known} == known
    assert selecting.chosen({}, by=alice).count() == 3
    assert selecting.ids({"experiment": str(runs[1].experiment_id)}, by=alice) == [str(runs[1].pk)]
    Experiment.objects.filter(pk=runs[0].experiment_id).update(visibility="lab")
    bob = User.objects.create_user("bob")
    found = [selecting.chosen({"whose": whose}, by=bob).count() for whose in ("all", "mine", "shared")]
    assert found == [1, 0, 1]
    Experiment.objects.update(visibility="private")
    wrong = [{"tag": "x"}, {"runs": ["1"]}, {"state": "odd"}, {"workflow": "poker"}, {"state": "failed"}]
    of_bob = [(bob, {}), (bob, {"experiment": str(runs[0].experiment_id)})]
    for by, asked in (*((alice, one) for one in (*wrong, {"whose": "his"})), *of_bob):
        with pytest.raises(Invalid):
            selecting.ids(asked, by=by)


def test_a_run_that_may_not_be_seen_any_more_is_left_out_and_a_file_with_it_is_not_given(runs, export, alice):
    bob = User.objects.create_user("bob")
    Experiment.objects.update(visibility="lab")
    row = making.ask({}, by=bob, format_=FORMATS["jsonl"], language="en")
    Experiment.objects.filter(pk=runs[0].experiment_id).update(visibility="private")
    making.make_all(threading.Event())
    row.refresh_from_db()
    assert (row.manifest["runs"], row.left_out) == (2, 1)
    assert str(runs[0].pk) not in row.path.read_text()
    assert making.take(row, by=bob) == row.path
    entries = AuditEntry.objects.filter(action="exported").order_by("pk")
    assert [(entry.actor, entry.detail["deed"], entry.detail["runs"]) for entry in entries] == [
        ("bob", "asked", 3),
        ("bob", "downloaded", 2),
    ]

    Experiment.objects.filter(pk=runs[1].experiment_id).update(visibility="private")
    with pytest.raises(Forbidden, match="no longer see"):
        making.take(row, by=bob)


@each_case("when", ["before", "meanwhile"])
def test_an_export_that_is_cancelled_makes_no_file(runs, alice, monkeypatch, when):
    row = making.ask({}, by=alice, format_=FORMATS["jsonl"], language="en")
    if when == "before":
        assert making.cancel(row)
    else:
        seen = BulkExport.still_visible
        monkeypatch.setattr(BulkExport, "still_visible", lambda one: making.cancel(one) and seen(one))

    making.make_all(threading.Event())

    row.refresh_from_db()
    assert row.state == WorkState.CANCELLED
    assert not row.path.exists()
    assert not row.path.parent.exists() or not list(row.path.parent.iterdir())
    assert not making.cancel(row)


@pytest.mark.databases
def test_a_dead_workers_export_is_made_by_another_and_its_file_is_forgotten_after_its_time(runs, alice, settings):
    row = making.ask({}, by=alice, format_=FORMATS["jsonl"], language="en")
    BulkExport.objects.update(state=WorkState.RUNNING, attempt=1, beat=timezone.now() - timedelta(hours=1))

    assert making.sweep() == 1
    making.make_all(threading.Event())

    row.refresh_from_db()
    assert (row.state, row.attempt) == (WorkState.DONE, 2)
    assert row.path.exists()
    BulkExport.objects.update(ended=timezone.now() - timedelta(days=settings.EXPORT_DAYS + 1))
    making.sweep()
    assert not row.path.exists()
    assert not BulkExport.objects.exists()


@pytest.mark.exhaustive
@pytest.mark.system
@pytest.mark.parametrize("format_", FORMATS)
def test_of_a_run_that_is_written_nothing_is_held(format_, tmp_path, alice):
    text, held = "The wind is fair. " * 10_000, []
    runs = [str(talk(alice, text).pk) for _n in range(5)]

    def watched():
        for run in making._fetched(runs, alice, lambda done: None):
            gc.collect()
            held.append(tracemalloc.get_traced_memory()[0])
            yield run

    path = tmp_path / "whole"
    tracemalloc.start()
    try:
        FORMATS[format_].write(watched(), path, tmp_path / "parts")
    finally:
        tracemalloc.stop()

    assert len(held) == 5
    assert path.stat().st_size
    assert held[-1] - held[1] < len(text), "less than one run's text, after three more"


@pytest.fixture
def run(alice):
    record = Record(alice, title="Seven panels")
    record.turn(1)
    record.reply("A", 1, "Yours are three.")
    indexing.everything()
    return record.run


def bytes_of(response):
    return b"".join(response) if response.streaming else response.content


def test_the_list_of_runs_leads_to_an_export_of_what_it_shows_which_can_be_cancelled(browser, run, read):
    page = read(browser.get(reverse("runs"), {"search": "panels"}))
    [link] = [link.get("href") for link in page.find("a") if link.text.strip() == "Export these runs"]
    assert link == f"{reverse('bulk-exports')}?search=panels&archived=no"

    offered = read(browser.get(link))
    assert "1 run" in offered.text
    answer = browser.post(reverse("bulk-exports"), {"search": "panels", "format": "jsonl"})
    row = BulkExport.objects.get()
    assert answer["Location"] == row.get_absolute_url()
    assert "Waiting for a worker" in read(browser.get(row.get_absolute_url())).text

    making.make_all(threading.Event())
    assert "The file is ready" in read(browser.get(row.get_absolute_url())).text
    file = browser.get(reverse("bulk-export-download", args=[row.pk]))
    assert json.loads(bytes_of(file))["run"]["id"] == str(run.pk)
    manifest = browser.get(reverse("bulk-export-manifest", args=[row.pk])).json()
    assert manifest["runs"] == 1

    browser.post(reverse("bulk-exports"), {"format": "csv"})
    row = BulkExport.objects.get(format="csv")
    assert browser.post(reverse("bulk-export-cancel", args=[row.pk]), follow=True).status_code == 200
    row.refresh_from_db()
    assert row.state == WorkState.CANCELLED
    assert browser.get(reverse("bulk-exports"), {"colour": "mine"}).status_code == 422
    assert "No run matches" in read(browser.get(reverse("bulk-exports"), {"search": "wells"})).text


def test_an_export_over_the_api(api, run, is_problem):
    for wrong in ({}, {"format": "exe"}, {"format": "csv", "runs": ["x"]}, {"format": "csv", "state": "odd"}):
        is_problem(api.post("exports/", wrong), 400)
    asked = api.post("exports/", {"format": "csv", "runs": [str(run.pk)]})
    assert (asked.status_code, asked.json()["state"]) == (202, "queued")
    address = f"exports/{asked.json()['id']}/"
    assert api.get(f"{address}download/").status_code == 409

    making.make_all(threading.Event())

    done = api.get(address).json()
    assert (done["state"], done["runs"], done["manifest"]["parts"][1]["rows"]) == ("done", 1, 1)
    assert bytes_of(api.get(f"{address}download/")).startswith(b"PK")
    assert [one["id"] for one in api.get("exports/").json()["results"]] == [done["id"]]


def sent(name="council.json"):
    return SimpleUploadedFile(name, folders.read(name))


def test_a_file_of_another_system_is_shown_before_it_is_stored_or_dropped(browser, read):
    browser.post(reverse("run-import"), {"file": sent()})
    assert "council.json" in read(browser.get(reverse("run-import"))).text
    dropped = RunImport.objects.get()
    browser.post(reverse("run-import-cancel", args=[dropped.pk]))
    assert RunImport.objects.get().state == WorkState.CANCELLED
    dropped.delete()

    page = browser.post(reverse("run-import"), {"file": sent()}, follow=True)
    shown = read(page).text
    assert "1 run can be imported" in shown
    assert "read again" in shown
    assert not Run.objects.exists()

    stored = browser.post(reverse("run-import-store", args=[RunImport.objects.get().pk]), follow=True)

    assert "1 run was imported" in read(stored).text
    assert Run.objects.get().experiment.title == "Blue skies"
    again = browser.post(reverse("run-import"), {"file": sent()}, follow=True)
    assert "Nothing new" in read(again).text


def test_a_report_that_is_sent_twice_on_a_page_or_over_the_api_is_the_run_of_the_first_time(api, browser, run, read):
    report = bytes_of(browser.get(reverse("run-report", args=[run.pk, "json"])))

    first, second = api.post("runs/import/", report), api.post("runs/import/", report)
    page = browser.post(reverse("run-import"), {"file": SimpleUploadedFile("r.json", report)}, follow=True)

    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert first.json()["id"] in page.redirect_chain[-1][0]
    assert "was imported before" in read(page).text
    assert list(api.post("runs/import/", [1]).json()["errors"]) == ["document"]


def test_a_file_over_the_api_is_stored_or_looked_through(api, browser):
    preview = browser.post("/api/runs/import/", {"file": sent(), "preview": "true"})
    assert (preview.status_code, preview.json()["state"]) == (201, "ready")
    address = f"runs/imported/{preview.json()['id']}/"

    stored = api.post(f"{address}store/")

    assert (stored.status_code, stored.json()["report"]["stored"]) == (200, 1)
    assert stored.json()["ended"] > preview.json()["ended"]
    assert api.get(address).json()["source"] == "council"
    again = browser.post("/api/runs/import/", {"file": sent(), "source": "council"}).json()["report"]
    assert (again["stored"], again["known"], again["runs"][0]["run"]) == (0, 1, str(Run.objects.get().pk))
