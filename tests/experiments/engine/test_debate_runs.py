"""A debate is played: what was said is in its rows, and a person decides wherever it waits for one."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from accounts.tokens import create_token
from arenasite import environment
from experiments.models import Event, Message, ProviderModel, Run, Step
from experiments.refusals import SaidAlready
from experiments.steering import branching, furthering, steering
from tests.cases import each_case
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
    assert "A1.p1" not in told(run, "round/1/A")
    assert "A1.p1: Perspective 1 of A" in told(run, "round/1/B")
    assert "B1.c2: Counterpoint 2 of B" in told(run, "round/1/C")
    first = message(run, "round/1/A")
    assert first.raw_text == points("A")
    assert first.text.startswith("**New perspectives**")
    assert first.parsed["new_perspectives"][0]["id"] == "p1"
    assert run.events.filter(type="message_parsed", data__id=str(first.pk)).count() == 1


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
        furthering.draft(run, by=alice, key="round/1/next", text="Twelve.")
    furthering.draft(run, by=alice, key="round/2/next", text="Too late.")
    run = stage.say(run, "summarize")
    assert texts(run, kind="addendum") == ["Ten clear nights."]
    assert all("Ten clear nights." in told(run, key) for key in ("round/2/A", "round/2/B", "round/2/C", "summary"))
    assert not any(late in told(run, "summary") for late in ("Twelve.", "Too late."))


def everything(run):
    return [list(model.objects.filter(run=run).order_by("pk").values()) for model in (Step, Message, Event)]


def test_another_final_prompt_makes_a_new_version_and_leaves_the_old_one_alone(stage, alice):
    run = stage.say(stage.say(stage.play(mode="manual"), "default"), "summarize")
    before, refined = everything(run), len(stage.sent("refiner"))
    final = message(run, "prompt/final")
    child = stage.go_on(branching.branch(final, by=alice, text="Share it by lot, or not at all?"))

    assert everything(run) == before
    assert message(child, "prompt/final").text == "Share it by lot, or not at all?"
    assert "Share it by lot, or not at all?" in told(child, "round/1/A")
    assert final.text not in told(child, "round/1/C")
    assert (child.parent, len(stage.sent("refiner"))) == (run, refined)
    assert texts(child)[0] == REQUEST
    assert child.state == "waiting"
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


# --- what models are asked ---


def test_a_model_that_takes_no_schema_is_told_it_and_its_prose_is_repaired(stage):
    fields = {"capabilities": {"schema": "none"}}
    run = stage.play(B=["I have three points.", f"Sure!\n```json\n{points('B', 3, 2)}\n```"], fields=fields)

    assert "response_format" not in stage.sent("B")[0]
    assert "new_perspectives" in stage.sent("B")[0]["messages"][0]["content"]
    assert asked(run)[2:4] == ["round/1/B", "round/1/B/repair"]
    assert (message(run, "round/1/B").flags, message(run, "round/1/B").raw_text) == (
        ["repaired"],
        "I have three points.",
    )
    assert_same_page(run)


# --- how much a role may write is the server's to say ---


def limits(stage, seat):
    return {body["max_tokens"] for body in stage.sent(seat)}


def test_a_role_is_asked_for_no_more_than_its_limit_and_no_role_for_more_than_the_cap(stage, settings):
    settings.ROLE_TOKENS, settings.ROLE_TOKENS_CAP = {"refiner": 200, "debater": 800, "summarizer": 900}, 300
    stage.play()

    assert [limits(stage, seat) for seat in ("refiner", "A", "B", "C", "summarizer")] == [{200}, *[{300}] * 4]


def test_nobody_raises_the_limit_neither_who_sets_it_up_nor_who_takes_a_place(stage, settings):
    settings.ROLE_TOKENS = {**settings.ROLE_TOKENS, "debater": 800}
    busy = "sim/cooperative:first=0:fail=429:retry_after=60"
    experiment = stage.experiment(B=["prose"], C=busy, pool=("sim/neutral:first=0",))
    experiment.participants.filter(seat="A").update(params={"max_tokens": 50_000})
    experiment.participants.filter(seat="B").update(params={"max_tokens": 100})
    run = stage.go_on(stage.begin(experiment))

    asked_for = {call.step.key: call.request["max_tokens"] for call in run.calls.filter(step__turn=1)}
    assert (asked_for["round/1/A"], asked_for["round/1/B"]) == (800, 100)
    assert [asked_for[f"round/1/{key}"] for key in ("C", "C/pool-1")] == [800, 800]
    assert asked_for["round/1/B/repair"] <= 800


@each_case("text", ["800abc", "0", "-5", "1.5", "8e2", "٣", "800 900", "  "])
def test_a_limit_of_the_environment_that_is_no_number_is_refused_and_one_that_is_not_set_is_the_default(text):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_TOKENS_DEBATER", text)
        if not text.strip():
            assert environment.whole("ARENA_TOKENS_DEBATER", 2000) == 2000
            return
        with pytest.raises(ImproperlyConfigured, match="ARENA_TOKENS_DEBATER must be a whole number"):
            environment.whole("ARENA_TOKENS_DEBATER", 2000)
