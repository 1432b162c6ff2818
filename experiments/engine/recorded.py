"""What is recorded of a run, as its driver reads it again: what was begun, and what became of it."""

from collections.abc import Collection

from django.db.models import Max

from experiments.models import Run, Step
from experiments.models.run import PAUSES
from experiments.workflows.base.steps import Outcome

REOPENED = "reopened"  # of a step that is asked again after its failure had ended the run: the newest step by then
SAID = ("text", "action", "edited")  # of a pause that is over, as its workflow hears it
COPIED = "outcome"  # where a step that was copied into a branch keeps what had become of it


def recorded_outcomes(run: Run) -> dict[str, Outcome]:
    """What is recorded of a run: step keys to outcomes. These steps are never performed again."""
    steps = list(run.steps.exclude(state=Step.State.OPEN).only("key", "kind", "state", "data"))
    outcomes = {step.key: Outcome(**step.data.get(COPIED, {})) for step in steps} | listen_outcomes(steps)
    calls = run.calls.exclude(step__state=Step.State.OPEN).order_by("step", "attempt").select_related("step")
    is_passed_on = bool(run.config.get("judge_sees_reasoning"))
    for call in calls.defer("request", "logprobs", *([] if is_passed_on else ["reasoning"])):
        if COPIED in call.step.data:
            continue
        outcomes[call.step.key] = Outcome(
            ok=call.step.state == Step.State.DONE,
            text=call.text,
            reasoning=call.reasoning if is_passed_on else "",
            finish_reason=call.finish_reason,
            error_kind=call.error_kind,
            error=call.error,
        )
    return outcomes


def started_keys(run: Run) -> set[str]:
    """Every key that was begun, except pauses that are still open, and steps that a resume reopened in vain: the run
    has taken another way since, and has begun others.
    """
    keys = set(run.steps.exclude(kind__in=PAUSES, state=Step.State.OPEN).values_list("key", flat=True))
    is_open = run.steps.filter(state=Step.State.OPEN).exclude(kind__in=PAUSES).values_list("key", "data")
    newest = run.steps.aggregate(newest=Max("pk"))["newest"]
    return keys - {key for key, data in is_open if REOPENED in data and data[REOPENED] < newest}


def listen_outcomes(steps: Collection[Step]) -> dict[str, Outcome]:
    """What was said at pauses that are over, by key."""
    return {
        step.key: Outcome(**{name: step.data[name] for name in SAID if name in step.data})
        for step in steps
        if step.kind in PAUSES and step.state == Step.State.DONE
    }
