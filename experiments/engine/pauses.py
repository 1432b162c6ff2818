"""Waiting for people: a pause is opened, the run is parked without a lease, and what was said is read."""

from collections.abc import Collection
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from experiments.engine.events import emit, reserve_numbers
from experiments.engine.recorded import listen_outcomes
from experiments.engine.recording import Book
from experiments.engine.text import storable
from experiments.models import Run, Step
from experiments.models.signals import run_finished
from experiments.workflows.base.events import ExperimentState, ExperimentStopped
from experiments.workflows.base.steps import Listen, Outcome


def open_pause(book: Book, pause: Listen) -> bool:
    """Record what is waited for, with its event, once. False when the run has become automatic meanwhile: its mode is
    read under the lock under which it changes.
    """
    with transaction.atomic():
        reserve_numbers(book.run_id, 0, book.fence)
        if pause.may_pass and _is_passed(book, pause):
            return False
        step, is_new = Step.objects.get_or_create(
            run_id=book.run_id,
            key=pause.key,
            defaults={
                "kind": "offer" if pause.is_offer else "listen",
                "purpose": pause.reason,
                "seat": pause.seat,
                "turn": pause.turn,
                "data": _offer(pause),
            },
        )
        if is_new:
            emit(book.run_id, step.pause, fence=book.fence, announce=book.announce)
    return True


def _is_passed(book: Book, pause: Listen) -> bool:
    """One that is open already is answered, not passed."""
    is_automatic = Run.objects.filter(pk=book.run_id, mode=Run.Mode.AUTOMATIC).exists()
    return is_automatic and not Step.objects.filter(run_id=book.run_id, key=pause.key).exists()


def answers(book: Book, keys: Collection[str]) -> dict[str, Outcome]:
    """What has been said meanwhile at these pauses."""
    return listen_outcomes(list(Step.objects.filter(run_id=book.run_id, key__in=keys, state=Step.State.DONE)))


def park(book: Book, keys: Collection[str], *, is_held: bool) -> bool:
    """Let the run wait: its state says so and its lease ends. False when it has just been answered or resumed.

    What is said takes the same lock, so that no word can fall between the look and the move.
    """
    with transaction.atomic():
        reserve_numbers(book.run_id, 0, book.fence)
        if Step.objects.filter(run_id=book.run_id, key__in=keys).exclude(state=Step.State.OPEN).exists():
            return False
        runs = Run.objects.filter(pk=book.run_id, state=Run.State.RUNNING)
        if is_held and not keys:
            runs = runs.filter(is_held=True)
        if not runs.update(state=Run.State.WAITING, lease_until=None, waiting_since=Now()):
            return False
        emit(book.run_id, ExperimentState(state=Run.State.WAITING.value), fence=book.fence, announce=book.announce)
    return True


def rest(book: Book, run: Run, keys: Collection[str]) -> bool:
    """The run has done what was asked of it: it is completed, until one of its offers is taken up. False when one has
    just been.
    """
    with transaction.atomic():
        reserve_numbers(book.run_id, 0, book.fence)
        steps = Step.objects.filter(run_id=book.run_id, key__in=keys)
        if steps.exclude(state=Step.State.OPEN).exists():
            return False
        reason = steps.order_by("id").values_list("purpose", flat=True).last() or ""
        fields = {"stop_reason": reason, "error": "", "ended": Now(), "lease_until": None}
        if not run.move(Run.State.COMPLETED, from_=(Run.State.RUNNING,), fence=book.fence, fields=fields):
            return False
        ended = ExperimentStopped(state=Run.State.COMPLETED.value, reason=reason, message="")
        emit(book.run_id, ended, fence=book.fence, announce=book.announce)
        transaction.on_commit(lambda: run_finished.send(Run, run_id=run.pk))
    return True


def _offer(pause: Listen) -> dict[str, Any]:
    return {"default": storable(pause.default), "actions": list(pause.actions), "error": storable(pause.error)}
