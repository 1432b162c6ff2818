"""How a run comes to its last state, and says so, once."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from accounts import audit
from experiments.engine import executions, recording
from experiments.engine.events import Fact, emit, reserve_numbers
from experiments.engine.recording import Book
from experiments.models import Budget, Run
from experiments.signals import run_finished
from experiments.workflows.base.steps import STOPPED, Ask, End

MANUAL_STOP = STOPPED
GIVEN_UP = "The engine gave the run up while this call was under way."
INTERNAL_ERROR = "internal_error"  # the reason of an end that is no fault of what was asked


def finish(
    book: Book,
    run: Run,
    end: End,
    *,
    was_halted: bool,
    refused: Ask | None = None,
    budget: Mapping[str, Any] | None = None,
) -> None:
    """Move the run to its last state and say so, once. refused: what a limit did not allow to be asked any more.
    budget: the one that had no room for it.
    """
    natural = Run.State.STOPPED if was_halted or end.stopped else Run.State.COMPLETED
    state = Run.State.FAILED if end.failed else natural
    kind = "experiment_error" if end.failed else "experiment_stopped"
    data: dict[str, Any] = {"state": state.value, "reason": end.reason, "message": end.message}
    if refused:
        data["refused"] = _place(refused)
    if budget:
        data["budget"] = budget
    with transaction.atomic():
        reserve_numbers(book.run_id, 0, book.fence)
        ended = {"stop_reason": end.reason, "error": end.message, "ended": Now(), "lease_until": None}
        driven = (Run.State.RUNNING, Run.State.STOPPING)
        if run.move(state, from_=driven, fence=book.fence, fields=ended):  # or an earlier try did, unconfirmed
            left = recording.lose_calls(run, GIVEN_UP)  # none, but where the run gave up or a commit was not confirmed
            emit(book.run_id, *left, Fact(kind, data), fence=book.fence, announce=book.announce)
            executions.cancel(book.run_id)
            if budget:
                _record_reached(run, budget)
        transaction.on_commit(lambda: run_finished.send(Run, run_id=run.pk))


def _record_reached(run: Run, budget: Mapping[str, Any]) -> None:
    told = {name: budget[name] for name in ("kind", "period", "cost_left", "tokens_left")}
    row = Budget(pk=UUID(budget["id"]))
    audit.record(audit.Action.BUDGET_REACHED, by=None, of=row, name=budget["name"], run=str(run.pk), **told)


def _place(ask: Ask) -> dict[str, Any]:
    return {"key": ask.key, "purpose": ask.purpose, "seat": ask.seat, "turn": ask.turn}
