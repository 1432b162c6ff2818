"""Traces, where somebody has asked for them (`ARENA_TRACES`): a run is a trace, its steps and their calls are spans.

Ids follow from those of our own rows, so that a call made on one machine finds the run that ended on another: nothing
has to be handed on, and nothing is. No span says what was asked or answered.
"""

import hashlib
import logging
import time
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Protocol
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)

Value = str | int | float | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Span:
    """Something that was done for a run. identity: what it is among the spans of its run; within: of which it is part,
    None for the run itself. began, ended: nanoseconds since 1970. error: its kind, "" for none.
    """

    run: UUID
    identity: str
    name: str
    began: int
    ended: int
    within: str | None = None
    is_request: bool = False
    attributes: dict[str, Value] = field(default_factory=dict)
    error: str = ""

    @property
    def trace_id(self) -> int:
        return self.run.int

    @property
    def span_id(self) -> int:
        return _span_id(self.run, self.identity)

    @property
    def parent_id(self) -> int | None:
        return None if self.within is None else _span_id(self.run, self.within)


class Exporter(Protocol):
    """Sends spans on. Never waits, and never raises."""

    def send(self, span: Span) -> None: ...


def is_on() -> bool:
    return bool(settings.TRACE_EXPORTER)


def send(span: Span) -> None:
    """Whatever is wrong with traces is no reason for a run to fail."""
    try:
        _exporter(settings.TRACE_EXPORTER).send(span)
    except Exception as error:  # an exporter reads an environment of its own, and raises what it likes
        logger.warning("a span could not be sent: %s", type(error).__name__)


def nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000


def now() -> int:
    return time.time_ns()


def _span_id(run: UUID, identity: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{run}/{identity}".encode(), digest_size=8).digest()) or 1


@cache
def _exporter(path: str) -> Exporter:
    """Made when the first span is there: what it needs is not loaded before."""
    made: Exporter = import_string(path)()
    return made
