"""A run's document becomes a run again: checked as a whole, stored in one transaction, with ids of its own."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from experiments.casting import InvalidExperiment, checked_config
from experiments.models import Run
from experiments.models.run import RunOrigin
from experiments.refusals import NotAllowed
from experiments.reports.json_values import Errors, InvalidDocument, check, place
from experiments.reports.planning import planned
from experiments.reports.shape_types import RowShape
from experiments.reports.shapes import RecordShape, StepShape
from experiments.reports.storing import store
from experiments.shards import is_sharded
from experiments.workflows import REGISTRY

if TYPE_CHECKING:
    from accounts.models import User

__all__ = ["InvalidDocument", "import_document"]


def import_document(document: Any, *, by: "User", origin: RunOrigin = RunOrigin.IMPORTED) -> Run:
    """A run of `by` with everything that `document.document` wrote of another one; nothing is stored half.

    Rows get new ids. A run that was under way is stopped with the reason `imported_live`. Models that the lab does not
    know are entered as inactive ones. Raises NotAllowed, and InvalidDocument naming the places at fault.
    """
    if not by.may_experiment:
        raise NotAllowed(_("Your role does not allow imports: ask an administrator for the role of researcher."))
    record, plan = prepared(document)
    with transaction.atomic():
        return store(record, plan, by, origin)


def prepared(document: Any) -> tuple[RecordShape, list[StepShape]]:
    """The document and its steps, as they can be stored. Raises InvalidDocument."""
    record = checked(document)
    plan = planned(record)
    _check_plan(record, plan)
    return record, plan


def checked(document: Any) -> RecordShape:
    """The document, with its configuration complete. Raises InvalidDocument."""
    check(document)
    if not isinstance(document, dict):
        raise InvalidDocument({"document": [_("This is no run: a JSON object is needed, as the report gives it.")]})
    try:
        record = RecordShape.model_validate(document)
    except ValidationError as error:
        raise InvalidDocument(_errors(error)) from error
    _check_references(record)
    return _with_config(record)


def _with_config(record: RecordShape) -> RecordShape:
    """With the configuration as the workflow of today understands it, and the seats that it knows."""
    asked = record.experiment
    if is_sharded(asked.workflow):
        said = _("Part of a campaign means nothing without the rest: import battles as logs, on their dataset’s page.")
        raise InvalidDocument({"experiment.workflow": [said]})
    try:
        config = checked_config(asked.workflow, asked.config)
        checked_config(asked.workflow, {**config.model_dump(mode="json"), **record.run.overrides})
    except InvalidExperiment as error:
        raise InvalidDocument({f"experiment.{field}": said for field, said in error.errors.items()}) from error
    errors: Errors = {}
    for number, participant in enumerate(asked.cast):
        if participant.seat not in REGISTRY[asked.workflow].seats:
            errors[f"experiment.cast[{number}].seat"] = [_("This workflow has no such seat.")]
        if participant.seat in [other.seat for other in asked.cast[:number]]:
            errors[f"experiment.cast[{number}].seat"] = [_("This seat is taken twice.")]
    _raise(errors)
    return record.model_copy(update={"experiment": asked.model_copy(update={"config": config.model_dump(mode="json")})})


def _check_references(record: RecordShape) -> None:
    """Every id once, and every call of a message there: only a branch has words that were paid for by its parent."""
    errors: Errors = {}
    seen: set[UUID] = set()
    for name in ("messages", "judgments", "ballots", "executions", "calls"):
        rows: list[RowShape] = getattr(record, name)
        for number, row in enumerate(rows):
            if row.id in seen:
                errors[f"{name}[{number}].id"] = [_("This id stands twice in the document.")]
            seen.add(row.id)
    attempts: set[tuple[str, int]] = set()
    for number, call in enumerate(record.calls):
        if (call.step, call.attempt) in attempts:
            errors[f"calls[{number}].attempt"] = [_("This attempt stands twice in the document.")]
        attempts.add((call.step, call.attempt))
    calls = {call.id for call in record.calls}
    for name in ("messages", "ballots") if record.lineage.parent is None else ():
        for number, row in enumerate(getattr(record, name)):
            if row.call and row.call not in calls:
                errors[f"{name}[{number}].call"] = [_("There is no such call in the document.")]
    _raise(errors)


def _check_plan(record: RecordShape, plan: list[StepShape]) -> None:
    """Every step once; it leaves at most one message and ballot, and every message and finding comes from one step."""
    errors: Errors = {}
    keys: set[str] = set()
    for number, step in enumerate(record.steps):
        if step.key in keys:
            errors[f"steps[{number}].key"] = [_("This key stands twice in the document.")]
        keys.add(step.key)
    left = {name: _left(plan, name) for name in ("messages", "judgments", "ballots")}
    if any(len(rows) != len(set(rows)) for rows in left.values()):
        errors["steps"] = [_("Two steps lay claim to the same message or judgment.")]
    for name, rows in left.items():
        if unknown := set(rows) - {row.id for row in getattr(record, name)}:
            errors["steps"] = [_("There is no message or judgment %(id)s in the document.") % {"id": min(unknown)}]
    _check_subjects(record, plan, errors)
    _check_contest(record, plan, errors)
    _raise(errors)


def _left(plan: list[StepShape], name: str) -> list[UUID]:
    """The rows of this kind that the steps say they left."""
    if name == "judgments":
        return [row for step in plan for row in step.judgments]
    return [row for step in plan if (row := step.message if name == "messages" else step.ballot)]


def _check_subjects(record: RecordShape, plan: list[StepShape], errors: Errors) -> None:
    step_of = {judgment: step.key for step in plan for judgment in step.judgments}
    subjects: set[tuple[str, str]] = set()
    for number, judgment in enumerate(record.judgments):
        judged = (step_of.get(judgment.id, ""), judgment.subject)
        if judged in subjects:
            errors[f"judgments[{number}].subject"] = [_("This seat is judged twice in the same step.")]
        subjects.add(judged)


def _check_contest(record: RecordShape, plan: list[StepShape], errors: Errors) -> None:
    """Each cycle once; and every execution has a step of its own, in which code is run."""
    steps = {step.key for step in plan if step.kind == "execute"}
    for number, execution in enumerate(record.executions):
        if execution.key not in steps:
            errors[f"executions[{number}].key"] = [_("There is no step of this key, or another execution has it.")]
        steps.discard(execution.key)
    turns: set[int] = set()
    for number, cycle in enumerate(record.cycles):
        if cycle.turn in turns:
            errors[f"cycles[{number}].turn"] = [_("This cycle stands twice in the document.")]
        turns.add(cycle.turn)


def _errors(error: ValidationError) -> Errors:
    errors: Errors = {}
    for problem in error.errors(include_url=False, include_input=False, include_context=False):
        trail: Any = None
        for part in problem["loc"]:
            trail = (trail, part)
        errors.setdefault(place(trail), []).append(problem["msg"].removeprefix("Value error, "))
    return errors


def _raise(errors: Errors) -> None:
    if errors:
        raise InvalidDocument(errors)
