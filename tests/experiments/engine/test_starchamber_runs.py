"""A researcher questions a model: turns, answers asked for again, failures, and nothing that nobody said."""

import asyncio
import json
import threading

import pytest

from accounts.errors import Conflict, Invalid
from experiments.runs import actions, metrics
from experiments.runs.steering import steering
from tests.experiments.engine.talks import assert_same_page, fresh, pause, roles, said, sent, waits
from tests.fixtures import wait_until
from tests.parts import stepped_engine


@pytest.mark.databases
def test_nothing_is_sent_but_what_the_researcher_and_the_model_said_and_its_thoughts_to_the_judge(talk, say, provider):
    odd = "Wer bist du?\r\n\t$name {MODEL} 漢字 🎈 "
    run = talk("sim/cooperative:first=0:think=tags", first_message=odd, context="")
    assert waits(run) == ("waiting", "your_turn", 1)
    run = say(run, "send", " \u200fAnd now?\n")

    assert waits(run) == ("waiting", "your_turn", 2)
    assert said(run) == [(t, seat, False) for t in (1, 2) for seat in ("researcher", "model")]
    assert run.judgments.count() == 2
    answer = run.messages.get(turn=1, seat="model").text
    assert sent(provider, run, "turn/1/answer") == [{"role": "user", "content": odd}]
    assert sent(provider, run, "turn/2/answer") == [
        {"role": "user", "content": odd},
        {"role": "assistant", "content": answer},
        {"role": "user", "content": " \u200fAnd now?\n"},
    ]
    thoughts = [message.reasoning for message in run.messages.filter(seat="model")]
    judged = sent(provider, run, "turn/2/answer/judge")[0]["content"]
    assert len(set(thoughts)) == 2
    assert [(thought in judged, thought in answer) for thought in thoughts] == [(True, False)] * 2
    assert [one.saw for one in run.judgments.filter(turn=2)] == [{"messages": "original", "reasoning": "shown"}]
    assert_same_page(run)


def test_a_context_is_sent_as_it_stands_and_the_persona_is_a_name_on_the_page(talk, say, provider):
    context = "You are Ines.\r\n Keep {this} & $that. "
    run = say(talk(context=context, persona="Dr. <b>Persona</b>"), "send", "Again?")

    for key in ("turn/1/answer", "turn/2/answer"):
        messages = sent(provider, run, key)
        assert messages[0] == {"role": "system", "content": context}
        assert "Persona" not in json.dumps(messages)
    blank = talk(context=" \n\t", judge=False)
    assert roles(sent(provider, blank, "turn/1/answer")) == ["user"]
    assert (blank.calls.count(), blank.judgments.count()) == (1, 0)


def test_the_judge_works_while_the_next_question_is_answered(starchamber, start, alice, scripted):
    may_judge = asyncio.Event()

    async def judge_when_let(body):
        await may_judge.wait()
        return "No verdict."

    judge = scripted.model("scripted/judge", judge_when_let, is_tool=True)
    run = start(starchamber(judge_model=judge))
    with stepped_engine.driving(threading.Event()):
        wait_until(lambda: run.steps.filter(key="turn/1/answer/next").exists(), "the pause")
        assert run.judgments.count() == 0
        assert fresh(run).state == "running", "the judge is still at work"
        steering.say(run, by=alice, key="turn/1/answer/next", action="send", text="Next?")
        wait_until(lambda: run.messages.filter(turn=2, seat="model").exists(), "the next answer")
        assert run.judgments.count() == 0
        may_judge.set()
        wait_until(lambda: run.judgments.count() == 2, "both judgments")

    assert waits(fresh(run)) == ("waiting", "your_turn", 2)
    assert list(run.judgments.order_by("turn").values_list("turn", flat=True)) == [1, 2]
    assert_same_page(run)


