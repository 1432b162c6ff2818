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
from experiments.engine.pauses import recorded_outcomes
from experiments.engine.projections import COPIED, copied, row_writer_of, row_writers, stored, with_rows
from experiments.engine.text import is_storable
from experiments.lab.budgets.budgeting import require_budget
from experiments.library.search import indexing
from experiments.models import Message, Run, Step
from experiments.models.run import PAUSES
from experiments.runs import admission, timeline
from experiments.runs.admission import require_models, require_role, require_spending
from experiments.workflows import surface_of, workflow_of
from experiments.workflows.base.events import BranchedFrom
from experiments.workflows.base.measuring import OF_RUN
from experiments.workflows.base.script import with_other_words
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
        raise Invalid(text=_("The message is empty, too long, or has characters that cannot be stored."))
    parent = message.run
    branches = workflow_of(parent.experiment.workflow).branches
    if branches is Branching.NOWHERE:
        said = surface_of(parent.experiment.workflow).no_branch
        raise ActionUnavailable(str(said or _("Runs of this workflow cannot be branched.")))
    if branches is Branching.QUESTIONS and message.seat != "person":
        raise ActionUnavailable(_("Its neighbors were asked at the same time. Branch from the question instead."))
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
    # Words of a person are not recorded but said anew; an answer that an earlier branch has edited is no such words.
    was_said = message.call_id is None and message.step.kind != "ask"
    outcomes, seq = recorded_outcomes(message.run), count(1)
    for step in _shared_steps(message, is_edited=edited is not None):
        new_text = edited if step.pk == message.step_id else None
        if new_text is not None and was_said:
            break
        copy = _copied_step(step, child, outcomes.get(step.key), new_text)
        if hasattr(step, "message"):
            row = copied(step.message, copy, leaving=("superseded",), seq=next(seq))
            if new_text is not None:
                row.raw_text, row.text, row.filter, row.call = new_text, new_text, None, None
                row.operator = {"kind": "edited", "by": by.get_username(), "original": message.raw_text}
            row.save()
        row_writer_of(step).copy(step, copy)
    if edited is not None and was_said:
        _say_instead(message, child, edited, by)


def _shared_steps(message: Message, *, is_edited: bool) -> Iterator[Step]:
    """Everything recorded before the message, the message, and, unless it was edited, what was found about it."""
    point = message.step
    endings = () if is_edited else (ending for writer in row_writers().values() for ending in writer.endings)
    belongs = {f"{point.key}{ending}" for ending in endings}
    steps = with_rows(message.run.steps.exclude(state=Step.State.OPEN).select_related("message"))
    for step in steps.order_by("id"):
        turn = step.turn or 0
        is_earlier = turn < message.turn or step.pk <= point.pk
        # Of a run played in parallel: what was recorded before, and only makes sense after the message.
        is_ahead = turn > message.turn or not row_writer_of(step).is_copied
        is_of_run = step.key.startswith(OF_RUN)  # the branch is another run, and measured by itself
        is_next_question = step.kind == "offer" and turn >= message.turn  # asked ahead, before this one was put
        if step.key in belongs or (is_earlier and not (is_ahead or is_of_run or is_next_question)):
            yield step


def _copied_step(step: Step, child: Run, outcome: Outcome | None, edited: str | None) -> Step:
    data, state = dict(step.data), step.state
    if step.kind == "ask" and outcome is not None:
        known = {"text": edited} if edited is not None else {"text": outcome.text, "ok": outcome.ok}
        data[COPIED] = {"finish_reason": outcome.finish_reason, "error": outcome.error, **known}
        data[COPIED]["error_kind"] = outcome.error_kind
        if edited is not None:
            state = Step.State.DONE
        elif outcome.reasoning:
            data[COPIED]["reasoning"] = outcome.reasoning
    same = ("key", "kind", "purpose", "seat", "turn", "prompt_version", "ended")
    return Step.objects.create(run=child, state=state, data=data, **{name: getattr(step, name) for name in same})


def _say_instead(message: Message, child: Run, text: str, by: "User") -> None:
    """What the researcher says at this point of the new run: the answer to its last pause, or its first message."""
    workflow = workflow_of(child.experiment.workflow)
    pause = child.steps.filter(kind__in=PAUSES).order_by("id").last()
    passed = workflow.passed.get(message.step.key)
    if passed and (pause is None or str(pause.data.get("text", "")).strip() != message.raw_text.strip()):
        # Of a pause that an automatic run passed there is no row, until somebody has words of their own there.
        base, reason = passed
        taken = set(child.steps.values_list("key", flat=True))
        key = next(key for number in count(1) if (key := numbered(base, number)) not in taken)
        said = {"action": "default", "text": text, "edited": True, "by": by.get_username()}
        data = {"default": "", "actions": ["default"], "error": "", **said}
        done = {"state": Step.State.DONE, "ended": timezone.now()}
        child.steps.create(key=key, kind="listen", purpose=reason, data=data, **done)
    elif pause is None:
        overrides = {**child.overrides, **_other_words(message, workflow.opening, text)}
        Run.objects.filter(pk=child.pk).update(overrides=overrides)
    else:
        pause.data = {**pause.data, "text": text}
        pause.save(update_fields=["data"])


def _other_words(message: Message, opening: str, text: str) -> dict[str, Any]:
    """The setting that holds what a researcher had decided to say before the run, with `text` in its place."""
    run, turn = message.run, message.turn or 1
    if turn == 1:
        return {opening: text}
    said = run.messages.filter(seat=message.seat, turn__gt=1, turn__lte=turn).order_by("seq")
    config = run.experiment.parsed_config(run.overrides)
    script = with_other_words(config.script, list(said.values_list("raw_text", flat=True)), text)
    return {"script": [line.model_dump() for line in script]}


def _tell(child: Run, by: "User") -> None:
    """The events of what is shared: what the page shows of it, in order."""
    parent = str(child.parent_id)
    branched = BranchedFrom(parent=parent, message=str(child.branched_from_id), by=by.get_username())
    shown = timeline.from_rows(Run.objects.select_related("experiment").get(pk=child.pk))
    emit(child.pk, admission.created(child, branched))
    facts = [stored(entry.type, entry.data) for entry in shown]
    write(child.pk, facts, reserve_numbers(child.pk, len(facts)), announce_now, are_copies=True)
