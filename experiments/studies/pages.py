"""What the page of a study shows: its conditions with the states of their runs, and its results with drawings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q
from django.utils.translation import gettext_lazy as _

from experiments.models import LIVE_STATES, Run, Study, StudyCondition, StudyLook
from experiments.runs.drawings.bars import Strip, strip
from experiments.runs.drawings.charts import Scale
from experiments.runs.statistics.estimates import Estimate

NOT_SAID = {
    "too_few_units": _("Too few runs."),
    "no_spread": _("Nothing varies, so there is no interval."),
    "mostly_undefined": _("Too few runs on one side."),
}
TESTS = {"exact": _("exact"), "permutation": _("permutation"), "log-rank": _("log-rank")}


@dataclass(frozen=True, slots=True)
class Shown:
    """A result. drawn: its difference with the interval, on the scale of all results of its outcome."""

    result: Mapping[str, Any]
    drawn: Strip

    @property
    def sides(self) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        return self.result["first"], self.result["second"]

    @property
    def is_found(self) -> bool:
        return bool(self.result["is_found"])

    @property
    def missing(self) -> int:
        return int(self.result["first"]["missing"] + self.result["second"]["missing"])

    @property
    def excluded(self) -> int:
        return int(self.result["first"]["excluded"] + self.result["second"]["excluded"])

    @property
    def test(self) -> Any:
        return TESTS.get(self.result["test"], "")

    @property
    def not_said(self) -> Any:
        """Why there is no interval, or else no test; "" where there are both."""
        return NOT_SAID.get(self.result["no_interval"] or self.result["no_test"], "")


def conditions(study: Study) -> list[Any]:
    """With counts of planned runs: waiting, live, completed, failed, stopped."""
    states = {
        "waiting": Q(planned_runs__run__isnull=True),
        "live": Q(planned_runs__run__state__in=LIVE_STATES),
        "completed": Q(planned_runs__run__state=Run.State.COMPLETED),
        "failed": Q(planned_runs__run__state=Run.State.FAILED),
        "stopped": Q(planned_runs__run__state=Run.State.STOPPED),
    }
    counted = {name: Count("planned_runs", filter=which) for name, which in states.items()}
    return list(StudyCondition.objects.filter(study=study).annotate(**counted).order_by("number"))


def shown(look: StudyLook) -> list[Shown]:
    """Planned results first, as they were analyzed."""
    found: Sequence[Mapping[str, Any]] = look.results["results"]
    reach: dict[str, float] = {}
    for one in found:
        ends = [abs(one[name]) for name in ("difference", "low", "high") if one[name] is not None]
        reach[one["outcome"]] = max([reach.get(one["outcome"], 0.0), *ends])
    return [Shown(one, _drawn(one, reach[one["outcome"]] or 1.0)) for one in found]


def _drawn(one: Mapping[str, Any], reach: float) -> Strip:
    estimate = Estimate(n=0, missing=0, mean=one["difference"], low=one["low"], high=one["high"])
    return strip((), estimate, Scale(-reach, reach, ()))
