"""Cycles and votes of contests become rows, in the transaction of their step and their event."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from experiments.engine.events import Fact
from experiments.engine.projections import Writer, kept, source
from experiments.models import Cycle, Judgment, Participant, Step
from experiments.serializers import JudgmentSerializer
from experiments.signals import cycles_changed
from experiments.workflows.base.records import Projection, Record
from experiments.workflows.coding import records
from experiments.workflows.coding.records import CycleBegun, CycleRated, CycleVoid, ProblemSet, SolutionJudged

LONGEST_TITLE = 200


def _begun(step: Step, record: Record, finding: CycleBegun) -> list[Fact]:
    """The cycle, with who takes part in it: models by their seats, as they are seated now and for ever."""
    slugs = _slugs(step.run_id)
    Cycle.objects.create(
        run_id=step.run_id,
        turn=finding.turn,
        setter=finding.setter,
        contestants=[[seat, slugs[seat]] for seat in finding.coders],
    )
    return kept(step, record)


def _problem_set(step: Step, record: Record, finding: ProblemSet) -> list[Fact]:
    _cycle(step, finding.turn).update(title=finding.title[:LONGEST_TITLE], fingerprint=finding.fingerprint)
    return kept(step, record)


def _void(step: Step, record: Record, finding: CycleVoid) -> list[Fact]:
    _cycle(step, finding.turn).update(state=Cycle.State.VOID, reason=finding.reason, ended=timezone.now())
    return kept(step, record)


def _rated(step: Step, record: Record, finding: CycleRated) -> list[Fact]:
    _cycle(step, finding.turn).update(state=Cycle.State.RATED, found=record.data, ended=timezone.now())
    transaction.on_commit(partial(cycles_changed.send, sender=None))
    return kept(step, record)


def _voted(step: Step, record: Record, finding: SolutionJudged) -> list[Fact]:
    """One judge's vote on one solution; or why there is none."""
    call = source(step, record)
    judgment = Judgment.objects.create(
        run_id=step.run_id,
        step=step,
        call=call,
        judge=call.model.label if call else "",
        **finding.model_dump(exclude={"type", "key"}),
    )
    judged = dict(JudgmentSerializer(judgment).data)
    return kept(step, record, {"key": finding.key, "turn": finding.turn, "judgment": judged})


def _cycle(step: Step, turn: int) -> Any:
    return Cycle.objects.filter(run_id=step.run_id, turn=turn)


def _slugs(run_id: UUID) -> dict[str, str]:
    seated = Participant.objects.filter(experiment__runs=run_id).select_related("model")
    return {participant.seat: participant.model.slug for participant in seated}


WRITERS: Mapping[Projection, Writer] = {
    records.CYCLE: _begun,
    records.CYCLE_NAMED: _problem_set,
    records.CYCLE_VOID: _void,
    records.CYCLE_RATED: _rated,
    records.VOTE: _voted,
}
