"""Councils that were stopped, by a person or at a limit, and go on."""

import threading

import pytest

from experiments import actions
from experiments.engine.driver import Driver
from experiments.models import Call, Step
from experiments.refusals import NotOffered
from experiments.steering import furthering
from tests.experiments.deliberating import FAST, assert_same_page, calls, fresh
from tests.fixtures import wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def test_a_council_stopped_in_its_first_stage_asks_nothing_more(council, start, alice, provider, transactional_db):
    slow = tuple(f"sim/{name}:first=0:tps=20:words=2000" for name in ("cooperative", "competitive", "neutral"))
    run = start(council(*slow))
    driver = threading.Thread(target=lambda: Driver(threading.Event()).drive(0.2))
    driver.start()
    try:
        wait_until(lambda: run.calls.exclude(text="").filter(state=Call.State.SENT).count() == 3, "three partial texts")
        actions.stop(run, by=alice)
    finally:
        driver.join(80)

    run = fresh(run)
    assert (run.state, run.stop_reason) == ("stopped", "manual_stop")
    assert [state for _key, state in calls(run, "reply")] == ["stopped"] * 3
    assert len(provider.ledger()) == 3
    assert set(run.steps.filter(kind="ask").values_list("purpose", flat=True)) == {"reply"}
    assert all(m.finish_reason == "stopped" and m.text for m in run.messages.filter(step__purpose="reply"))
    assert_same_page(run)


def too_low_for_the_chair(whole) -> int:
    """A limit of tokens under which the same council is stopped before its conclusion."""
    spent = sum(call.input_tokens + call.output_tokens for call in whole.calls.exclude(step__purpose="conclusion"))
    prompt = whole.calls.get(step__purpose="conclusion").request["messages"]
    return spent + sum(len(message["content"].encode()) for message in prompt) // 3


def test_a_council_stopped_at_its_limit_goes_on_under_another_one(convene, council, start, drive, alice):
    limit = too_low_for_the_chair(convene(*FAST))
    run = start(council(*FAST, limits={"tokens": limit}))
    drive()
    assert (fresh(run).state, fresh(run).stop_reason) == ("stopped", "limit_tokens")
    assert_same_page(run)

    furthering.lift(fresh(run), by=alice, limits={"tokens": limit + 100_000})
    drive()
    assert (fresh(run).state, fresh(run).stop_reason) == ("completed", "your_turn")
    assert run.messages.filter(step__purpose="conclusion").count() == 1
    assert_same_page(run)


def test_a_council_stopped_at_its_limit_goes_on_without_what_could_not_be_asked(convene, council, start, drive, alice):
    run = start(council(*FAST, limits={"tokens": too_low_for_the_chair(convene(*FAST))}))
    drive()
    with pytest.raises(NotOffered):
        furthering.lift(fresh(run), by=alice, limits={"tokens": -1})
    furthering.lift(fresh(run), by=alice, limits={}, skip=True)
    drive()

    run = fresh(run)
    assert (run.state, run.steps.get(key="turn/1/conclusion").state) == ("completed", Step.State.FAILED)
    assert [event.data["key"] for event in run.events.filter(type="step_skipped")] == ["turn/1/conclusion"]
    assert run.events.get(type="concluded_by_rank").data["reason"]
    assert_same_page(run)
