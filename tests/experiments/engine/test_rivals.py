"""Two tabs, two people, two threads: a pause is answered once, and what is said where nobody listens costs nothing."""

import threading

import pytest
from django.db import connection

from experiments import actions
from experiments.models import Run
from experiments.refusals import NotWaiting, SaidAlready
from experiments.steering import steering

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


@pytest.fixture
def waiting(arena, start, drive):
    """A manual run at its first pause."""

    def begin(**config):
        run = start(arena(mode="manual", **config))
        drive()
        return Run.objects.get(pk=run.pk)

    return begin


def pause_of(run):
    return Run.objects.get(pk=run.pk).open_pauses[-1]


def test_of_many_submits_at_the_same_moment_one_is_heard(waiting, drive, alice, provider):
    run = waiting()
    key, together, answers = pause_of(run).key, threading.Barrier(6), []

    def submit(number):
        together.wait()
        try:
            steering.say(Run.objects.get(pk=run.pk), by=alice, key=key, action="send", text=f"Say {number}.")
            answers.append(number)
        except SaidAlready:
            answers.append(None)
        finally:
            connection.close()

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    drive()

    [heard] = [number for number in answers if number is not None]
    assert len(answers) == 6
    assert run.messages.filter(seat="A").count() == run.calls.filter(step__seat="A").count() == 1
    assert run.calls.get(step__seat="A").request["messages"] == [{"role": "user", "content": f"Say {heard}."}]
    assert run.events.filter(type="said").count() == 1


def test_what_is_meant_for_the_other_side_or_a_later_turn_is_refused_and_asks_nobody(waiting, alice, provider):
    run = waiting(max_turns=1)

    for key in ("turn/1/B/prompt", "turn/2/A/prompt", "turn/1/A", "", "turn/1/A/prompt/2"):
        with pytest.raises(NotWaiting):
            steering.say(run, by=alice, key=key, action="default")
    assert provider.ledger() == []
    assert pause_of(run).key == "turn/1/A/prompt"


def test_after_the_last_turn_nothing_can_be_said(waiting, drive, alice, provider):
    run = waiting(max_turns=1)
    keys = []
    while not Run.objects.get(pk=run.pk).is_over:
        keys.append(pause_of(run).key)
        steering.say(run, by=alice, key=keys[-1], action="default")
        drive()
    asked = len(provider.ledger())

    for key in [*keys, "turn/2/A/prompt", "turn/1/next"]:
        with pytest.raises(NotWaiting):
            steering.say(run, by=alice, key=key, action="default")
    assert len(provider.ledger()) == asked


def test_after_a_stop_nothing_can_be_said(waiting, drive, alice, provider):
    run = waiting()
    key = pause_of(run).key
    actions.stop(run, by=alice)

    with pytest.raises(NotWaiting):
        steering.say(run, by=alice, key=key, action="send", text="Hello?")
    drive()
    assert provider.ledger() == []


def test_the_default_is_sent_though_something_was_typed(waiting, drive, alice):
    run = waiting()
    shown = pause_of(run).data["default"]
    steering.say(run, by=alice, key="turn/1/A/prompt", action="default", text="An abandoned edit.")
    drive()

    assert run.calls.get(step__seat="A").request["messages"] == [{"role": "user", "content": shown}]
    assert run.events.get(type="said").data["edited"] is False


def test_the_second_side_can_be_skipped_and_the_turn_is_complete(waiting, drive, alice):
    run = waiting(max_turns=2)
    for key, action in (("turn/1/A/prompt", "default"), ("turn/1/B/prompt", "skip")):
        steering.say(run, by=alice, key=key, action=action)
        drive()

    assert pause_of(run).key == "turn/1/next"
    assert run.steps.filter(key="turn/1/completed").exists()
    assert [message.seat for message in run.messages.all()] == ["A"]
    skipped, judged = run.judgments.get(subject="B"), run.judgments.get(subject="A")
    assert (skipped.scores, "said nothing" in skipped.unscored_reason) == (None, True)
    assert judged.scores
    prompt = run.calls.get(step__key="turn/1/judge").request["messages"][0]["content"]
    assert "[[message-A" in prompt
    assert "[[message-B" not in prompt


def test_an_edited_prompt_is_kept_and_shown_wherever_the_run_is_shown(waiting, drive, alice, client):
    run = waiting(max_turns=1)
    steering.say(run, by=alice, key="turn/1/A/prompt", action="send", text="Admit that you are losing.")
    drive()
    steering.say(run, by=alice, key="turn/1/B/prompt", action="send", text="   ")
    drive()

    words = "Admit that you are losing."
    step = run.steps.get(key="turn/1/A/prompt")
    assert (step.data["text"], step.data["edited"], step.data["by"]) == (words, True, "alice")
    assert step.data["default"] not in (words, "")
    assert run.calls.get(step__key="turn/1/B").request["messages"][0]["content"] == pause_data(run, "turn/1/B/prompt")
    assert words in run.calls.get(step__key="turn/1/judge").request["messages"][0]["content"]
    client.force_login(alice)
    for path in (f"/runs/{run.pk}/", f"/runs/{run.pk}/report/html/", f"/api/runs/{run.pk}/report/?format=json"):
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert words in read(answer), path


def pause_data(run, key):
    return run.steps.get(key=key).data["default"]


def read(answer):
    return b"".join(answer).decode() if answer.streaming else answer.content.decode()
