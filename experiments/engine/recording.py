"""An outcome becomes rows and events in one transaction, and only while the lease is ours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from experiments.engine import digests
from experiments.engine.events import Announce, RunPaused, emit, reserve_numbers, write
from experiments.engine.executor import CallResult
from experiments.engine.orders import order_text
from experiments.engine.projections import message_data, record_step
from experiments.engine.requests import PreparedCall, price_at
from experiments.engine.reservations import Account, Amount, periods_of, reserve, settle, settle_lost
from experiments.engine.text import storable
from experiments.gateway.errors import Interrupted
from experiments.gateway.request import prepare
from experiments.gateway.types import ChatRequest, Completion, ImagePart
from experiments.gateway.usage import cost
from experiments.lab.observing import measuring
from experiments.library.search import indexing
from experiments.models import CALLS_UNDER_WAY, BatchedCall, Call, HandedCall, Message, Run, Step
from experiments.models.money import kept
from experiments.workflows import workflow_of
from experiments.workflows.base.events import CallFailed, CallLost, CallRetried, EventData, MessageCompleted
from experiments.workflows.base.flags import INTERRUPTED, flags
from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Outcome

STOPPED_KIND = "stopped"
WORKER_KILLED = "The worker that made this call was killed."
CALLER_DIED = "The process that made this call died."
UNBILLED = (  # errors with which a provider turns a request away, or that keep it from ever getting there
    *("rate_limited", "unreachable", "bad_key", "out_of_credit", "unknown_model"),
    *("refused", "context_exceeded", "forbidden_address", "batch_expired"),
)
NOT_SENT, NOT_BILLED = "unsent", "refused"  # sources of a cost that is known to be nothing
IN_BATCH = "batch"  # the source of a cost that is a share (`BatchedCall.share`) of tokens times price
UNKNOWN_USAGE = dict.fromkeys(("input_tokens", "output_tokens", "reasoning_tokens", "cached_input_tokens", "cost")) | {
    "usage_is_estimated": False
}  # the columns of a call whose usage is unknown
FORGIVEN = "forgiven"  # how often a step had failed when it was asked again


@dataclass(frozen=True, slots=True)
class Lease:
    """What a driver holds of a run while it writes: the fence of its lease, and how viewers are told of events."""

    run_id: UUID
    fence: int
    announce: Announce


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call under way: one attempt of a step. attempt: its number among all of them, lost ones too. failures: how many
    earlier ones failed, since the step was begun or the run resumed. begun: the digest of what the row was made with.
    is_handed: a caller makes it, not this process.
    """

    id: UUID
    ask: Ask
    step_id: int
    attempt: int
    order: PreparedCall
    periods: tuple[int, ...] = ()  # of the budgets in which it is counted
    failures: int = 0
    begun: str = ""
    is_handed: bool = False


def record_facts(lease: Lease, records: Sequence[Record]) -> None:
    """Findings and facts that a workflow states: each once, with its rows and its events."""
    try:
        with transaction.atomic():
            reserve_numbers(lease.run_id, 0, lease.fence)
            facts = [fact for record in records for fact in record_step(lease.run_id, record)]
            write(lease.run_id, facts, reserve_numbers(lease.run_id, len(facts), lease.fence), lease.announce)
    except IntegrityError:
        # An earlier try of this very transaction may have been committed, and its confirmation lost.
        keys = {record.key for record in records}
        if Step.objects.filter(run_id=lease.run_id, key__in=keys).count() != len(keys):
            raise


