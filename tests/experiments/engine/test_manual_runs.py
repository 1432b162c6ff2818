"""A run that waits for its operator: what is shown is what is sent, each word once, and nothing is lost in between."""

import hashlib
import json

import pytest

from experiments import actions
from experiments.models import Run, Step
from experiments.refusals import NotOffered, NotWaiting, SaidAlready
from experiments.steering import steering

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


@pytest.fixture
def manual(arena, start, drive):
    """Starts a manual run and drives it to its first pause."""

    def begin(**config):
        run = start(arena(mode="manual", **config))
        drive()
        run.refresh_from_db()
        return run

    return begin


@pytest.fixture
def say(alice, drive):
    def answer(run, action, text="", key=None):
        steering.say(run, by=alice, key=key or pause(run).key, action=action, text=text)
        drive()
        run.refresh_from_db()

    return answer


def pause(run) -> Step:
    [step] = Run.objects.get(pk=run.pk).open_pauses
    return step


def waits(run):
    return (run.state, pause(run).purpose, pause(run).seat)


def sent(provider, run, key):
    """The messages of a step's request: what is recorded has the same bytes as what reached the provider."""
    call = run.calls.filter(step__key=key).latest("attempt")
    [entry] = [entry for entry in provider.ledger() if entry["request_id"] == str(call.pk)]
    assert hashlib.sha256(json.dumps(call.request, sort_keys=True).encode()).hexdigest() == entry["body_sha256"]
    return call.request["messages"]


def test_it_pauses_before_each_reply_and_after_each_turn(manual, say):
    run = manual()
    assert waits(run) == ("waiting", "turn_start", "A")
    say(run, "default")
    assert waits(run) == ("waiting", "model_completed", "B")
    say(run, "default")
    assert waits(run) == ("waiting", "turn_completed", "")
    say(run, "next")
    assert waits(run) == ("waiting", "turn_start", "A")
    say(run, "default")
    say(run, "default")

    assert (run.state, run.stop_reason) == ("completed", "max_turns")


def test_what_is_shown_is_byte_for_byte_what_is_sent(manual, say, provider):
    run = manual(prompt="Teile {sieben} Platten & $geld.\r\n\t漢字 🎈 ", system_prompt="Ich bin {MODEL}.")
    shown = pause(run).data["default"]
    say(run, "default")

    assert sent(provider, run, "turn/1/A") == [{"role": "user", "content": shown}]
    assert "Ich bin A." in shown
    assert "Teile {sieben} Platten & $geld.\r\n\t漢字 🎈 " in shown

    second = pause(run).data["default"]
    edited = second + "\n\nBe quick. \u200f"
    say(run, "send", edited)
    assert run.messages.get(seat="A").text in second
    assert sent(provider, run, "turn/1/B") == [{"role": "user", "content": edited}]


def test_a_rewritten_prompt_is_told_and_the_judge_is_shown_it(manual, say, provider, alice):
    run = manual(max_turns=1)
    say(run, "send", "Confess.")
    say(run, "default")

    told = run.events.get(type="said", data__edited=True).data
    assert (told["text"], told["by"], told["seat"]) == ("Confess.", "alice", "A")
    assert "Confess." in sent(provider, run, "turn/1/judge")[0]["content"]


def test_an_empty_text_sends_the_default(manual, say, provider):
    run = manual()
    shown = pause(run).data["default"]
    say(run, "send", "  \n")

    assert sent(provider, run, "turn/1/A") == [{"role": "user", "content": shown}]
    assert not run.events.get(type="said").data["edited"]


def test_the_second_answer_to_a_pause_is_refused(manual, say, alice, drive):
    run = manual()
    key = pause(run).key
    steering.say(run, by=alice, key=key, action="default")
    with pytest.raises(SaidAlready):
        steering.say(run, by=alice, key=key, action="send", text="Me too.")
    drive()

    assert run.messages.filter(seat="A").count() == 1


@pytest.mark.parametrize("action", ["regenerate", "", "SEND"])
def test_what_a_pause_does_not_offer_is_refused(manual, alice, action):
    run = manual()

    with pytest.raises(NotOffered):
        steering.say(run, by=alice, key=pause(run).key, action=action)
    assert pause(run).state == Step.State.OPEN


def test_nothing_can_be_said_where_nobody_listens(manual, say, alice):
    run = manual()
    with pytest.raises(NotWaiting):
        steering.say(run, by=alice, key="turn/9/B/prompt", action="default")
    key = pause(run).key
    actions.stop(run, by=alice)
    with pytest.raises(NotWaiting):
        steering.say(run, by=alice, key=key, action="default")

    assert run.calls.count() == 0


