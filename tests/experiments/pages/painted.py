"""The page of a run that is built from its rows is the one that its events build, fragment by fragment."""

from django.db import connection
from django.test.utils import CaptureQueriesContext

from experiments.models import Run
from experiments.runs import timeline
from experiments.runs.timeline import render, render_envelope
from experiments.workflows.coding.pages import run_page as contest_slots
from experiments.workflows.council.pages import pages as council_slots
from experiments.workflows.debate.pages.board import board
from tests.markup import fragment

SLOTS = {"council": council_slots, "coding": contest_slots}


def assert_same_page(run, *kinds):
    """kinds: what at least is on the page."""
    run = Run.objects.with_totals().get(pk=run.pk)
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.order_by("seq"))
    assert painted(run, rows) == painted(run, events)
    assert len({shown.anchor for shown in rows}) == len(rows)
    assert {kind for kind in kinds if kind not in {shown.type for shown in rows}} == set()


def painted(run, entries):
    workflow, cast = run.experiment.workflow, run.experiment.labels
    return {
        place: [render(entry, run.pk, workflow, cast=cast) for entry in inside]
        for place, inside in places(run, workflow, entries).items()
        if inside
    }


def places(run, workflow, entries):
    if workflow in SLOTS:
        slots = timeline.arranged(entries, SLOTS[workflow].slot_of)
        assert SLOTS[workflow].ASIDE not in slots
        return slots
    if workflow == "debate":
        shown = board(run, entries)
        return {part.name: part.entries for part in shown.parts} | shown.others
    figures = {entry.anchor: [entry] for entry in entries if entry.type == "model_metrics"}
    return figures | {"transcript": [entry for entry in entries if entry.type != "model_metrics"]}


def assert_every_fragment_finds_its_place(run, *slots):
    """An event replaces what it names on the page, or goes into its slot. slots: which are there at first."""
    workflow, cast, ids = run.experiment.workflow, run.experiment.labels, {"transcript", *slots}
    for event in run.events.order_by("seq"):
        with CaptureQueriesContext(connection) as asked:
            html = render_envelope(event.envelope, "en", workflow, cast)
        assert not asked.captured_queries, event.type  # it is rendered in an event loop
        if html is None:
            continue
        element = fragment(html)
        slot = element.get("data-slot")
        assert {element.get("id"), slot if slot == "transcript" else f"slot-{slot}"} & ids, event.type
        ids |= {part.get("id") for part in element.iter()}
