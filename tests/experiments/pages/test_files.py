"""The buttons for reports and data, the wait for a long file, and the import of a run."""

from datetime import timedelta

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from experiments.models import Export, Run

FORMATS = dict.fromkeys(("html", "pdf", "md", "json"), "report") | dict.fromkeys(("jsonl", "csv", "inspect"), "export")


@pytest.fixture(autouse=True)
def bells(monkeypatch):
    rung = []
    monkeypatch.setattr("experiments.runs.reports.jobs.wake", lambda: rung.append(1))
    return rung


def ask(browser, run, format_="csv"):
    return browser.post(reverse("run-files", args=[run.pk]), {"format": format_})


def test_a_button_gives_the_file_of_a_short_run_at_once_and_of_a_long_one_leads_to_a_page_that_follows_it_to_its_end(
    browser, played, read, bells, make_files, settings
):
    run = played(max_turns=1)
    for format_, kind in FORMATS.items():
        answer = ask(browser, run, format_)
        assert answer["Location"] == reverse(f"run-{kind}", args=[run.pk, format_])
        other = {"report": "export", "export": "report"}[kind]
        assert browser.get(reverse(f"run-{other}", args=[run.pk, format_])).status_code == 404
    file = browser.get(answer["Location"])  # what is in each file is proved where reports and data are tested
    assert (file.status_code, file["Content-Disposition"][:12], bool(b"".join(file))) == (200, "attachment; ", True)
    assert (bells, Export.objects.count()) == ([], 0)
    refused = browser.post(reverse("run-files", args=[run.pk]), {"format": "exe"}, follow=True)
    assert "not available" in read(refused).text

    settings.EXPORT_DIRECT_MESSAGES = 1
    answer = ask(browser, run)
    export = Export.objects.get()
    assert (answer["Location"], export.state, bells) == (export.get_absolute_url(), "queued", [1])
    assert ask(browser, run)["Location"] == answer["Location"], "a double click asks for one file"
    assert browser.get(reverse("file-download", args=[export.pk]))["Location"] == export.get_absolute_url()

    waiting = page_of(browser, read)
    assert waiting.by_id("file").get("hx-trigger")
    assert [link.get("href") for link in waiting.find("a") if link.text == "Refresh"]

    begun = timezone.now() - timedelta(seconds=30)
    making = page_of(browser, read, state="running", progress=0.25, started=begun)
    [bar] = making.find("progress")
    assert (bar.get("value"), bar.get("max"), "≈ 1:3" in making.text) == ("0.250", "1", True)

    failed = page_of(browser, read, state="failed", error="ValueError: <b>no</b> such glyph")
    assert "ValueError: <b>no</b> such glyph" in failed.text
    [button] = failed.find("button", name="format")
    assert (button.get("value"), button.text) == ("csv", "Try again")

    Export.objects.update(state="queued")
    make_files()
    done = page_of(browser, read)
    [link] = done.find("a", id="download")
    assert browser.get(link.get("href")).getvalue().startswith(b"\xef\xbb\xbf")
    assert done.by_id("file").get("hx-trigger") is None

    Export.objects.get().path.unlink()
    page = browser.get(link.get("href"), follow=True)
    assert page.redirect_chain[-1][0] == run.get_absolute_url()
    assert "The file was deleted" in read(page).text


def page_of(browser, read, **fields):
    Export.objects.update(**fields)
    return read(browser.get(Export.objects.get().get_absolute_url()))


def test_what_is_no_report_or_too_large_is_refused_in_words(browser, read, settings):
    settings.UPLOAD_BYTES = 2000
    for data, status in {b"{": 422, b"\xff\xfe": 422, b" " * 2001: 413}.items():
        file = SimpleUploadedFile("report.json", data, "application/json")
        page = browser.post(reverse("run-import"), {"file": file})
        assert (page.status_code, "Nothing was imported" in read(page).text) == (status, True), data
    assert not Run.objects.exists()
