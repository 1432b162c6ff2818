"""Cycles, votes and executions of contests become rows, in the transaction of their step and their event."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.engine.executions import told
from experiments.engine.projections import Judged, judgments_shown
from experiments.engine.row_writers import Listed, Loaded, Restoring, RowWriter, kept, source
from experiments.models import Cycle, Execution, Judgment, Participant, Run, Step
from experiments.models.signals import cycles_changed
from experiments.workflows.base.events import EventData
from experiments.workflows.base.records import OF_STEPS, Finding, Projection, Record
from experiments.workflows.coding import records
from experiments.workflows.coding.pages import stored
from experiments.workflows.coding.pages.serializers import CycleSerializer, ExecutionSerializer
from experiments.workflows.coding.pages.shapes import CycleShape, ExecutionShape
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
MOST_CYCLES = 1_000
MOST_EXECUTIONS = 30_000
ROWS_AT_ONCE = 200


def cycles(run: Run) -> QuerySet[Cycle]:
    return run.cycles.select_related("voided_by").order_by("turn")


def executions(run: Run) -> QuerySet[Execution]:
    """What the sandbox ran, in the order in which it was asked for."""
    return run.executions.select_related("step").order_by("id")


class CyclesBegun(RowWriter[CycleBegun]):
    listed = Listed("cycles", "cycle", cycles, CycleSerializer, CycleShape, MOST_CYCLES)

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

    def wrong(self, rows: Sequence[CycleShape], executed: Collection[str]) -> Iterator[tuple[str, str]]:
        turns: set[int] = set()
        for number, cycle in enumerate(rows):
            if cycle.turn in turns:
                yield f"[{number}].turn", _("This cycle stands twice in the document.")
            turns.add(cycle.turn)

    def restore(self, rows: Sequence[CycleShape], into: Restoring) -> None:
        found = [stored.cycle(into.run, said) for said in rows]
        Cycle.objects.bulk_create(found, ROWS_AT_ONCE)
        for row, said in zip(found, rows, strict=True):
            row.began = said.began or into.run.created
        Cycle.objects.bulk_update(found, ["began"], ROWS_AT_ONCE)


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

    listed = Listed(
        *("executions", "execution", executions, ExecutionSerializer, ExecutionShape, MOST_EXECUTIONS),
        needs_steps=True,
    )

    def with_rows(self, steps: QuerySet[Step]) -> QuerySet[Step]:
        return steps.select_related("execution").defer("execution__code")

    def entries(self, step: Step, loaded: Loaded) -> Iterator[EventData]:
        execution = getattr(step, "execution", None)
        if execution is not None and execution.state in OVER:
            execution.step = step
            yield told(execution)

    def wrong(self, rows: Sequence[ExecutionShape], executed: Collection[str]) -> Iterator[tuple[str, str]]:
        """Every execution has a step of its own, in which code is run."""
        free = set(executed)
        for number, execution in enumerate(rows):
            if execution.key not in free:
                yield f"[{number}].key", _("There is no step of this key, or another execution has it.")
            free.discard(execution.key)

    def restore(self, rows: Sequence[ExecutionShape], into: Restoring) -> None:
        found = [stored.execution(into.run, into.steps[one.key], one, into.ids[str(one.id)]) for one in rows]
        Execution.objects.bulk_create(found, ROWS_AT_ONCE)
        for row, said in zip(found, rows, strict=True):
            row.created = said.created or into.run.created
        Execution.objects.bulk_update(found, ["created"], ROWS_AT_ONCE)


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
