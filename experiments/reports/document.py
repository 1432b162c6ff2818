"""A run as one document: every report and export is made from it, and it is made from the run's own record."""

from typing import Any

from experiments import metrics
from experiments.models import Run
from experiments.serializers import (
    CallSerializer,
    ExperimentSerializer,
    JudgmentSerializer,
    MessageSerializer,
    RunSerializer,
)

REPORT_VERSION = 1


def document(run: Run) -> dict[str, Any]:
    """The whole record of a run. `run` needs the totals of `with_totals`."""
    calls = run.calls.select_related("step", "model__provider").order_by("id")
    messages = list(run.messages.select_related("call"))
    seats = sorted({message.seat for message in messages})
    return {
        "report_version": REPORT_VERSION,
        "run": RunSerializer(run).data,
        "experiment": ExperimentSerializer(run.experiment).data,
        "messages": MessageSerializer(messages, many=True).data,
        "judgments": JudgmentSerializer(run.judgments.all(), many=True).data,
        "metrics": metrics.run_metrics(run, seats),
        "calls": CallSerializer(calls, many=True).data,
    }
