"""What the page of a contest needs beside the run: the latest cycle in its places, and the cycles so far."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.db.models import F

from accounts.models import User
from experiments.models import Cycle, Execution, Run
from experiments.runs import timeline
from experiments.runs.timeline import Entry
from experiments.sandbox.host import hosts
from experiments.workflows.coding.pages.coders import coders, names
from experiments.workflows.coding.pages.drawings import histogram

OF_A_LINE = ("run", "turn", "setter", "state", "reason", "title", "voided", "began", "ended")


@dataclass(frozen=True, slots=True)
class Line:
    """A cycle in the list. setter, best: what the models are called; score: of the best one."""

    cycle: Cycle
    setter: str
    overall: float | None
    best: str
    score: float | None

    @property
    def seconds(self) -> float | None:
        return (self.cycle.ended - self.cycle.began).total_seconds() if self.cycle.ended else None


def entries(run: Run) -> list[Entry]:
    """Those of the latest cycle, and what belongs to none: a contest may have thousands of votes."""
    latest = run.cycles.order_by("-turn").values_list("turn", flat=True).first()
    return timeline.from_rows(run, turn=latest or 0, beside=("pool_checked", "cycles_planned"))


def context(reader: User | AnonymousUser, run: Run, shown: Sequence[Entry]) -> dict[str, object]:
    """cast: labels by seat. cycles: one line each, the latest first. is_stranded: code waits,
    and nobody is there who could run it.
    """
    cast = run.experiment.labels
    cycles = [_line(cycle, names(cast)) for cycle in lines_of(run)]
    return {
        "cast": cast,
        "coders": coders(cast),
        "names": names(cast),
        "cycles": cycles,
        "earlier": cycles[1:2],
        "rated": sum(line.cycle.state == Cycle.State.RATED for line in cycles),
        "is_stranded": _is_stranded(run),
        "overalls": histogram(line.overall for line in cycles if not line.cycle.voided),
    }


def _is_stranded(run: Run) -> bool:
    waiting = run.executions.filter(state=Execution.State.WAITING)
    return not run.is_over and waiting.exists() and not hosts.known()


def lines_of(run: Run) -> list[Any]:
    """The cycles without their votes, of which there may be hundreds each; overall and means are read out of those."""
    read = {"overall": F("found__overall"), "means": F("found__means")}
    return list(run.cycles.only(*OF_A_LINE).annotate(**read).order_by("-turn"))


def _line(cycle: Any, called: Mapping[str, str]) -> Line:
    means: Mapping[str, float] = cycle.means or {}
    best = max(means, key=means.__getitem__, default="")
    return Line(cycle, called.get(cycle.setter, cycle.setter), cycle.overall, called.get(best, best), means.get(best))
