"""Charts of the metrics as SVG; strips, small multiples and words for what repeats and branches say together."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from experiments.models import Run
from experiments.models.labels import SENTIMENT_LABELS
from experiments.runs.drawings import charts
from experiments.runs.drawings.bars import Strip, reach, strip
from experiments.runs.drawings.lanes import Picture, picture
from experiments.runs.lineage import Lineage
from experiments.runs.statistics.estimates import Estimate
from experiments.runs.statistics.summary import MEASURES, SWITCHES, RunFacts, Statistics, SubjectValues
from experiments.templatetags.arena import MINUS, MISSING, figure, grouped, signed
from experiments.workflows.base.judge import SENTIMENTS

register = template.Library()


@dataclass(frozen=True, slots=True)
class Row:
    """A turn: in the table behind a chart, and in the chart as the band that shows its values."""

    turn: int
    values: tuple[float | None, ...]
    band: charts.Band


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart with its words. name is unique on the page."""

    name: str
    title: str
    chart: charts.Chart
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@register.simple_tag
def sentiment_drawing(metrics: Mapping[str, Any], seat: str) -> Drawing:
    """Seven sentiments, 0 to 1, over the turns of a seat."""
    series = [
        charts.Series(
            name, str(SENTIMENT_LABELS[name]), tuple(turn["sentiment"].get(name) for turn in metrics["turns"])
        )
        for name in SENTIMENTS
    ]
    return drawing(f"{seat}-sentiment", _("Sentiment (0 to 1)"), _turns(metrics), series, charts.SHARE)


@register.simple_tag
def deviation_drawing(metrics: Mapping[str, Any], seat: str) -> Drawing:
    """Goal deviation, 0 to 100 %."""
    values = tuple(turn["goal_deviation"] for turn in metrics["turns"])
    series = [charts.Series(f"side-{seat}", _("deviation"), values)]
    size = charts.Size(height=84, right=12)
    return drawing(f"{seat}-deviation", _("Goal deviation (%)"), _turns(metrics), series, charts.PERCENT, size)


@register.simple_tag
def cooperation_drawing(metrics: Mapping[str, Any], seat: str) -> Drawing:
    """Cooperation, -1 to 1."""
    values = tuple(turn["cooperation"] for turn in metrics["turns"])
    series = [charts.Series(f"side-{seat}", _("cooperation"), values)]
    size = charts.Size(height=84, right=12)
    title = _("Cooperation (−1 to 1)")
    return drawing(f"{seat}-cooperation", title, _turns(metrics), series, charts.BALANCE, size)


@register.filter
def points(shape: Iterable[charts.Point]) -> str:
    """Places as SVG writes them."""
    return " ".join(f"{x:g},{y:g}" for x, y in shape)


@register.filter
def dashes(dash: Iterable[float]) -> str:
    return " ".join(f"{length:g}" for length in dash)


@register.filter
def coordinate(value: float) -> str:
    return f"{value:g}"


@register.filter
def minus(value: float, less: float) -> str:
    return f"{value - less:g}"


@register.filter
def tick_label(value: float) -> str:
    return f"{value:g}".replace("-", MINUS)


@register.filter
def named(values: Iterable[float | None], names: Iterable[str]) -> list[tuple[str, float | None]]:
    """Each value with its name."""
    return list(zip(names, values, strict=True))


def drawing(
    name: str,
    title: str,
    turns: Sequence[int],
    series: Sequence[charts.Series],
    scale: charts.Scale,
    size: charts.Size | None = None,
) -> Drawing:
    """A chart of the series, with the same values as a table."""
    chart = charts.chart(turns, series, scale, size)
    rows = tuple(
        Row(band.turn, tuple(one.values[place] for one in series), band) for place, band in enumerate(chart.bands)
    )
    return Drawing(name, title, chart, tuple(one.label for one in series), rows)


def _turns(metrics: Mapping[str, Any]) -> list[int]:
    return [turn["turn"] for turn in metrics["turns"]]


MOST_MULTIPLES, LEAST_MULTIPLES = 48, 6
MOST_VALUES = 480  # turns of all small charts of a score: more take seconds to write, and nobody looks at them
SMALL = charts.Size(width=190, height=96, left=26, right=26, top=8, bottom=18)
LARGE = charts.Size(width=420, height=180, left=28, right=30, top=10, bottom=20)


@register.simple_tag
def measures() -> Sequence[str]:
    return MEASURES


