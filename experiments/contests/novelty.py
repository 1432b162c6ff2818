"""The problems that a new run may not set again: those that its owner's models have set before."""

from django.utils import timezone

from experiments.engine.recorded import COPIED
from experiments.models import Cycle, Run, Step
from experiments.workflows import coding

CODING = "coding"
MOST_EARLIER = 200  # problems, the latest


def remember_earlier(run: Run) -> None:
    """Write them down with the run, in the transaction that makes it: they stay as they were when it began."""
    experiment = run.experiment
    if experiment.workflow != CODING:
        return
    rows = Cycle.objects.filter(run__experiment__owner=experiment.owner_id).exclude(fingerprint=[])
    latest = list(rows.order_by("-pk").values("title", "fingerprint")[:MOST_EARLIER])
    data = {COPIED: {"found": {"problems": latest[::-1]}}}
    done = {"kind": "record", "purpose": "problems_known", "state": Step.State.DONE, "ended": timezone.now()}
    Step.objects.create(run=run, key=coding.KNOWN, data=data, **done)
