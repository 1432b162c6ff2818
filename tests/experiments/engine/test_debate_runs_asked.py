"""How a debate asks each model, and what it makes of answers that are not as they should be."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from arenasite import environment
from tests.cases import each_case
from tests.experiments.debated import points
from tests.experiments.debating import asked, assert_same_page, message

pytestmark = pytest.mark.django_db


def test_a_model_without_a_system_role_gets_one_user_message(stage):
    run = stage.play(fields={"capabilities": {"system_role": False}})

    for seat in ("refiner", "A", "B", "C", "summarizer"):
        for body in stage.sent(seat):
            [only] = body["messages"]
            assert only["role"] == "user"
    text = stage.sent("B")[0]["messages"][0]["content"]
    assert text.index("You are debater B") < text.index("[[task ")
    assert run.calls.filter(warnings__icontains="no system role").count() == run.calls.count()


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
