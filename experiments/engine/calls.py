"""A call on its way between the run and the performers: the work that it is, and what follows from its report."""

from uuid import UUID

from experiments.engine.performers import Report, Work
from experiments.engine.recording import OpenCall
from experiments.gateway import GatewayError
from experiments.gateway.errors import RateLimited
from experiments.gateway.retry import Wait, decide
from experiments.gateway.types import Completion
from experiments.workflows.base.steps import Cast


def work_of(run_id: UUID, call: OpenCall) -> Work:
    return Work(
        call_id=call.id,
        run_id=run_id,
        endpoint=call.order.endpoint,
        request=call.order.request,
        seat=call.ask.seat,
        turn=call.ask.turn,
        purpose=call.ask.purpose,
        is_shown=call.ask.is_spoken,
    )


def unsent(run_id: UUID, call: OpenCall) -> Report:
    """The report of a call that cannot be sent as it is."""
    return Report(call.id, run_id, Completion(), call.order.problem, seconds=0.0, first_byte_seconds=None)


def wait_after(call: OpenCall, report: Report) -> Wait | None:
    """How long to wait before the same is asked again; None when it is not."""
    if report.error is None or report.is_stopped:
        return None
    jitter = Cast({}, call.attempt).random(str(call.id)).random()
    attempt = call.failures + 1
    if call.ask.attempts is not None and attempt >= call.ask.attempts:
        return None
    verdict = decide(report.error, attempt, jitter=jitter)
    if not isinstance(verdict, Wait) or _is_beyond(call.ask.patience, attempt, verdict, report.error):
        return None
    return verdict


def _is_beyond(patience: float | None, attempt: int, wait: Wait, error: GatewayError) -> bool:
    """Whether somebody else is to be asked rather than to wait for this model's rate limit to pass."""
    if patience is None or not isinstance(error, RateLimited):
        return False
    return attempt > 1 or wait.seconds > patience
