"""One figure of many runs, drawn by what the runs differ in: which models, which workflow, which day."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from django.db.models import QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.library.annotations import tags
from experiments.models import Annotation, InstrumentVersion, Run
from experiments.models.labels import seat_name
from experiments.runs.drawings.bars import Strip, strip
from experiments.runs.drawings.charts import Scale
from experiments.runs.statistics.estimates import Estimate, estimate, share
from experiments.studies.outcomes import reader_of
from experiments.studies.plan import SOURCES
from experiments.studies.plan_form import Measure, measures_of
from experiments.workflows import REGISTRY, surface_of

if TYPE_CHECKING:
    from accounts.models import User

MOST_RUNS, MOST_GROUPS = 2000, 40
WIDTH = 420.0  # of the drawing
WAYS = {
    "models": gettext_lazy("Models"),
    "workflow": gettext_lazy("Workflow"),
    "experiment": gettext_lazy("Experiment"),
    "state": gettext_lazy("State"),
    "tag": gettext_lazy("Tag"),
    "day": gettext_lazy("Day"),
    "owner": gettext_lazy("Person"),
}
OF_SEAT = "seat:"


@dataclass(frozen=True, slots=True)
class Group:
    """The runs that are alike. values: of those that have one, in the order of the runs; missing: of how many there is
    none. estimate: of a measure that each run has or has not, the share of runs with Wilson's interval.
    """

    label: str
    runs: Sequence[Run]
    values: Sequence[float]
    estimate: Estimate
    drawn: Strip | None = None

    @property
    def missing(self) -> int:
        return self.estimate.missing

    @property
    def listed(self) -> list[tuple[Run, float]]:
        return list(zip(self.runs, self.values, strict=True))


@dataclass(frozen=True, slots=True)
class Chart:
    """runs: how many are drawn; is_cut: there are more, and these are the newest. hidden: groups beyond MOST_GROUPS.
    scale: of all groups.
    """

    measure: Measure
    measures: Sequence[Measure]
    by: str
    ways: Mapping[str, Any]
    groups: Sequence[Group]
    scale: Scale
    runs: int
    is_cut: bool
    hidden: int

    @property
    def label(self) -> Any:
        """What the groups differ in."""
        return self.ways[self.by]

    @property
    def digits(self) -> int:
        """After the point, so that three digits of the highest value are seen."""
        return max(0, 2 - math.floor(math.log10(self.scale.high or 1)))


def chart(runs: "QuerySet[Run]", *, measure: str, by: str, reader: "User") -> Chart:
    """Of the newest MOST_RUNS of these runs. measure, by: as `Measure.name` and the keys of `ways`; what there is none
    of is taken for the first. Groups come by their mean, the highest first, days in their order.
    """
    keys = list(runs.order_by("-created", "-id").values_list("pk", flat=True)[: MOST_RUNS + 1])
    rows = Run.objects.with_totals().filter(pk__in=keys[:MOST_RUNS]).select_related("experiment__owner")
    found = list(rows.prefetch_related("experiment__participants__model").order_by("created", "id"))
    measures = _measures(found, reader)
    chosen = next((one for one in measures if one.name == measure), measures[0])
    ways = {
        **WAYS,
        **{f"{OF_SEAT}{seat}": _("Model of %(seat)s") % {"seat": seat_name(seat)} for seat in _seats(found)},
    }
    by = by if by in ways else next(iter(ways))
    groups = _grouped(found, chosen, by, reader)
    return Chart(
        measure=chosen,
        measures=measures,
        by=by,
        ways=ways,
        groups=groups[:MOST_GROUPS],
        scale=_scale(groups, chosen),
        runs=len(found),
        is_cut=len(keys) > MOST_RUNS,
        hidden=len(groups[MOST_GROUPS:]),
    )


def _measures(runs: Sequence[Run], reader: "User") -> list[Measure]:
    """Figures first; a judge's scores, flags and instruments where the workflows of these runs have them."""
    workflows = [REGISTRY[name] for name in sorted({run.experiment.workflow for run in runs})]
    played = dict.fromkeys(one.seat for run in runs for one in run.experiment.participants.all())
    found_in = Annotation.objects.visible_to(reader).filter(run__in=[run.pk for run in runs]).order_by()
    found = measures_of(
        InstrumentVersion.objects.visible_to(reader).filter(pk__in=found_in.values("version")),
        flagged=dict.fromkeys(seat for workflow in workflows for seat in workflow.flagged),
        judged=dict.fromkeys(seat for workflow in workflows for seat in workflow.subjects),
        measured=[seat for seat in found_in.values_list("subject", flat=True).distinct() if seat],
        ranked=[seat for seat in played if any(seat in workflow.ranked for workflow in workflows)],
    )
    return sorted(found, key=lambda one: one.source["of"] != "run")


