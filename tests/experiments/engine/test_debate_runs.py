"""A debate is played: what was said is in its rows, and a person decides wherever it waits for one."""

import threading

import pytest
from django.db import connection

from experiments.models import Event, Message, Step
from experiments.refusals import NotOffered, NotWaiting, SaidAlready
from experiments.steering import branching, furthering, steering
from tests.experiments.debated import REQUEST, points
from tests.experiments.debating import asked, assert_same_page, message, pause, told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.databases]

PARTS = ["refine", "round/1/A", "round/1/B", "round/1/C"]


def texts(run, *, kind=None):
    return [m.text for m in run.messages.all() if kind is None or (m.parsed or {}).get("kind") == kind]


def test_an_automatic_debate_plays_to_its_summary(stage):
    run = stage.play(rounds=2)

    assert (run.state, run.stop_reason) == ("completed", "concluded")
    assert asked(run) == [*PARTS, "round/2/A", "round/2/B", "round/2/C", "summary"]
    kinds = [(m.turn, m.seat, m.parsed["kind"]) for m in run.messages.all()]
    assert kinds == [
        *((0, "person", "request"), (0, "refiner", "brief"), (0, "person", "final_prompt")),
        *((turn, seat, "points") for turn in (1, 2) for seat in "ABC"),
        (3, "summarizer", "actions"),
    ]
    assert not any(m.flags for m in run.messages.all())
    assert_same_page(run)


def test_the_simulated_provider_plays_a_debate(debate, start, drive):
    run = start(debate(mode="automatic", rounds=2, addendum="We can pay for ten clear nights."))
    drive()
    run.refresh_from_db()

    assert (run.state, run.stop_reason) == ("completed", "concluded")
    assert {m.parsed["kind"] for m in run.messages.all()} >= {"brief", "points", "actions", "addendum"}
    assert not run.messages.filter(parsed__kind="unread").exists()
    assert_same_page(run)


def test_debaters_speak_in_order_and_each_is_told_what_was_said_before(stage):
    run = stage.play()

    assert "A1.p1" not in told(run, "round/1/A")
    assert "A1.p1: Perspective 1 of A" in told(run, "round/1/B")
    assert "B1.c2: Counterpoint 2 of B" in told(run, "round/1/C")


def test_a_message_is_shown_as_it_was_said_and_read_as_what_it_says(stage):
    run = stage.play()

    first = message(run, "round/1/A")
    assert first.raw_text == points("A")
    assert first.text.startswith("**New perspectives**")
    assert first.parsed["new_perspectives"][0]["id"] == "p1"
    assert run.events.filter(type="message_parsed", data__id=str(first.pk)).count() == 1


def test_a_manual_debate_waits_without_a_driver_wherever_a_person_decides(stage):
    run = stage.play(mode="manual")
    seen = []
    for action in ("default", "round", "summarize"):
        seen.append((run.state, pause(run).key, run.lease_until))
        assert_same_page(run)
        run = stage.say(run, action)

    assert seen == [("waiting", key, None) for key in ("prompt", "round/1/next", "round/2/next")]
    assert (run.state, pause(run).key) == ("completed", "summary/next")
    assert_same_page(run)


def test_the_person_edits_the_final_prompt_that_was_prefilled(stage):
    run = stage.play(mode="manual")
    prefilled = pause(run).data["default"]
    assert "Share one telescope fairly" in prefilled
    run = stage.say(run, "send", f"{prefilled}the lab does.")

    assert message(run, "prompt/final").text.endswith("Answer: the lab does.")
    assert "the lab does." in told(run, "round/1/A")


def test_switched_to_automatic_a_waiting_debate_goes_on_as_it_was_set_up(stage, alice):
    run = stage.play(mode="manual", rounds=2, addendum="Ten nights.")
    run = stage.say(run, "default")
    assert pause(run).key == "round/1/next"
    steering.set_mode(run, by=alice, mode="automatic")
    run = stage.go_on(run)

    assert run.state == "completed"
    assert texts(run, kind="addendum") == ["Ten nights."]
    assert "round/2/C" in asked(run)


def test_an_addendum_is_frozen_once_the_second_round_has_begun(stage, alice):
    run = stage.say(stage.play(mode="manual"), "default")
    furthering.draft(run, by=run.experiment.owner, key="round/1/next", text="  Ten clear nights.\n")
    run = stage.say(run, "round")

    with pytest.raises(SaidAlready):
        steering.say(run, by=alice, key="round/1/next", action="round", text="Twelve.")
    with pytest.raises(SaidAlready):
        furthering.draft(run, by=run.experiment.owner, key="round/1/next", text="Twelve.")
    assert texts(run, kind="addendum") == ["Ten clear nights."]
    assert all("Ten clear nights." in told(run, f"round/2/{seat}") for seat in "ABC")


@pytest.mark.parametrize("text", ["", "  \n\t "])
def test_an_addendum_of_blanks_is_none(stage, text):
    run = stage.say(stage.play(mode="manual"), "default")
    furthering.draft(run, by=run.experiment.owner, key="round/1/next", text=text)
    run = stage.say(run, "round", text)

    assert not run.steps.filter(key="addendum").exists()
    assert "added after the first round" not in told(run, "round/2/A")


def test_of_two_tabs_that_start_the_second_round_at_once_one_wins(stage, alice):
    run = stage.say(stage.play(mode="manual"), "default")
    together, heard = threading.Barrier(4), []

    def submit(number):
        together.wait()
        try:
            steering.say(run, by=alice, key="round/1/next", action="round", text=f"Tab {number}.")
            heard.append(f"Tab {number}.")
        except SaidAlready:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=submit, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    run = stage.go_on(run)

    assert len(heard) == 1
    assert texts(run, kind="addendum") == heard
    assert [seat for seat in "ABC" if run.calls.filter(step__key=f"round/2/{seat}").count() == 1] == list("ABC")


