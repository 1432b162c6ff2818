"""Lines of logs: what they are about, and how they are written. Plain Python, which every floor may use.

Prompts, replies and keys never go into a line; text from outside is escaped so that it stays one line.
"""

import json
import logging
import platform
import re
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime

HOST = platform.node() or "localhost"
IDS = ("run", "step", "call", "experiment", "user", "request")
FIELDS = ("time", "level", "logger", "message", *IDS, "process", "host", "exception")
MOST_CHARACTERS = 4000  # of a message
MOST_OF_ERROR = 200  # characters of what an error says
MOST_CAUSES = 10
# Line ends of all kinds, terminal codes, marks that turn the direction of writing, halves of characters.
UNSAFE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
SHORT = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}

_ids: ContextVar[dict[str, str] | None] = ContextVar("the ids that stand in every line", default=None)


@contextmanager
def about(**ids: object) -> Iterator[None]:
    """Adds ids to those that are known already; None adds nothing. Tasks and callbacks begun within keep them."""
    token = _ids.set(known() | _texts(ids))
    try:
        yield
    finally:
        _ids.reset(token)


def note(**ids: object) -> None:
    """Add what is learnt within an `about`, until that ends: also on another thread of the same request."""
    if (found := _ids.get()) is not None:
        found.update(_texts(ids))


def known() -> dict[str, str]:
    return _ids.get() or {}


def _texts(ids: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in ids.items() if value is not None}


def escaped(text: str) -> str:
    """One line of text, at most MOST_CHARACTERS long, without codes that a terminal would act on."""
    if len(text) > MOST_CHARACTERS:
        text = f"{text[:MOST_CHARACTERS]}… ({len(text)} characters)"
    return UNSAFE.sub(_written_out, text)


def _written_out(found: re.Match[str]) -> str:
    code = ord(found.group())
    return SHORT.get(found.group()) or (f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}")


class Readable(logging.Formatter):
    """`2026-11-22 10:04:05,678 INFO experiments.engine.driver claimed run=… step=…`, and how an error came about below
    it, indented: no line of it can be taken for another one's beginning.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s")

    def format(self, record: logging.LogRecord) -> str:
        record.asctime = self.formatTime(record)
        message = escaped(record.getMessage())
        # Without blanks, so that nothing in an id can be taken for another id.
        ids = [f"{name}={value}".replace(" ", "\\x20") for name, value in _escaped_ids().items()]
        line = " ".join([self.formatMessage(record), message, *(one for one in ids if one not in message)])
        return "\n".join([line, *(f"    {escaped(one)}" for one in _trace(record).split("\n") if one)])


class Json(logging.Formatter):
    """One object a line, always with the same fields (`FIELDS`); null is what is not known."""

    def format(self, record: logging.LogRecord) -> str:
        ids = _escaped_ids()
        fields = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": escaped(record.getMessage()),
            **{name: ids.get(name) for name in IDS},
            "process": record.process,
            "host": HOST,
            "exception": "\n".join(map(escaped, _trace(record).split("\n"))) or None,
        }
        return json.dumps(fields)


def _escaped_ids() -> dict[str, str]:
    return {name: escaped(value) for name in IDS if (value := known().get(name)) is not None}


def _trace(record: logging.LogRecord) -> str:
    return trace_of(record.exc_info[1]) if record.exc_info and record.exc_info[1] else ""


def trace_of(error: BaseException) -> str:
    """Python's traceback with its causes, the first cause first, without what was being worked on."""
    chain: list[tuple[BaseException, str]] = [(error, "")]
    while len(chain) < MOST_CAUSES:
        last = chain[-1][0]
        if last.__cause__ is not None:
            chain.append((last.__cause__, "That was the cause of:"))
        elif last.__context__ is not None and not last.__suppress_context__:
            chain.append((last.__context__, "While that was handled:"))
        else:
            break
    return "\n\n".join(_one_trace(one, then) for one, then in reversed(chain))


def _one_trace(error: BaseException, then: str) -> str:
    frames = "".join(traceback.format_tb(error.__traceback__)).rstrip("\n")
    parts = ["Traceback (most recent call last):", frames, name_of(error), then]
    return "\n".join(part for part in parts if part)


def name_of(error: BaseException) -> str:
    """The type of an error with the beginning of its first line. Later lines hold values: PostgreSQL's `DETAIL` has the
    row, pydantic's report the input.
    """
    first = (str(error).splitlines() or [""])[0]
    text = first if len(first) <= MOST_OF_ERROR else f"{first[:MOST_OF_ERROR]}…"
    kind = type(error).__qualname__
    return f"{kind}: {text}" if text else kind
