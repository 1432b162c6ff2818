"""How much a role may write is the server's to say."""

import os
import subprocess
import sys

import pytest
from django.core.exceptions import ImproperlyConfigured

from arenasite import environment

pytestmark = pytest.mark.django_db(transaction=True)


def limits(stage, seat):
    return {body["max_tokens"] for body in stage.sent(seat)}


def test_a_role_is_asked_for_no_more_than_its_limit_and_no_role_for_more_than_the_cap(stage, settings):
    settings.ROLE_TOKENS, settings.ROLE_TOKENS_CAP = {"refiner": 200, "debater": 800, "summarizer": 900}, 300
    stage.play()

    assert [limits(stage, seat) for seat in ("refiner", "A", "B", "C", "summarizer")] == [{200}, *[{300}] * 4]


def test_who_sets_a_debate_up_cannot_raise_the_limit(stage, settings):
    settings.ROLE_TOKENS = {**settings.ROLE_TOKENS, "debater": 800}
    experiment = stage.experiment()
    experiment.participants.filter(seat="A").update(params={"max_tokens": 50_000})
    experiment.participants.filter(seat="B").update(params={"max_tokens": 100})
    stage.go_on(stage.begin(experiment))

    assert [limits(stage, seat) for seat in "ABC"] == [{800}, {100}, {800}]


def test_the_limit_holds_for_whoever_answers_in_place_of_another_and_for_the_repair(stage, settings):
    settings.ROLE_TOKENS = {**settings.ROLE_TOKENS, "debater": 800}
    run = stage.play(B=["prose"], C="sim/cooperative:first=0:fail=429:retry_after=60", pool=("sim/neutral:first=0",))

    requests = {call.step.key: call.request for call in run.calls.select_related("step")}
    for key in ("round/1/B/repair", "round/1/C", "round/1/C/pool-1"):
        assert requests[key]["max_tokens"] == 800


@pytest.mark.parametrize("text", ["800abc", "0", "-5", "1.5", "8e2", "٣", "800 900"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, text):
    monkeypatch.setenv("ARENA_TOKENS_DEBATER", text)

    with pytest.raises(ImproperlyConfigured, match="ARENA_TOKENS_DEBATER must be a whole number"):
        environment.whole("ARENA_TOKENS_DEBATER", 2000)


def test_a_limit_that_is_not_set_is_the_default(monkeypatch):
    monkeypatch.setenv("ARENA_TOKENS_DEBATER", "  ")

    assert environment.whole("ARENA_TOKENS_DEBATER", 2000) == 2000


@pytest.mark.system
def test_the_server_does_not_start_with_a_limit_that_is_no_number():
    given = {**os.environ, "ARENA_TOKENS_DEBATER": "800abc"}
    command = [sys.executable, "manage.py", "check"]
    ended = subprocess.run(command, env=given, capture_output=True, text=True, check=False)

    assert ended.returncode != 0
    assert "ARENA_TOKENS_DEBATER must be a whole number from 1 on, not '800abc'." in ended.stderr
