"""The problems that a new run may not set again: those that its owner's models have set before."""

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from experiments.engine.projections import COPIED
from experiments.models import Cycle, Experiment, Run, Step
from experiments.workflows import coding
from experiments.workflows.base.workflow import Services

KNOWN = "problems_known"  # the purpose of the step that has them
Visibility = Experiment.Visibility
MOST_EARLIER = 200  # problems, the latest


def remember_earlier(run: Run) -> None:
    """Write them down with the run, in the transaction that makes it: they stay as they were when it began. Those that
    not all who see the run may see are compared by their words, and not named.
    """
    experiment = run.experiment
    rows = Cycle.objects.filter(run__experiment__owner=experiment.owner_id).exclude(fingerprint=[])
    latest = list(rows.select_related("run__experiment").order_by("-pk")[:MOST_EARLIER])
    problems = [
        {"title": row.title if _reaches(row.run.experiment, experiment) else "", "fingerprint": row.fingerprint}
        for row in latest[::-1]
    ]
    data = {COPIED: {"found": {"problems": problems}}}
    done = {"kind": "record", "purpose": KNOWN, "state": Step.State.DONE, "ended": timezone.now()}
    Step.objects.create(run=run, key=coding.KNOWN, data=data, **done)


def without_titles(data: Mapping[str, Any]) -> dict[str, object]:
    """What such a step has, for others than the owner of the run: it may have been shared only later."""
    problems = data.get(COPIED, {}).get("found", {}).get("problems", ())
    return {COPIED: {"found": {"problems": [{**one, "title": ""} for one in problems]}}}


def _reaches(other: Experiment, experiment: Experiment) -> bool:
    """Whether all who see the experiment may see the other one of its owner, too."""
    if other.pk == experiment.pk or experiment.visibility == Visibility.PRIVATE:
        return True
    if experiment.visibility == Visibility.PROJECT and other.visibility == Visibility.PROJECT:
        return other.project_id == experiment.project_id
    if experiment.visibility == Visibility.PUBLIC:
        return other.visibility == Visibility.PUBLIC
    return other.visibility in (Visibility.LAB, Visibility.PUBLIC)


SERVICES = Services(queued=remember_earlier)