def test_a_skipped_side_says_nothing_and_is_not_scored(manual, say):
    run = manual(max_turns=1)
    say(run, "skip")
    assert waits(run) == ("waiting", "model_completed", "B")
    say(run, "default")

    assert run.state == "completed"
    assert [message.seat for message in run.messages.all()] == ["B"]
    skipped = run.judgments.get(subject="A")
    assert (skipped.scores, "said nothing" in skipped.unscored_reason) == (None, True)
    assert run.judgments.get(subject="B").scores


def test_a_turn_in_which_nobody_spoke_costs_no_judge(manual, say):
    run = manual(max_turns=1)
    say(run, "skip")
    say(run, "skip")

    assert (run.state, run.calls.count(), run.judgments.count()) == ("completed", 0, 2)


def test_the_next_turn_can_be_started_from_every_pause(manual, say):
    run = manual()
    say(run, "next")

    assert waits(run)[1:] == ("turn_completed", "")


@pytest.mark.parametrize("before", [[], ["default"], ["default", "default"]], ids=["start", "between", "after"])
def test_it_ends_from_every_pause_and_says_stopped(manual, say, before):
    run = manual()
    for action in before:
        say(run, action)
    say(run, "end")

    assert (run.state, run.stop_reason, run.open_pauses) == ("stopped", "manual_stop", [])
    assert run.events.filter(type="experiment_stopped").count() == 1


def test_a_failed_call_comes_back_to_the_operator(manual, say):
    run = manual(a="sim/cooperative:fail=401:times=1")
    say(run, "default")

    assert (waits(run), bool(pause(run).data["error"])) == (("waiting", "call_failed", "A"), True)
    say(run, "default")
    assert waits(run) == ("waiting", "model_completed", "B")
    assert run.events.filter(type="call_failed").count() == 1


def test_with_auto_advance_the_next_turn_starts_by_itself(manual, say):
    run = manual(auto_advance=True)
    say(run, "default")
    say(run, "default")

    assert waits(run) == ("waiting", "turn_start", "A")
    assert pause(run).turn == 2


def test_it_goes_on_by_itself_once_it_is_automatic_and_waits_again_when_manual(manual, drive, alice):
    run = manual(max_turns=2)
    steering.set_mode(run, by=alice, mode="automatic")
    drive()
    run.refresh_from_db()

    assert (run.state, run.messages.count(), run.mode) == ("completed", 4, "automatic")


def test_an_automatic_run_waits_from_the_pause_after_it_was_made_manual(arena, start, drive, alice):
    run = start(arena(max_turns=3))
    steering.set_mode(run, by=alice, mode="manual")
    drive()
    run.refresh_from_db()

    assert waits(run) == ("waiting", "turn_start", "A")


def test_pauses_that_were_passed_are_passed_again_after_a_crash(arena, start, drive, alice, provider):
    run = start(arena(a="sim/cooperative:fail=401:after=0:times=1", max_turns=2, first="B"))
    drive()
    run.refresh_from_db()
    assert run.state == "failed"
    steering.Run.objects.filter(pk=run.pk).update(mode="manual")
    actions.resume(run, by=alice)
    drive()
    run.refresh_from_db()

    assert waits(run) == ("waiting", "turn_completed", "")
    assert [message.seat for message in run.messages.all()] == ["B", "A"]


def test_a_paused_run_begins_nothing_more_and_goes_on_when_resumed(arena, start, drive, alice):
    run = start(arena(max_turns=2))
    assert steering.pause(run, by=alice)
    drive()
    run.refresh_from_db()
    assert (run.state, run.is_held, run.calls.count()) == ("waiting", True, 0)

    assert actions.resume(run, by=alice)
    drive()
    run.refresh_from_db()
    assert (run.state, run.is_held, run.messages.count()) == ("completed", False, 4)


def test_waiting_counts_towards_no_limit_of_time(manual, say, monkeypatch):
    run = manual(max_turns=1, limits={"seconds": 30})
    Run.objects.filter(pk=run.pk).update(
        started=run.started - steering.timezone.timedelta(hours=2),
        waiting_since=run.waiting_since - steering.timezone.timedelta(hours=2),
    )
    say(run, "default")
    say(run, "default")

    assert run.state == "completed"


def test_the_last_turn_can_be_moved_while_it_is_played(manual, say, alice):
    run = manual(max_turns=1)
    steering.extend(run, by=alice, max_turns=2)
    say(run, "default")
    say(run, "default")

    assert waits(run)[1] == "turn_completed"
    assert run.config["max_turns"] == 2
    with pytest.raises(NotOffered):
        steering.extend(run, by=alice, max_turns=0)