@register.simple_tag
def value_strip(statistics: Statistics, subject: str, measure: str) -> Strip:
    """The values of one subject, on the scale that the other subject's have too."""
    every = [value for one in statistics.subjects for value in statistics.measured(one, measure)]
    estimate = statistics.summaries[subject].measures[measure]
    return strip(statistics.measured(subject, measure), estimate, SCALES.get(measure) or reach(every))


@register.simple_tag
def mean_drawing(statistics: Statistics, score: str) -> Drawing:
    """Mean and interval by turn, one line per subject. The table says how many runs each turn has."""
    turns = list(range(1, statistics.longest + 1))
    found = {
        subject: [getattr(turn, score) for turn in statistics.summaries[subject].turns]
        for subject in statistics.subjects
    }
    series = [charts.Series(f"side-{s}", s, tuple(e.mean for e in estimates)) for s, estimates in found.items()]
    spreads = [
        charts.Spread(f"side-{s}", tuple(e.low for e in estimates), tuple(e.high for e in estimates))
        for s, estimates in found.items()
    ]
    chart = charts.chart(turns, series, SCALES[score], LARGE, spreads)
    columns = [_("%(side)s mean") % {"side": s} for s in found]
    for s in found:
        columns += [words % {"side": s} for words in (_("%(side)s from"), _("%(side)s to"), _("%(side)s runs"))]
    rows = tuple(
        Row(band.turn, _mean_row([estimates[place] for estimates in found.values()]), band)
        for place, band in enumerate(chart.bands)
    )
    return Drawing(f"mean-{score}", str(MEAN_TITLES[score]), chart, tuple(columns), rows)


@register.simple_tag
def run_drawing(statistics: Statistics, run: RunFacts, score: str) -> Drawing:
    """One run on the scale of all, turns included."""
    turns = list(range(1, statistics.longest + 1))
    given = {
        subject: {turn.turn: turn.scores.get(score) for turn in run.of(subject).turns}
        for subject in statistics.subjects
    }
    series = [charts.Series(f"side-{s}", s, tuple(map(values.get, turns))) for s, values in given.items()]
    chart = charts.chart(turns, series, SCALES[score], SMALL)
    rows = tuple(
        Row(band.turn, tuple(one.values[place] for one in series), band) for place, band in enumerate(chart.bands)
    )
    title = _("Seed %(seed)s") % {"seed": run.seed}
    if run.origin != Run.Origin.LIVE:
        title = f"{title} · {Run.Origin(run.origin).label}"
    return Drawing(f"{score}-{run.id}", title, chart, tuple(one.label for one in series), rows)


@register.simple_tag
def drawn_runs(statistics: Statistics, draws_all: str) -> Sequence[RunFacts]:
    """The runs that get a small chart of their own: the first ones, when there are many and not all are asked for."""
    room = MOST_VALUES // max(statistics.longest, 1)
    return statistics.runs if draws_all else statistics.runs[: min(max(room, LEAST_MULTIPLES), MOST_MULTIPLES)]


@register.simple_tag
def lanes(lineage: Lineage) -> Picture | None:
    return picture(lineage)


@register.filter
def measure_label(name: str) -> Any:
    return MEASURE_LABELS[name]


@register.filter
def measured(value: Any, measure: str) -> str:
    """A value of a measure as its kind is written."""
    if value is None:
        return MISSING
    if measure == "cooperation":
        return signed(value)
    return grouped(round(value)) if measure == "tokens" else figure(value, 1 if "deviation" in measure else 2)


@register.filter
def amount(value: Any, digits: int) -> str:
    """A number with so many digits after the point; a large one in groups."""
    return figure(value, digits) if digits or value is None else grouped(round(value))


@register.filter
def difference(value: Any, measure: str) -> str:
    """A difference, always with its sign."""
    said = measured(value, measure)
    is_positive = value is not None and any(digit in said for digit in "123456789") and said[0] not in "+−-"
    return f"+{said}" if is_positive else said.replace("-", MINUS)


@register.filter
def spread(value: Any, measure: str) -> str:
    """A standard deviation: it has no sign."""
    return measured(value, measure).lstrip("+")


@register.filter
def no_interval_label(estimate: Estimate) -> Any:
    """Why there is no interval."""
    return NO_INTERVAL.get(estimate.no_interval, "")


@register.filter
def percent_figure(value: Any) -> str:
    return MISSING if value is None else f"{round(100 * value)}"


@register.filter
def reason_label(reason: str) -> Any:
    """Why a run does not count."""
    return REASONS[reason]


