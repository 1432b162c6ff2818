"""The two ways in which a line of a log is written: for people, and for programs."""

import json
import logging
import platform
from datetime import UTC, datetime

from accounts.logs.context import IDS, known
from accounts.logs.escaping import escaped
from accounts.logs.traces import trace_of

HOST = platform.node() or "localhost"
FIELDS = ("time", "level", "logger", "message", *IDS, "process", "host", "exception")


class Readable(logging.Formatter):
    """`2026-11-22 10:04:05,678 INFO experiments.engine.driver claimed run=… step=…`, and how an error came about below
    it, indented: no line of it can be taken for another one's beginning.
    """

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s")

    def format(self, record: logging.LogRecord) -> str:
        record.asctime = self.formatTime(record)
        said = escaped(record.getMessage())
        ids = [f"{name}={_word(value)}" for name, value in _ids().items()]
        line = " ".join([self.formatMessage(record), said, *(one for one in ids if one not in said)])
        return "\n".join([line, *(f"    {escaped(one)}" for one in _trace(record).split("\n") if one)])


class Json(logging.Formatter):
    """One object a line, always with the same fields (`FIELDS`); null is what is not known."""

    def format(self, record: logging.LogRecord) -> str:
        ids = _ids()
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": escaped(record.getMessage()),
            **{name: ids.get(name) for name in IDS},
            "process": record.process,
            "host": HOST,
            "exception": "\n".join(map(escaped, _trace(record).split("\n"))) or None,
        }
        return json.dumps(told)


def _ids() -> dict[str, str]:
    found = known()
    return {name: escaped(found[name]) for name in IDS if name in found}


def _word(value: str) -> str:
    """Without blanks, so that nothing in it can be taken for another id."""
    return value.replace(" ", "\\x20")


def _trace(record: logging.LogRecord) -> str:
    return trace_of(record.exc_info[1]) if record.exc_info and record.exc_info[1] else ""
