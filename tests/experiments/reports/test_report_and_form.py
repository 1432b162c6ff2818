"""A report tells of the run and of nothing else: not of a form, and not of what was typed into one since."""

import io
import re

import pytest
from django.urls import reverse
from pypdf import PdfReader

from experiments.models import Experiment, Run
from experiments.reports.formats import FORMATS
from experiments.reports.html import render_html
from experiments.reports.pdf import render_pdf

pytestmark = pytest.mark.django_db

WAS = "Share seven solar panels between two villages."
IS = "Bid for a compute cluster with a secret budget."


@pytest.fixture
def browser(client, alice):
    client.force_login(alice)
    return client


def test_what_is_typed_into_the_form_afterwards_is_in_no_report_of_the_run(browser, played, quiet_doorbell):
    run = played(prompt=WAS, max_turns=1, first="B", gap_seconds=0)
    before = {format_: body(browser, run, format_) for format_ in ("html", "json")}

    a = run.experiment.participants.get(seat="A").model.slug
    fields = {
        "seat-A-model": a,
        "seat-B-model": a,
        "prompt": IS,
        "prompting": "shared",
        "max_turns": "9",
        "mode": "manual",
    }
    browser.post(reverse("arena"), {**fields, "first": "A"})

    fetched = Run.objects.with_totals().select_related("experiment").get(pk=run.pk)
    pdf = " ".join(page.extract_text() for page in PdfReader(io.BytesIO(render_pdf(fetched, "en"))).pages)
    for told in (body(browser, run, "html"), body(browser, run, "json"), pdf, render_html(fetched, "en")):
        assert IS not in told
        assert "solar panels" in told
    assert body(browser, run, "json") == before["json"]
    assert Experiment.objects.get(pk=run.experiment_id).config["prompt"] == WAS


def body(browser, run, format_):
    return b"".join(browser.get(reverse("run-report", args=[run.pk, format_]))).decode()


@pytest.mark.parametrize("format_", ["html", "pdf", "md", "json", "jsonl", "inspect"])
def test_a_run_that_was_stopped_is_told_as_stopped_in_every_format(arena, start, alice, browser, format_):
    from_start = start(arena())
    browser.post(reverse("run-stop", args=[from_start.pk]))
    run = Run.objects.with_totals().select_related("experiment").get(pk=from_start.pk)

    raw = b"".join(FORMATS[format_].chunks(run, "en", lambda done: None))
    told = " ".join(p.extract_text() for p in PdfReader(io.BytesIO(raw)).pages) if format_ == "pdf" else raw.decode()
    assert "stopped" in told or "cancelled" in told
    assert "was completed" not in told
    assert '"state":"completed"' not in told.replace(" ", "")


def test_there_is_no_format_whose_special_characters_nobody_has_thought_of():
    """LaTeX, whose escaping is hard to get right, is not offered."""
    assert set(FORMATS) == {"html", "pdf", "md", "json", "jsonl", "csv", "inspect"}


def test_the_turns_of_a_chart_are_numbered_as_the_turns_of_the_run(played):
    run = played(max_turns=3)
    html = render_html(Run.objects.with_totals().select_related("experiment").get(pk=run.pk), "en")

    chart = html.split('aria-labelledby="chart-A-sentiment-title">')[1].split("</figure>")[0]
    assert re.findall(r'text-anchor="middle">([^<]*)</text>', chart) == ["1", "2", "3"]
    assert chart.count('<g class="line line-') == 7
