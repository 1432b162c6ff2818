"""Code that waits for the sandbox, what came of it, and what is not wanted any more."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from experiments.engine.events import reserve_numbers
from experiments.engine.recording import Book
from experiments.engine.text import storable, storable_data
from experiments.models import Execution, Run, Step
from experiments.sandboxing import worker
from experiments.workflows.base.steps import Execute, Outcome

UNDER_WAY = (Execution.State.WAITING, Execution.State.RUNNING)
AGAIN = {"state": Execution.State.WAITING, "claim": 0, "error_kind": "", "error": "", "ended": None, "results": None}
HEARD = ("name", "verdict", "value", "value_sha256", "error")  # of a result, by the workflow


def begin(book: Book, wanted: Execute) -> None:
    """Write down what is to be run, once, and enqueue a job for the sandbox."""
    with transaction.atomic():
        reserve_numbers(book.run_id, 0, book.fence)
        place = {"kind": "execute", "purpose": wanted.purpose, "seat": wanted.seat, "turn": wanted.turn}
        step, _is_new = Step.objects.get_or_create(run_id=book.run_id, key=wanted.key, defaults=place)
        execution, is_new = Execution.objects.get_or_create(step=step, defaults=_fields(book.run_id, wanted))
        if not is_new and execution.state not in UNDER_WAY and step.state == Step.State.OPEN:
            Execution.objects.filter(pk=execution.pk).update(**AGAIN)
        worker.wake()


def outcomes(book: Book, keys: Collection[str]) -> dict[str, Outcome]:
    """What came of those that are over meanwhile."""
    over = Execution.objects.filter(run_id=book.run_id, step__key__in=keys).exclude(state__in=UNDER_WAY)
    return {execution.step.key: outcome_of(execution) for execution in over.select_related("step")}


def recorded(run: Run) -> dict[str, Outcome]:
    """By key, of steps that are not to be taken again."""
    over = run.executions.exclude(step__state=Step.State.OPEN).select_related("step").defer("code", "tests")
    return {execution.step.key: outcome_of(execution) for execution in over}


def outcome_of(execution: Execution) -> Outcome:
    if execution.state != Execution.State.DONE:
        return Outcome(False, error_kind=execution.error_kind, error=execution.error)
    results = [{name: one[name] for name in HEARD if name in one} for one in execution.results or ()]
    found = {"results": results, "complaint": execution.complaint}
    return Outcome(found={**found, "backend": execution.backend, "is_unsafe": execution.is_unsafe})


def cancel(run_id: UUID) -> None:
    """Of a run that has ended: nobody wants to know any more. Call inside its last transaction."""
    waiting = Execution.objects.filter(run_id=run_id, state__in=UNDER_WAY)
    waiting.update(state=Execution.State.CANCELLED, ended=timezone.now(), error_kind="stopped", error="The run ended.")


def _fields(run_id: UUID, wanted: Execute) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "turn": wanted.turn or 0,
        "seat": wanted.seat,
        "language": wanted.language,
        "code": storable(wanted.code),
        "entry": wanted.entry,
        "comparison": wanted.comparison,
        "tests": storable_data(list(wanted.tests)),
        "seconds_limit": wanted.seconds,
        "memory_limit": wanted.memory,
        "until_failure": wanted.until_failure,
    }
