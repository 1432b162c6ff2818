"""The page of a debate that is built from its rows equals the one that is built by replaying its events."""

import pytest

from experiments import timeline
from experiments.debates.board import board, source
from experiments.fragments import render
from experiments.models import Run
from tests.cases import each_case
from tests.experiments.pages.driving import drive
from tests.experiments.pages.held import say

pytestmark = pytest.mark.django_db

LIMITED = "sim/competitive:first=0:fail=429:retry_after=90"
GONE = "sim/competitive:first=0:fail=404"
TROUBLED = "sim/neutral:first=0:fail=503:times=1:retry_after=0"


def painted(run, entries):
    """The fragments of each part of the page, in order."""
    shown = board(run, entries)
    parts = {part.name: part.entries for part in shown.parts} | shown.others
    return {name: [render(entry, run.pk, "debate") for entry in inside] for name, inside in parts.items() if inside}


def assert_same_page(run, *kinds):
    run = Run.objects.with_totals().get(pk=run.pk)
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.all())
    assert painted(run, rows) == painted(run, events)
    assert {kind for kind in kinds if kind not in {entry.type for entry in rows}} == set()


@each_case(
    ("config", "kinds"),
    [
        ({"blind": True, "rotate": True}, ("message_parsed", "stage_started", "turn_started")),
        ({"refine": False, "B": LIMITED, "pool": ["sim/deceptive:first=0"]}, ("seat_replaced", "call_failed")),
        ({"A": TROUBLED, "summarizer": TROUBLED, "C": "sim/neutral:first=0:json=talk"}, ("call_retried",)),
    ],
    ids=str,
)
def test_at_every_pause_of_a_debate(debate, start, alice, config, kinds):
    run = start(debate(**config))
    assert_same_page(run)
    drive()
    assert_same_page(run, "waiting_for_user")
    say(run, alice, "send", "Share it by the week.")
    assert_same_page(run, "waiting_for_user", *kinds)
    say(run, alice, "round", "It must be cheap.")
    assert_same_page(run, *kinds)
    say(run, alice, "summarize")
    assert_same_page(run, "offer_opened", "experiment_stopped", *kinds)


def test_after_somebody_was_asked_again_and_a_summary_was_taken_up_again(debate, start, alice):
    run = start(debate(B=GONE))
    drive()
    for action, text in (("send", ""), ("retry_seat", "B"), ("summarize", ""), ("round", ""), ("summarize", "")):
        say(run, alice, action, text)
        assert_same_page(run, "call_failed")

    assert run.messages.filter(seat="summarizer", superseded=False).count() == 1


@pytest.mark.parametrize("config", [{"limits": {"tokens": 300}}, {"A": GONE, "B": GONE, "C": GONE}], ids=str)
def test_of_an_automatic_debate_that_came_to_no_summary(debate, start, config):
    run = start(debate(mode="automatic", rounds=2, **config))
    drive()

    assert Run.objects.get(pk=run.pk).state in (Run.State.STOPPED, Run.State.FAILED)
    assert_same_page(run)


@each_case(
    ("reference", "anchor"),
    [("A1.p2", "point-A1-p2"), ("C2.c10", "point-C2-c10"), ("B1", "point-B1"), ("D1.p1", None), ("A1.x", None)],
)
def test_a_reference_leads_to_its_point(reference, anchor):
    found = source(reference)

    assert (found.anchor if found else None) == anchor
