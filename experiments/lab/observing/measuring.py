"""Counts and traces the work of the engine, the sandbox and the webhooks, once it is committed."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction

from experiments.lab.observing import counting, tracing
from experiments.models import Call, Execution, ProviderModel, Run, Step

LOST = {"state": Call.State.LOST.value, "error_kind": "lost"}


def call_ended(call_id: UUID, model: ProviderModel, settled: Mapping[str, Any]) -> None:
    """Count a call as its row says, when the transaction that settles it is committed."""
    transaction.on_commit(partial(_count_call, model.provider.name, model.slug, settled))
    if tracing.is_on():
        transaction.on_commit(partial(_trace_call, call_id), robust=True)


def run_ended(run_id: UUID) -> None:
    """Called after the commit that ended it."""
    run = Run.objects.select_related("experiment").get(pk=run_id)
    counting.add(counting.RUNS_ENDED, run.experiment.workflow, str(run.state))
    if tracing.is_on():
        tracing.send(tracing.of_run(run))


def run_taken(workflow: str, *, is_first: bool, is_abandoned: bool) -> None:
    """is_abandoned: its last driver has not been heard of any more."""
    if is_first:
        transaction.on_commit(partial(counting.add, counting.RUNS_STARTED, workflow))
    if is_abandoned:
        transaction.on_commit(partial(counting.add, counting.TAKEOVERS))


def swept(found: int) -> None:
    counting.add(counting.SWEEPS, "done")
    if found:
        counting.add(counting.SWEPT, by=found)


def sweep_failed() -> None:
    counting.add(counting.SWEEPS, "failed")


def execution_ended(execution: Execution) -> None:
    transaction.on_commit(partial(_count_execution, execution))
    if tracing.is_on():
        transaction.on_commit(partial(_trace_execution, execution), robust=True)


def webhook_told(problem: str) -> None:
    """problem: why an attempt was none; "" for a good one."""
    counting.add(counting.WEBHOOKS, problem or "delivered")


def _count_call(provider: str, model: str, settled: Mapping[str, Any]) -> None:
    counting.add(counting.CALLS, provider, model, str(settled["state"]))
    if settled["error_kind"] and settled["state"] != Call.State.STOPPED:
        counting.add(counting.CALL_ERRORS, provider, settled["error_kind"])
    if (first := settled.get("first_byte_seconds")) is not None:
        counting.observe(counting.FIRST_TOKEN, first, provider)
    if (seconds := settled.get("seconds")) is not None:
        counting.observe(counting.CALL_LENGTH, seconds, provider)
    for direction in ("input", "output"):
        if tokens := settled.get(f"{direction}_tokens"):
            counting.add(counting.TOKENS, provider, model, direction, by=tokens)
    if (cost := settled.get("cost")) is None:
        counting.add(counting.UNPRICED, provider, model)
    elif cost:
        counting.add(counting.COST, provider, model, by=float(cost))


def _count_execution(execution: Execution) -> None:
    counting.add(counting.EXECUTIONS, str(execution.state))
    if execution.seconds is not None:
        counting.observe(counting.EXECUTION_LENGTH, execution.seconds)


def _trace_call(call_id: UUID) -> None:
    rows = Call.objects.select_related("step", "model__provider")
    call = rows.defer("text", "reasoning", "logprobs", "error", "step__data").get(pk=call_id)  # no words are traced
    tracing.send(tracing.of_call(call))
    if call.step.state != Step.State.OPEN:
        tracing.send(tracing.of_step(call.step, error=call.error_kind if call.step.state == Step.State.FAILED else ""))


def _trace_execution(execution: Execution) -> None:
    tracing.send(tracing.of_step(Step.objects.get(pk=execution.step_id), error=execution.error_kind))
