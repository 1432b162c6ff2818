"""Exports and imports from the pages and over the API."""

import json
import threading

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from experiments.library.bulk import making
from experiments.library.search import indexing
from experiments.models import BulkExport, Run, RunImport
from experiments.models.waiting import WorkState
from tests.experiments.imports import folders
from tests.experiments.reports.records import Record


@pytest.fixture(autouse=True)
def quiet(settings, tmp_path, woken_runs):
    settings.UPLOADS_DIR = tmp_path / "uploads"


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
