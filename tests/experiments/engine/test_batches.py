"""Calls in batches: written ahead, sent together once, settled as others are, and lost in no way of dying."""

import contextlib
import threading
from decimal import Decimal

from experiments.engine import batch_sending, leases
from experiments.engine import batches as waiting
from experiments.engine.driver import Driver
from experiments.engine.verification import verify
from experiments.gateway import OutcomeUnknown, Unreachable
from experiments.gateway import batches as remote
from experiments.lab.budgets import budgeting, checks
from experiments.lab.usage import days
from experiments.models import Batch, BatchedCall, Budget, Call, Run
from experiments.runs import actions, removal
from experiments.runs.steering import steering
from experiments.runs.timeline import from_rows, replayed
from tests.cases import each_case
from tests.experiments.batching import add_prices, later, send
from tests.experiments.deliberating import fresh
from tests.parts import virtual_time

TALK = {"judge": False, "filter": False, "max_turns": 1}
SPEAKERS = ("sim/cooperative:first=0:words=30", "sim/competitive:first=0:words=30")


def states(run):
    return list(run.calls.order_by("sent", "id").values_list("state", flat=True))


def texts(run):
    return list(run.messages.order_by("seq").values_list("seat", "raw_text", "reasoning", "finish_reason"))


def is_sound(run):
    pages = from_rows(fresh(run)), replayed(run.events.order_by("seq"))  # what a budget refused only the events say
    rows, events = ([entry.anchor for entry in page if entry.type != "model_metrics"] for page in pages)
    assert rows == events
    assert list(verify(Run.objects.filter(pk=run.pk))) == []
    assert checks.check() == []
    return True


def test_a_run_in_batches_says_what_it_says_live_at_half_the_price(arena, start, drive, batched, to_the_end, provider):
    live = start(arena(*SPEAKERS, **TALK), seed=5)
    add_prices()
    drive()
    run = batched(arena(*SPEAKERS, **TALK), seed=5)

    assert (fresh(run).state, states(run), run.calls.get().cost) == ("waiting", ["batched"], None)
    [done] = to_the_end(run)
    assert (done.state, texts(done)) == ("completed", texts(live))
    for call, same in zip(done.calls.order_by("id"), live.calls.order_by("id"), strict=True):
        assert (call.input_tokens, call.output_tokens, call.seconds) == (same.input_tokens, same.output_tokens, None)
        assert (call.cost, call.cost_source, same.cost_source) == (same.cost / 2, "batch", "price")
        assert call.cost == call.batched.share * (
            call.input_tokens * call.price.input + call.output_tokens * call.price.output
        )
        assert (call.reserved, call.request["stream"], call.batched.answer) == (same.reserved / 2, False, "")
    assert is_sound(done)
    assert done.waited_seconds > 100, "no limit of time counts it"
    asked = [row["request_id"] for row in provider.ledger()]
    assert len(asked) == len(set(asked)) == 4


def test_calls_of_several_runs_go_together_and_those_of_another_owner_by_themselves_with_their_own_key(
    arena, batched, to_the_end, alice, bob, batches, monkeypatch
):
    used, key_for = [], batch_sending.keys.key_for
    monkeypatch.setattr(batch_sending.keys, "key_for", lambda *which: used.append(which[1]) or key_for(*which))
    experiment = arena(*SPEAKERS, **TALK)
    runs = [batched(experiment), batched(experiment)]
    other = arena(*SPEAKERS, **TALK)
    type(other).objects.filter(pk=other.pk).update(owner=bob)
    runs.append(batched(other))
    used.clear()
    later(31)

    assert sorted(used) == sorted([alice.pk, bob.pk])
    sent = sorted((batch.owner.username, batch.lines.count()) for batch in Batch.objects.all())
    assert sent == [("alice", 2), ("bob", 1)]
    assert [run.state for run in to_the_end(*runs)] == ["completed"] * 3
    assert len(batches.made) == Batch.objects.count() == 4
    assert set(Batch.objects.values_list("state", flat=True)) == {"ended"}


def test_a_worker_that_dies_while_calls_are_batched_asks_nothing_again(arena, batched, to_the_end, provider, drive):
    run = batched(arena(*SPEAKERS, **TALK))
    later(31)
    Run.objects.filter(pk=run.pk).update(state="running", lease_until=None)  # as its driver would have left it
    drive()
    leases.claim(run.pk, lambda event: None)
    Run.objects.filter(pk=run.pk).update(state="queued", lease_until=None)
    [done] = to_the_end(run)

    assert (done.state, states(done)) == ("completed", ["completed"] * 2)
    assert len(provider.ledger()) == 2
    assert is_sound(done)


