"""Traces, where `ARENA_TRACES` asks for them: a run is a trace, its steps and their calls are spans.

Ids follow from those of our own rows, so that a call made on one machine finds the run that ended on another: nothing
has to be handed on. No span says what was asked or answered. Attributes have the names of OpenTelemetry's conventions
for generative models (version 1.41); what these have no name for begins with `arena.`.
"""

import hashlib
import logging
import time
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, Protocol
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.utils.module_loading import import_string

from experiments.models import Call, Run, Step

logger = logging.getLogger(__name__)

RUN = "run"
PORTS = {"https": 443, "http": 80}
ASKED = {"gen_ai.request.temperature": "temperature", "gen_ai.request.top_p": "top_p", "gen_ai.request.seed": "seed"}
ANSWERED = {
    "gen_ai.response.model": "served_model",
    "gen_ai.response.id": "generation_id",
    "gen_ai.response.time_to_first_chunk": "first_byte_seconds",
    "gen_ai.usage.input_tokens": "input_tokens",
    "gen_ai.usage.output_tokens": "output_tokens",
    "gen_ai.usage.reasoning.output_tokens": "reasoning_tokens",
    "gen_ai.usage.cache_read.input_tokens": "cached_input_tokens",
    "arena.call.attempt": "attempt",
}

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


def of_run(run: Run) -> Span:
    """From its first claim to its end. A run that goes on after its end is told again, with its new one."""
    workflow, state = run.experiment.workflow, str(run.state)
    return Span(
        run.pk,
        RUN,
        f"invoke_workflow {workflow}",
        _nanoseconds(run.started or run.created),
        _nanoseconds(run.ended) if run.ended else time.time_ns(),
        attributes={
            "gen_ai.operation.name": "invoke_workflow",
            "gen_ai.workflow.name": workflow,
            "gen_ai.conversation.id": str(run.pk),
            "arena.run.id": str(run.pk),
            "arena.run.state": state,
            "arena.run.stop_reason": run.stop_reason,
            "arena.experiment.id": str(run.experiment_id),
        },
        error=run.stop_reason or state if state == Run.State.FAILED else "",
    )


def of_step(step: Step, *, error: str) -> Span:
    """error: the kind of that which made it fail; "" for none. Code in the sandbox is a tool that is executed."""
    is_tool = step.kind == "execute"
    tool: dict[str, Value] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "sandbox"}
    return Span(
        step.run_id,
        f"step/{step.pk}",
        "execute_tool sandbox" if is_tool else f"step {step.purpose}",
        _nanoseconds(step.created),
        _nanoseconds(step.ended) if step.ended else time.time_ns(),
        within=RUN,
        attributes=_place(step) | (tool if is_tool else {}),
        error=error,
    )


def of_call(call: Call) -> Span:
    """From its sending to its last word. One that was lost ends when that is found out."""
    ended = time.time_ns()
    began = _nanoseconds(call.sent) if call.seconds is None else ended - int(call.seconds * 1e9)
    provider, address = call.model.provider, urlsplit(call.model.provider.base_url)
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider.name,
        "gen_ai.request.model": call.model.upstream,
        "gen_ai.request.stream": True,
        "gen_ai.request.max_tokens": call.request.get("max_completion_tokens", call.request.get("max_tokens")),
        "gen_ai.response.finish_reasons": (call.finish_reason,) if call.finish_reason else None,
        "gen_ai.conversation.id": str(call.run_id),
        "arena.call.id": str(call.pk),
        "arena.call.state": str(call.state),
        "arena.call.cost_dollars": None if call.cost is None else float(call.cost),
        "error.type": call.error_kind,
        **{name: call.request.get(field) for name, field in ASKED.items()},
        **{name: getattr(call, column) for name, column in ANSWERED.items()},
        "server.address": address.hostname,
        "server.port": address.port or PORTS.get(address.scheme),
    }
    return Span(
        call.run_id,
        f"call/{call.pk}",
        f"chat {call.model.upstream}",
        max(began, _nanoseconds(call.step.created)),
        ended,
        within=f"step/{call.step_id}",
        is_request=True,
        attributes=_place(call.step) | _known(attributes),
        error=call.error_kind,
    )


def _place(step: Step) -> dict[str, Value]:
    return _known(
        {
            "arena.run.id": str(step.run_id),
            "arena.step.key": step.key,
            "arena.step.purpose": step.purpose,
            "arena.seat": step.seat,
            "arena.turn": step.turn,
        }
    )


def _known(attributes: dict[str, Any]) -> dict[str, Value]:
    return {name: value for name, value in attributes.items() if value not in (None, "")}


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000_000) * 1000


def _span_id(run: UUID, identity: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{run}/{identity}".encode(), digest_size=8).digest()) or 1


@cache
def _exporter(path: str) -> Exporter:
    """Made when the first span is there: what it needs is not loaded before."""
    made: Exporter = import_string(path)()
    return made