def test_without_a_second_round_the_summary_has_the_draft(stage):
    run = stage.say(stage.play(mode="manual"), "default")
    furthering.draft(run, by=run.experiment.owner, key="round/1/next", text="First thought.")
    furthering.draft(run, by=run.experiment.owner, key="round/1/next", text="Ten clear nights.")
    run = stage.say(run, "summarize")

    assert "Ten clear nights." in told(run, "summary")
    assert "First thought." not in told(run, "summary")
    assert texts(run, kind="addendum") == ["Ten clear nights."]


def test_after_two_rounds_the_summary_has_what_was_added_then_whatever_was_drafted_since(stage):
    run = stage.say(stage.play(mode="manual"), "default")
    furthering.draft(run, by=run.experiment.owner, key="round/1/next", text="Ten clear nights.")
    run = stage.say(run, "round")
    step = run.steps.get(key="round/1/next")
    Step.objects.filter(pk=step.pk).update(data={**step.data, "draft": "Altered."})
    furthering.draft(run, by=run.experiment.owner, key="round/2/next", text="Too late.")
    run = stage.say(run, "summarize")

    assert "Ten clear nights." in told(run, "summary")
    assert not any(late in told(run, "summary") for late in ("Altered.", "Too late."))


def everything(run):
    return [list(model.objects.filter(run=run).order_by("pk").values()) for model in (Step, Message, Event)]


def test_the_final_prompt_is_locked_once_it_was_said(stage, alice):
    run = stage.say(stage.play(mode="manual"), "default")

    with pytest.raises(SaidAlready):
        steering.say(run, by=alice, key="prompt", action="send", text="Something else.")
    with pytest.raises(SaidAlready):
        furthering.draft(run, by=run.experiment.owner, key="prompt", text="Something else.")
    with pytest.raises(NotWaiting):
        steering.say(run, by=alice, key="prompt/2", action="send", text="Something else.")


@pytest.mark.parametrize("mode", ["manual", "automatic"])
def test_another_final_prompt_makes_a_new_version_and_leaves_the_old_one_alone(stage, alice, mode):
    run = stage.play(mode=mode)
    if mode == "manual":
        run = stage.say(stage.say(run, "default"), "summarize")
    before, refined = everything(run), len(stage.sent("refiner"))
    final = message(run, "prompt/final")
    child = stage.go_on(branching.branch(final, by=alice, text="Share it by lot, or not at all?"))

    assert everything(run) == before
    assert message(child, "prompt/final").text == "Share it by lot, or not at all?"
    assert "Share it by lot, or not at all?" in told(child, "round/1/A")
    assert final.text not in told(child, "round/1/C")
    assert (child.parent, len(stage.sent("refiner"))) == (run, refined)
    assert texts(child)[0] == REQUEST
    assert child.state == ("waiting" if mode == "manual" else "completed")
    assert_same_page(child)


def test_another_request_is_refined_anew(stage, alice):
    run = stage.play()
    child = stage.go_on(branching.branch(message(run, "request"), by=alice, text="How should we share two?"))

    assert "How should we share two?" in told(child, "refine")
    assert (child.state, texts(child)[0]) == ("completed", "How should we share two?")


@pytest.mark.parametrize("mode", ["manual", "automatic"])
def test_another_addendum_makes_a_new_version(stage, alice, mode):
    run = stage.play(mode=mode, rounds=2, addendum="Ten nights.")
    if mode == "manual":
        for action, text in (("default", ""), ("round", "Ten nights."), ("summarize", "")):
            run = stage.say(run, action, text)
    child = stage.go_on(branching.branch(message(run, "addendum"), by=alice, text="Twelve nights."))

    assert "Twelve nights." in told(child, "round/2/A")
    assert "Ten nights." not in told(child, "round/2/C")
    assert not child.calls.filter(step__turn=1).exists(), "the first round is shared"


def test_a_branch_from_a_debaters_words_asks_only_those_after_it(stage, alice):
    run = stage.play()
    child = stage.go_on(branching.branch(message(run, "round/1/B"), by=alice))

    assert asked(child) == ["round/1/C", "summary"]
    assert "B1.p1: Perspective 1 of B" in told(child, "round/1/C")
    assert_same_page(child)


def test_a_debaters_words_can_be_changed_in_a_branch(stage, alice):
    run = stage.play()
    changed = points("B", 3, 2, new_perspectives=["Buy a second one.", "Two.", "Three."])
    child = stage.go_on(branching.branch(message(run, "round/1/B"), by=alice, text=changed))

    assert "B1.p1: Buy a second one." in told(child, "round/1/C")
    assert message(child, "round/1/B").parsed["new_perspectives"][0]["contents"] == "Buy a second one."


def test_after_the_summary_a_second_round_is_played_and_the_summary_made_anew(stage, alice):
    run = stage.say(stage.say(stage.play(mode="manual"), "default"), "summarize", "Ten nights.")
    assert (run.state, pause(run).data["actions"]) == ("completed", ["summarize", "round"])
    run = stage.say(run, "round", "And who pays?")
    run = stage.say(run, "summarize")

    assert texts(run, kind="addendum") == ["Ten nights.", "And who pays?"]
    assert [m.superseded for m in run.messages.filter(seat="summarizer")] == [True, False]
    assert "And who pays?" in told(run, "summary/2")
    assert pause(run).data["actions"] == ["summarize"]
    with pytest.raises(NotOffered):
        steering.say(run, by=alice, key=pause(run).key, action="round")
