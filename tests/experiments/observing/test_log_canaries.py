"""What is asked and answered is in no line of a log, at no level, in neither format; its ids are."""

import json
import logging

import pytest

from accounts.logs.lines import Json, Readable
from experiments.models import Call, Run
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db

PROMPT, REPLY, KEY = "canary-prompt-5e1d", "canary-reply-77aa", "sk-canary-7f3a9c55e1d24b08"


class Lines(logging.Handler):
    """Both forms of every line of every logger."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.readable, self.objects = [], []

    def emit(self, record):
        self.readable.append(Readable().format(record))
        self.objects.append(json.loads(Json().format(record)))

    @property
    def text(self):
        return "\n".join([*self.readable, *map(str, self.objects)])


@pytest.fixture
def lines():
    """Of all loggers at their lowest level, those that the settings keep quieter among them."""
    handler, root = Lines(), logging.getLogger()
    loggers = [root, *map(logging.getLogger, ("httpx", "httpcore", "rq.worker", "arenasite.requests"))]
    levels = [logger.level for logger in loggers]
    root.addHandler(handler)
    for logger in loggers:
        logger.setLevel(logging.DEBUG)
    yield handler
    root.removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def test_no_line_has_a_prompt_a_reply_or_a_key(lines, arena, start, drive, scripted, alice, monkeypatch):
    monkeypatch.setenv("KEY_OF_THE_LAB", KEY)
    scripted.provider.api_key_env = "KEY_OF_THE_LAB"
    scripted.provider.save()
    scripted.error = f'{{"error": {{"message": "{PROMPT} {REPLY} {KEY}"}}}}'.encode()
    speaks, fails = scripted.model("scripted/speaks", f"I say {REPLY}."), scripted.model("scripted/fails", 400)
    run = start(arena(speaks, max_turns=1, prompt=PROMPT))
    broken = start(arena(fails, max_turns=1, prompt=PROMPT))
    drive()
    browser = signed_in(alice)
    for path in (f"/runs/{run.pk}/", f"/api/runs/{broken.pk}/messages/", f"/runs/?q={PROMPT}", f"/{PROMPT}?{KEY}"):
        browser.get(path)

    assert REPLY in run.messages.first().text
    assert Run.objects.get(pk=broken.pk).state == "failed"
    assert lines.readable
    assert REPLY not in lines.text
    assert KEY not in lines.text
    assert PROMPT not in lines.text.replace(f"/{PROMPT}", "")


def test_an_error_of_ours_tells_no_prompt_either(lines, arena, start, drive, monkeypatch):
    """A bug whose error holds what was worked on."""

    def stumble(*args, **kwargs):
        raise ValueError(f"cannot go on\nwith {PROMPT}")

    monkeypatch.setattr("experiments.engine.recording.flags", stumble)
    run = start(arena(max_turns=1, prompt=PROMPT))
    drive()

    assert Run.objects.get(pk=run.pk).stop_reason == "internal_error"
    [told] = [one for one in lines.objects if one["exception"]]
    assert told["run"] == str(run.pk)
    assert told["experiment"] == str(run.experiment_id)
    assert "ValueError: cannot go on" in told["exception"]
    assert PROMPT not in lines.text


def test_a_line_of_the_gateway_says_to_which_call_it_belongs(lines, arena, start, drive, scripted):
    run = start(arena(scripted.model("scripted/speaks", "Four."), max_turns=1))
    drive()

    calls = {str(pk): key for pk, key in Call.objects.filter(run=run).values_list("pk", "step__key")}
    of_gateway = [one for one in lines.objects if one["logger"].startswith(("httpx", "httpcore"))]
    assert {one["call"] for one in of_gateway} == set(calls)
    assert all((one["run"], one["step"]) == (str(run.pk), calls[one["call"]]) for one in of_gateway)