def open_calls(
    lease: Lease, begun: Sequence[tuple[Ask, UUID, PreparedCall]], accounts: Sequence[Account] = ()
) -> list[OpenCall]:
    """Write ahead: the steps, their first calls, under the given ids, and what is set aside for them are committed
    before a request leaves. Nothing is written when it raises IntegrityError, since one of the steps was begun before,
    OverBudget, since a call does not fit into an account, or RunPaused.
    """
    run_id = lease.run_id
    with transaction.atomic():
        _lock_to_begin(lease)
        steps = Step.objects.bulk_create(_new_step(run_id, ask) for ask, _call_id, _order in begun)
        calls = _begin_calls([(step, *one, 1) for step, one in zip(steps, begun, strict=True)])
        periods = [_set_aside(call_id, order, accounts) for _ask, call_id, order in begun]
    return [
        OpenCall(call.id, ask, call.step_id, 1, order, of_call, 0, begun_digest(call), _is_handed(order))
        for call, (ask, _call_id, order), of_call in zip(calls, begun, periods, strict=True)
    ]


def open_call(
    lease: Lease,
    ask: Ask,
    order: PreparedCall,
    call_id: UUID,
    accounts: Sequence[Account] = (),
    *,
    is_first: bool = False,
) -> OpenCall:
    """The same for one call, which may be a further attempt. is_first: the step was not begun as far as the driver
    knows. Raises OverBudget when the call does not fit into an account, and RunPaused.
    """
    if is_first:
        try:
            return open_calls(lease, [(ask, call_id, order)], accounts)[0]
        except IntegrityError:
            pass  # an earlier try of this very transaction was committed, and its confirmation lost
    with transaction.atomic():
        _lock_to_begin(lease)
        step = Step.objects.filter(run_id=lease.run_id, key=ask.key).first()
        if step is None:
            step = _new_step(lease.run_id, ask)
            step.save()
        if call := step.calls.filter(pk=call_id).first():
            periods = periods_of(call_id)
        else:
            [call] = _begin_calls([(step, ask, call_id, order, step.calls.count() + 1)])
            periods = _set_aside(call_id, order, accounts)
        failures = failures_of(step)
    return OpenCall(
        call.id, ask, step.pk, call.attempt, order, periods, failures, begun_digest(call), _is_handed(order)
    )


def _lock_to_begin(lease: Lease) -> None:
    """Lock the run's row: nobody else begins a call of it or pauses it meanwhile. Raises LeaseLost, RunPaused."""
    if reserve_numbers(lease.run_id, 0, lease.fence).is_held:
        raise RunPaused(lease.run_id)


def _new_step(run_id: UUID, ask: Ask) -> Step:
    place = {"purpose": ask.purpose, "seat": ask.seat, "turn": ask.turn, "prompt_version": ask.prompt_version}
    return Step(run_id=run_id, key=ask.key, kind="ask", **place)


def _set_aside(call_id: UUID, order: PreparedCall, accounts: Sequence[Account]) -> tuple[int, ...]:
    return reserve(call_id, accounts, order.set_aside) if accounts and not order.problem else ()


def _is_handed(order: PreparedCall) -> bool:
    return settings.CALLERS > 0 and not order.is_batched and not order.problem


def _begin_calls(begun: Sequence[tuple[Step, Ask, UUID, PreparedCall, int]]) -> list[Call]:
    """Their rows. The last of each: which attempt of the step it is."""
    calls, batched, handed = [], [], []
    for step, ask, call_id, order, attempt in begun:
        prepared = prepare(_with_names(order.request), stream=not order.is_batched)
        call = Call(
            id=call_id,
            run_id=step.run_id,
            step=step,
            attempt=attempt,
            state=Call.State.BATCHED if order.is_batched else Call.State.SENT,
            model=order.model,
            price=order.price,
            reserved=order.reserved,
            reserved_tokens=order.reserved_tokens,
            request=prepared.body,
        )
        calls.append(call)
        if order.share is not None:
            batched.append(BatchedCall(call=call, share=order.share, warnings=list(prepared.warnings)))
        elif _is_handed(order):
            handed.append(HandedCall(call=call, order=order_text(order, ask)))
    Call.objects.bulk_create(calls)
    BatchedCall.objects.bulk_create(batched)
    HandedCall.objects.bulk_create(handed)
    return calls


def failures_of(step: Step) -> int:
    """Of its calls: one that was lost with its worker says nothing about its provider."""
    return step.calls.filter(state=Call.State.FAILED).count() - int(step.data.get(FORGIVEN, 0))


