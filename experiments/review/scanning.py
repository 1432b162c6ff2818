"""Scanning transcripts that were recorded before: what today's flags find in them is added to what stands there."""

from collections import defaultdict, deque
from collections.abc import Iterable
from uuid import UUID

from experiments.models import Experiment, Message, Run
from experiments.review import flagging
from experiments.workflows import workflow_of
from experiments.workflows.base.flags import VERSION, flags

EARLIER = 5  # messages of the same seat that a reply is compared with


def scan(runs: Iterable[UUID]) -> int:
    """Set what is found and not there yet. Returns how many flags are new; who scans again finds nothing."""
    return sum(scan_run(run) for run in runs)


def scan_run(run: UUID) -> int:
    workflow = Experiment.objects.values_list("workflow", flat=True).get(runs=run)
    flagged = workflow_of(workflow).flagged
    rows = Message.objects.filter(run=run, seat__in=flagged).order_by("seq")
    said: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=EARLIER))
    count = 0
    for message in rows.only("pk", "run", "seat", "model", "raw_text", "flags", "finish_reason").iterator():
        if message.model:
            found = flags(message.raw_text, message.seat, list(said[message.seat]), message.finish_reason)
            fresh = [flag for flag in found if flag not in message.flags]
            count += len(flagging.add_scanned(message, fresh, scanner=VERSION)) if fresh else 0
        said[message.seat].append(message.raw_text)
    return count


def all_runs() -> Iterable[UUID]:
    return Run.objects.order_by("created", "pk").values_list("pk", flat=True).iterator()
