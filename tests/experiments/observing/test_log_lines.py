"""A line of a log: what it says, and that nothing from outside makes a second one of it."""

import asyncio
import json
import logging
import sys
import threading
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError
from hypothesis import example, given, settings
from hypothesis import strategies as st

from accounts import logs
from accounts.logs.lines import FIELDS, Json, Readable

FORGED = "ok\n2026-01-01 00:00:00,000 ERROR root forged\r\x1b[31mred\x07\x9b2J\u2028next\u202eterces\ud800"
RUN = "01a2023e-90b3-75ad-a328-e8f4d150adcb"


def record(message, *args, **more):
    made = logging.LogRecord("experiments.somewhere", logging.INFO, "file.py", 1, message, args, None)
    vars(made).update(more)
    return made


def failed(error):
    try:
        raise error
    except type(error):
        return sys.exc_info()


def test_a_line_for_programs_is_one_object_with_all_its_fields():
    with logs.about(run=RUN, step="turn/3/A", call="c", experiment="e", user=7, request="r"):
        told = json.loads(Json().format(record("claimed fence=%s", 1)))

    assert tuple(told) == FIELDS
    assert told["message"] == "claimed fence=1"
    assert (told["run"], told["step"], told["call"], told["experiment"]) == (RUN, "turn/3/A", "c", "e")
    assert (told["user"], told["request"], told["level"], told["exception"]) == ("7", "r", "INFO", None)
    assert told["logger"] == "experiments.somewhere"
    assert told["process"] > 0
    assert told["host"]
    moment = datetime.fromisoformat(told["time"])
    assert moment.utcoffset().total_seconds() == 0
    assert abs((datetime.now(UTC) - moment).total_seconds()) < 3600


def test_a_line_for_people_has_the_ids_once():
    with logs.about(run=RUN, step="battle/a b/1"):
        line = Readable().format(record("run=%s claimed", RUN))

    assert line.endswith(f"INFO experiments.somewhere run={RUN} claimed step=battle/a\\x20b/1")


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


def test_no_line_of_a_trace_can_be_taken_for_a_beginning():
    line = Readable().format(record("failed", exc_info=failed(ValueError(FORGED))))
    first, *others = line.split("\n")

    assert first.endswith("failed")
    assert others[0] == "    Traceback (most recent call last):"
    assert all(other.startswith("    ") for other in others)
    assert "forged" not in line


def test_a_trace_tells_its_causes_and_of_values_nothing():
    row, reply = "first line\nDETAIL: Failing row contains (canary-prompt)", "second\n" + 5000 * "x"
    try:
        try:
            raise DatabaseError(row)
        except DatabaseError as error:
            raise RuntimeError(reply) from error
    except RuntimeError:
        made = record("failed", exc_info=sys.exc_info())
    told = json.loads(Json().format(made))

    assert told["exception"].index("DatabaseError: first line") < told["exception"].index("RuntimeError: second")
    assert "That was the cause of:" in told["exception"]
    assert "(canary-prompt)" not in told["exception"]
    assert "xxx" not in told["exception"]
    assert len(told["exception"]) < 3000


def test_what_work_is_about_ends_with_it_and_adds_up():
    with logs.about(run="1"):
        with logs.about(step="2", call=None):
            assert logs.known() == {"run": "1", "step": "2"}
        assert logs.known() == {"run": "1"}
        logs.note(user=3)
        assert logs.known() == {"run": "1", "user": "3"}
    assert logs.known() == {}
    logs.note(user=3)
    assert logs.known() == {}


def test_what_is_begun_on_another_loop_is_about_the_same():
    loop, found = asyncio.new_event_loop(), []
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def look():
        await asyncio.sleep(0)
        found.append(logs.known())

    with logs.about(run="1", call="2"):
        loop.call_soon_threadsafe(lambda: loop.create_task(look()))
    with logs.about(run="other"):
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
    while not found:
        asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()

    assert found == [{"run": "1", "call": "2"}]
