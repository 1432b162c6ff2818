"""Calls that a caller makes: drivers hand them over and take their answers, whichever of them dies."""

import json
import threading
from datetime import timedelta
from unittest.mock import Mock
from uuid import uuid4

import pytest
from django.db import OperationalError, transaction
from django.utils import timezone

from experiments.engine import handover, orders, recording, spool
from experiments.engine.callers import CallerProcess
from experiments.engine.life_locks import LifeLock
from experiments.engine.orders import answer_text, order_of, unsent
from experiments.engine.spool import Spool
from experiments.gateway.errors import RateLimited
from experiments.gateway.types import Completion, TokenLogprob, Usage
from experiments.models import Call, Caller, HandedCall, Run
from experiments.runs import actions
from tests.cases import each_case
from tests.experiments.engine.crashes import assert_books_balance, expire_leases
from tests.experiments.engine.talks import fresh
from tests.fixtures import wait_until
from tests.parts import stepped_engine

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


@pytest.fixture(autouse=True)
def handing(settings, monkeypatch, tmp_path):
    """Drivers hand their calls over, and nobody wakes anybody."""
    settings.CALLERS, settings.DATA_DIR, settings.DRAIN_SECONDS = 1, tmp_path, 60
    monkeypatch.setattr(handover.wakeups, "wake", lambda channel, about="": None)
    monkeypatch.setattr(spool.wakeups, "wake", lambda channel, about="": None)


class Hand:
    """A caller, as far as drivers see it."""

    def __init__(self):
        self.row = Caller.objects.create(id=uuid4(), host="here", seen_until=timezone.now() + timedelta(minutes=2))
        self.lock = LifeLock(spool.directory(), str(self.row.pk))
        self.lock.take()
        self.spool = Spool(self.row.pk)

    def claim(self):
        HandedCall.objects.unclaimed().update(caller=self.row)
        return list(HandedCall.objects.under_way().filter(caller=self.row).select_related("call"))

    def answer(self, row, text="Good morning."):
        mine = HandedCall.objects.filter(pk=row.pk, caller=self.row, answered__isnull=True)
        return mine.update(answer=spoken(row.call, text), answered=timezone.now())

    def die(self):
        self.lock.give_back(is_known=False)


def spoken(call, text):
    completion = Completion(text=text, finish_reason="stop", usage=Usage(7, 3))
    result = unsent(call.pk, call.run_id)
    return answer_text(handover.CallResult(call.pk, call.run_id, completion, None, 1.0, 0.1, was_sent=not result.error))


@pytest.fixture
def hand(db):
    return Hand()


@pytest.fixture
def run(start, arena):
    return start(arena(max_turns=1, judge=False, gap_seconds=0))


def driving():
    return stepped_engine.driving(threading.Event())


def handed(run, count=1):
    wait_until(lambda: HandedCall.objects.filter(call__run=run).count() == count, "a call that is handed over")


def play_to_the_end(run, hand):
    def answer_all():
        for row in hand.claim():
            hand.answer(row)
        return fresh(run).is_over

    wait_until(answer_all, "the end")


def test_a_run_is_played_by_a_caller_that_is_told_no_key_and_its_rows_go_with_it(run, hand, provider):
    with driving():
        handed(run)
        assert run.calls.get().state == Call.State.SENT
        order = HandedCall.objects.get().order
        assert order_of(order).request.messages
        assert "api_key" not in order
        said = json.loads(order)
        later = json.dumps({**said, "request": with_more(said["request"]), "of_a_later_release": 1})
        assert order_of(later) == order_of(order), "what the next release adds is passed over"
        play_to_the_end(run, hand)

    assert fresh(run).state == Run.State.COMPLETED
    assert [message.raw_text for message in run.messages.all()] == ["Good morning."] * 2
    assert provider.ledger() == [], "the driver has asked nobody"
    assert not HandedCall.objects.exists()
    assert_books_balance(fresh(run))


def test_a_driver_that_ends_or_dies_loses_no_call_that_is_handed_over_and_the_next_waits_for_it(
    start, arena, monkeypatch
):
    for dies in (False, True):
        run, hand = start(arena(max_turns=1, judge=False, gap_seconds=0)), Hand()
        with monkeypatch.context() as patch, driving():
            handed(run)
            [row] = hand.claim()
            if dies:
                patch.setattr("experiments.engine.leases.release", lambda run_id, fence: None)
        if dies:
            expire_leases()
        else:
            assert (fresh(run).state, fresh(run).lease_until) == (Run.State.QUEUED, None), "released at once"
            hand.answer(row)
        with driving():
            wait_until(lambda run=run: fresh(run).fence == 2, "the next driver")
            hand.answer(row)
            play_to_the_end(run, hand)

        assert row.call in run.calls.filter(state=Call.State.COMPLETED, attempt=1)
        assert not run.calls.exclude(state=Call.State.COMPLETED, attempt=1).exists()
        assert_books_balance(fresh(run))


