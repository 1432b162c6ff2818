"""A run's document becomes a run again: checked as a whole, stored in one transaction, with ids of its own."""

from collections.abc import Hashable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from accounts.errors import Errors, Forbidden, Invalid
from experiments.engine.projections import StepOf, listed_writers
from experiments.models import CALLS_UNDER_WAY, Call, Run, Step
from experiments.models.run import RunOrigin
from experiments.runs.reports.json_values import InvalidDocument, check, place
from experiments.runs.reports.shapes import (
    CallShape,
    MessageShape,
    RecordShape,
    StepShape,
    record_shape,
)
from experiments.runs.reports.storing import store
from experiments.setup.casting import checked_config
from experiments.workflows import REGISTRY
from experiments.workflows.shards import is_sharded

if TYPE_CHECKING:
    from accounts.models import User

__all__ = ["InvalidDocument", "import_document"]

OPEN = dict.fromkeys((*CALLS_UNDER_WAY, Call.State.LOST), Step.State.OPEN)
STATES = {Call.State.COMPLETED: Step.State.DONE, **OPEN}


def import_document(document: Any, *, by: "User", origin: RunOrigin = RunOrigin.IMPORTED) -> Run:
    """A run of `by` with everything that `document.document` wrote of another one; nothing is stored half.

    Rows get new ids. A run that was under way is stopped with the reason `imported_live`. Models that the lab does not
    know are entered as inactive ones. Raises Forbidden, and InvalidDocument naming the places at fault.
    """
    if not by.may_experiment:
        raise Forbidden(_("Your role does not allow imports. Ask an administrator for the role of researcher."))
    record, plan = prepared(document)
    with transaction.atomic():
        return store(record, plan, by, origin)


def prepared(document: Any) -> tuple[RecordShape, list[StepShape]]:
    """The document and its steps, as they can be stored. Raises InvalidDocument."""
    record = checked(document)
    plan = _Plan(record).complete()
    _check_plan(record, plan)
    return record, plan


def checked(document: Any) -> RecordShape:
    """The document, with its configuration as the workflow of today understands it. Raises InvalidDocument."""
    check(document)
    if not isinstance(document, dict):
        raise InvalidDocument({"document": [_("This is not a run. A JSON object as in the report is needed.")]})
    try:
        record = record_shape().model_validate(document)
    except ValidationError as error:
        errors: Errors = {}
        for problem in error.errors(include_url=False, include_input=False, include_context=False):
            trail: Any = None
            for part in problem["loc"]:
                trail = (trail, part)
            errors.setdefault(place(trail), []).append(problem["msg"].removeprefix("Value error, "))
        raise InvalidDocument(errors) from error
    _check_references(record)
    return _with_config(record)


def _with_config(record: RecordShape) -> RecordShape:
    asked = record.experiment
    if is_sharded(asked.workflow):
        said = _("Part of a campaign cannot be imported alone. Import battles as logs, on their dataset's page.")
        raise InvalidDocument({"experiment.workflow": [said]})
    try:
        config = checked_config(asked.workflow, asked.config).model_dump(mode="json")
        checked_config(asked.workflow, {**config, **record.run.overrides})
    except Invalid as error:
        raise InvalidDocument({f"experiment.{field}": said for field, said in error.errors.items()}) from error
    known, seats = REGISTRY[asked.workflow].seats, [participant.seat for participant in asked.cast]
    errors: Errors = {
        f"experiment.cast[{number}].seat": [_("This workflow has no such participant.")]
        for number, seat in enumerate(seats)
        if seat not in known
    }
    errors |= {f"experiment.cast[{number}].seat": [_("This participant occurs twice.")] for number in _repeated(seats)}
    _raise(errors)
    return record.model_copy(update={"experiment": asked.model_copy(update={"config": config})})


def _check_references(record: RecordShape) -> None:
    """Every id once, and every call of a message there: only a branch has words that were paid for by its parent."""
    calls = {call.id for call in record.calls}
    rows = [(f"{name}[{number}]", row) for name, of in record.with_ids.items() for number, row in enumerate(of)]
    twice = _("This id occurs twice in the document.")
    errors: Errors = {f"{rows[number][0]}.id": [twice] for number in _repeated(row.id for _place, row in rows)}
    twice = _("This attempt occurs twice in the document.")
    attempts = _repeated((call.step, call.attempt) for call in record.calls)
    errors |= {f"calls[{number}].attempt": [twice] for number in attempts}
    for place_, row in rows if record.lineage.parent is None else ():
        if getattr(row, "call", None) and getattr(row, "call", None) not in calls:
            errors[f"{place_}.call"] = [_("There is no such call in the document.")]
    _raise(errors)


