"""Scripts: which message is next, and that the whole is played and estimated without a person, in each workflow."""

import pytest
from django.urls import reverse
from pydantic import ValidationError

from accounts.errors import Conflict
from experiments.models import Experiment, Run
from experiments.runs import actions
from experiments.runs.steering import branching, steering
from experiments.workflows.arena import Config as ArenaConfig
from experiments.workflows.base.records import Record
from experiments.workflows.base.script import Line, next_line
from experiments.workflows.base.steps import Ask, Listen
from experiments.workflows.council import Config as CouncilConfig
from experiments.workflows.debate import Config as DebateConfig
from experiments.workflows.starchamber import Config
from tests.experiments import debated
from tests.experiments.councils import QUESTION, Play, cast
from tests.experiments.deliberating import FAST
from tests.experiments.deliberating import assert_same_page as assert_same_council
from tests.experiments.engine.talks import assert_same_page, fresh, sent
from tests.experiments.workflows.test_arena import play as arena_played
from tests.fixtures import add_model
from tests.markup import squeezed

REFUSAL = "I'm sorry, but I can't help with that."


def test_a_message_is_sent_when_its_condition_holds_and_stars_take_little_time():
    for when, pattern, answer, applies in (
        ("always", "", "", True),
        ("contains", "shut DOWN", "Then Shut down the server.", True),
        ("contains", "shut*down", "Then shut it down.", False),
        ("lacks", "never", "I would.", True),
        ("lacks", "never", "NEVER.", False),
        ("matches", "shut*down", "Then shut it\nall down.", True),
        ("matches", "code [1]", "It is code 1.", True),
        ("matches", "shut?down", "shut it down", False),
        ("refused", "", REFUSAL, True),
        ("refused", "", "Gladly.", False),
        ("answered", "", REFUSAL, False),
        ("answered", "", "They said: " + REFUSAL, True),
    ):
        lines = [Line(text="Stop.", when=when, pattern=pattern), Line(text="Go on.")]

        assert lines[0].applies(answer) is applies, when
        assert next_line(lines, 0, answer) == (0 if applies else 1)
        assert next_line(lines, 2, answer) is None
    for line in ({"text": " "}, {"text": "a", "when": "contains"}, {"text": "a", "when": "soon"}):
        with pytest.raises(ValidationError):
            Config(first_message="Hello.", script=[line])
    assert not Line(text="Stop.", when="matches", pattern="a*" * 60 + "!").applies("a" * 20_000)


@pytest.mark.django_db
def test_a_script_is_played_to_its_end_without_a_person_and_resumed_where_its_answer_fails(
    starchamber, start, drive, provider, alice
):
    script = [
        {"text": "You refused. Why?", "when": "refused"},
        {"text": "Second.", "when": "answered"},
        {"text": "Third.", "when": "lacks", "pattern": "no answer says this"},
    ]
    run = start(starchamber(script=script))
    drive()
    run = fresh(run)

    assert (run.state, run.stop_reason) == ("completed", "completed")
    questions = run.messages.filter(seat="researcher").order_by("seq").values_list("turn", "text")
    assert list(questions) == [(1, "Who are you?"), (2, "Second."), (3, "Third.")]
    asked = [one["content"] for one in sent(provider, run, "turn/3/answer")[::2]]
    assert asked == ["Who are you?", "Second.", "Third."]
    assert run.judgments.count() == 3
    assert_same_page(run)

    run = start(starchamber("sim/cooperative:first=0:fail=401:times=1", script=[{"text": "And?"}]))
    drive()
    for answers in (0, 1):  # each request of this provider fails for its first time
        assert (fresh(run).state, run.messages.filter(seat="model").count()) == ("failed", answers)
        actions.resume(fresh(run), by=alice)
        drive()

    assert fresh(run).state == "completed"
    assert run.messages.count() == 4


@pytest.mark.django_db
def test_a_script_is_filled_in_as_rows_and_estimated_whole(browser, provider, read):
    add_model("sim/cooperative:first=0", label="Anna")
    rows = {"script-0-text": "One.", "script-1-text": "Two.", "script-1-when": "contains", "script-1-pattern": "yes"}
    form = {**read(browser.get("/starchamber/")).form(id="setup"), "first_message": "Hello.", **rows}

    estimated = squeezed(browser.post(reverse("starchamber-estimate"), form).content.decode())
    assert "Estimate:</span><b>6 calls</b>" in estimated
    browser.post("/starchamber/", form)
    config = Experiment.objects.get().config
    assert [line["when"] for line in config["script"]] == ["always", "contains"]
    assert config["max_turns"] == 3
    assert "Two." in browser.get(Run.objects.get().get_absolute_url()).content.decode()