def begun_digest(call: Call) -> str:
    return digests.of_begun_call({name: getattr(call, name) for name in digests.BEGUN})


def _with_names(request: ChatRequest) -> ChatRequest:
    """The request with names in place of its images' bytes: the bytes are kept once, under their hash."""

    def named(parts: tuple[Any, ...]) -> tuple[Any, ...]:
        return tuple(ImagePart(part.name or part.url) if isinstance(part, ImagePart) else part for part in parts)

    if all(message.is_text for message in request.messages):
        return request
    messages = (replace(one, images=named(one.images), parts=named(one.parts)) for one in request.messages)
    return replace(request, messages=tuple(messages))


def close_call(
    lease: Lease, call: OpenCall, result: CallResult, *, retry_in: float | None = None, is_final: bool = True
) -> Outcome:
    """Settle one attempt with everything that follows from it. retry_in: seconds until the next one, None for none.
    is_final: whether the step is over, where no attempt follows. It is not where a limit ends the run before the next
    attempt, which is made once the limit is lifted.
    """
    outcome, ask = outcome_of(result), call.ask
    settled = settled_columns(call, result, outcome)
    was_stopped = outcome.error_kind == STOPPED_KIND
    # What there was of a reply when the run was stopped is a message, too. The words of an error are none.
    is_message = ask.is_spoken and (outcome.ok or (was_stopped and bool(outcome.text)))
    is_failure = ask.is_spoken and not outcome.ok and not was_stopped
    broke_off = ask.keeps_partial and outcome.error_kind == Interrupted.kind and bool(outcome.text.strip())
    is_cut = is_final and retry_in is None and broke_off  # its words are to be seen in the transcript
    noticed = ask.inspect(outcome.text) if ask.inspect and is_message else None  # takes too long for a transaction
    with transaction.atomic():
        has_event = retry_in is not None or is_message or is_failure
        numbers = reserve_numbers(lease.run_id, has_event + is_cut, lease.fence, settled=1)
        measuring.call_ended(call.id, call.order.model, settled)
        if not Call.objects.filter(pk=call.id, state__in=CALLS_UNDER_WAY).update(**settled):
            transaction.set_rollback(True)  # gives the number back: without an event it would be a gap for ever
            return outcome  # settled by an earlier try of this very transaction, whose commit went unconfirmed
        settle(call.periods, call.order.set_aside, spent_by(call, settled))
        if call.order.is_batched:
            BatchedCall.objects.filter(call=call.id).update(answer="")
        if call.is_handed:
            HandedCall.objects.filter(call=call.id).delete()
        if retry_in is not None:
            write(lease.run_id, [CallRetried(**_trouble(call, result), seconds=retry_in)], numbers, lease.announce)
            return outcome
        if is_final:
            state = Step.State.DONE if outcome.ok else Step.State.FAILED
            Step.objects.filter(pk=call.step_id).update(state=state, ended=timezone.now())
        if is_message:
            said = _message(lease.run_id, call, settled, outcome, numbers.first, noticed)
            write(lease.run_id, [said], numbers, lease.announce)
        elif is_failure:
            partial = "" if is_cut else outcome.text
            facts: list[EventData] = [CallFailed(**_trouble(call, result), partial=partial)]
            if is_cut:
                cut = replace(outcome, finish_reason=INTERRUPTED)
                facts.append(_message(lease.run_id, call, settled, cut, numbers.first + 1, None))
            write(lease.run_id, facts, numbers, lease.announce)
    return outcome


def withdraw_call(lease: Lease, call: OpenCall) -> None:
    """Forget a call that still waited for its turn when its worker ended: nobody was asked, and nothing is owed."""
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)
        if Call.objects.filter(pk=call.id, state=Call.State.SENT).delete()[0]:
            settle(call.periods, call.order.set_aside, Amount(Decimal(0), 0))


