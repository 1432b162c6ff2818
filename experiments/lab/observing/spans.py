"""What the spans of runs, steps and calls say, under the names of OpenTelemetry's conventions for generative models
(version 1.41 of them); what these have no name for begins with `arena.`.
"""

from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from experiments.lab.observing.tracing import Span, Value, nanoseconds, now
from experiments.models import Call, Run, Step

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


def of_run(run: Run) -> Span:
    """From its first claim to its end. A run that goes on after its end is told again, with its new one."""
    workflow, state = run.experiment.workflow, str(run.state)
    return Span(
        run.pk,
        RUN,
        f"invoke_workflow {workflow}",
        nanoseconds(run.started or run.created),
        nanoseconds(run.ended) if run.ended else now(),
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
        _step(step.pk),
        "execute_tool sandbox" if is_tool else f"step {step.purpose}",
        nanoseconds(step.created),
        nanoseconds(step.ended) if step.ended else now(),
        within=RUN,
        attributes=_place(step) | (tool if is_tool else {}),
        error=error,
    )


def of_call(call: Call) -> Span:
    """From its sending to its last word. One that was lost ends when that is found out."""
    ended = now()
    began = nanoseconds(call.sent) if call.seconds is None else ended - int(call.seconds * 1e9)
    return Span(
        call.run_id,
        f"call/{call.pk}",
        f"chat {call.model.upstream}",
        max(began, nanoseconds(call.step.created)),
        ended,
        within=_step(call.step_id),
        is_request=True,
        attributes=_of_call(call),
        error=call.error_kind,
    )


def _of_call(call: Call) -> dict[str, Value]:
    answered = {name: getattr(call, column) for name, column in ANSWERED.items()}
    said: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": call.model.provider.name,
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
        **answered,
        **_server(call.model.provider.base_url),
    }
    return _place(call.step) | {name: value for name, value in said.items() if value not in (None, "")}


def _place(step: Step) -> dict[str, Value]:
    place: dict[str, Any] = {
        "arena.run.id": str(step.run_id),
        "arena.step.key": step.key,
        "arena.step.purpose": step.purpose,
        "arena.seat": step.seat,
        "arena.turn": step.turn,
    }
    return {name: value for name, value in place.items() if value not in (None, "")}


def _server(address: str) -> dict[str, Value | None]:
    found = urlsplit(address)
    return {"server.address": found.hostname, "server.port": found.port or PORTS.get(found.scheme)}


def _step(pk: int) -> str:
    return f"step/{pk}"


def call_with_all(call_id: UUID) -> Call:
    """What a span says of a call, without its words."""
    rows = Call.objects.select_related("step", "model__provider")
    return rows.defer("text", "reasoning", "logprobs", "error", "step__data").get(pk=call_id)