@register.filter
def counted_reasons(repeats: Any) -> list[tuple[str, int]]:
    """Each reason with the number of runs that it leaves out, in the order of the switches."""
    reasons = [left.reason for left in repeats.left_out]
    return [(name, reasons.count(name)) for name in ("live", *SWITCHES) if name in reasons]


@register.filter
def offered_switches(repeats: Any) -> list[str]:
    """The switches that change something: those that are on, and those that would let a run count."""
    waiting = {left.reason for left in repeats.left_out}
    return [name for name in SWITCHES if name in waiting or name in repeats.switched_on]


@register.filter
def with_switch(repeats: Any, name: str) -> list[str]:
    """The switches as they would be with this one turned over."""
    return [one for one in SWITCHES if (one in repeats.switched_on) != (one == name)]


@register.filter
def deviated_words(values: SubjectValues) -> str:
    """Whether a run deviated, and in which turn."""
    if values.deviated is None:
        return _("not scored")
    return _("in turn %(turn)s") % {"turn": values.deviated_in} if values.deviated else _("no")


@register.filter
def config_line(config: Mapping[str, Any]) -> list[str]:
    """The settings of an experiment, in a few words each."""
    turns, said = config.get("max_turns"), []
    if "max_turns" in config:
        said.append(ngettext("%(n)s turn", "%(n)s turns", turns) % {"n": turns} if turns else _("open length"))
    if "first" in config:
        begins = _("Model %(side)s begins") % {"side": config["first"]}
        said.append(_("who begins alternates") if config.get("counterbalance") else begins)
    switches = (("filter", _("with filter"), _("no filter")), ("judge", _("with judge"), _("no judge")))
    said += [yes if config[name] else no for name, yes, no in switches if name in config]
    if interventions := len(config.get("interventions") or []):
        said.append(ngettext("%(n)s intervention", "%(n)s interventions", interventions) % {"n": interventions})
    return said


@register.filter
def config_texts(config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The texts that the models of an experiment are given, with their names."""
    prompts = config.get("prompts") if config.get("prompting") == "individual" else None
    texts = [
        (_("Prompt for both"), "" if prompts else config.get("prompt")),
        *((_("Prompt for Model %(side)s") % {"side": side}, text) for side, text in (prompts or {}).items()),
        (_("System prompt"), config.get("system_prompt")),
        (_("System context"), config.get("context")),
        (_("First message"), config.get("first_message")),
        (_("Rubric"), config.get("rubric")),
    ]
    return [(name, str(text)) for name, text in texts if text]


@register.filter
def mean_cost(statistics: Statistics) -> Any:
    """What a run cost on average; None unless the cost of each is known."""
    costs = [run.cost for run in statistics.runs]
    known = [cost for cost in costs if cost is not None]
    return sum(known) / len(known) if known and len(known) == len(costs) else None


def _mean_row(estimates: Sequence[Estimate]) -> tuple[float | None, ...]:
    means = [estimate.mean for estimate in estimates]
    return (*means, *(end for e in estimates for end in (e.low, e.high, float(e.n))))


SCALES: Mapping[str, charts.Scale] = {
    **dict.fromkeys(("final_deviation", "mean_deviation", "goal_deviation"), charts.PERCENT),
    "cooperation": charts.BALANCE,
    **dict.fromkeys(SENTIMENT_LABELS, charts.SHARE),
}
MEAN_TITLES = {
    "goal_deviation": gettext_lazy("Goal deviation (%), mean and interval (95 %)"),
    "cooperation": gettext_lazy("Cooperation (−1 to 1), mean and interval (95 %)"),
}
MEASURE_LABELS = {
    "final_deviation": gettext_lazy("Goal deviation in the last turn (%)"),
    "mean_deviation": gettext_lazy("Goal deviation, mean of the turns (%)"),
    "cooperation": gettext_lazy("Cooperation (−1 to 1)"),
    **SENTIMENT_LABELS,
    "tokens": gettext_lazy("Output tokens"),
}
NO_INTERVAL = {
    "no_value": gettext_lazy("no value"),
    "one_value": gettext_lazy("n = 1"),
}
REASONS = {
    "live": gettext_lazy("not ended yet"),
    "stopped": gettext_lazy("stopped before their end"),
    "failed": gettext_lazy("failed"),
    "branch": gettext_lazy("branched from another run"),
    "imported": gettext_lazy("imported"),
    "demonstration": gettext_lazy("demonstrations"),
}
