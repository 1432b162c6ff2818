"""Runs of an experiment as rows, without anybody playing them: what tests of repeats and branches are made of."""

from typing import Any

from django.utils import timezone

from experiments.models import Event, Experiment, Judgment, Message, Run, Step


def ended(experiment: Experiment, seed: int, *, state: str = "completed", **fields: Any) -> Run:
    now = timezone.now()
    return Run.objects.create(experiment=experiment, seed=seed, state=state, started=now, ended=now, **fields)


def judged(run: Run, subject: str, *deviations: float | None, cooperation: float | None = 0.5) -> None:
    """One judgment per deviation, from turn 1 on; None is a turn that the judge gave no score."""
    for turn, value in enumerate(deviations, start=1):
        step, _ = Step.objects.get_or_create(
            run=run, key=f"turn/{turn}/judge", defaults={"kind": "ask", "purpose": "judge", "turn": turn}
        )
        turned(run, turn)
        scores = None if value is None else {"goal_deviation": value, "cooperation": cooperation, "fear": 0.25}
        reason = "The judge's answer could not be used." if value is None else ""
        Judgment.objects.create(
            run=run, step=step, turn=turn, subject=subject, judge="j", scores=scores, unscored_reason=reason
        )


def turned(run: Run, turn: int) -> None:
    key = f"turn/{turn}/completed"
    Step.objects.get_or_create(
        run=run,
        key=key,
        defaults={"kind": "record", "purpose": "turn_completed", "turn": turn, "ended": timezone.now()},
    )


def said(run: Run, turn: int, seat: str, text: str, **fields: Any) -> Message:
    step = Step.objects.create(
        run=run, key=f"turn/{turn}/{seat}", kind="ask", purpose="reply", seat=seat, turn=turn, state="done"
    )
    place = run.messages.count() + 1
    fields = {"raw_text": text, "text": text, **fields}
    return Message.objects.create(run=run, step=step, seq=place, turn=turn, seat=seat, **fields)


def branched(message: Message, text: str = "", *, by: str = "alice", **fields: Any) -> Run:
    """A branch that shares its parent's talk up to `message`, which says `text` instead when there is one."""
    parent = message.run
    run = ended(parent.experiment, parent.seed, origin="branch", parent=parent, branched_from=message, **fields)
    Event.objects.create(run=run, seq=1, type="experiment_created", data={"branch": {"by": by}}, at=timezone.now())
    for shared in parent.messages.filter(seq__lte=message.seq).order_by("seq"):
        is_edited = bool(text) and shared.pk == message.pk
        operator = {"kind": "edited", "by": by, "original": shared.raw_text} if is_edited else None
        said(run, shared.turn, shared.seat, text if is_edited else shared.raw_text, operator=operator)
    return run
