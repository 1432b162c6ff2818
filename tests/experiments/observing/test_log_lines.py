"""A line of a log: what it says, of which request, that nothing from outside makes a second one, what none tells."""

import json
import logging
import sys
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError
from django.test import Client
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accounts import logs
from accounts.logs import FIELDS, Json, Readable
from accounts.tokens import create_token
from arenasite.server.http import Request
from experiments.models import Call, Run
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db
FORGED = "ok\n2026-01-01 00:00:00,000 ERROR root forged\r\x1b[31mred\x07\x9b2J\u2028next\u202eterces\ud800"
RUN = "01a2023e-90b3-75ad-a328-e8f4d150adcb"


def record(message, *args, **more):
    made = logging.LogRecord("experiments.somewhere", logging.INFO, "file.py", 1, message, args, None)
    vars(made).update(more)
    return made


def failed(error, because=None):
    try:
        raise error from because
    except type(error):
        return sys.exc_info()


def test_a_line_for_programs_has_all_its_fields_and_one_for_people_each_id_once():
    known = {"run": RUN, "step": "turn/3 A", "call": "c", "experiment": "e", "user": "7", "request": "r"}
    with logs.about(**known):
        told = json.loads(Json().format(record("claimed fence=%s", 1)))
        line = Readable().format(record("run=%s claimed", RUN))

    said = {"level": "INFO", "logger": "experiments.somewhere", "message": "claimed fence=1", "exception": None}
    assert tuple(told) == FIELDS
    assert (known | said).items() <= told.items()
    assert told["process"] > 0
    assert told["host"]
    assert f" experiments.somewhere run={RUN} claimed " in line
    assert line.count(RUN) == 1
    assert "step=turn/3\\x20A" in line
    moment = datetime.fromisoformat(told["time"])
    assert moment.utcoffset().total_seconds() == 0
    assert abs((datetime.now(UTC) - moment).total_seconds()) < 3600


@pytest.mark.parametrize("lines", [Readable(), Json()])
@settings(max_examples=50)
@given(st.text())
@example(FORGED)
def test_whatever_is_said_stays_one_line_that_moves_no_terminal(lines, said):
    with logs.about(run=said, step=FORGED):
        line = lines.format(record("%s", said))

    assert len(line.splitlines()) == 1
    assert line.isprintable() or not any(ord(character) < 32 or 126 < ord(character) < 160 for character in line)
    assert "\u202e" not in line
    line.encode()
    assert len(lines.format(record("%s", "x" * 100_000))) < 6000, "long messages are cut"


def test_no_line_of_a_trace_can_be_taken_for_a_beginning_and_it_tells_its_causes_and_of_values_nothing():
    first, *others = Readable().format(record("failed", exc_info=failed(ValueError(FORGED)))).split("\n")
    assert first.endswith("failed")
    assert others[0] == "    Traceback (most recent call last):"
    assert all(other.startswith("    ") for other in others)
    assert not any("forged" in line for line in (first, *others))

    _, cause, _ = failed(DatabaseError("first line\nDETAIL: Failing row contains (canary-prompt)"))
    made = record("failed", exc_info=failed(RuntimeError("second\n" + 5000 * "x"), cause))
    told = json.loads(Json().format(made))["exception"]
    assert told.index("DatabaseError: first line") < told.index("RuntimeError: second")
    assert "That was the cause of:" in told
    assert "(canary-prompt)" not in told
    assert "xxx" not in told
    assert len(told) < 3000


def test_what_work_is_about_ends_with_it_and_adds_up():
    with logs.about(run="1"):
        with logs.about(step="2", call=None):
            assert logs.known() == {"run": "1", "step": "2"}
        logs.note(user=3)
        assert logs.known() == {"run": "1", "user": "3"}
    logs.note(user=3)
    assert logs.known() == {}


PROMPT, REPLY, KEY = "canary-prompt-5e1d", "canary-reply-77aa", "sk-canary-7f3a9c55e1d24b08"


