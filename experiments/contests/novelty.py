"""The problems that a new run may not set again: those that its owner's models have set before."""

from typing import Any

from experiments.models import Cycle, Experiment

CODING = "coding"
MOST_EARLIER = 200  # problems, the latest


def overrides_of(experiment: Experiment) -> dict[str, Any]:
    """What a run's configuration says beyond its experiment's; it stays as it was when the run began."""
    if experiment.workflow != CODING:
        return {}
    rows = Cycle.objects.filter(run__experiment__owner=experiment.owner_id).exclude(fingerprint=[])
    latest = rows.order_by("-pk").values("title", "fingerprint")[:MOST_EARLIER]
    return {"earlier": list(reversed(latest))} if latest else {}