def withdraw_handed(run: Run) -> None:
    """Forget the calls that no caller has claimed: nobody was asked. Call while the run's row is held."""
    for row in HandedCall.objects.unclaimed().filter(call__run=run).select_related("call"):
        if HandedCall.objects.unclaimed().filter(pk=row.pk).delete()[0]:
            set_aside = Amount(row.call.reserved, row.call.reserved_tokens or 0)
            settle(periods_of(row.call_id), set_aside, Amount(Decimal(0), 0))
            row.call.delete()


def lose_call(lease: Lease, run: Run, call: OpenCall) -> bool:
    """Its caller has died without an answer. False where there is one after all."""
    with transaction.atomic():
        reserve_numbers(lease.run_id, 0, lease.fence)
        HandedCall.objects.under_way().filter(pk=call.id).delete()
        if HandedCall.objects.filter(pk=call.id).exists():
            return False
        lost = lose_calls(run, CALLER_DIED, run.calls.filter(pk=call.id))
        emit(lease.run_id, *lost, fence=lease.fence, announce=lease.announce)
    return True


def lose_calls(run: Run, why: str = WORKER_KILLED, among: QuerySet[Call] | None = None) -> list[CallLost]:
    """Mark the calls that were under way when a driver gave a run up: nobody can know what became of them. Call while
    the run's row is held. among: those of the run that may be; None for all.
    """
    under_way = (run.calls.all() if among is None else among).filter(state=Call.State.SENT)
    calls = list(under_way.select_related("step", "model__provider"))
    for call in calls:
        measuring.call_ended(call.pk, call.model, measuring.LOST)
        lost = {"state": Call.State.LOST, "error_kind": "lost", "error": why, "cost_source": "unknown"}
        # The text as it was read: what its driver may still save of it would not be what the digest covers.
        lost |= {"text": call.text, "reasoning": call.reasoning}
        ended = {name: lost.get(name, getattr(call, name)) for name in digests.ENDED}
        Call.objects.filter(pk=call.pk).update(**lost, digest=digests.of_ended_call(begun_digest(call), ended))
    if calls:
        HandedCall.objects.filter(call__in=calls).delete()
        Run.objects.filter(pk=run.pk).update(settled_calls=F("settled_calls") + len(calls))
        settle_lost([call.pk for call in calls])
    return [
        CallLost(
            call=str(call.pk),
            attempt=call.attempt,
            seat=call.step.seat,
            turn=call.step.turn,
            purpose=call.step.purpose,
        )
        for call in calls
    ]


def outcome_of(result: CallResult) -> Outcome:
    completion, error = result.completion, result.error
    text, reasoning = storable(completion.text or completion.refusal), storable(completion.reasoning)
    if result.is_stopped:
        return Outcome(False, text, reasoning, STOPPED_KIND, STOPPED_KIND, "The run was stopped.")
    if error:
        return Outcome(False, text, reasoning, "", error.kind, storable(str(error)))
    return Outcome(True, text, reasoning, completion.finish_reason or "")


def settled_columns(call: OpenCall, result: CallResult, outcome: Outcome) -> dict[str, Any]:
    """The columns of the call's row."""
    completion = result.completion
    state = Call.State.COMPLETED if outcome.ok else Call.State.FAILED
    settled = {
        "state": Call.State.STOPPED if result.is_stopped else state,
        "text": outcome.text,
        "reasoning": storable(completion.reasoning),
        "logprobs": _logprobs(completion),
        "finish_reason": outcome.finish_reason,
        "native_finish_reason": completion.native_finish_reason[:80],
        "served_model": storable(completion.served_model)[:200],
        "served_provider": storable(completion.served_provider)[:200],
        "generation_id": storable(completion.generation_id)[:200],
        "system_fingerprint": storable(completion.system_fingerprint)[:200],
        "warnings": list(completion.warnings),
        "error_kind": outcome.error_kind,
        "error": outcome.error,
        "first_byte_seconds": result.first_byte_seconds,
        "seconds": result.seconds,
        **_usage(call, result),
    }
    return settled | {"digest": digests.of_ended_call(call.begun, UNKNOWN_USAGE | settled)}


