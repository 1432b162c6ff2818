"""Cycles, votes and executions of contests become rows, in the transaction of their step and their event."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from experiments.engine.executions import told
from experiments.engine.projections import Judged, judgments_shown
from experiments.engine.row_writers import Loaded, RowWriter, kept, source
from experiments.models import Cycle, Execution, Judgment, Participant, Step
from experiments.signals import cycles_changed
from experiments.workflows.base.events import EventData
from experiments.workflows.base.records import OF_STEPS, Finding, Projection, Record
from experiments.workflows.coding import records
from experiments.workflows.coding.records import (
    CycleBegun,
    CycleRated,
    CycleVoid,
    ProblemSet,
    SolutionJudged,
    SolutionJudgedData,
)

LONGEST_TITLE = 200
OVER = (Execution.State.DONE, Execution.State.FAILED)


class CyclesBegun(RowWriter[CycleBegun]):
    def write(self, step: Step, record: Record, finding: CycleBegun) -> list[EventData]:
        """The cycle, with who takes part in it: models by their seats, as they are seated now and for ever."""
        slugs = _slugs(step.run_id)
        Cycle.objects.create(
            run_id=step.run_id,
            turn=finding.turn,
            setter=finding.setter,
            contestants=[[seat, slugs[seat]] for seat in finding.coders],
        )
        return kept(step, finding)


class ProblemsSet(RowWriter[ProblemSet]):
    def write(self, step: Step, record: Record, finding: ProblemSet) -> list[EventData]:
        _cycle(step, finding.turn).update(title=finding.title[:LONGEST_TITLE], fingerprint=finding.fingerprint)
        return kept(step, finding)


class CyclesVoid(RowWriter[CycleVoid]):
    def write(self, step: Step, record: Record, finding: CycleVoid) -> list[EventData]:
        _cycle(step, finding.turn).update(state=Cycle.State.VOID, reason=finding.reason, ended=timezone.now())
        return kept(step, finding)


class CyclesRated(RowWriter[CycleRated]):
    def write(self, step: Step, record: Record, finding: CycleRated) -> list[EventData]:
        _cycle(step, finding.turn).update(state=Cycle.State.RATED, found=finding.data(), ended=timezone.now())
        transaction.on_commit(partial(cycles_changed.send, sender=None))
        return kept(step, finding)


class Votes(Judged[SolutionJudged]):
    def write(self, step: Step, record: Record, finding: SolutionJudged) -> list[EventData]:
        """One judge's vote on one solution; or why there is none."""
        call = source(step, record)
        judgment = Judgment.objects.create(
            run_id=step.run_id,
            step=step,
            call=call,
            judge=call.model.label if call else "",
            **finding.model_dump(exclude={"type", "key"}),
        )
        [judged] = judgments_shown([judgment])
        return kept(step, SolutionJudgedData(key=finding.key, turn=finding.turn, judgment=judged))


class Executions(RowWriter[Finding]):
    """Of steps that have the sandbox run code; the sandbox writes what it found."""

    def with_rows(self, steps: QuerySet[Step]) -> QuerySet[Step]:
        return steps.select_related("execution").defer("execution__code")

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        execution = getattr(step, "execution", None)
        if execution is not None and execution.state in OVER:
            execution.step = step
            yield told(execution)


def _cycle(step: Step, turn: int) -> QuerySet[Cycle]:
    return Cycle.objects.filter(run_id=step.run_id, turn=turn)


def _slugs(run_id: UUID) -> dict[str, str]:
    seated = Participant.objects.filter(experiment__runs=run_id).select_related("model")
    return {participant.seat: participant.model.slug for participant in seated}


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {
    records.CYCLE: CyclesBegun(),
    records.CYCLE_NAMED: ProblemsSet(),
    records.CYCLE_VOID: CyclesVoid(),
    records.CYCLE_RATED: CyclesRated(),
    records.VOTE: Votes(),
    OF_STEPS["execute"]: Executions(),
}
