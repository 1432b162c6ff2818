"""A debate is played: what was said is in its rows, and a person decides wherever it waits for one."""

import threading

import pytest
from django.db import connection
from django.urls import reverse

from accounts.tokens import create_token
from experiments.models import Event, Message, ProviderModel, Run, Step
from experiments.refusals import NotOffered, NotWaiting, SaidAlready
from experiments.steering import branching, furthering, steering
from tests.experiments.api.conftest import Api
from tests.experiments.debated import REQUEST, points
from tests.experiments.debating import asked, assert_same_page, message, pause, told

pytestmark = pytest.mark.django_db

PARTS = ["refine", "round/1/A", "round/1/B", "round/1/C"]


def texts(run, *, kind=None):
    return [m.text for m in run.messages.all() if kind is None or (m.parsed or {}).get("kind") == kind]


@pytest.mark.databases
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
    for seat in ("refiner", "A", "B", "C", "summarizer"):
        assert {tuple(m["role"] for m in body["messages"]) for body in stage.sent(seat)} == {("system", "user")}
    assert "A1.p1" not in told(run, "round/1/A")
    assert "A1.p1: Perspective 1 of A" in told(run, "round/1/B")
    assert "B1.c2: Counterpoint 2 of B" in told(run, "round/1/C")
    first = message(run, "round/1/A")
    assert first.raw_text == points("A")
    assert first.text.startswith("**New perspectives**")
    assert first.parsed["new_perspectives"][0]["id"] == "p1"
    assert run.events.filter(type="message_parsed", data__id=str(first.pk)).count() == 1


def test_the_simulated_provider_plays_a_debate(debate, start, drive):
    run = start(debate(mode="automatic", rounds=2, addendum="We can pay for ten clear nights."))
    drive()
    run.refresh_from_db()

    assert (run.state, run.stop_reason) == ("completed", "concluded")
    assert {m.parsed["kind"] for m in run.messages.all()} >= {"brief", "points", "actions", "addendum"}
    assert not run.messages.filter(parsed__kind="unread").exists()
    assert_same_page(run)


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


def test_the_person_edits_the_final_prompt_that_was_prefilled_and_once_said_it_is_locked(stage, alice):
    run = stage.play(mode="manual")
    prefilled = pause(run).data["default"]
    assert "Share one telescope fairly" in prefilled
    run = stage.say(run, "send", f"{prefilled}the lab does.")

    assert message(run, "prompt/final").text.endswith("Answer: the lab does.")
    assert "the lab does." in told(run, "round/1/A")
    for key, why in (("prompt", SaidAlready), ("prompt/2", NotWaiting)):
        with pytest.raises(why):
            steering.say(run, by=alice, key=key, action="send", text="Something else.")
    with pytest.raises(SaidAlready):
        furthering.draft(run, by=alice, key="prompt", text="Something else.")


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
    furthering.draft(run, by=alice, key="round/1/next", text="  Ten clear nights.\n")
    run = stage.say(run, "round")

    with pytest.raises(SaidAlready):
        steering.say(run, by=alice, key="round/1/next", action="round", text="Twelve.")
    with pytest.raises(SaidAlready):
        furthering.draft(run, by=alice, key="round/1/next", text="Twelve.")
    furthering.draft(run, by=alice, key="round/2/next", text="Too late.")
    run = stage.say(run, "summarize")
    assert texts(run, kind="addendum") == ["Ten clear nights."]
    assert all("Ten clear nights." in told(run, key) for key in ("round/2/A", "round/2/B", "round/2/C", "summary"))
    assert not any(late in told(run, "summary") for late in ("Twelve.", "Too late."))


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
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


def everything(run):
    return [list(model.objects.filter(run=run).order_by("pk").values()) for model in (Step, Message, Event)]


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


def test_another_addendum_makes_a_new_version(stage, alice):
    run = stage.play(rounds=2, addendum="Ten nights.")
    child = stage.go_on(branching.branch(message(run, "addendum"), by=alice, text="Twelve nights."))

    assert "Twelve nights." in told(child, "round/2/A")
    assert "Ten nights." not in told(child, "round/2/C")
    assert not child.calls.filter(step__turn=1).exists(), "the first round is shared"


def test_a_branch_asks_only_what_comes_after_its_place(stage, alice):
    run = stage.play()
    anew = stage.go_on(branching.branch(message(run, "request"), by=alice, text="How should we share two?"))
    assert "How should we share two?" in told(anew, "refine")
    assert (anew.state, texts(anew)[0]) == ("completed", "How should we share two?")

    same = stage.go_on(branching.branch(message(run, "round/1/B"), by=alice))
    assert asked(same) == ["round/1/C", "summary"]
    assert "B1.p1: Perspective 1 of B" in told(same, "round/1/C")
    assert_same_page(same)

    changed = points("B", 3, 2, new_perspectives=["Buy a second one.", "Two.", "Three."])
    other = stage.go_on(branching.branch(message(run, "round/1/B"), by=alice, text=changed))
    assert "B1.p1: Buy a second one." in told(other, "round/1/C")
    assert message(other, "round/1/B").parsed["new_perspectives"][0]["contents"] == "Buy a second one."


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


def test_a_record_of_a_debate_played_elsewhere_is_only_read(stage, client, alice):
    run = stage.play()
    Run.objects.filter(pk=run.pk).update(origin=Run.Origin.IMPORTED)
    ProviderModel.objects.update(is_active=False)
    before, final, api = everything(run), message(run, "prompt/final"), Api(create_token(alice))
    answers = [
        api.post(f"runs/{run.pk}/say/", {"key": "summary/next", "action": "summarize", "text": "Once more."}),
        api.post(f"runs/{run.pk}/say/", {"key": "prompt", "action": "send", "text": "Other."}),
        api.post(f"runs/{run.pk}/resume/"),
        api.post(f"runs/{run.pk}/pause/"),
        api.post(f"runs/{run.pk}/mode/", {"mode": "manual"}),
        api.post(f"runs/{run.pk}/extend/", {"max_turns": 9}),
        api.post(f"messages/{final.pk}/branch/", {"text": "Other."}),
    ]
    client.force_login(alice)
    answers += [client.post(reverse("run-draft", args=[run.pk]), {"key": "round/1/next", "text": "Other."})]

    assert {answer.status_code for answer in answers} <= {403, 409}
    assert everything(run) == before
    assert api.get(f"runs/{run.pk}/messages/").status_code == 200
