"""The page of a council that is built from the rows equals the one that is built by replaying the events."""

import pytest

from experiments import timeline
from experiments.councils.slots import ASIDE, arranged
from experiments.fragments import render, render_envelope
from experiments.models import Run
from tests.experiments.pages.council_pages import ANSWER, BROKEN, REVIEW, drive
from tests.markup import fragment

pytestmark = pytest.mark.django_db


def painted(run, entries):
    """What stands in each slot, rendered."""
    cast = run.experiment.labels
    slots = arranged(entries)
    return {name: [render(entry, run.pk, "council", cast=cast) for entry in shown] for name, shown in slots.items()}


def assert_same_page(run, *kinds):
    run = Run.objects.get(pk=run.pk)
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.order_by("seq"))
    assert painted(run, rows) == painted(run, events)
    assert len({shown.anchor for shown in rows}) == len(rows)
    assert ASIDE not in arranged(rows)
    for kind in kinds:
        assert kind in {shown.type for shown in rows}, kind


def test_of_a_council_with_a_failing_member_asked_again_and_ranked_again(sit, press, browser, read):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", f"{BROKEN}:times=1")
    assert_same_page(run, "turn_started", "call_failed", "ballot_read", "ballots_counted", "offer_opened")
    assert_every_fragment_finds_its_slot(run)
    assert_live_text_finds_its_slot(read(browser.get(run.get_absolute_url())))
    press(run, retry="member-3")
    assert_same_page(run)
    press(run, action="deliberate")
    assert_same_page(run, "message_completed")
    press(run, action="conclude")
    press(run, text="And why are sunsets red?")
    assert_same_page(run)


def assert_every_fragment_finds_its_slot(run):
    """What the page does with an event: it looks for the slot that the fragment names, in what was pushed before."""
    cast, ids = run.experiment.labels, {"transcript", "slot-aside", "slot-ending", "slot-offer"}
    for event in run.events.order_by("seq"):
        html = render_envelope(event.envelope, "en", "council", cast)
        if html is None:
            continue
        element = fragment(html)
        slot = element.get("data-slot")
        assert (slot if slot == "transcript" else f"slot-{slot}") in ids, event.type
        ids |= {part.get("id") for part in element.iter()}


def assert_live_text_finds_its_slot(page):
    places = {t.get("id"): t.get("data-place") for t in page.find("template") if "data-place" in t.attrib}

    assert places["live-member-2"].replace("PURPOSE", "review").replace("TURN", "1") == "slot-review-1-member-2"
    assert page.find(id="slot-review-1-member-2")
    assert page.find(id=places["live-chair"].replace("TURN", "1"))


def test_of_a_council_whose_chairs_fail(sit):
    assert_same_page(sit(chair=BROKEN, **{"chair-2": "sim/neutral:first=0"}), "seat_replaced")


def test_of_a_council_whose_best_answer_stands_in(sit):
    assert_same_page(sit(chair=BROKEN), "concluded_by_rank")


def test_of_a_council_with_an_abstention(scripted_sit, press):
    run = scripted_sit([ANSWER, REVIEW], [ANSWER, REVIEW], [ANSWER, "I like them all.", "Really all.", REVIEW])
    assert_same_page(run, "ballot_read")
    press(run, retry="member-3")
    assert_same_page(run)


def test_of_a_council_in_which_nobody_answers(sit):
    assert_same_page(sit(BROKEN, BROKEN), "experiment_error")


def test_of_a_queued_council(council, start, press):
    run = start(council())
    press(run, is_driven=False, text="And then?")
    assert_same_page(run)
    drive()
    assert_same_page(run)