@each_case("crash", ["before it is remembered", "in doubt", "before anything is sent"])
def test_a_crash_between_sending_and_remembering_makes_no_second_batch(
    arena, batched, to_the_end, batches, monkeypatch, crash
):
    run = batched(arena(*SPEAKERS, **TALK))
    create, before = remote.create, len(batches.made)

    async def created(*args):
        await create(*args)
        raise KeyboardInterrupt if crash == "before it is remembered" else OutcomeUnknown("Too late.")

    async def not_sent(*args):
        raise Unreachable("No connection.")

    with monkeypatch.context() as patch:
        patch.setattr(remote, "create", created)
        if crash == "before anything is sent":
            patch.setattr(remote, "upload", not_sent)
        with contextlib.suppress(KeyboardInterrupt):
            later(31)
        made = len(batches.made) - before
        assert (made, Batch.objects.get().remote_id) == (int(crash != "before anything is sent"), "")
    virtual_time.skip(batch_sending.CLAIM_SECONDS)
    [done] = to_the_end(run)

    assert (done.state, len(batches.made) - before, Batch.objects.count()) == ("completed", 2, 2)


@each_case(
    ("model", "kinds", "state"),
    [
        ("sim/cooperative:fail=503:times=1", ["overloaded", ""], "completed"),
        ("sim/cooperative:fail=stall:times=1", ["batch_expired", ""], "completed"),
        ("sim/cooperative:fail=cut:times=1", ["outcome_unknown", ""], "completed"),
        ("sim/cooperative:fail=empty", ["empty_answer"] * 2, "failed"),
        ("sim/cooperative:fail=401", ["bad_key"], "failed"),
        ("sim/nobody", ["unknown_model"], "failed"),
    ],
)
def test_a_line_that_failed_is_asked_again_as_a_call_of_its_own_would_be(
    arena, batched, to_the_end, model, kinds, state
):
    run = batched(arena(model, SPEAKERS[1], **TALK))
    [done] = to_the_end(run)
    calls = done.calls.filter(step__seat="A").order_by("attempt")

    assert (done.state, [call.error_kind for call in calls]) == (state, kinds)
    assert [BatchedCall.objects.filter(call=call).exists() for call in calls] == [True] * len(kinds)
    costs = {call.error_kind: (call.cost, call.cost_source) for call in calls}
    assert costs.get("batch_expired", (0, "refused")) == (0, "refused")
    assert costs.get("outcome_unknown", (None, "unknown")) == (None, "unknown")
    assert is_sound(done)


def test_a_run_that_is_stopped_before_its_call_is_sent_owes_nothing(arena, batched, alice, provider):
    experiment = arena(*SPEAKERS, **TALK)
    budgeting.set_budget(experiment, by=alice, cost=Decimal(1))
    run = batched(experiment)
    assert Budget.objects.get().periods.get().cost_reserved > 0
    assert actions.stop(fresh(run), by=alice)
    later(31)

    assert (fresh(run).state, run.calls.count(), provider.ledger()) == ("stopped", 0, [])
    period = Budget.objects.get().periods.get()
    assert (period.cost_reserved, period.cost_spent, period.tokens_spent) == (0, 0, 0)
    assert not Batch.objects.exists()
    assert is_sound(run)


@each_case("deleted", [False, True])
def test_what_comes_back_for_a_stopped_run_is_kept_with_what_it_cost(arena, batched, alice, deleted):
    experiment = arena(*SPEAKERS, **TALK)
    budgeting.set_budget(experiment, by=alice, cost=Decimal(1))
    run = batched(experiment)
    later(31)
    assert actions.stop(fresh(run), by=alice)
    stopped, period = run.calls.get(), Budget.objects.get().periods.get()
    assert (fresh(run).state, stopped.state) == ("stopped", "stopped")
    assert (stopped.cost, stopped.cost_source) == (None, "unknown")
    assert (period.cost_spent, period.cost_reserved) == (stopped.reserved, 0)
    assert is_sound(run)
    if deleted:
        removal.remove([fresh(run)], by=alice)
    virtual_time.skip(86_400)
    assert days.roll_up() == 0, "its cost is still to come"
    send()

    call = run.calls.get()
    assert (call.state, bool(call.text)) == ("stopped", not deleted)
    assert call.cost == Decimal("0.5") * (call.input_tokens * call.price.input + call.output_tokens * call.price.output)
    assert Budget.objects.get().periods.get().cost_spent == call.cost
    assert (BatchedCall.objects.get().answer, Batch.objects.get().state) == ("", "ended")
    assert not run.messages.exists()
    assert days.roll_up() == 1
    if not deleted:
        assert is_sound(run)


