"""What a driver hands over to a caller, and what the caller answers: JSON on the row of the call, without any key."""

import json
import logging
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from pydantic import TypeAdapter, ValidationError

from experiments.engine.executor import CallResult
from experiments.engine.requests import PreparedCall
from experiments.engine.text import storable_data
from experiments.gateway.errors import GatewayError, OutcomeUnknown, of_kind
from experiments.gateway.types import ChatRequest, Completion
from experiments.workflows.base.steps import Ask

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Order:
    """One call to be made. key_id: of the stored key; None for the environment's, and where none is needed. tokens: the
    most that it may take, as estimated.
    """

    model_id: int
    key_id: UUID | None
    request: ChatRequest
    tokens: int
    seat: str
    turn: int | None
    purpose: str
    is_shown: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """A GatewayError."""

    kind: str
    message: str
    status: int | None
    retry_after: float | None


@dataclass(frozen=True, slots=True)
class Answer:
    """A CallResult, but for whose it is."""

    completion: Completion
    error: Failure | None
    seconds: float | None
    first_byte_seconds: float | None
    is_stopped: bool
    was_sent: bool


_ORDER, _ANSWER = TypeAdapter(Order), TypeAdapter(Answer)


def order_text(order: PreparedCall, ask: Ask) -> str:
    place = (ask.seat, ask.turn, ask.purpose, ask.is_spoken)
    return _text(_ORDER, Order(order.model.pk, order.key.row_id, order.request, order.reserved_tokens, *place))


def order_of(text: str) -> Order:
    """Raises ValidationError (of pydantic)."""
    return _ORDER.validate_json(text)


def answer_text(result: CallResult) -> str:
    error = result.error
    failure = Failure(error.kind, str(error), error.status, error.retry_after) if error else None
    times = (result.seconds, result.first_byte_seconds)
    return _text(_ANSWER, Answer(result.completion, failure, *times, result.is_stopped, result.was_sent))


def result_of(text: str, call_id: UUID, run_id: UUID) -> CallResult:
    """One that cannot be read may have been billed."""
    try:
        answer = _ANSWER.validate_json(text)
    except ValidationError:
        logger.exception("call=%s: its answer cannot be read", call_id)
        unknown = OutcomeUnknown("What the provider answered could not be read.")
        return CallResult(call_id, run_id, Completion(), unknown, None, None)
    error: GatewayError | None = None
    if failure := answer.error:
        error = of_kind(failure.kind, failure.message)
        error.status, error.retry_after, error.partial = failure.status, failure.retry_after, answer.completion
    times = (answer.seconds, answer.first_byte_seconds)
    return CallResult(call_id, run_id, answer.completion, error, *times, answer.is_stopped, answer.was_sent)


def unsent(call_id: UUID, run_id: UUID, error: GatewayError | None = None) -> CallResult:
    """Of a call that was stopped, or failed, before anything was sent."""
    return CallResult(call_id, run_id, Completion(), error, 0.0, None, is_stopped=error is None, was_sent=False)


def _text(adapter: TypeAdapter[Any], value: object) -> str:
    return json.dumps(storable_data(adapter.dump_python(value)), default=str)


UNSENT = answer_text(unsent(UUID(int=0), UUID(int=0)))  # the answer for a call that was stopped in time
