"""A script: which of its messages is next, and that the whole of it is played and estimated without a person."""

import pytest
from django.urls import reverse
from pydantic import ValidationError

from experiments.models import Experiment, Run
from experiments.runs import actions
from experiments.workflows.starchamber import Config
from experiments.workflows.starchamber.script import Line, next_line
from tests.cases import each_case
from tests.experiments.engine.talks import assert_same_page, fresh, sent
from tests.fixtures import add_model
from tests.markup import squeezed

REFUSAL = "I'm sorry, but I can't help with that."


@each_case(
    ("when", "pattern", "answer", "applies"),
    [
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
    ],
)
def test_a_message_is_sent_when_its_condition_holds(when, pattern, answer, applies):
    lines = [Line(text="Stop.", when=when, pattern=pattern), Line(text="Go on.")]

    assert lines[0].applies(answer) is applies
    assert next_line(lines, 0, answer) == (0 if applies else 1)
    assert next_line(lines, 2, answer) is None


def test_a_pattern_of_stars_takes_no_time_that_grows_with_the_answer():
    line = Line(text="Stop.", when="matches", pattern="a*" * 60 + "!")

    assert not line.applies("a" * 20_000)


@each_case("line", [{"text": " "}, {"text": "a", "when": "contains"}, {"text": "a", "when": "soon"}])
def test_a_line_that_says_or_seeks_nothing_is_refused(line):
    with pytest.raises(ValidationError):
        Config(first_message="Hello.", script=[line])


@pytest.mark.django_db
def test_a_script_is_played_to_its_end_without_a_person(starchamber, start, drive, provider):
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
    assert [one["content"] for one in sent(provider, run, "turn/3/answer")[::2]] == [
        "Who are you?",
        "Second.",
        "Third.",
    ]
    assert run.judgments.count() == 3
    assert_same_page(run)


@pytest.mark.django_db
def test_a_script_whose_answer_fails_waits_for_nobody_and_can_be_resumed(starchamber, start, drive, alice):
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
