"""Scanning transcripts that were recorded before: what today's flags find in them is added to what stands there."""

from collections import defaultdict, deque
from collections.abc import Iterable
from uuid import UUID

from experiments.models import Message, Run
from experiments.reviews import flagging
from experiments.workflows.arena.config import SPEAKERS
from experiments.workflows.flags import VERSION, flags

TALKER = "model"  # the seat of a talk with one model
EARLIER = 5  # messages of the same seat that a reply is compared with
NOT_SPOKEN = ("coding", "battles", "outputs")  # workflows whose messages are no talk, and which inspect them themselves


def scan(runs: Iterable[UUID]) -> int:
    """Set what is found and not there yet. Returns how many flags are new; who scans again finds nothing."""
    return sum(scan_run(run) for run in runs)


def scan_run(run: UUID) -> int:
    rows = Message.objects.filter(run=run).exclude(run__experiment__workflow__in=NOT_SPOKEN).order_by("seq")
    said: dict[str, deque[str]] = defaultdict(lambda: deque(maxlen=EARLIER))
    count = 0
    for message in rows.only("pk", "run", "seat", "model", "raw_text", "flags", "finish_reason").iterator():
        if message.seat in (*SPEAKERS, TALKER) and message.model:
            found = flags(message.raw_text, message.seat, list(said[message.seat]), message.finish_reason)
            fresh = [flag for flag in found if flag not in message.flags]
            count += len(flagging.add_scanned(message, fresh, scanner=VERSION)) if fresh else 0
        said[message.seat].append(message.raw_text)
    return count


def all_runs() -> Iterable[UUID]:
    return Run.objects.order_by("created", "pk").values_list("pk", flat=True).iterator()
