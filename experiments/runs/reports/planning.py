"""The steps of a document that is to be taken over; made up where it has none."""

from collections.abc import Iterator, Sequence
from uuid import UUID

from experiments.engine.projections import listed_writers
from experiments.engine.row_writers import StepOf
from experiments.models import Call, Run, Step
from experiments.runs.reports.shapes import CallShape, JudgmentShape, MessageShape, RecordShape, StepShape

STATES = {Call.State.COMPLETED: Step.State.DONE, Call.State.SENT: Step.State.OPEN, Call.State.LOST: Step.State.OPEN}


def planned(record: RecordShape) -> list[StepShape]:
    """The steps of a document, with one for every message, judgment, call and other row that a step leaves."""
    plan = _Plan(record)
    for step in record.steps:
        plan.add(step)
    for turn in _turns(record):
        plan.complete(turn)
    return list(plan.steps.values())


def _turns(record: RecordShape) -> list[int]:
    own = [row for name, _step in _left() for row in record.rows(name)]
    return sorted({row.turn or 0 for row in (*record.messages, *record.judgments, *record.calls, *own)})


def _left() -> list[tuple[str, StepOf]]:
    """The lists of rows that steps leave, with what tells the step of a row."""
    return [(listed.name, listed.step) for listed, _writer in listed_writers() if listed.step]


class _Plan:
    """Steps by their key, in order."""

    def __init__(self, record: RecordShape) -> None:
        self.record = record
        self.steps: dict[str, StepShape] = {}
        self._calls = {call.id: call for call in record.calls}
        self._last = {call.step: call for call in sorted(record.calls, key=lambda call: call.attempt)}
        self._placed: set[UUID] = set()

    def add(self, step: StepShape) -> None:
        self.steps.setdefault(step.key, step)
        self._placed.update(step.judgments, *([row] for row in (step.message, step.left) if row))

    def complete(self, turn: int) -> None:
        """What the document's own steps do not say of a turn, in the order in which a workflow records it."""
        for step in self._missing(turn):
            self.add(step)

    def _missing(self, turn: int) -> Iterator[StepShape]:
        judged = [j for j in self.record.judgments if j.turn == turn and j.id not in self._placed]
        calls = [call for call in self.record.calls if (call.turn or 0) == turn and call.step not in self.steps]
        if turn and not self.record.steps:
            yield _fact(f"turn/{turn}", "turn_started", turn)
        for message in self.record.messages:
            if message.turn == turn and message.id not in self._placed:
                yield self._of_message(message)
        yield from (self._of_call(call) for call in calls if call.purpose != "judge")
        for name, step_of in _left():
            for row in self.record.rows(name):
                if row.turn == turn and row.id not in self._placed:
                    key, purpose = step_of(row)
                    step = _fact(self._free(key), purpose, turn)
                    yield step.model_copy(update={"left": row.id, "source": row.call})
        if judged:
            yield _fact(f"turn/{turn}/judge/started", "judge_evaluation_started", turn)
        judging = [call for call in calls if call.purpose == "judge"]
        yield from map(self._of_call, judging)
        if judged:
            yield self._of_judgments(turn, judged, judging)
        if turn and not self.record.steps and turn <= self._completed_turns():
            yield _fact(f"turn/{turn}/completed", "turn_completed", turn)

    def _of_message(self, message: MessageShape) -> StepShape:
        call = self._calls.get(message.call) if message.call else None
        if call is not None and call.step not in self.steps:
            return self._of_call(call).model_copy(update={"message": message.id})
        key = self._free(f"turn/{message.turn}/{message.seat}")
        if message.purpose == "message_sent":
            return _fact(key, "message_sent", message.turn).model_copy(update={"message": message.id})
        place = {"seat": message.seat, "turn": message.turn, "message": message.id}
        return StepShape(key=key, kind="ask", purpose=message.purpose, **place)

    def _of_call(self, call: CallShape) -> StepShape:
        """Its last attempt says what became of the step."""
        return _of_call(self._last[call.step])

    def _of_judgments(self, turn: int, judged: Sequence[JudgmentShape], calls: Sequence[CallShape]) -> StepShape:
        step = _fact(self._free(f"turn/{turn}/judge/completed"), "judge_evaluation_completed", turn)
        ids = [judgment.id for judgment in judged if judgment.id]
        return step.model_copy(update={"judgments": ids, "source": calls[-1].id if calls else None})

    def _free(self, key: str) -> str:
        number = 1
        while (free := key if number == 1 else f"{key}/{number}") in self.steps:
            number += 1
        return free

    def _completed_turns(self) -> int:
        if self.record.run.turn is not None:
            return self.record.run.turn
        last = max((message.turn for message in self.record.messages), default=0)
        return last if self.record.run.state == Run.State.COMPLETED else last - 1


def _fact(key: str, purpose: str, turn: int) -> StepShape:
    return StepShape(key=key, kind="record", purpose=purpose, turn=turn)


def _of_call(call: CallShape) -> StepShape:
    return StepShape(
        key=call.step,
        kind="ask",
        purpose=call.purpose,
        seat=call.seat,
        turn=call.turn,
        state=STATES.get(call.state, Step.State.FAILED),
        prompt_version=call.prompt_version,
    )
