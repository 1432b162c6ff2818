"""Calls that are answered in a batch, as their runs see them: which wait, what came back, and what becomes of them when
the run ends first. `batch_sending` sends and fetches them.
"""

from collections.abc import Collection
from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.db.models import F
from django.db.models.functions import Now

from experiments.engine import digests, recording
from experiments.engine.executor import CallResult
from experiments.engine.recording import OpenCall
from experiments.engine.requests import PreparedCall
from experiments.engine.reservations import Amount, periods_of, settle
from experiments.gateway.batches import completion_of
from experiments.gateway.errors import GatewayError, of_kind
from experiments.gateway.types import ChatMessage, ChatRequest, Completion, Params
from experiments.lab.observing import measuring
from experiments.models import CALLS_UNDER_WAY, Batch, BatchedCall, Call, Run
from experiments.workflows.base.steps import Ask

WITHDRAWN = (None, Batch.State.NEW)  # states of a batch of which nothing was sent; None where there is none yet
ERASED: dict[str, Any] = {"text": "", "reasoning": "", "logprobs": None, "error": "", "warnings": []}
"""What a deleted run keeps of a call whose answer comes afterwards: what it cost, and no word."""


def open_calls(run: Run) -> dict[str, Call]:
    """Those that an earlier driver of the run has put into a batch, or handed over, by the key of their step."""
    related = ("step", "model__provider", "price", "batched")
    rows = run.calls.filter(state__in=CALLS_UNDER_WAY).select_related(*related)
    return {call.step.key: call for call in rows}


def opened(call: Call, ask: Ask) -> OpenCall:
    """A call that an earlier driver wrote ahead, as it was."""
    is_batched = call.state != Call.State.SENT
    order = PreparedCall(
        model=call.model,
        price=call.price,
        request=_request(call),
        reserved=call.reserved,
        reserved_tokens=call.reserved_tokens or 0,
        share=call.batched.share if is_batched else None,
    )
    begun, failures, periods = recording.begun_digest(call), recording.failures_of(call.step), periods_of(call.pk)
    is_handed = not is_batched
    return OpenCall(call.pk, ask, call.step_id, call.attempt, order, periods, failures, begun, is_handed)


def _request(call: Call) -> ChatRequest:
    """What was asked, of the body that was stored: all that reading its answer needs. Of a deleted run nothing is
    left of it.
    """
    body, form = call.request, call.request.get("response_format") or {}
    return ChatRequest(
        model=call.model.upstream,
        messages=tuple(ChatMessage(one["role"], one["content"]) for one in body.get("messages", ())),
        params=Params(
            max_tokens=body.get("max_completion_tokens", body.get("max_tokens")),
            top_logprobs=body.get("top_logprobs", 0) if body.get("logprobs") else None,
        ),
        schema=form["json_schema"]["schema"] if form.get("type") == "json_schema" else None,
        request_id=str(call.pk),
        capabilities=call.model.accepts,
    )


def results(run_id: UUID, calls: Collection[OpenCall]) -> dict[UUID, CallResult]:
    """What came back for those of these calls that have ended, by their ids."""
    by_id = {call.id: call for call in calls}
    rows = BatchedCall.objects.filter(call__in=by_id, ended__isnull=False)
    return {row.call_id: result_of(row, run_id, by_id[row.call_id].order.request) for row in rows}


def result_of(row: BatchedCall, run_id: UUID, request: ChatRequest) -> CallResult:
    completion, error = Completion(), None
    try:
        if row.error_kind:
            raise of_kind(row.error_kind, row.error)
        completion = completion_of(row.answer, request)
    except GatewayError as problem:
        completion, error = problem.partial or Completion(), problem
    completion = replace(completion, warnings=(*row.warnings, *completion.warnings))
    return CallResult(row.call_id, run_id, completion, error, seconds=None, first_byte_seconds=None)


# --- a run that ends first ---


def end_of_run(run_id: UUID) -> None:
    """What becomes of the calls that a run still has in batches: what was not sent is withdrawn, at no cost; what was
    sent counts as much as was set aside until its answer is there. Call while the run's row is held.
    """
    waiting = BatchedCall.objects.filter(call__run=run_id, call__state=Call.State.BATCHED)
    held = waiting.select_for_update(of=("self",))
    rows = list(held.select_related("call__step", "call__model__provider", "call__price"))
    if not rows:
        return
    batches = Batch.objects.select_for_update().filter(pk__in={row.batch_id for row in rows})
    states: dict[UUID | None, str] = {batch.pk: batch.state for batch in batches}
    for row in rows:
        if row.ended is not None or states.get(row.batch_id) not in WITHDRAWN:
            _stop(row)
        else:
            settle(periods_of(row.call_id), _set_aside(row.call), Amount(Decimal(0), 0))
            row.call.delete()


def _stop(row: BatchedCall) -> None:
    """With its answer, if that is there."""
    call = row.call
    periods, set_aside = periods_of(call.pk), _set_aside(call)
    settle(periods, set_aside, set_aside)
    Run.objects.filter(pk=call.run_id).update(settled_calls=F("settled_calls") + 1)
    measuring.call_ended(call.pk, call.model, {"state": Call.State.STOPPED.value, "error_kind": recording.STOPPED_KIND})
    if row.ended is not None:
        record_late(row)
        return
    begun = {name: getattr(call, name) for name in digests.ENDED}
    stopped = {
        "state": Call.State.STOPPED.value,
        "error_kind": recording.STOPPED_KIND,
        "error": "The run was stopped while this call was in a batch.",
        "cost_source": "unknown",
    }
    digest = digests.of_ended_call(recording.begun_digest(call), begun | stopped)
    Call.objects.filter(pk=call.pk).update(**stopped, digest=digest)


def record_late(row: BatchedCall) -> None:
    """What came back for a call whose run has ended is kept on the call's row; its cost replaces what was set aside in
    all budgets. Call while the run's row is held.
    """
    call = row.call
    ask = Ask(call.step.key, call.step.seat, (), purpose=call.step.purpose, turn=call.step.turn)
    was = opened(call, ask)
    result = replace(result_of(row, call.run_id, was.order.request), is_stopped=True)
    settled = recording.settled_columns(was, result, recording.outcome_of(result))
    if not Run.objects.filter(pk=call.run_id).exists():
        settled |= ERASED
    Call.objects.filter(pk=call.pk).update(**settled)
    counted, spent = _set_aside(call), recording.spent_by(was, settled)
    change = Amount(spent.known_cost - counted.known_cost, spent.tokens - counted.tokens)
    settle(was.periods, Amount(Decimal(0), 0), change)
    BatchedCall.objects.filter(call=call.pk).update(answer="")


def _set_aside(call: Call) -> Amount:
    return Amount(call.reserved, call.reserved_tokens or 0)


def ended_now(row: BatchedCall, *, answer: str = "", error: GatewayError | None = None) -> bool:
    """Store what came back, once; whether this call did it. Call while the run's row is held."""
    row.answer, row.error_kind, row.error = answer, error.kind if error else "", str(error or "")[:2000]
    fields = {"answer": row.answer, "error_kind": row.error_kind, "error": row.error, "ended": Now()}
    return bool(BatchedCall.objects.filter(pk=row.pk, ended__isnull=True).update(**fields))
