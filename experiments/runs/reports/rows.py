"""The rows of a run that a report is made from, fetched once. Requests stay where they are: they hold every prompt."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from experiments.models import Ballot, Call, Judgment, Participant, Run, Step
from experiments.runs.reports.document import CHOICES
from experiments.workflows.base.events import JsonObject
from experiments.workflows.council.rows import ballots


@dataclass(frozen=True, slots=True)
class Rows:
    """`run` with its totals; its steps in order with their calls, without pauses at which nobody changed anything."""

    run: Any
    config: dict[str, Any]
    participants: tuple[Participant, ...]
    steps: tuple[Step, ...]
    calls: tuple[Call, ...]
    judgments: tuple[Judgment, ...]
    ballots: tuple[Ballot, ...]

    @property
    def workflow(self) -> str:
        return str(self.run.experiment.workflow)


def rows_of(run: Run) -> Rows:
    changed = Q(data__edited=True) | Q(data__action__in=sorted(CHOICES))
    steps = run.steps.filter(~Q(kind="listen") | changed).order_by("id")
    calls = run.calls.select_related("step", "model__provider").order_by("step_id", "attempt")
    return Rows(
        run=run,
        config={**run.experiment.config, **run.overrides},
        participants=tuple(run.experiment.participants.select_related("model__provider")),
        steps=tuple(steps),
        calls=tuple(calls.defer("request", "logprobs", "text", "reasoning", "step__data")),
        judgments=tuple(run.judgments.order_by("turn", "subject", "id")),
        ballots=tuple(ballots(run).select_related("step")),
    )


def sent_parameters(run: Run, seat: str) -> JsonObject:
    """What the latest call of a seat was sent beside its messages."""
    call = run.calls.filter(step__seat=seat).order_by("sent", "id").only("request").last()
    return {name: value for name, value in call.request.items() if name not in NOT_PARAMETERS} if call else {}


NOT_PARAMETERS = frozenset({"messages", "model", "stream", "stream_options", "response_format", "usage"})