def test_a_failed_answer_can_be_asked_for_again_or_another_message_sent_in_its_place(talk, say, provider):
    run = talk("sim/cooperative:first=0:fail=401:times=1")
    assert said(run) == [(1, "researcher", False)], "the error of a provider never becomes speech"
    assert run.events.filter(type="call_failed").count() == 1
    assert waits(run) == ("waiting", "answer_failed", 1)
    assert pause(run).data["error"]
    assert pause(run).data["actions"] == ["retry", "send", "end"]
    run = say(run, "retry")

    assert waits(run) == ("waiting", "your_turn", 1)
    assert roles(sent(provider, run, "turn/1/answer/2")) == ["user"]
    assert said(run) == [(1, "researcher", False), (1, "model", False)]
    assert_same_page(run)

    run = talk("sim/cooperative:first=0:fail=401:times=1", first_message="Who is there?")
    run = say(run, "send", "Who are you then?")
    assert waits(run) == ("waiting", "answer_failed", 2), "another request fails for the first time too"
    run = say(say(run, "retry"), "send", "Good.")
    assert said(run)[0] == (1, "researcher", False), "the question without an answer stays in the record"
    assert roles(sent(provider, run, "turn/2/answer/2")) == ["user"]
    for call in run.calls.filter(step__purpose="reply"):
        assert "user user" not in " ".join(roles(call.request["messages"]))


def test_it_ends_at_the_researchers_word_after_its_last_turn_and_when_it_is_stopped(talk, say, alice):
    for model in ("sim/cooperative:first=0", "sim/cooperative:first=0:fail=401"):
        run = say(talk(model), "end")
        assert (run.state, run.stop_reason, run.open_pauses) == ("stopped", "manual_stop", [])
        assert_same_page(run)
    last = talk(max_turns=1)
    assert (last.state, last.stop_reason) == ("completed", "max_turns")
    run = talk()
    key = pause(run).key
    with pytest.raises(Invalid):
        steering.say(run, by=alice, key=key, action="send", text="  \n")
    actions.stop(run, by=alice)
    with pytest.raises(Conflict):
        steering.say(run, by=alice, key=key, action="send", text="Hello?")


def test_an_answer_asked_for_again_stands_beside_the_first_and_is_the_one_remembered(talk, say, branch, provider):
    run = say(talk(), "regenerate")

    assert waits(run) == ("waiting", "your_turn", 1)
    assert said(run) == [(1, "researcher", False), (1, "model", True), (1, "model", False)]
    assert sent(provider, run, "turn/1/answer/2") == sent(provider, run, "turn/1/answer")
    assert run.judgments.filter(turn=1).count() == 2
    assert_same_page(run)
    child = branch(run.messages.get(seat="model", superseded=False))
    assert (waits(child), said(child)) == (("waiting", "your_turn", 1), said(run))
    assert_same_page(child)
    run = say(run, "send", "Why?")
    last = run.messages.get(turn=1, seat="model", superseded=False)
    assert sent(provider, run, "turn/2/answer")[1] == {"role": "assistant", "content": last.text}

    first, second = run.judgments.filter(turn=1).order_by("id")
    run.judgments.exclude(pk=first.pk).update(scores={**second.scores, "goal_deviation": 11})
    first.delete()
    first.pk, first.scores = None, {**first.scores, "goal_deviation": 77}
    first.save(force_insert=True)
    assert metrics.run_metrics(run, ["model"])["model"].turns[0].goal_deviation == 11, "though judged before the other"


def test_an_edited_question_is_asked_and_an_edited_answer_remembered_in_a_talk_of_its_own(talk, say, branch, provider):
    run = say(say(talk(), "send", "Why?"), "send", "And then?")
    before = said(run)
    child = branch(run.messages.get(turn=2, seat="researcher"), "Why not?")

    assert waits(child) == ("waiting", "your_turn", 2)
    assert [m.text for m in child.messages.filter(seat="researcher")] == ["Who are you?", "Why not?"]
    first = run.messages.get(turn=1, seat="model").text
    assert [m["content"] for m in sent(provider, child, "turn/2/answer")] == ["Who are you?", first, "Why not?"]
    assert said(run) == before
    assert_same_page(child)

    child = branch(run.messages.get(turn=1, seat="researcher"), "Who were you?")
    assert sent(provider, child, "turn/1/answer") == [{"role": "user", "content": "Who were you?"}]

    child = say(branch(run.messages.get(turn=1, seat="model"), "I am a teapot."), "send", "Why?")
    assert sent(provider, child, "turn/2/answer")[1] == {"role": "assistant", "content": "I am a teapot."}
    assert not child.calls.filter(step__key="turn/1/answer").exists(), "nothing is paid twice"
    assert child.judgments.filter(turn=1).count() == 1