def _seats(runs: Sequence[Run]) -> list[str]:
    """Those in which not all runs have the same model."""
    models = defaultdict(set)
    for run in runs:
        for participant in run.experiment.participants.all():
            models[participant.seat].add(participant.model_id)
    return [seat for seat, several in models.items() if len(several) > 1]


def _grouped(runs: Sequence[Run], measure: Measure, by: str, reader: "User") -> list[Group]:
    source = SOURCES.validate_python({**measure.source, **({"over": "any"} if measure.is_rate else {})})
    value_of = reader_of(source, runs, reader)
    names_of = _naming(by, runs)
    members: dict[tuple[str, str], list[tuple[Run, float | None]]] = defaultdict(list)
    for run in runs:
        for name in names_of(run):
            members[name].append((run, value_of(run)[0]))
    groups = [_group(label, several, measure) for (_key, label), several in members.items()]
    scale = _scale(groups, measure)
    drawn = [replace(one, drawn=strip(one.values, one.estimate, scale, WIDTH)) for one in groups]
    if by == "day":
        return sorted(drawn, key=lambda one: one.label)
    return sorted(drawn, key=lambda one: (one.estimate.mean is None, -(one.estimate.mean or 0), one.label))


def _group(label: str, members: Sequence[tuple[Run, float | None]], measure: Measure) -> Group:
    given = [(run, value) for run, value in members if value is not None]
    runs, values = [run for run, _value in given], [value for _run, value in given]
    return Group(label, runs, values, _estimate([value for _run, value in members], measure))


def _estimate(values: Sequence[float | None], measure: Measure) -> Estimate:
    """An interval that leaves the scale of the measure is cut there: the mean cannot lie beyond."""
    if measure.is_rate:
        of = share(None if value is None else value > 0 for value in values)
        return Estimate(of.n, of.missing, mean=of.share, low=of.low, high=of.high)
    found = estimate(values)
    if found.low is None or found.high is None:
        return found
    low = found.low if measure.least is None else max(found.low, measure.least)
    high = found.high if measure.most is None else min(found.high, measure.most)
    return replace(found, low=low, high=high)


def _scale(groups: Iterable[Group], measure: Measure) -> Scale:
    """From the least to the most that the measure can be; of what has no end, to the highest value or interval."""
    known = [end for one in groups for end in (*one.values, one.estimate.low, one.estimate.high) if end is not None]
    low = min([*known, 0.0]) if measure.least is None else measure.least
    high = max([*known, 0.0]) if measure.most is None else measure.most
    return Scale(low, high if high > low else low + 1, ())


def _naming(by: str, runs: Sequence[Run]) -> Callable[[Run], Iterable[tuple[str, str]]]:
    """The groups that a run is in, each with its key and its label: one, and of tags as many as the run has."""
    if by == "tag":
        words = tags.words_of(runs)
        return lambda run: [(word.folded, word.name) for word in words.get(run.pk, ())] or [("", _("no tag"))]
    if by == "experiment":
        return lambda run: [(str(run.experiment_id), run.experiment.title)]
    if by.startswith(OF_SEAT):
        seat = by.removeprefix(OF_SEAT)
        return lambda run: [(name, name) for name in _models(run, seat)]
    label_of: Mapping[str, Callable[[Run], str]] = {
        "models": lambda run: " + ".join(dict.fromkeys(_models(run))) or _("no model"),
        "workflow": lambda run: str(surface_of(run.experiment.workflow).name),
        "state": lambda run: str(Run.State(run.state).label),
        "day": lambda run: f"{run.created:%Y-%m-%d}",
        "owner": lambda run: str(run.experiment.owner),
    }
    return lambda run: [(label_of[by](run),) * 2]


def _models(run: Run, seat: str = "") -> list[str]:
    """Of a seat, or of all that do more than judge and filter, where there are any."""
    everybody = [one for one in run.experiment.participants.all() if seat in ("", one.seat)]
    setup = surface_of(run.experiment.workflow).setup
    tools = {one.seat for one in setup.seats if one.is_tool} if setup and not seat else set()
    return [one.model.label for one in everybody if one.seat not in tools] or [one.model.label for one in everybody]