def test_a_limit_of_tokens_waits_for_what_is_batched_and_holds(council, batched, to_the_end):
    members = ("sim/cooperative:first=0:words=40", "sim/competitive:first=0:words=40", "sim/neutral:first=0:words=40")
    run = batched(
        council(*members, limits={"tokens": 1_500}, params={f"member-{n}": {"max_tokens": 60} for n in (1, 2, 3)})
    )
    assert set(states(run)) == {"batched"}
    [done] = to_the_end(run)

    used = sum(call.input_tokens + call.output_tokens for call in done.calls.all())
    assert (used <= 1_500, done.state) == (True, "stopped")
    assert set(states(done)) == {"completed"}, "what is paid for is waited for"
    assert done.stop_reason == "limit_tokens"
    assert is_sound(done)


def test_a_budget_is_kept_by_calls_in_batches(arena, batched, to_the_end, alice):
    experiment = arena(*SPEAKERS, **{**TALK, "max_turns": 20})
    limit = Decimal("0.0190")
    budgeting.set_budget(experiment, by=alice, cost=limit)
    [done] = to_the_end(batched(experiment))

    period = Budget.objects.get().periods.get()
    assert (done.state, done.stop_reason) == ("stopped", "budget_experiment")
    assert 0 < period.cost_spent <= limit
    assert period.cost_reserved == 0
    assert is_sound(done)


def test_a_paused_run_and_one_that_is_stopped_take_in_what_comes_and_ask_nothing_more(
    arena, batched, to_the_end, alice, drive
):
    run = batched(arena(*SPEAKERS, **TALK))
    later(31)
    Run.objects.filter(pk=run.pk).update(is_held=True)
    later(61)
    drive()

    assert (fresh(run).state, states(run), run.messages.count()) == ("waiting", ["completed"], 1)
    steering.release(fresh(run), by=alice)
    assert [one.state for one in to_the_end(run)] == ["completed"]

    stopped = batched(arena(*SPEAKERS, **TALK))
    later(31)
    later(61)
    assert fresh(stopped).state == "queued"
    assert actions.stop(fresh(stopped), by=alice)
    call = stopped.calls.get()
    assert (call.state, bool(call.text), call.cost_source) == ("stopped", True, "batch")
    assert is_sound(stopped)


def test_answers_that_come_while_a_run_looks_are_not_slept_through(arena, batched, batches, drive, monkeypatch):
    """Between the driver's last look and its parking."""
    run = batched(arena(*SPEAKERS, **TALK))
    later(31)
    virtual_time.skip(61)
    Run.objects.filter(pk=run.pk).update(state="queued")
    opened = waiting.opened

    def came(*args):
        send()
        return opened(*args)

    monkeypatch.setattr(waiting, "opened", came)
    Driver(threading.Event()).drive(0.1)

    assert states(run)[0] == "completed"
    assert is_sound(run)


def test_a_failed_batch_and_one_that_never_ends_fail_their_calls(arena, batched, batches, to_the_end, monkeypatch):
    run = batched(arena(*SPEAKERS, **TALK))
    told = type(batches)._told
    failed = {"data": [{"code": "invalid_model", "message": "No such model: gone"}]}
    monkeypatch.setattr(type(batches), "_told", lambda *args: {**told(*args), "status": "failed", "errors": failed})
    later(31)
    [done] = to_the_end(run)
    assert (done.state, done.calls.get().error_kind, done.calls.get().cost) == ("failed", "unknown_model", 0)

    monkeypatch.setattr(type(batches), "_told", lambda *args: {**told(*args), "status": "in_progress"})
    other = batched(arena(*SPEAKERS, **TALK))
    later(31)
    virtual_time.skip(batch_sending.GIVE_UP.total_seconds())
    later()
    assert Batch.objects.order_by("created").last().state == "ended"
    assert states(other) == ["batched"]
    Driver(threading.Event()).drive(0.1)
    assert other.calls.order_by("attempt").first().error_kind == "outcome_unknown"
    assert not Call.objects.filter(state="sent").exists()
