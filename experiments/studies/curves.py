"""In which turn something happens, drawn: the Kaplan-Meier curves of the contrasts of times, as a look stored them."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from experiments.models import StudyLook
from experiments.runs.drawings import charts

SIZE = charts.Size(width=360, height=170, right=12)
RISK_ROW, RISK_HEIGHT = 14.0, 46.0  # below the drawing: a line of numbers at risk, and all of them with their title
KEYS = ("side-A", "side-B")  # colors


@dataclass(frozen=True, slots=True)
class AtTurn:
    """share: of the runs in which it has not happened by then, 0 to 1, with its interval, None once it has happened in
    all. at_risk: runs that had come so far without it.
    """

    share: float
    low: float | None
    high: float | None
    at_risk: int


@dataclass(frozen=True, slots=True)
class Side:
    """One level of a contrast. which: first or second. turns: as the rows of the table; ticks: places of turns below
    the drawing, with the numbers at risk, which stand at the height y.
    """

    key: str
    which: str
    name: str
    n: int
    median: float | None
    median_low: float | None
    median_high: float | None
    turns: Sequence[AtTurn]
    ticks: Sequence[tuple[float, int]]
    y: float
    line: charts.Line

    @property
    def interval(self) -> str:
        """Of the median; "" where it is not known. An end that was not reached is left open."""
        if self.median_low is None:
            return ""
        if self.median_high is None:
            return _("%(low)s or later") % {"low": f"{self.median_low:g}"}
        return _("%(low)s to %(high)s") % {"low": f"{self.median_low:g}", "high": f"{self.median_high:g}"}


@dataclass(frozen=True, slots=True)
class Curves:
    """The sides of a contrast on one scale. number: of this drawing on the page."""

    number: int
    contrast: str
    outcome: str
    sides: Sequence[Side]
    chart: charts.Chart
    height: float = SIZE.height + RISK_HEIGHT

    @property
    def rows(self) -> Sequence[tuple[charts.Band, Sequence[AtTurn]]]:
        """A turn at which a curve changes, or its first or last, and what both sides are then."""
        return list(zip(self.chart.bands, zip(*(side.turns for side in self.sides), strict=True), strict=True))


def drawn(look: StudyLook) -> list[Curves]:
    """Those that have runs on both sides, in the order of the plan. A look of an earlier version has none."""
    compared = {one["name"]: one for one in (*look.analyzed["contrasts"], *look.analyzed["explored"])}
    several = [one for one in look.results.get("curves", ()) if one["first"]["n"] and one["second"]["n"]]
    return [_drawn(number, one, compared[one["contrast"]]) for number, one in enumerate(several, 1)]


def _drawn(number: int, one: Mapping[str, Any], contrast: Mapping[str, Any]) -> Curves:
    sides = [one["first"], one["second"]]
    names = [", ".join(contrast[which].values()) for which in ("first", "second")]
    ends = [turn for side in sides for turn in (*side["times"], *(at for at, _runs in side["censored"]))]
    turns = sorted({0, round(one["until"]), *map(round, ends)})
    states = [[_at(side, turn) for turn in turns] for side in sides]
    chart = charts.step_chart(
        turns,
        [
            charts.Series(key, name, tuple(state.share for state in several))
            for key, name, several in zip(KEYS, names, states, strict=True)
        ],
        [
            charts.Spread(key, tuple(state.low for state in several), tuple(state.high for state in several))
            for key, several in zip(KEYS, states, strict=True)
        ],
        [{round(turn) for turn, _runs in side["censored"]} for side in sides],
        charts.SHARE,
        SIZE,
    )
    several = zip(KEYS, ("first", "second"), names, sides, states, chart.lines, strict=True)
    shown = [
        Side(
            key=key,
            which=which,
            name=name,
            **{field: side[field] for field in ("n", "median", "median_low", "median_high")},
            turns=at_turns,
            ticks=[(tick.at, _at(side, round(tick.value)).at_risk) for tick in chart.x_ticks],
            y=SIZE.height + (row + 1) * RISK_ROW,
            line=line,
        )
        for row, (key, which, name, side, at_turns, line) in enumerate(several, 1)
    ]
    return Curves(number, one["contrast"], contrast["outcome"], shown, chart)


def _at(side: Mapping[str, Any], turn: int) -> AtTurn:
    """How a curve stands at a turn, after what happened in it; at risk are the runs that came to it."""
    ended = [*zip(side["times"], side["events"], strict=True), *side["censored"]]
    gone = sum(runs for at, runs in ended if at < turn)
    place = bisect_right(side["times"], turn) - 1
    share, low, high = (1.0, 1.0, 1.0) if place < 0 else (side[name][place] for name in ("share", "low", "high"))
    return AtTurn(share, low, high, side["n"] - gone)