def _check_plan(record: RecordShape, plan: list[StepShape]) -> None:
    """Every step once; it leaves at most one message, and every message and finding comes from one step."""
    twice = _("This key occurs twice in the document.")
    errors: Errors = {f"steps[{number}].key": [twice] for number in _repeated(step.key for step in record.steps)}
    own = {row.id for name, _step_of in _left_by_steps() for row in record.rows(name)}
    for known, left in (
        ({row.id for row in record.messages}, [step.message for step in plan if step.message]),
        ({row.id for row in record.judgments}, [judgment for step in plan for judgment in step.judgments]),
        (own, [step.left for step in plan if step.left]),
    ):
        if len(left) != len(set(left)):
            errors["steps"] = [_("Two steps refer to the same message or judgment.")]
        if unknown := set(left) - known:
            errors["steps"] = [_("There is no message or judgment %(id)s in the document.") % {"id": min(unknown)}]
    step_of = {judgment: step.key for step in plan for judgment in step.judgments}
    twice = _("This participant is judged twice in the same step.")
    judged = _repeated((step_of.get(judgment.id, ""), judgment.subject) for judgment in record.judgments)
    errors |= {f"judgments[{number}].subject": [twice] for number in judged}
    executed = {step.key for step in plan if step.kind == "execute"}
    for listed, writer in listed_writers():
        for place_, said in writer.wrong(record.rows(listed.name), executed):
            errors[f"{listed.name}{place_}"] = [said]
    _raise(errors)


def _repeated(keys: Iterable[Hashable]) -> Iterator[int]:
    """The places of those that stood before."""
    seen = set()
    for number, key in enumerate(keys):
        if key in seen:
            yield number
        seen.add(key)


def _left_by_steps() -> list[tuple[str, StepOf]]:
    """The lists of rows that steps leave, with what tells the step of a row."""
    return [(listed.name, listed.step) for listed, _writer in listed_writers() if listed.step]


def _raise(errors: Errors) -> None:
    if errors:
        raise InvalidDocument(errors)


class _Plan:
    """The steps of a document by their keys, in order, made up where it has none: one for every message, judgment, call
    and other row that a step leaves.
    """

    def __init__(self, record: RecordShape) -> None:
        self._record = record
        self._steps: dict[str, StepShape] = {}
        self._calls = {call.id: call for call in record.calls}
        self._last = {call.step: call for call in sorted(record.calls, key=lambda call: call.attempt)}
        self._placed: set[UUID] = set()

    def complete(self) -> list[StepShape]:
        record = self._record
        for step in record.steps:
            self._add(step)
        own = [row for name, _step_of in _left_by_steps() for row in record.rows(name)]
        for turn in sorted({row.turn or 0 for row in (*record.messages, *record.judgments, *record.calls, *own)}):
            for step in self._missing(turn):
                self._add(step)
        return list(self._steps.values())

    def _add(self, step: StepShape) -> None:
        self._steps.setdefault(step.key, step)
        self._placed.update(step.judgments, *([row] for row in (step.message, step.left) if row))

    def _missing(self, turn: int) -> Iterator[StepShape]:
        """What the document's own steps do not say of a turn, in the order in which a workflow records it."""
        record = self._record
        judged = [j for j in record.judgments if j.turn == turn and j.id not in self._placed]
        calls = [call for call in record.calls if (call.turn or 0) == turn and call.step not in self._steps]
        if turn and not record.steps:
            yield _fact(f"turn/{turn}", "turn_started", turn)
        for message in record.messages:
            if message.turn == turn and message.id not in self._placed:
                yield self._of_message(message)
        yield from (self._of_call(call) for call in calls if call.purpose != "judge")
        for name, step_of in _left_by_steps():
            for row in record.rows(name):
                if row.turn == turn and row.id not in self._placed:
                    key, purpose = step_of(row)
                    yield _fact(self._free(key), purpose, turn, left=row.id, source=row.call)
        if judged:
            yield _fact(f"turn/{turn}/judge/started", "judge_evaluation_started", turn)
        judging = [call for call in calls if call.purpose == "judge"]
        yield from map(self._of_call, judging)
        if judged:
            key, ids = self._free(f"turn/{turn}/judge/completed"), [judgment.id for judgment in judged]
            source = judging[-1].id if judging else None
            yield _fact(key, "judge_evaluation_completed", turn, judgments=ids, source=source)
        if turn and not record.steps and turn <= self._completed_turns():
            yield _fact(f"turn/{turn}/completed", "turn_completed", turn)

    def _of_message(self, message: MessageShape) -> StepShape:
        call = self._calls.get(message.call) if message.call else None
        if call is not None and call.step not in self._steps:
            return self._of_call(call).model_copy(update={"message": message.id})
        key = self._free(f"turn/{message.turn}/{message.seat}")
        if message.purpose == "message_sent":
            return _fact(key, "message_sent", message.turn, message=message.id)
        place = {"seat": message.seat, "turn": message.turn, "message": message.id}
        return StepShape(key=key, kind="ask", purpose=message.purpose, **place)

    def _of_call(self, call: CallShape) -> StepShape:
        """Its last attempt says what became of the step."""
        last = self._last[call.step]
        return StepShape(
            key=last.step,
            kind="ask",
            purpose=last.purpose,
            seat=last.seat,
            turn=last.turn,
            state=STATES.get(last.state, Step.State.FAILED),
            prompt_version=last.prompt_version,
        )

    def _free(self, key: str) -> str:
        number = 1
        while (free := key if number == 1 else f"{key}/{number}") in self._steps:
            number += 1
        return free

    def _completed_turns(self) -> int:
        if self._record.run.turn is not None:
            return self._record.run.turn
        last = max((message.turn for message in self._record.messages), default=0)
        return last if self._record.run.state == Run.State.COMPLETED else last - 1


def _fact(key: str, purpose: str, turn: int, **left: Any) -> StepShape:
    step = StepShape(key=key, kind="record", purpose=purpose, turn=turn)
    return step.model_copy(update=left)
