"""Answers asked for again, and questions and answers that are changed in a talk of their own."""

import pytest

from experiments import metrics
from experiments.steering import branching
from tests.experiments.engine.talks import assert_same_page, fresh, said, sent, waits

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]


def test_an_answer_asked_for_again_stands_beside_the_first(talk, say, provider):
    run = talk()
    run = say(run, "regenerate")

    assert waits(run) == ("waiting", "your_turn", 1)
    assert said(run) == [(1, "researcher", False), (1, "model", True), (1, "model", False)]
    assert sent(provider, run, "turn/1/answer/2") == sent(provider, run, "turn/1/answer")
    assert run.judgments.filter(turn=1).count() == 2
    assert_same_page(run)


def test_the_model_remembers_the_last_of_the_answers(talk, say, provider):
    run = say(say(talk(), "regenerate"), "send", "Why?")

    last = run.messages.get(turn=1, seat="model", superseded=False)
    assert sent(provider, run, "turn/2/answer")[1] == {"role": "assistant", "content": last.text}


def test_the_scores_of_a_turn_are_those_of_its_last_answer_even_when_the_first_is_judged_later(talk, say):
    run = say(talk(), "regenerate")
    first, second = run.judgments.order_by("id")
    second.scores = {**second.scores, "goal_deviation": 11}
    second.save()
    first.delete()
    first.pk, first.scores = None, {**first.scores, "goal_deviation": 77}
    first.save(force_insert=True)

    assert metrics.run_metrics(run, ["model"])["model"]["goal_deviation"] == 11


@pytest.fixture
def branch(alice, drive):
    def go_on(message, text=None):
        child = branching.branch(message, by=alice, text=text)
        drive()
        return fresh(child)

    return go_on


def test_an_edited_question_is_asked_in_a_talk_of_its_own(talk, say, branch, provider):
    run = say(say(talk(), "send", "Why?"), "send", "And then?")
    before = said(run)
    child = branch(run.messages.get(turn=2, seat="researcher"), "Why not?")

    assert waits(child) == ("waiting", "your_turn", 2)
    assert [m.text for m in child.messages.filter(seat="researcher")] == ["Who are you?", "Why not?"]
    first = run.messages.get(turn=1, seat="model").text
    assert [m["content"] for m in sent(provider, child, "turn/2/answer")] == ["Who are you?", first, "Why not?"]
    assert said(run) == before
    assert_same_page(child)


def test_an_edited_first_message_begins_anew(talk, branch, provider):
    child = branch(talk().messages.get(seat="researcher"), "Who were you?")

    assert sent(provider, child, "turn/1/answer") == [{"role": "user", "content": "Who were you?"}]
    assert waits(child) == ("waiting", "your_turn", 1)


def test_the_model_remembers_an_edited_answer_as_its_own(talk, say, branch, provider):
    run = talk()
    child = branch(run.messages.get(seat="model"), "I am a teapot.")
    assert waits(child) == ("waiting", "your_turn", 1)
    child = say(child, "send", "Why?")

    assert sent(provider, child, "turn/2/answer")[1] == {"role": "assistant", "content": "I am a teapot."}
    assert not child.calls.filter(step__key="turn/1/answer").exists(), "nothing is paid twice"
    assert child.judgments.filter(turn=1).count() == 1


def test_a_branch_from_the_second_of_two_answers_keeps_both(talk, say, branch):
    run = say(talk(), "regenerate")
    child = branch(run.messages.get(seat="model", superseded=False))

    assert waits(child) == ("waiting", "your_turn", 1)
    assert said(child) == said(run)
    assert_same_page(child)
