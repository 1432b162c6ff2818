"""A run that waits for its operator: what is shown is what is sent, each word once, and nothing is lost in between."""

from functools import partial

import pytest

from accounts.errors import AlreadyAnswered, Conflict, Invalid
from experiments.models import Run
from experiments.runs import actions
from experiments.runs.steering import steering
from tests.cases import each_case
from tests.experiments.engine.talks import pause, sent
from tests.making import maker
from tests.rivals import at_once


@maker
def manual(arena, start, drive, /, **config):
    run = start(arena(mode="manual", **config))
    drive()
    run.refresh_from_db()
    return run


@maker
def say(alice, drive, /, run, *actions_, text=""):
    for action in actions_:
        steering.say(run, by=alice, key=pause(run).key, action=action, text=text)
        drive()
    run.refresh_from_db()


def waits(run):
    return (run.state, pause(run).purpose, pause(run).seat)


TURN = [("waiting", "turn_start", "A"), ("waiting", "model_completed", "B")]
BETWEEN = ("waiting", "turn_completed", "")


@each_case(
    ("auto_advance", "actions", "pauses"),
    [
        (False, ["default", "default", "next", "default", "default"], [*TURN, BETWEEN, *TURN]),
        (True, ["default"] * 4, TURN * 2),
        (False, ["next", "next", "default", "default"], [TURN[0], BETWEEN, *TURN]),
    ],
    ids=["each reply", "the next turn starts by itself", "the next turn is started from the first pause"],
)
def test_it_pauses_before_each_reply_and_after_each_turn(manual, say, auto_advance, actions, pauses):
    run = manual(auto_advance=auto_advance)
    seen = []
    for action in actions:
        seen.append(waits(run))
        say(run, action)

    assert seen == pauses
    assert (run.state, run.stop_reason) == ("completed", "max_turns")


@each_case(("action", "text"), [("send", "  \n"), ("default", "An abandoned edit.")])
def test_the_default_is_sent_where_nothing_else_was_wanted_and_the_judge_shown_what_was(
    manual, say, provider, action, text
):
    run = manual(max_turns=1)
    shown = pause(run).data["default"]
    say(run, action, text=text)

    assert sent(provider, run, "turn/1/A") == [{"role": "user", "content": shown}]
    assert run.events.get(type="said").data["edited"] is False

    say(run, "send", text="Admit that you are losing.")
    told = run.events.get(type="said", data__edited=True).data
    assert (told["text"], told["by"], told["seat"]) == ("Admit that you are losing.", "alice", "B")
    assert told["text"] in sent(provider, run, "turn/1/judge")[0]["content"]


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_many_submits_at_the_same_moment_one_is_heard(manual, drive, alice):
    run = manual()
    key = pause(run).key

    def submit(number):
        steering.say(Run.objects.get(pk=run.pk), by=alice, key=key, action="send", text=f"Say {number}.")
        return number

    answers = at_once(*(partial(submit, number) for number in range(6)), refused=AlreadyAnswered)
    drive()

    [heard] = [number for number in answers if isinstance(number, int)]
    assert run.messages.filter(seat="A").count() == 1
    assert run.calls.get(step__seat="A").request["messages"] == [{"role": "user", "content": f"Say {heard}."}]
    assert run.events.filter(type="said").count() == 1


def test_what_is_said_where_nobody_listens_is_refused_and_asks_nobody(manual, say, alice, drive, provider):
    run, stopped = manual(max_turns=1), manual(max_turns=1)

    def refused(run, *keys, why=Conflict):
        asked = len(provider.ledger())
        for key in keys:
            with pytest.raises(why):
                steering.say(run, by=alice, key=key, action="default")
        drive()
        assert len(provider.ledger()) == asked

    refused(run, "turn/1/B/prompt", "turn/2/A/prompt", "turn/1/A", "", "turn/1/A/prompt/2")
    first = pause(run).key
    for action, text in (("regenerate", ""), ("send", "\0"), ("send", "x" * 1_000_001), ("note", " ")):
        with pytest.raises(Invalid):
            steering.say(run, by=alice, key=first, action=action, text=text)
    assert first == "turn/1/A/prompt"
    say(run, "default")
    refused(run, first, why=AlreadyAnswered)
    last = pause(run).key
    say(run, "default")
    assert run.state == "completed"
    refused(run, first, last, "turn/2/A/prompt", "turn/1/next")
    steering.say(stopped, by=alice, key=first, action="send", text="x" * 1_000_000)
    actions.stop(stopped, by=alice)
    refused(stopped, first)
    assert stopped.calls.count() == 0


@each_case(("first", "second"), [("skip", "default"), ("default", "skip"), ("skip", "skip")])
def test_a_skipped_side_says_nothing_and_is_not_scored(manual, say, first, second):
    run = manual(max_turns=2)
    say(run, first)
    assert waits(run) == ("waiting", "model_completed", "B")
    say(run, second)

    assert (run.state, pause(run).key) == ("waiting", "turn/1/next")
    assert run.steps.filter(key="turn/1/completed").exists()
    spoke = [seat for seat, action in (("A", first), ("B", second)) if action == "default"]
    assert [message.seat for message in run.messages.all()] == spoke
    for judgment in run.judgments.all():
        was_skipped = judgment.subject not in spoke
        assert (judgment.scores is None, "said nothing" in judgment.unscored_reason) == (was_skipped, was_skipped)
    assert run.judgments.count() == 2
    asked = run.calls.filter(step__key="turn/1/judge")
    assert asked.count() == len(spoke), "a turn in which nobody spoke costs no judge"
    if spoke:
        prompt = asked.get().request["messages"][0]["content"]
        assert {seat for seat in "AB" if f"[[message-{seat}" in prompt} == set(spoke)


@each_case("before", [[], ["default"], ["default", "default"]], ids=["start", "between", "after"])
def test_it_ends_from_every_pause_and_says_stopped(manual, say, before):
    run = manual()
    say(run, *before, "end")

    assert (run.state, run.stop_reason, run.open_pauses) == ("stopped", "manual_stop", [])
    assert run.events.filter(type="experiment_stopped").count() == 1


def test_it_goes_on_by_itself_once_it_is_automatic_and_waits_once_it_is_manual(manual, arena, start, drive, alice):
    waiting, queued = manual(max_turns=2), start(arena(max_turns=3))
    steering.set_mode(waiting, by=alice, mode="automatic")
    steering.set_mode(queued, by=alice, mode="manual")
    drive()
    waiting.refresh_from_db()
    queued.refresh_from_db()

    assert (waiting.state, waiting.messages.count(), waiting.mode) == ("completed", 4, "automatic")
    assert waits(queued) == ("waiting", "turn_start", "A")


def test_the_last_turn_can_be_moved_while_it_is_played(manual, say, alice):
    """What would be asked changes then; what was shown is what is sent, and is not told as rewritten."""
    run = manual(max_turns=1)
    steering.extend(run, by=alice, max_turns=2)
    say(run, "default", "default")

    assert waits(run)[1] == "turn_completed"
    assert run.config["max_turns"] == 2
    assert "rewrote" not in str(run.calls.get(step__key="turn/1/judge").request["messages"])
    with pytest.raises(Invalid):
        steering.extend(run, by=alice, max_turns=0)
    say(run, "next")
    with pytest.raises(Invalid):
        steering.extend(run, by=alice, max_turns=1)