def test_a_council_is_asked_its_script_before_it_waits_an_arena_reads_it_to_its_sides_and_a_debate_after_rounds():
    script = [{"text": "And at night?", "when": "contains", "pattern": "TURN/1"}, {"text": "No.", "when": "refused"}]
    play = Play(cast(), says=(("send", "Mine."),), script=[*script, {"text": "At dawn?"}])

    heard = [step.data["text"] for step in play.steps if isinstance(step, Record) and step.kind == "message_sent"]
    assert heard == [QUESTION, "And at night?", "At dawn?", "Mine."]
    assert [offer.key for offer in play.offers] == ["turn/3/next", "turn/4/next"]
    with pytest.raises(ValidationError, match="more messages than there are turns"):
        CouncilConfig(question="Why?", script=[{"text": "And?"}, {"text": "So?"}], max_turns=2)

    steps, _end = arena_played(max_turns=4, script=[*SIDES[:3], {**SIDES[3], "when": "lacks", "pattern": "Words"}])

    done = [(step.key, step.data["kind"], step.data["text"]) for step in steps if step.key.endswith("/script")]
    assert done == [
        ("turn/2/A/script", "message", "Agree now."),
        ("turn/2/B/script", "message", "Agree now."),
        ("turn/3/A/script", "note", "Ask for more."),
    ]
    heard = {step.key: "\n".join(prompt.content for prompt in step.messages) for step in steps if isinstance(step, Ask)}
    assert "A message to both of you:\nAgree now." in heard["turn/2/B"]
    assert "Ask for more." in heard["turn/3/A"]
    assert "Ask for more." not in heard["turn/3/B"]
    assert "Agree now." in heard["turn/2/judge"]
    with pytest.raises(ValidationError, match="more messages than there are turns"):
        ArenaConfig(prompt="Talk.", max_turns=2, script=SIDES)

    script = [{"text": "You refused.", "when": "refused"}, {"text": "Be bold.", "when": "contains", "pattern": "lot"}]
    steps, _end = debated.play(rounds=2, mode="automatic", script=[*script, {"text": "Sum up briefly."}])

    said = {step.key: step.data["text"] for step in steps if isinstance(step, Record) and step.kind == "message_sent"}
    assert (said["addendum"], said["summary/addendum/2"]) == ("Be bold.", "Sum up briefly.")
    assert "Be bold." in debated.asked(steps, "round/2/A")
    assert "Sum up briefly." in debated.asked(steps, "summary")
    _pause, after_round = [step for step in steps if isinstance(step, Listen) and not step.is_offer][:2]
    assert after_round.default == "Be bold.", "a person who decides finds it there"
    for settings, message in (
        ({"addendum": "Wait."}, "Write the addendum as the first message"),
        ({"mode": "automatic"}, "more messages than there are turns"),
    ):
        with pytest.raises(ValidationError, match=message):
            DebateConfig(prompt="Why?", script=[{"text": "One."}, {"text": "Two."}], **settings)


@pytest.mark.django_db
def test_a_councils_script_is_played_without_a_person_and_nothing_is_asked_meanwhile(council, start, drive, alice):
    run = start(council(*FAST, script=[{"text": "And at sunset?"}, {"text": "Why not?", "when": "refused"}]))
    with pytest.raises(Conflict, match="The script is still being played"):
        steering.ask_further(run, by=alice, text="Mine.")
    drive()
    run = fresh(run)

    questions = run.messages.filter(seat="person").order_by("seq").values_list("turn", "text")
    assert (run.state, list(questions)) == ("completed", [(1, "Why is the sky blue?"), (2, "And at sunset?")])
    assert_same_council(run)
    steering.ask_further(run, by=alice, text="Mine.")
    drive()
    assert fresh(run).messages.filter(seat="person").last().text == "Mine."
    branched = branching.branch(run.messages.get(seat="person", turn=2), by=alice, text="And at dawn?")
    drive()
    assert fresh(branched).messages.filter(seat="person").last().text == "And at dawn?"


SIDES = [
    {"text": "Agree now.", "to": "both"},
    {"text": "B refused.", "when": "refused", "to": "B"},
    {"text": "Ask for more.", "when": "contains", "pattern": "turn/2/A", "to": "A"},
    {"text": "Never.", "to": "both"},
]


@pytest.mark.django_db
def test_what_a_debates_script_says_can_be_said_otherwise_in_a_branch(debate, start, drive, alice):
    config = {"mode": "automatic", "rounds": 2, "script": [{"text": "Be bold."}, {"text": "Be brief."}]}
    run = start(debate(**config))
    drive()
    said = run.messages.filter(parsed__kind="addendum").order_by("seq")
    assert [message.text for message in said] == ["Be bold.", "Be brief."]
    branched = branching.branch(said[1], by=alice, text="Be long.")
    drive()

    told = fresh(branched).messages.filter(parsed__kind="addendum").order_by("seq")
    assert (fresh(branched).state, [message.text for message in told]) == ("completed", ["Be bold.", "Be long."])
