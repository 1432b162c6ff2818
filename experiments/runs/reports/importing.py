"""A run's document becomes a run again: checked as a whole, stored in one transaction, with ids of its own."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from pydantic import ValidationError

from accounts.errors import Errors, Forbidden, Invalid
from experiments.engine.projections import listed_writers
from experiments.models import Run
from experiments.models.run import RunOrigin
from experiments.runs.reports.json_values import InvalidDocument, check, place
from experiments.runs.reports.planning import planned
from experiments.runs.reports.shapes import RecordShape, StepShape, record_shape
from experiments.runs.reports.storing import store
from experiments.setup.casting import checked_config
from experiments.workflows import REGISTRY
from experiments.workflows.shards import is_sharded

if TYPE_CHECKING:
    from accounts.models import User

__all__ = ["InvalidDocument", "import_document"]


def import_document(document: Any, *, by: "User", origin: RunOrigin = RunOrigin.IMPORTED) -> Run:
    """A run of `by` with everything that `document.document` wrote of another one; nothing is stored half.

    Rows get new ids. A run that was under way is stopped with the reason `imported_live`. Models that the lab does not
    know are entered as inactive ones. Raises Forbidden, and InvalidDocument naming the places at fault.
    """
    if not by.may_experiment:
        raise Forbidden(_("Your role does not allow imports: ask an administrator for the role of researcher."))
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
        record = record_shape().model_validate(document)
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
    except Invalid as error:
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
    for name, rows in record.with_ids.items():
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
    for name, rows in record.with_ids.items() if record.lineage.parent is None else ():
        for number, row in enumerate(rows):
            if getattr(row, "call", None) and getattr(row, "call", None) not in calls:
                errors[f"{name}[{number}].call"] = [_("There is no such call in the document.")]
    _raise(errors)


def _check_plan(record: RecordShape, plan: list[StepShape]) -> None:
    """Every step once; it leaves at most one message, and every message and finding comes from one step."""
    errors: Errors = {}
    keys: set[str] = set()
    for number, step in enumerate(record.steps):
        if step.key in keys:
            errors[f"steps[{number}].key"] = [_("This key stands twice in the document.")]
        keys.add(step.key)
    own = [row.id for listed, _writer in listed_writers() if listed.step for row in record.rows(listed.name)]
    known = {
        "message": {row.id for row in record.messages},
        "judgments": {row.id for row in record.judgments},
        "left": set(own),
    }
    for name, ids in known.items():
        left = [row for step in plan for row in _left(step, name)]
        if len(left) != len(set(left)):
            errors["steps"] = [_("Two steps lay claim to the same message or judgment.")]
        if unknown := set(left) - ids:
            errors["steps"] = [_("There is no message or judgment %(id)s in the document.") % {"id": min(unknown)}]
    _check_subjects(record, plan, errors)
    executed = {step.key for step in plan if step.kind == "execute"}
    for listed, writer in listed_writers():
        for place_, said in writer.wrong(record.rows(listed.name), executed):
            errors[f"{listed.name}{place_}"] = [said]
    _raise(errors)


def _left(step: StepShape, name: str) -> list[UUID]:
    """The rows of this kind that the step says it left."""
    if name == "judgments":
        return step.judgments
    row = step.message if name == "message" else step.left
    return [row] if row else []


def _check_subjects(record: RecordShape, plan: list[StepShape], errors: Errors) -> None:
    step_of = {judgment: step.key for step in plan for judgment in step.judgments}
    subjects: set[tuple[str, str]] = set()
    for number, judgment in enumerate(record.judgments):
        judged = (step_of.get(judgment.id, ""), judgment.subject)
        if judged in subjects:
            errors[f"judgments[{number}].subject"] = [_("This seat is judged twice in the same step.")]
        subjects.add(judged)


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
