"""Cycles, votes and executions of contests become rows, in the transaction of their step and their event."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.engine.executions import executed_event
from experiments.engine.projections import Judged, Listed, Loaded, Restoring, RowWriter, judgments_shown, kept, source
from experiments.models import Cycle, Execution, Judgment, Participant, Run, Step
from experiments.models.signals import cycles_changed
from experiments.workflows.base.events import EventData
from experiments.workflows.base.records import OF_STEPS, Finding, Projection, Record
from experiments.workflows.coding import records
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
UNDER_WAY = (Execution.State.WAITING, Execution.State.RUNNING)
CUT_OFF = "The run was exported while this was under way."
OF_ITS_STEP = {"id", "key", "created", "state", "error"}
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
        seated = Participant.objects.filter(experiment__runs=step.run_id).values_list("seat", "model__slug")
        slugs = dict(seated)
        contestants = [[seat, slugs[seat]] for seat in finding.coders]
        Cycle.objects.create(run_id=step.run_id, turn=finding.turn, setter=finding.setter, contestants=contestants)
        return kept(step, finding)

    def wrong(self, rows: Sequence[CycleShape], executed: Collection[str]) -> Iterator[tuple[str, str]]:
        turns: set[int] = set()
        for number, cycle in enumerate(rows):
            if cycle.turn in turns:
                yield f"[{number}].turn", _("This cycle occurs twice in the document.")
            turns.add(cycle.turn)

    def restore(self, rows: Sequence[CycleShape], into: Restoring) -> None:
        """fingerprint stays empty: whose problem it was says nothing of what may be set here."""
        as_said = {"turn", "setter", "state", "reason", "title", "void_reason", "voided", "ended"}
        found = []
        for said in rows:
            contestants = [[one.seat, one.model] for one in said.contestants]
            fields = said.model_dump(include=as_said)
            found.append(Cycle(run=into.run, contestants=contestants, found=said.found, **fields))
        Cycle.objects.bulk_create(found, ROWS_AT_ONCE)
        for row, said in zip(found, rows, strict=True):
            row.began = said.began or into.run.created  # the field sets itself when the row is made
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


def _cycle(step: Step, turn: int) -> QuerySet[Cycle]:
    return Cycle.objects.filter(run_id=step.run_id, turn=turn)


class Votes(Judged[SolutionJudged]):
    def write(self, step: Step, record: Record, finding: SolutionJudged) -> list[EventData]:
        """One judge's vote on one solution; or why there is none."""
        call, found = source(step, record), finding.model_dump(exclude={"type", "key"})
        judge = call.model.label if call else ""
        judgment = Judgment.objects.create(run_id=step.run_id, step=step, call=call, judge=judge, **found)
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
            yield executed_event(execution)

    def wrong(self, rows: Sequence[ExecutionShape], executed: Collection[str]) -> Iterator[tuple[str, str]]:
        """Every execution has a step of its own, in which code is run."""
        free = set(executed)
        for number, execution in enumerate(rows):
            if execution.key not in free:
                yield f"[{number}].key", _("There is no step of this key, or another execution has it.")
            free.discard(execution.key)

    def restore(self, rows: Sequence[ExecutionShape], into: Restoring) -> None:
        """What was under way is cancelled: code of a contest that was recorded elsewhere is never run."""
        found = []
        for said in rows:
            fields = said.model_dump(mode="json", exclude=OF_ITS_STEP | {"ended"})
            is_over = said.state not in UNDER_WAY
            fields |= (
                {"state": said.state, "error": said.error} if is_over else {"state": "cancelled", "error": CUT_OFF}
            )
            place = {"id": into.ids[str(said.id)], "run": into.run, "step": into.steps[said.key]}
            found.append(Execution(ended=said.ended, **place, **fields))
        Execution.objects.bulk_create(found, ROWS_AT_ONCE)
        for row, said in zip(found, rows, strict=True):
            row.created = said.created or into.run.created  # the field sets itself when the row is made
        Execution.objects.bulk_update(found, ["created"], ROWS_AT_ONCE)


ROW_WRITERS: Mapping[Projection, RowWriter[Any]] = {
    records.CYCLE: CyclesBegun(),
    records.CYCLE_NAMED: ProblemsSet(),
    records.CYCLE_VOID: CyclesVoid(),
    records.CYCLE_RATED: CyclesRated(),
    records.VOTE: Votes(),
    OF_STEPS["execute"]: Executions(),
}
