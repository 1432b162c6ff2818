"""The facts of a run, in the order in which they happen: what a page, a program and a report are told."""

import pytest

from experiments.models import Run
from experiments.steering import steering

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

TURN = [
    "turn_started",
    "message_completed A",
    "message_filtered A",
    "message_completed B",
    "message_filtered B",
    "judge_evaluation_started",
    "judge_evaluation_completed",
    "model_metrics A",
    "model_metrics B",
    "turn_completed",
]


def course(run):
    """The events; with their seat, or their state, where they have one."""
    told = run.events.order_by("seq").values_list("type", "data")
    return [" ".join(filter(None, (kind, data.get("seat"), data.get("state")))) for kind, data in told]


def test_an_automatic_run_tells_each_turn_in_the_same_order(arena, start, drive):
    run = start(arena(max_turns=2))
    drive()

    created, started, *turns, ended = [kind for kind in course(run) if not kind.startswith("experiment_state")]
    assert (created, started) == ("experiment_created", "experiment_started running")
    assert (turns, ended) == (TURN * 2, "experiment_stopped completed")
    turn_numbers = [event.data["turn"] for event in run.events.filter(type="turn_started")]
    assert turn_numbers == [1, 2]


def test_without_filter_and_judge_there_is_nothing_to_tell_of_them(arena, start, drive):
    run = start(arena(max_turns=1, filter=False, judge=False))
    drive()

    kinds = [kind for kind in course(run) if not kind.startswith("experiment_")]
    assert kinds == ["turn_started", "message_completed A", "message_completed B", "turn_completed"]


def test_a_manual_run_tells_what_it_waits_for_and_what_was_said(arena, start, drive, alice):
    run = start(arena(mode="manual", max_turns=2, filter=False, judge=False))
    drive()
    for action in ("default", "skip", "end"):
        steering.say(run, by=alice, key=Run.objects.get(pk=run.pk).open_pauses[-1].key, action=action)
        drive()

    kinds = [kind for kind in course(run) if not kind.startswith("experiment_state")]
    assert kinds == [
        "experiment_created",
        "experiment_started running",
        "turn_started",
        "waiting_for_user A",
        "said A",
        "message_completed A",
        "waiting_for_user B",
        "said B",
        "turn_completed",
        "waiting_for_user",
        "said",
        "experiment_stopped stopped",
    ]
    reasons = [event.data["reason"] for event in run.events.filter(type="waiting_for_user").order_by("seq")]
    assert reasons == ["turn_start", "model_completed", "turn_completed"]


def test_a_failure_is_told_with_what_was_tried_and_ends_the_run_once(arena, start, drive):
    run = start(arena(b="sim/competitive:fail=401", max_turns=1, filter=False, judge=False))
    drive()

    kinds = [kind for kind in course(run) if not kind.startswith("experiment_state")]
    assert kinds == [
        "experiment_created",
        "experiment_started running",
        "turn_started",
        "message_completed A",
        "call_failed B",
        "experiment_error failed",
    ]
    assert run.events.get(type="call_failed").data["message"]


def test_no_event_holds_the_whole_talk_again(arena, start, drive):
    """Each message is told once, and what grows with the talk is not sent along with every turn."""
    run = start(arena(max_turns=4, filter=False, judge=False))
    drive()

    first = run.messages.first().raw_text.splitlines()[0]
    holding = [event.type for event in run.events.all() if first in str(event.data)]
    assert holding == ["message_completed"]