def _usage(call: OpenCall, result: CallResult) -> dict[str, Any]:
    completion, usage = result.completion, result.completion.usage
    if call.order.problem or not result.was_sent:
        return {"cost": Decimal(0), "cost_source": NOT_SENT}
    if usage is None:
        is_free = result.error is not None and result.error.kind in UNBILLED and not completion.text
        return {"cost": Decimal(0), "cost_source": NOT_BILLED} if is_free else {"cost_source": "unknown"}
    amount, source = cost(usage, price_at(call.order.price, call.order.share))
    return {
        "input_tokens": usage.total_input,
        "output_tokens": usage.output_tokens,
        "reasoning_tokens": usage.reasoning_tokens,
        "cached_input_tokens": usage.cached_input_tokens,
        "usage_is_estimated": usage.estimated,
        "cost": None if amount is None else kept(amount),
        "cost_source": IN_BATCH if source == "price" and call.order.is_batched else source,
    }


def at_risk(call: OpenCall, result: CallResult) -> Decimal | None:
    """What a failed attempt may have cost; None where its price is unknown."""
    return spent_by(call, _usage(call, result)).cost


def spent_by(call: OpenCall, settled: dict[str, Any]) -> Amount:
    """What a settled call counts in budgets: what it cost and took; where nobody knows, what was set aside for it."""
    reserved, known = call.order.set_aside, settled.get("cost")
    if "input_tokens" in settled:
        tokens = settled["input_tokens"] + settled["output_tokens"]
    else:
        tokens = 0 if settled["cost_source"] in (NOT_SENT, NOT_BILLED) else reserved.tokens
    return Amount(reserved.cost if known is None else known, tokens)


def _logprobs(completion: Completion) -> list[dict[str, Any]] | None:
    if completion.logprobs is None:
        return None
    return [
        {
            "token": storable(token.token),
            "logprob": token.logprob,
            "alternatives": [{"token": storable(a.token), "logprob": a.logprob} for a in token.alternatives],
        }
        for token in completion.logprobs
    ]


def _message(
    run_id: UUID, call: OpenCall, settled: dict[str, Any], outcome: Outcome, seq: int, noticed: Sequence[str] | None
) -> MessageCompleted:
    said = {
        "run_id": run_id,
        "call": Call(id=call.id, model=call.order.model, **settled),
        "seq": seq,
        "turn": call.ask.turn or 0,
        "seat": call.ask.seat,
        "model": call.order.model.label,
        "raw_text": outcome.text,
        "text": outcome.text,
        "reasoning": settled["reasoning"],
        "finish_reason": outcome.finish_reason,
        "flags": _flags(run_id, call.ask, outcome) if noticed is None else list(noticed),
    }
    step = Step(pk=call.step_id, purpose=call.ask.purpose)
    if call.ask.keeps_partial and call.attempt > 1:  # after a resume: the words that were cut give way to the answer
        message, _is_new = Message.objects.update_or_create(step=step, defaults=said)
    else:
        message = Message.objects.create(step=step, **said)
    indexing.message(message)
    return MessageCompleted.model_validate(message_data(message))


def _flags(run_id: UUID, ask: Ask, outcome: Outcome) -> list[str]:
    _experiment, workflow, _owner = indexing.of_run_id(run_id)
    if ask.seat not in workflow_of(workflow).flagged:
        return []
    earlier = Message.objects.filter(run_id=run_id, seat=ask.seat).order_by("-seq").values_list("raw_text", flat=True)
    return flags(outcome.text, ask.seat, list(earlier[:5]), outcome.finish_reason)


def _trouble(call: OpenCall, result: CallResult) -> dict[str, Any]:
    return {
        "call": str(call.id),
        "seat": call.ask.seat,
        "turn": call.ask.turn,
        "attempt": call.attempt,
        "purpose": call.ask.purpose,
        "kind": result.error.kind if result.error else "",
        "message": storable(str(result.error)),
    }
