"""Parts of recorded transcripts for those who judge them: which messages, in which form, and what stood around them."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from django.db.models import Q

from accounts.models import User
from experiments.gateway.errors import NoMaterial
from experiments.models import Message, Run, Step
from experiments.workflows.base.judge import as_shown
from experiments.workflows.base.masking import masked
from experiments.workflows.base.material import Material, Said, Sees, Unit
from experiments.workflows.base.steps import Excerpt

LONGEST_THOUGHT = 20_000  # characters of reasoning before one message: the last ones, which lead to it


def text_of(excerpt: Excerpt, owner_id: int | None, run_id: UUID | str = "") -> str:
    """What stands in the prompt. owner_id: who asks; run_id: the run that asks. Raises NoMaterial where they may not
    see the run (any more), or what was to be judged is gone.
    """
    reader = None if owner_id is None else User.objects.filter(pk=owner_id, is_active=True).first()
    runs = Run.objects.visible_to(reader) if reader else Run.objects.none()
    run = runs.select_related("experiment").filter(pk=excerpt.run or run_id).first()
    material = material_of(run, excerpt) if run else None
    if material is None:
        raise NoMaterial("The transcript is gone, or you can no longer see it.")
    return material.laid_out(excerpt.token)


def material_of(run: Run, excerpt: Excerpt) -> Material | None:
    """None where the unit is not in the transcript (any more)."""
    sees, named = excerpt.sees, Q(step__key=excerpt.step) if excerpt.step else Q(pk=None)
    messages = list(run.messages.filter(Q(superseded=False) | named).order_by("seq"))
    place = run.messages.filter(named).values_list("seq", flat=True).first() if excerpt.step else excerpt.place
    inside = unit_at(excerpt.unit, place, messages, excerpt.length)
    if not inside:
        return None
    before = [one for one in messages if one.seq < inside[0].seq]
    if sees.earlier is not None:
        before = before[len(before) - min(sees.earlier, len(before)) :]
    names = _names(run)
    turns = sorted({one.turn for one in inside})
    return Material(
        unit=excerpt.unit,
        said=[_said(one, sees, names) for one in inside],
        earlier=[_said(one, sees, names) for one in before],
        instructions=_instructions(run, sees, names) if sees.instructions else None,
        interventions=[_hidden(one, sees, names) for turn in turns for one in interventions(run, turn)]
        if sees.interventions
        else None,
    )


def unit_at(unit: Unit, place: int | None, messages: Sequence[Message], length: int) -> Sequence[Message]:
    """The messages of a unit, none where it is not among them. length: of a span."""
    if unit in ("turn", "run"):
        return [one for one in messages if unit == "run" or one.turn == place]
    at = next((at for at, one in enumerate(messages) if one.seq == place), None)
    if at is None:
        return ()
    if unit == "pair":
        before = messages[max(0, at - 1) : at]
        return [*before, messages[at]] if before and before[0].turn == messages[at].turn else ()
    return messages[at : at + (length if unit == "span" else 1)]


def interventions(run: Run, turn: int) -> list[str]:
    """What an operator did in a turn, a sentence each."""
    steps = run.steps.filter(turn=turn)
    done = [
        f"{step.data['kind']} for Model {step.data['seat']}: {step.data['text']}"
        for step in steps.filter(purpose="intervention")
    ]
    said = [step for step in steps.filter(kind="listen", state=Step.State.DONE) if step.data.get("edited")]
    return [*done, *(f"rewrote the prompt of Model {step.seat}: {step.data['text']}" for step in said)]


def _names(run: Run) -> Mapping[str, tuple[str, ...]]:
    """What the seated models and people are called, by seat."""
    models = {one.seat: one.model.names for one in run.experiment.participants.select_related("model")}
    return models | {one.seat: one.names for one in run.experiment.people.select_related("person")}


def _said(message: Message, sees: Sees, names: Mapping[str, tuple[str, ...]]) -> Said:
    raw = message.raw_text if message.raw_text.strip() else message.text
    model = f" ({message.model})" if sees.names and message.model else ""
    return Said(
        number=message.seq,
        turn=message.turn,
        speaker=f"{message.seat}{model}",
        text=_hidden(as_shown(raw, message.text, sees.text), sees, names),
        reasoning=_hidden(message.reasoning[-LONGEST_THOUGHT:], sees, names) if sees.reasoning else "",
    )


def _instructions(run: Run, sees: Sees, names: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """As the workflow says them of its set-up; nothing where it says none."""
    config = run.experiment.parsed_config(run.overrides)
    told: Mapping[str, str] = config.objectives() if hasattr(config, "objectives") else {}
    return {seat: _hidden(text, sees, names) for seat, text in told.items() if text.strip()}


def _hidden(text: str, sees: Sees, names: Mapping[str, tuple[str, ...]]) -> str:
    return text if sees.names else masked(text, [name for of_seat in names.values() for name in of_seat])
