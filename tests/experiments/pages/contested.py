"""Contests that are played for the tests of their pages, and what holds for every one of these pages."""

import pytest
from django.urls import reverse

from experiments import timeline
from experiments.contests import pages
from experiments.contests.slots import ASIDE, arranged, slot_of
from experiments.fragments import render, render_envelope
from experiments.models import Run
from tests.experiments.contests import coder, played
from tests.markup import fragment

OF_NO_CYCLE = ("pool", "plan", "ending")
ALWAYS_THERE = {"transcript", "slot-pool", "slot-plan", "slot-aside", "slot-ending"}


@pytest.fixture
def play(scripted, alice):
    """A contest played to its end by models that say what a test has written down; the first sets the problem."""

    def begin(*answers, setters="in_turn", cycles=1, health_check=False, **config):
        said = [*answers, *[{}] * (3 - len(answers))]
        models = [scripted.model(f"lab/coder-{number}", coder(**one)) for number, one in enumerate(said, 1)]
        return played(alice, models, cycles=cycles, setters=setters, health_check=health_check, **config)

    return begin


@pytest.fixture
def page_of(browser, read):
    return lambda run: read(browser.get(reverse("run", args=[run.pk])))


def squeezed(element):
    """The words of an element without spaces: code in its colours is many elements, too."""
    return "".join(element.text.split())


def painted(run, entries):
    """What stands in each slot, rendered."""
    cast = run.experiment.labels
    shown = arranged(entries)
    return {name: [render(entry, run.pk, "coding", cast=cast) for entry in inside] for name, inside in shown.items()}


def assert_same_page(run, *kinds):
    """The whole contest, and the page, which shows its latest cycle alone."""
    run = Run.objects.get(pk=run.pk)
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.order_by("seq"))
    assert painted(run, rows) == painted(run, events)
    assert len({shown.anchor for shown in rows}) == len(rows)
    assert ASIDE not in arranged(rows)
    latest = max((cycle.turn for cycle in run.cycles.all()), default=0)
    assert painted(run, pages.entries(run)) == painted(run, _of_turn(events, latest))
    for kind in kinds:
        assert kind in {shown.type for shown in rows}, kind


def _of_turn(entries, turn):
    """What the page shows of a run while this cycle is its latest: the cycle, and what belongs to none."""
    return [one for one in entries if slot_of(one.type, one.data) in OF_NO_CYCLE or one.data.get("turn") == turn]


def assert_every_fragment_finds_its_place(run):
    """What the page does with an event: it looks for what it replaces, then for the slot that it names."""
    cast, ids = run.experiment.labels, set(ALWAYS_THERE)
    for event in run.events.order_by("seq"):
        html = render_envelope(event.envelope, "en", "coding", cast)
        if html is None:
            continue
        element = fragment(html)
        slot = element.get("data-slot")
        places = {element.get("id"), slot if slot == "transcript" else f"slot-{slot}"}
        assert places & ids, event.type
        ids |= {part.get("id") for part in element.iter()}