@each_case("is_claimed", [True, False], ids=["under way", "unclaimed"])
def test_a_stop_reaches_the_caller_or_withdraws_the_call(start, arena, alice, is_claimed):
    run, hand = start(arena(max_turns=1, judge=False, gap_seconds=0)), Hand()
    with driving():
        handed(run)
        if is_claimed:
            hand.claim()
        actions.stop(run, by=alice)
        if is_claimed:
            row = wait_until(lambda: HandedCall.objects.filter(stop_requested=True).first(), "the request to stop")
            said = spoken(row.call, "Good mor").replace('"is_stopped": false', '"is_stopped": true')
            HandedCall.objects.update(answer=said, answered=timezone.now())
        wait_until(lambda: fresh(run).is_over, "the stop")

    call = run.calls.get()
    assert (fresh(run).state, call.state, call.text) == ("stopped", "stopped", "Good mor" if is_claimed else "")
    assert is_claimed or call.cost == 0
    assert not HandedCall.objects.exists()


def test_a_stopped_run_whose_driver_died_keeps_what_its_caller_was_told(run, hand, alice):
    with driving():
        handed(run)
        [row] = hand.claim()
    hand.answer(row, "Good morning, ladies.")
    Run.objects.filter(pk=run.pk).update(state=Run.State.STOPPING, lease_until=None)
    with driving():
        wait_until(lambda: fresh(run).is_over, "the stop")

    assert (fresh(run).state, run.calls.get().text) == (Run.State.STOPPED, "Good morning, ladies.")


@each_case("how", ["killed", "silent"])
def test_a_call_is_lost_with_its_caller_and_asked_again(start, arena, how):
    run, hand = start(arena(max_turns=1, judge=False, gap_seconds=0)), Hand()
    with driving():
        handed(run)
        [row] = hand.claim()
        hand.spool.begun(row.pk)
        hand.spool.text(row.pk, "Good mor", "")
        if how == "killed":
            hand.die()
        else:
            Caller.objects.update(seen_until=timezone.now() - timedelta(hours=1))
        wait_until(lambda: run.calls.filter(state=Call.State.LOST).exists(), "the loss")
        assert not hand.answer(row), "a late answer matches no row"
        play_to_the_end(run, Hand())

    lost = run.calls.get(state=Call.State.LOST)
    assert (lost.text, lost.cost_source) == ("Good mor" if how == "killed" else "", "unknown")
    assert run.calls.get(step=lost.step, attempt=2).state == Call.State.COMPLETED
    assert run.events.filter(type="call_lost").count() == 1
    assert_books_balance(fresh(run))


def test_of_a_dead_caller_the_spool_has_the_answers_and_what_was_not_begun_goes_to_another(start, arena, hand):
    first, second = (start(arena(max_turns=1, judge=False)) for _ in range(2))
    with driving():
        handed(first), handed(second)
        answered, waiting = sorted(hand.claim(), key=lambda row: row.call.run_id != first.pk)
        hand.spool.begun(answered.pk)
        hand.spool.answer(answered.pk, spoken(answered.call, "All of it."))
        hand.die()
        for run in (first, second):
            play_to_the_end(run, Hand())

    assert first.messages.first().raw_text == "All of it."
    assert second.calls.get(step=waiting.call.step).pk == waiting.pk
    assert not Call.objects.exclude(state=Call.State.COMPLETED).exists()
    assert Caller.objects.get(pk=hand.row.pk).died
    assert not list(spool.directory().glob(f"{hand.row.pk}*"))


def test_without_callers_a_driver_takes_back_what_nobody_has_claimed(run, settings, provider):
    with driving():
        handed(run)
    settings.CALLERS = 0
    with driving():
        wait_until(lambda: fresh(run).is_over, "the end")

    assert len(provider.ledger()) == run.calls.count()
    assert_books_balance(fresh(run), provider)


def test_what_a_caller_claims_while_others_are_taken_back_stays_its_own(start, council, hand, monkeypatch):
    run = start(council())
    with driving():
        wait_until(lambda: HandedCall.objects.count() > 1, "calls that are handed over")
    rows = HandedCall.objects.count()
    monkeypatch.setattr(recording, "settle", lambda *_: hand.claim())
    with transaction.atomic():
        recording.withdraw_handed(run)

    assert HandedCall.objects.filter(caller=hand.row.pk).count() == run.calls.count() == rows - 1


def with_more(value):
    """As the release to come may write it: every object has a field that we do not know."""
    if isinstance(value, dict):
        return {**{name: with_more(one) for name, one in value.items()}, "of_a_later_release": 1}
    return [with_more(one) for one in value] if isinstance(value, list) else value