def test_no_line_has_a_prompt_a_reply_or_a_key_and_those_of_the_gateway_say_to_which_call_they_belong(
    lines, arena, start, drive, scripted, alice, monkeypatch
):
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
    calls = {str(pk): key for pk, key in Call.objects.filter(run=run).values_list("pk", "step__key")}
    of_gateway = [one for one in lines.objects if one["logger"].startswith(("httpx", "aiohttp"))]
    of_run = [one for one in of_gateway if one["run"] == str(run.pk)]
    assert {one["call"]: one["step"] for one in of_run} == calls
    assert {one["run"] for one in of_gateway} == {str(run.pk), str(broken.pk)}

    def stumble(*args, **kwargs):
        raise ValueError(f"cannot go on\nwith {PROMPT}")

    monkeypatch.setattr("experiments.engine.recording.flags", stumble)
    bug = start(arena(speaks, max_turns=1, prompt=PROMPT))
    drive()
    assert Run.objects.get(pk=bug.pk).stop_reason == "internal_error"
    [told] = [one for one in lines.objects if one["exception"] and one["run"] == str(bug.pk)]
    assert told["experiment"] == str(bug.experiment_id)
    assert "ValueError: cannot go on" in told["exception"]
    assert PROMPT not in lines.text.replace(f"/{PROMPT}", "")


def test_a_well_formed_id_is_kept_and_another_is_made_where_there_is_none():
    browser = Client()
    given = browser.get("/sign-in/", headers={"X-Request-ID": "proxy-0123456789.abc"})["X-Request-ID"]
    made = {browser.get("/sign-in/")["X-Request-ID"] for _ in range(3)}

    assert given == "proxy-0123456789.abc"
    assert len(made) == 3
    assert all(len(one) == 32 for one in made)
    for bad in ("short", "x" * 65, "with space in it", "semi;colon-here", "ünïcödé-ids", "-begins-so-"):
        assert browser.get("/sign-in/", headers={"X-Request-ID": bad})["X-Request-ID"] != bad


def of_requests(lines, beginning=""):
    """What was written of requests, and of their failures."""
    told = [one for one in lines.objects if one["logger"] in ("arenasite.requests", "django.request")]
    return [one for one in told if one["message"].startswith(beginning)]


def test_a_line_says_who_asked_what_and_how_it_ended_and_names_the_request_as_a_problem_does(alice, lines, monkeypatch):
    browser = signed_in(alice)
    browser.raise_request_exception = False
    answer = browser.get("/runs/?q=a+secret")
    Client().get("/api/runs/", headers={"Authorization": f"Bearer {create_token(alice)}"})

    [of_page], [of_api] = of_requests(lines, "GET /runs/"), of_requests(lines, "GET /api/runs/")
    assert of_page["message"].startswith("GET /runs/ 200 in ")
    assert of_page["request"] == answer["X-Request-ID"]
    assert of_page["user"] == of_api["user"] == str(alice.pk)

    monkeypatch.setattr("experiments.lab.usage.views.found_usage", lambda *_, **__: 1 / 0)
    for address in ("/api/runs/01a2023e-90b3-75ad-a328-e8f4d150adcb/", "/api/nothing/"):
        problem = browser.get(address)
        assert (problem.status_code, problem.json()["request_id"]) == (404, problem["X-Request-ID"])

    answer = browser.get("/usage/")
    [line] = of_requests(lines, "Internal Server Error")
    assert (answer.status_code, line["request"]) == (500, answer["X-Request-ID"])


def test_paths_that_hold_a_secret_are_told_by_their_route_and_none_by_the_web_server(lines):
    Client().get("/s/a-secret-of-somebody/")
    Client().get("/invitations/another-secret/")
    told = str(of_requests(lines))
    assert "secret" not in told.replace("<str:secret>", "")
    assert "/s/<str:secret>/ 404" in told

    request = Request.__new__(Request)
    request.method, request.uri = b"GET", b"/s/a-secret/?q=canary-prompt"
    assert repr(request) == "<Request GET>", "so Daphne names the request that it gives up"
