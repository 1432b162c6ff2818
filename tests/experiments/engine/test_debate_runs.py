"""Debates are played: what was said is in their rows, persons decide where they wait, and who fails is asked again."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.errors import Conflict, Invalid
from accounts.tokens import create_token
from experiments.models import ProviderModel, Run
from experiments.runs import actions
from experiments.runs.steering import branching, steering
from experiments.runs.timeline import from_rows, replayed
from tests.experiments.api.conftest import Api
from tests.experiments.debated import points
from tests.experiments.debating import GOOD, asked, assert_same_page, message, told
from tests.experiments.engine.talks import everything


@pytest.mark.databases
def test_an_automatic_debate_plays_to_its_summary(stage):
    run = stage.play(rounds=2)

    assert (run.state, run.stop_reason) == ("completed", "concluded")
    rounds = [f"round/{number}/{seat}" for number in (1, 2) for seat in "ABC"]
    assert asked(run) == ["refine", *rounds, "summary"]
    kinds = [(m.turn, m.seat, m.parsed["kind"]) for m in run.messages.all()]
    assert kinds == [
        *((0, "person", "request"), (0, "refiner", "brief"), (0, "person", "final_prompt")),
        *((turn, seat, "points") for turn in (1, 2) for seat in "ABC"),
        (3, "summarizer", "actions"),
    ]
    assert not any(m.flags for m in run.messages.all())
    assert_same_page(run)
    assert "A1.p1" not in told(run, "round/1/A")
    assert "A1.p1: Perspective 1 of A" in told(run, "round/1/B")
    assert "B1.c2: Counterpoint 2 of B" in told(run, "round/1/C")
    first = message(run, "round/1/A")
    assert first.raw_text == points("A")
    assert first.text.startswith("**New perspectives**")
    assert first.parsed["new_perspectives"][0]["id"] == "p1"
    assert run.events.filter(type="message_parsed", data__id=str(first.pk)).count() == 1


def test_a_branch_asks_only_what_comes_after_its_place_and_leaves_its_parent_alone(stage, alice):
    run = stage.play()
    before, refined, final = everything(run), len(stage.sent("refiner")), message(run, "prompt/final")
    other = stage.go_on(branching.branch(final, by=alice, text="Share it by lot, or not at all?"))
    assert "Share it by lot, or not at all?" in told(other, "round/1/A")
    assert final.text not in told(other, "round/1/C")
    assert (everything(run), len(stage.sent("refiner"))) == (before, refined)
    assert_same_page(other)

    anew = stage.go_on(branching.branch(message(run, "request"), by=alice, text="How should we share two?"))
    assert "How should we share two?" in told(anew, "refine")
    assert (anew.state, anew.messages.first().text) == ("completed", "How should we share two?")

    same = stage.go_on(branching.branch(message(run, "round/1/B"), by=alice))
    assert asked(same) == ["round/1/C", "summary"]
    assert "B1.p1: Perspective 1 of B" in told(same, "round/1/C")
    assert_same_page(same)

    changed = points("B", 3, 2, new_perspectives=["Buy a second one.", "Two.", "Three."])
    other = stage.go_on(branching.branch(message(run, "round/1/B"), by=alice, text=changed))
    assert "B1.p1: Buy a second one." in told(other, "round/1/C")
    assert message(other, "round/1/B").parsed["new_perspectives"][0]["contents"] == "Buy a second one."


def test_a_record_of_a_debate_played_elsewhere_is_only_read(stage, alice):
    run = stage.play()
    Run.objects.filter(pk=run.pk).update(origin=Run.Origin.IMPORTED)
    ProviderModel.objects.update(is_active=False)
    before, final, api = everything(run), message(run, "prompt/final"), Api(create_token(alice))
    asked_for = {
        f"runs/{run.pk}/say/": {"key": "prompt", "action": "send", "text": "Other."},
        f"runs/{run.pk}/resume/": {},
        f"runs/{run.pk}/pause/": {},
        f"runs/{run.pk}/mode/": {"mode": "manual"},
        f"runs/{run.pk}/extend/": {"max_turns": 9},
        f"messages/{final.pk}/branch/": {"text": "Other."},
    }

    for path, body in asked_for.items():
        assert api.post(path, body).status_code in (403, 409), path
    assert everything(run) == before
    assert api.get(f"runs/{run.pk}/messages/").status_code == 200


def test_no_role_is_asked_for_more_than_its_limit_and_the_cap_whoever_sets_it_up_or_takes_a_place(stage, settings):
    settings.ROLE_TOKENS, settings.ROLE_TOKENS_CAP = {"refiner": 200, "debater": 800, "summarizer": 900}, 300
    busy = "sim/cooperative:first=0:fail=429:retry_after=60"
    experiment = stage.experiment(B=["prose"], C=busy, pool=("sim/neutral:first=0",))
    experiment.participants.filter(seat="A").update(params={"max_tokens": 50_000})
    experiment.participants.filter(seat="B").update(params={"max_tokens": 100})
    run = stage.go_on(stage.begin(experiment))

    asked_for = {call.step.key: call.request["max_tokens"] for call in run.calls.select_related("step")}
    assert [asked_for[key] for key in ("refine", "round/1/A", "round/1/B", "summary")] == [200, 300, 100, 300]
    assert [asked_for[f"round/1/{key}"] for key in ("C", "C/pool-1")] == [300, 300]
    assert asked_for["round/1/B/repair"] <= 300


def shown(entries):
    """By their places; how long was waited for an attempt is told once and kept nowhere."""
    return sorted((e.anchor, sorted((k, str(v)) for k, v in e.data.items() if k != "seconds")) for e in entries)


def assert_same_entries(run):
    run = Run.objects.select_related("experiment").get(pk=run.pk)
    assert shown(from_rows(run)) == shown(replayed(run.events.order_by("seq")))


def test_a_summary_that_failed_is_no_completed_debate_and_is_asked_again(stage, alice):
    run = stage.play(summarizer=[404, *GOOD["summarizer"]], limits={"seconds": 600})
    assert (run.state, run.stop_reason) == ("failed", "summary_failed")
    assert not Run.objects.filter(state=Run.State.COMPLETED).exists()
    assert_same_entries(run)
    with pytest.raises(Conflict):
        steering.say(run, by=alice, key="summary/next", action="summarize")
    then = timezone.now() - timedelta(days=2)
    Run.objects.filter(pk=run.pk).update(started=then, ended=then + timedelta(seconds=5))

    actions.resume(Run.objects.get(pk=run.pk), by=alice)
    run = stage.go_on(run)
    assert run.waited_seconds > timedelta(days=1).total_seconds(), "rest is no play, and counts towards no limit"
    assert (run.state, message(run, "summary").parsed["kind"]) == ("completed", "actions")
    assert [len(stage.sent(seat)) for seat in "ABC"] == [1, 1, 1]
    assert_same_entries(run)


def test_at_a_limit_it_stops_cleanly_and_what_there_is_can_be_summed_up(stage, alice):
    """The limit of tokens has room for the prompts of A and B, and not for that of C, which holds what they said."""
    run = stage.play(refine=False, limits={"tokens": 800}, rounds=2)
    assert (run.state, run.stop_reason, asked(run)) == ("stopped", "limit_tokens", ["round/1/A", "round/1/B"])
    assert run.events.get(type="experiment_stopped").data["refused"]["key"] == "round/1/C"
    with pytest.raises(Invalid):
        steering.lift(run, by=alice, limits={"tokens": -1})
    steering.lift(run, by=alice, limits={"tokens": 100_000}, skip=True)
    run = stage.go_on(run)

    assert (run.state, asked(run)) == ("completed", ["round/1/A", "round/1/B", "summary"])
    assert "Debater C gave no answer in round 1 (limit)." in told(run, "summary")
    assert run.events.filter(type="step_skipped", data__seat="C").count() == 1
    assert_same_entries(run)


def test_going_on_without_an_answer_that_was_tried_once(stage, alice):
    run = stage.play(limits={"tokens": 1})
    refused = run.events.filter(type="experiment_stopped").latest("seq").data["refused"]
    run.steps.get_or_create(key=refused["key"], defaults={"kind": "ask", "purpose": refused["purpose"]})

    steering.lift(run, by=alice, limits={}, skip=True)

    assert run.steps.get(key=refused["key"]).state == "failed"