def test_an_answer_comes_back_as_it_was_whatever_the_next_release_adds_and_ends_its_call_alone_if_unreadable():
    completion = Completion(text="Na\ufffd ☃", logprobs=(TokenLogprob("a", float("-inf")),), usage=Usage(1, 2))
    error = RateLimited("Wait.", status=429, retry_after=7.5, partial=completion)
    result = handover.CallResult(uuid4(), uuid4(), completion, error, 1.5, None)
    for text in (answer_text(result), json.dumps(with_more(json.loads(answer_text(result))))):
        back = orders.result_of(text, result.call_id, result.run_id)

        assert (back.completion, back.seconds, back.call_id) == (completion, 1.5, result.call_id)
        assert (type(back.error), str(back.error)) == (RateLimited, "Wait.")
        assert (back.error.retry_after, back.error.status, back.error.partial) == (7.5, 429, completion)
    for text in ("", "{}", "[1", '{"completion": 7}'):
        back = orders.result_of(text, uuid4(), uuid4())
        assert (back.error.kind, back.was_sent, back.is_stopped) == ("outcome_unknown", True, False), "maybe billed"


def test_a_record_that_was_not_written_to_its_end_or_is_damaged_is_ignored_and_a_full_spool_keeps_what_is_not_settled(
    hand, monkeypatch
):
    first, second = uuid4(), uuid4()
    hand.spool.begun(first)
    hand.spool.text(first, "Good ", "")
    hand.spool.text(first, "morning.", "Hm.")
    path = spool.directory() / f"{hand.row.pk}.spool"
    whole = path.read_bytes()
    hand.spool.answer(second, "An answer.")
    ends = [path.read_bytes()[: len(whole) + torn] for torn in (1, 7, 9, 30)]
    for text in (*ends, whole + b"\0" * 64, whole + b"\5\0\0\0\0\0\0\0Hello"):
        path.write_bytes(text)
        found = spool.read(path)
        assert (found.begun, found.texts, found.answers) == ({first}, {first: ("Good morning.", "Hm.")}, {}), text

    monkeypatch.setattr(spool, "MOST_BYTES", 1000)
    hand, settled, kept = Hand(), uuid4(), uuid4()
    for call in (settled, kept):
        hand.spool.begun(call)
        hand.spool.answer(call, "x" * 600)
    hand.spool.settled([settled])
    hand.spool.text(kept, "More.", "")
    hand.spool.text(settled, "Late.", "")
    found = spool.read(spool.directory() / f"{hand.row.pk}.spool")
    assert (found.begun, set(found.answers), set(found.texts)) == ({kept}, {kept}, {kept})


def test_without_a_spool_nothing_counts_as_unsent(run, hand, monkeypatch):
    def full(*written):
        raise OSError("no space is left")

    with driving():
        handed(run)
        [row] = hand.claim()
        monkeypatch.setattr(spool.os, "write", full)
        hand.spool.begun(row.pk)
        monkeypatch.undo()
        hand.die()
        spool.inherit()

    assert HandedCall.objects.get().caller_id == hand.row.pk
    assert Caller.objects.get().died


def test_a_call_is_begun_at_the_next_look_where_the_database_went_away_once_it_was_claimed_and_stopped_when_asked(
    run, monkeypatch
):
    process, begun, stopped = CallerProcess(threading.Event(), threading.Event()), [], []
    monkeypatch.setattr(process._executor, "submit", lambda call: begun.append(call.call_id))
    monkeypatch.setattr(process._executor, "stop", stopped.append)
    process._beat()
    with driving():
        handed(run)
        process._claim()
        with monkeypatch.context() as patch:
            patch.setattr(process._catalogue, "entry", Mock(side_effect=OperationalError))
            with pytest.raises(OperationalError):
                process._look_after_mine()
        for _look in range(2):
            process._look_after_mine()
        assert stopped == []
        HandedCall.objects.update(stop_requested=True)
        process._look_after_mine()

    assert begun == stopped == [run.calls.get().pk]


def test_rows_of_callers_that_ended_a_day_ago_go_unless_a_call_is_still_theirs(run, hand):
    long_ago = timezone.now() - timedelta(days=2)
    with driving():
        handed(run)
        hand.claim()
    Caller.objects.create(id=uuid4(), host="here", seen_until=long_ago)
    recent = Caller.objects.create(id=uuid4(), host="here", seen_until=timezone.now() - timedelta(hours=2))
    Caller.objects.filter(pk=hand.row.pk).update(seen_until=long_ago)
    process = CallerProcess(threading.Event(), threading.Event())
    process._beat()

    assert {*Caller.objects.values_list("pk", flat=True)} == {process._id, recent.pk, hand.row.pk}
