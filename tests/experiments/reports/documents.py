"""Documents of runs: before and after an import, with something wrong in them, and as readers of the HTML see them."""

import copy
import re
from html import unescape
from typing import Any

from experiments.models import Run
from experiments.runs import timeline
from experiments.runs.reports.formats import render_html
from experiments.runs.timeline import look_of, render
from tests.experiments.reports.records import Record

OWN = {"id", "call", "experiment", "run", "parent", "branched_from", "message", "judgments", "ballot", "source"}
PARTS = ("messages", "judgments", "ballots", "metrics", "interventions", "calls", "steps")


def without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_ids(item) for name, item in value.items() if name not in OWN}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


def assert_equal(before: Any, after: Any, *parts: str) -> None:
    """parts: all of them, with the run and its experiment, unless some are named."""
    for name in parts or PARTS:
        assert without_ids(after[name]) == without_ids(before[name]), name
    if not parts:
        changing = OWN | {"origin", "last_seq", "offer"}
        was, is_ = ({k: v for k, v in side["run"].items() if k not in changing} for side in (before, after))
        assert is_ == was
        assert without_ids(after["experiment"]) == without_ids(before["experiment"])


def assert_same_page(run: Run) -> None:
    """What the rows say is what the events say, also as they are drawn where entries of both are drawn alone."""
    rows, events = list(timeline.from_rows(run)), list(timeline.replayed(run.events.all()))
    assert {e.anchor: e.data for e in rows} == {e.anchor: e.data for e in events}
    if run.experiment.workflow in {"arena", "starchamber", "judging"}:
        look = look_of(run.experiment)
        by_rows, by_events = ([(e.anchor, render(e, run.pk, look)) for e in entries] for entries in (rows, events))
        assert by_rows == by_events


def changed(document: Any, *path: Any, value: Any) -> Any:
    document = copy.deepcopy(document)
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    return document


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
