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
from experiments.models import Annotation, Experiment, InstrumentVersion, Run
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
NEEDED = ("experiment", "state", "created", "started", "ended", "waited_seconds")  # of a run
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
    rows = Run.objects.filter(pk__in=keys[:MOST_RUNS]).order_by("created", "id").only(*NEEDED)
    found = list(rows.prefetch_related("experiment__owner", "experiment__participants__model"))  # each once
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
    experiments = list(dict.fromkeys(run.experiment for run in runs))
    workflows = [REGISTRY[name] for name in sorted({one.workflow for one in experiments})]
    played = dict.fromkeys(one.seat for experiment in experiments for one in experiment.participants.all())
    found_in = Annotation.objects.visible_to(reader).filter(run__in=[run.pk for run in runs]).order_by()
    annotated = set(found_in.values_list("version", "subject").distinct())
    found = measures_of(
        InstrumentVersion.objects.visible_to(reader).filter(pk__in={version for version, _subject in annotated}),
        flagged=dict.fromkeys(seat for workflow in workflows for seat in workflow.flagged),
        judged=dict.fromkeys(seat for workflow in workflows for seat in workflow.subjects),
        measured=sorted({seat for _version, seat in annotated if seat}),
        ranked=[seat for seat in played if any(seat in workflow.ranked for workflow in workflows)],
    )
    return sorted(found, key=lambda one: one.source["of"] != "run")


def _seats(runs: Sequence[Run]) -> list[str]:
    """Those in which not all runs have the same model."""
    models = defaultdict(set)
    for experiment in dict.fromkeys(run.experiment for run in runs):
        for participant in experiment.participants.all():
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
    if by == "day":
        return lambda run: [(f"{run.created:%Y-%m-%d}",) * 2]
    if by == "state":
        return lambda run: [(str(Run.State(run.state).label),) * 2]
    several = {experiment.pk: _of_experiment(by, experiment) for experiment in {run.experiment for run in runs}}
    return lambda run: several[run.experiment_id]


def _of_experiment(by: str, experiment: Experiment) -> list[tuple[str, str]]:
    """The groups of all its runs."""
    if by == "experiment":
        return [(str(experiment.pk), experiment.title)]
    if by.startswith(OF_SEAT):
        return [(name, name) for name in _models(experiment, by.removeprefix(OF_SEAT))]
    label_of: Mapping[str, Callable[[], str]] = {
        "models": lambda: " + ".join(dict.fromkeys(_models(experiment))) or _("no model"),
        "workflow": lambda: str(surface_of(experiment.workflow).name),
        "owner": lambda: str(experiment.owner),
    }
    return [(label_of[by](),) * 2]


def _models(experiment: Experiment, seat: str = "") -> list[str]:
    """Of a seat, or of all that do more than judge and filter, where there are any."""
    everybody = [one for one in experiment.participants.all() if seat in ("", one.seat)]
    setup = surface_of(experiment.workflow).setup
    tools = {one.seat for one in setup.seats if one.is_tool} if setup and not seat else set()
    return [one.model.label for one in everybody if one.seat not in tools] or [one.model.label for one in everybody]
