"""The HTML report as its reader sees it."""

import re
from html import unescape

from experiments.runs.reports.formats import render_html
from tests.experiments.reports.records import Record


def told(record: Record) -> str:
    run = record.fetched()
    run.reader = run.experiment.owner
    return render_html(run, "en")


def words(html: str) -> str:
    """What a reader sees: without tags and style."""
    shown = re.sub(r"(?s)<style>.*?</style>|<[^>]+>", " ", html)
    return " ".join(unescape(shown).split())


def section(html: str, anchor: str) -> str:
    found = re.search(rf'(?s)<section class="section" id="{anchor}".*?</section>', html)
    assert found, anchor
    return words(found[0])
