"""Going on differently from a message: a run of its own, which shares everything before it."""

from collections.abc import Iterator
from itertools import count
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import ActionUnavailable, Invalid
from experiments.engine import jobs
from experiments.engine.events import announce_now, emit, reserve_numbers, write
from experiments.engine.projections import row_writer_of, row_writers, with_rows
from experiments.engine.recorded import COPIED, recorded_outcomes
from experiments.engine.row_writers import copied, stored
from experiments.engine.text import is_storable
from experiments.lab.budgets.budgeting import require_budget
from experiments.library.search import indexing
from experiments.models import Message, Run, Step
from experiments.models.run import PAUSES
from experiments.runs import running, timeline
from experiments.runs.admission import require_models, require_role, require_spending
from experiments.workflows import surface_of, workflow_of
from experiments.workflows.base.events import BranchedFrom
from experiments.workflows.base.steps import Outcome, numbered
from experiments.workflows.base.workflow import Branching

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_TEXT = 1_000_000


def branch(message: Message, *, by: "User", text: str | None = None) -> Run:
    """A new run that shares everything up to `message`, and goes on from there by itself. text: what the message says
    instead. The parent stays as it is, and nothing that it has paid for is paid again.
    """
    require_role(by)
    require_spending(message.run.experiment, by)
    require_models(message.run.experiment)
    require_budget(message.run.experiment)
    edited = text if text is not None and text != message.raw_text else None
    if edited is not None and (not edited.strip() or len(edited) > LONGEST_TEXT or not is_storable(edited)):
        raise Invalid(text=_("The message is empty, too long, or holds characters that cannot be stored."))
    parent = message.run
    branches = workflow_of(parent.experiment.workflow).branches
    if branches is Branching.NOWHERE:
        said = surface_of(parent.experiment.workflow).no_branch
        raise ActionUnavailable(str(said or _("Runs of this workflow have no branches.")))
    if branches is Branching.QUESTIONS and message.seat != "person":
        raise ActionUnavailable(_("Its neighbours were asked at the same time: branch from the question instead."))
    with transaction.atomic():
        child = Run.objects.create(
            experiment=parent.experiment,
            seed=parent.seed,
            mode=parent.mode,
            overrides=parent.overrides,
            origin=Run.Origin.BRANCH,
            parent=parent,
            branched_from=message,
        )
        _copy(message, child, edited, by)
        indexing.of_run(child.pk)
        _tell(child, by)
        jobs.wake(child.pk)
    return child


def _copy(message: Message, child: Run, edited: str | None, by: "User") -> None:
    outcomes = recorded_outcomes(message.run)
    places = iter(range(1, 1_000_000))
    for step in _shared_steps(message, is_edited=edited is not None):
        is_branching_point = step.pk == message.step_id
        if is_branching_point and edited is not None and _was_said(message):
            break  # words of a person are not recorded but said anew
        copy = _copied_step(step, child, outcomes.get(step.key), edited if is_branching_point else None)
        if hasattr(step, "message"):
            change = {"kind": "edited", "by": by.get_username(), "original": message.raw_text}
            _copy_message(step.message, copy, next(places), edited if is_branching_point else None, change)
        row_writer_of(step).copy(step, copy)
    if edited is not None and _was_said(message):
        _say_instead(message, child, edited, by)


def _was_said(message: Message) -> bool:
    """Whether a person said it, other than a model's answer that a branch has edited."""
    return message.call_id is None and message.step.kind != "ask"


def _shared_steps(message: Message, *, is_edited: bool) -> Iterator[Step]:
    """Everything recorded before the message, the message, and, unless it was edited, what was found about it."""
    point = message.step
    endings = () if is_edited else (ending for writer in row_writers().values() for ending in writer.endings)
    belongs = {f"{point.key}{ending}" for ending in endings}
    steps = with_rows(message.run.steps.exclude(state=Step.State.OPEN).select_related("message"))
    for step in steps.order_by("id"):
        is_earlier = (step.turn or 0) < message.turn or step.pk <= point.pk
        if step.key in belongs or (is_earlier and not _comes_after(step, message)):
            yield step


def _comes_after(step: Step, message: Message) -> bool:
    """Whether a step of an earlier or the same turn only makes sense after the message, in a run played in parallel."""
    if step.kind == "offer" and (step.turn or 0) >= message.turn:
        return True  # a question that was asked ahead, before this one was put
    return (step.turn or 0) > message.turn or not row_writer_of(step).is_copied


def _copied_step(step: Step, child: Run, outcome: Outcome | None, edited: str | None) -> Step:
    data = dict(step.data)
    state = step.state
    if step.kind == "ask" and outcome is not None:
        known = {"text": edited} if edited is not None else {"text": outcome.text, "ok": outcome.ok}
        data[COPIED] = {"finish_reason": outcome.finish_reason, "error": outcome.error, **known}
        data[COPIED]["error_kind"] = outcome.error_kind
        if outcome.reasoning and edited is None:
            data[COPIED]["reasoning"] = outcome.reasoning
        state = Step.State.DONE if edited is not None else state
    return Step.objects.create(
        run=child,
        key=step.key,
        kind=step.kind,
        purpose=step.purpose,
        seat=step.seat,
        turn=step.turn,
        state=state,
        prompt_version=step.prompt_version,
        data=data,
        ended=step.ended,
    )


def _copy_message(message: Message, copy: Step, seq: int, edited: str | None, change: dict[str, Any]) -> None:
    row = copied(message, copy, leaving=("superseded",), seq=seq)
    if edited is not None:
        row.raw_text, row.text, row.filter, row.operator, row.call = edited, edited, None, change, None
    row.save()


def _say_instead(message: Message, child: Run, text: str, by: "User") -> None:
    """What the researcher says at this point of the new run: the answer to its last pause, or its first message."""
    workflow = workflow_of(child.experiment.workflow)
    pause = child.steps.filter(kind__in=PAUSES).order_by("id").last()
    place = workflow.passed.get(message.step.key)
    if place and (pause is None or str(pause.data.get("text", "")).strip() != message.raw_text.strip()):
        _say_where_it_was_passed(child, place, text, by)
        return
    if pause is None:
        Run.objects.filter(pk=child.pk).update(overrides={**child.overrides, workflow.opening: text})
        return
    pause.data = {**pause.data, "text": text}
    pause.save(update_fields=["data"])


def _say_where_it_was_passed(child: Run, place: tuple[str, str], text: str, by: "User") -> None:
    """Of a pause that an automatic run passed there is no row, until somebody has words of their own there."""
    base, reason = place
    taken = set(child.steps.values_list("key", flat=True))
    key = next(key for number in count(1) if (key := numbered(base, number)) not in taken)
    said = {"action": "default", "text": text, "edited": True, "by": by.get_username()}
    offer = {"default": "", "actions": ["default"], "error": ""}
    done = {"state": Step.State.DONE, "ended": timezone.now()}
    child.steps.create(key=key, kind="listen", purpose=reason, data={**offer, **said}, **done)


def _tell(child: Run, by: "User") -> None:
    """The events of what is shared: what the page shows of it, in order."""
    parent = str(child.parent_id)
    branched = BranchedFrom(parent=parent, message=str(child.branched_from_id), by=by.get_username())
    shown = timeline.from_rows(Run.objects.select_related("experiment").get(pk=child.pk))
    emit(child.pk, running.created(child, branched))
    facts = [stored(entry.type, entry.data) for entry in shown]
    write(child.pk, facts, reserve_numbers(child.pk, len(facts)), announce_now, are_copies=True)
