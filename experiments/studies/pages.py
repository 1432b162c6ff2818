"""What the page of a study shows: its conditions with the states of their runs, and its results with drawings."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from typing import Any

from django.db.models import Avg, Count, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models import LIVE_STATES, Call, InBatches, Run, Study, StudyCondition, StudyLook, in_batches
from experiments.models.run import RunState
from experiments.runs.drawings.bars import Strip, strip
from experiments.runs.drawings.charts import Scale
from experiments.runs.figures import MINUS, MISSING, in_percent
from experiments.runs.statistics.estimates import Estimate
from experiments.studies import outcomes
from experiments.studies.comparison import NOT_POOLED, Compared
from experiments.studies.comparison import Estimate as StudyEstimate
from experiments.studies.design import Design, Levels
from leaderboard.ratings.studies.analysis import Row
from leaderboard.ratings.studies.diversity import LEAST_ANSWERS
from leaderboard.ratings.studies.pooling import Pooled
from leaderboard.ratings.studies.rates import Difference

NOT_SAID = {
    "too_few_units": gettext_lazy("Too few runs."),
    "no_spread": gettext_lazy("Nothing varies, so there is no interval."),
    "mostly_undefined": gettext_lazy("Too few runs on one side."),
    "several_providers": gettext_lazy(
        "The runs have different providers, whose token probabilities are not comparable."
    ),
}
NOT_CORRECTED = {
    "unlabeled": gettext_lazy("Some of what was judged was not in the sample, or a value of the sample has no label."),
    "too_few_units": gettext_lazy("Too few labels for an interval."),
    "no_spread": gettext_lazy("Nothing varies, so there is no interval."),
}
TESTS = {
    "exact": gettext_lazy("exact"),
    "permutation": gettext_lazy("permutation"),
    "mixed": gettext_lazy("mixed model"),
    "log-rank": gettext_lazy("log-rank"),
    "t": gettext_lazy("Student's t"),
}
WHY_MISSING = {
    outcomes.NOT_BEGUN: gettext_lazy("not begun"),
    outcomes.NOT_ENDED: gettext_lazy("not ended"),
    outcomes.DELETED: gettext_lazy("deleted"),
    outcomes.NOTHING_MEASURED: gettext_lazy("not measured"),
    outcomes.PARTLY_MEASURED: gettext_lazy("measured in part"),
    outcomes.NO_LOGPROBS: gettext_lazy("no log-probabilities"),
    outcomes.SEVERAL_PROVIDERS: gettext_lazy("several providers answered"),
    **dict(RunState.choices),
}
MOST_COLUMNS = 12  # of the grid
SIDES = ("first", "second")


# --- its conditions, filling up ---


@dataclass(frozen=True, slots=True)
class Cell:
    """A condition, with counts of its planned runs. percents: completed and live ones, as a budget's bar."""

    condition: Any

    @property
    def percents(self) -> tuple[float, float]:
        share = 100 / max(1, self.condition.planned)
        return self.condition.completed * share, self.condition.live * share


@dataclass(frozen=True, slots=True)
class Grid:
    """columns: levels of one factor, "" where there is none. rows: levels of all others, with a cell per column, None
    where there is no such condition.
    """

    factor: str
    columns: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Cell | None]]]


def grid(study: Study, design: Design) -> Grid:
    states = {
        "planned": Q(),
        "live": Q(planned_runs__run__state__in=LIVE_STATES),
        "completed": Q(planned_runs__run__state=Run.State.COMPLETED),
        "failed": Q(planned_runs__run__state=Run.State.FAILED),
        "stopped": Q(planned_runs__run__state=Run.State.STOPPED),
    }
    counted = {name: Count("planned_runs", filter=which) for name, which in states.items()}
    conditions = StudyCondition.objects.filter(study=study).annotate(**counted).order_by("number")
    across = [factor for factor in design.factors if len(factor.levels) <= MOST_COLUMNS]
    factor = across[-1].name if len(design.factors) > 1 and across else ""
    columns = [level.name for level in across[-1].levels] if factor else [""]
    rows: dict[tuple[str, ...], dict[str, Cell]] = {}
    for condition in conditions:
        others = tuple(level for name, level in condition.levels.items() if name != factor)
        rows.setdefault(others, {})[condition.levels.get(factor, "")] = Cell(condition)
    shown = [(", ".join(others), [cells.get(column) for column in columns]) for others, cells in rows.items()]
    return Grid(factor, columns, shown)


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of planned runs. waiting: those among the live ones that wait for a person.
    seconds: what is left at the pace of completed runs, None where it is not known. failures: reasons, with how many
    runs failed for each. batch: what is waited for at providers.
    """

    planned: int
    ended: int
    live: int
    waiting: int
    seconds: int | None
    failures: Sequence[tuple[str, int]]
    batch: InBatches | None


def progress(study: Study) -> Progress:
    runs = Run.objects.filter(planned__study=study)
    in_batch = Call.objects.filter(run=OuterRef("run"), state=Call.State.BATCHED)
    lasted = ExpressionWrapper(F("ended") - F("started"), output_field=DurationField())
    counts = study.planned_runs.aggregate(
        planned=Count("pk"),
        live=Count("pk", filter=Q(run__state__in=LIVE_STATES)),
        waiting=Count("pk", filter=Q(run__state=Run.State.WAITING) & ~Q(Exists(in_batch))),
        begun=Count("pk", filter=Q(run__isnull=False)),
    )
    mean: timedelta | None = runs.filter(state=Run.State.COMPLETED).aggregate(mean=Avg(lasted))["mean"]
    left = counts["planned"] - counts["begun"] + counts["live"]
    is_going = study.state == Study.State.RUNNING and left
    failed = runs.filter(state=Run.State.FAILED).order_by().values_list("stop_reason").annotate(n=Count("pk"))
    return Progress(
        planned=counts["planned"],
        ended=counts["begun"] - counts["live"],
        live=counts["live"],
        waiting=counts["waiting"],
        seconds=ceil(left / study.at_once) * round(mean.total_seconds()) if is_going and mean else None,
        failures=sorted(failed, key=lambda one: -one[1]),
        batch=in_batches(runs) if study.design.get("batches") else None,
    )


# --- what it has found ---


@dataclass(frozen=True, slots=True)
class Shown:
    """A result. levels: what is compared. drawn: its difference with the interval, from -reach to reach, which results
    of one outcome share. corrected: the same by people's labels, where there are any.
    """

    result: Mapping[str, Any]
    levels: tuple[Levels, Levels]
    drawn: Strip
    reach: float
    is_rate: bool
    corrected: Mapping[str, Any] | None = None

    @property
    def sides(self) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        """Which side, what it is called, and its figures."""
        for name, levels in zip(SIDES, self.levels, strict=True):
            yield name, ", ".join(levels.values()), self.result[name]

    @property
    def least(self) -> float:
        return -self.reach

    @property
    def is_found(self) -> bool:
        return bool(self.result["is_found"])

    @property
    def sentence(self) -> str:
        """The finding in words, without what is not known."""
        result = self.result
        if result["difference"] is None:
            return str(self.not_said)
        first, second = (", ".join(levels.values()) for levels in self.levels)
        values = {"first": first, "second": second, "outcome": result["outcome"]}
        if self.is_rate:
            values |= {"a": in_percent(result["first"]["value"]), "b": in_percent(result["second"]["value"])}
            values |= {name: _figure(result[name], 100) for name in ("difference", "low", "high")}
            said = _(
                "%(outcome)s: %(a)s with “%(first)s”, %(b)s with “%(second)s”; difference %(difference)s points "
                "(%(low)s to %(high)s)."
            )
            return said % values
        values |= {"a": _figure(result["first"]["value"]), "b": _figure(result["second"]["value"])}
        values |= {name: _figure(result[name]) for name in ("difference", "low", "high")}
        said = _(
            "%(outcome)s: %(a)s with “%(first)s”, %(b)s with “%(second)s”; difference %(difference)s "
            "(%(low)s to %(high)s)."
        )
        return said % values

    @property
    def rests_on(self) -> str:
        """Of diversity and of token probabilities, what their comparison rests on; "" of other outcomes."""
        if answers := self.result.get("diversity"):
            values = {"strata": answers["strata"], "left_out": answers["left_out"], "least": LEAST_ANSWERS}
            if answers["left_out"]:
                said = _("Strata compared: %(strata)s; left out with fewer than %(least)s answers: %(left_out)s")
            else:
                said = _("Strata compared: %(strata)s")
            return said % values
        if tokens := self.result.get("confidence"):
            first, second = (_("unknown") if (one := tokens[name]) is None else in_percent(one) for name in SIDES)
            said = _("Probability covered by the recorded alternatives: %(first)s, %(second)s (%(providers)s)")
            return said % {"first": first, "second": second, "providers": ", ".join(tokens["providers"])}
        return ""

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
    def labels(self) -> int:
        return sum(self.corrected["labels"]) if self.corrected else 0

    @property
    def not_corrected(self) -> Any:
        missing = self.corrected["difference"]["missing"] if self.corrected else ""
        return NOT_CORRECTED.get(missing, missing)

    @property
    def not_said(self) -> Any:
        """Why there is no interval, or else no test; "" where there are both."""
        return NOT_SAID.get(self.result["no_interval"] or self.result["no_test"], "")


def shown(look: StudyLook) -> list[Shown]:
    """Planned results first, as they were analyzed."""
    found: Sequence[Mapping[str, Any]] = look.results["results"]
    compared = contrasts_of(look)
    corrected = {one["contrast"]: one for one in look.results.get("corrected", ())}
    reach: dict[str, float] = {}
    for one in found:
        ends = [abs(one[name]) for name in ("difference", "low", "high") if one[name] is not None]
        reach[one["outcome"]] = max([reach.get(one["outcome"], 0.0), *ends])
    rates = {outcome["name"] for outcome in look.analyzed["outcomes"] if outcome["kind"] == "rate"}
    furthest = {name: value or 1.0 for name, value in reach.items()}
    return [
        Shown(
            result=one,
            levels=compared[one["contrast"]],
            drawn=_drawn(one, furthest[one["outcome"]]),
            reach=furthest[one["outcome"]],
            is_rate=one["outcome"] in rates,
            corrected=corrected.get(one["contrast"]),
        )
        for one in found
    ]


@dataclass(frozen=True, slots=True)
class Drawn:
    """A difference as it is shown and drawn. times: 100 of rates, which are shown in points."""

    found: Difference | Pooled | None
    strip: Strip
    times: int

    @property
    def difference(self) -> str:
        return _figure(self.found.value if self.found else None, self.times)

    @property
    def interval(self) -> str:
        if self.found is None:
            return ""
        low, high = (_figure(end, self.times) for end in (self.found.low, self.found.high))
        return _("%(low)s to %(high)s") % {"low": low, "high": high}


@dataclass(frozen=True, slots=True)
class OfStudy:
    """What one study says of a contrast."""

    estimate: StudyEstimate
    drawn: Drawn

    @property
    def sides(self) -> Iterator[tuple[str, str, int]]:
        """Which side, what it is called, and its runs."""
        for name, levels, n in zip(SIDES, self.estimate.levels, self.estimate.n, strict=True):
            yield name, ", ".join(levels.values()), n

    @property
    def not_said(self) -> Any:
        return NOT_SAID.get(self.estimate.missing, "")


@dataclass(frozen=True, slots=True)
class Forest:
    """A contrast in several studies, all drawn on one scale from least to most. together: the summary, None where there
    is none.
    """

    compared: Compared
    rows: Sequence[OfStudy]
    together: Drawn | None
    most: float
    times: int

    @property
    def least(self) -> float:
        return -self.most

    @property
    def not_pooled(self) -> Any:
        return NOT_POOLED.get(self.compared.not_pooled, "")

    @property
    def sentence(self) -> str:
        """What the studies say together, and how far they differ."""
        found = self.compared.pooled
        if found is None:
            return str(self.not_pooled)
        values = {"n": found.studies, "i2": in_percent(found.i2), "tau": _figure(found.tau2**0.5, self.times)}
        values |= {name: _figure(getattr(found, name), self.times) for name in ("value", "low", "high")}
        points = _(
            "%(n)s studies together: difference %(value)s points (%(low)s to %(high)s). %(i2)s of the variation "
            "between them is more than chance (I²); true differences vary by %(tau)s points (τ)."
        )
        plain = _(
            "%(n)s studies together: difference %(value)s (%(low)s to %(high)s). %(i2)s of the variation between them "
            "is more than chance (I²); true differences vary by %(tau)s (τ)."
        )
        return (points if self.compared.is_rate else plain) % values

    @property
    def details(self) -> str:
        """The other summary, and where a further study would be."""
        found = self.compared.pooled
        if found is None:
            return ""
        values = {name: _figure(getattr(found.by_dl, name), self.times) for name in ("value", "low", "high")}
        said = _("By DerSimonian and Laird %(value)s (%(low)s to %(high)s).") % values
        if not found.predicted:
            return said
        low, high = (_figure(end, self.times) for end in found.predicted)
        further = _("A further study would find between %(low)s and %(high)s with 95 %% probability.")
        return f"{said} {further % {'low': low, 'high': high}}"


def forest(compared: Compared) -> Forest:
    known: list[Difference | Pooled] = [one.difference for one in compared.estimates if one.difference]
    known += [compared.pooled] if compared.pooled else []
    reach = max((abs(end) for one in known for end in (one.value, one.low, one.high)), default=0.0) or 1.0
    times = 100 if compared.is_rate else 1
    if compared.is_rate:
        reach = math.ceil(reach * 100) / 100  # the ends of the scale are whole points

    def drawn(found: Difference | Pooled | None) -> Drawn:
        ends = {name: getattr(found, name, None) for name in ("low", "high")}
        return Drawn(found, _drawn({"difference": getattr(found, "value", None), **ends}, reach), times)

    return Forest(
        compared=compared,
        rows=[OfStudy(one, drawn(one.difference)) for one in compared.estimates],
        together=drawn(compared.pooled) if compared.pooled else None,
        most=reach * times,
        times=times,
    )


def contrasts_of(look: StudyLook) -> dict[str, tuple[Levels, Levels]]:
    """The levels that each contrast of the look compares, by its name."""
    several = (*look.analyzed["contrasts"], *look.analyzed["explored"])
    return {one["name"]: (one["first"], one["second"]) for one in several}


def cells(seen: Row | None, names: Sequence[str]) -> list[tuple[float | None, Any]]:
    """Of a run as a look saw it: the value of each outcome, or None and why there is none."""
    if seen is None:
        return [(None, "")] * len(names)
    missing = {name: seen.missing.get(name, "") for name in names}
    return [(seen.values[name], WHY_MISSING.get(missing[name], missing[name])) for name in names]


def _drawn(one: Mapping[str, Any], reach: float) -> Strip:
    estimate = Estimate(n=0, missing=0, mean=one["difference"], low=one["low"], high=one["high"])
    return strip((), estimate, Scale(-reach, reach, ()))


def _figure(value: float | None, times: int = 1) -> str:
    """With two digits, or in whole points of a share."""
    if value is None:
        return MISSING
    return f"{round(value * times, 2 if times == 1 else 0) + 0.0:g}".replace("-", MINUS)
