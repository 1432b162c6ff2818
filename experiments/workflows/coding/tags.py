"""Words, figures and pieces of the pages of coding contests: places of events, verdicts, checks, scores and ratings."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models.labels import seat_name
from experiments.runs import figures
from experiments.runs.markdown import coloured
from experiments.runs.timeline import Entry
from experiments.templatetags.arena import MINUS, MISSING, figure
from experiments.workflows.coding.pages import board, coders, isolation
from experiments.workflows.coding.pages.drawings import Histogram
from experiments.workflows.coding.pages.rated import Figure
from experiments.workflows.coding.pages.slots import check_name, vote_anchor
from experiments.workflows.coding.pages.words import reason_words

register = template.Library()
register.filter(figures.bounds)
register.filter(figures.rank_range)
register.filter(figures.rating_or_bound)
register.filter(reason_words)

VOTE = '<td class="vote score-{}" id="{}" data-slot="{}" title="{}">{}</td>'
MISSING_VOTE = (
    '<td class="vote missing" id="{}" data-slot="{}" title="{}">'
    '<span aria-hidden="true">✗</span><span class="sr">{}</span></td>'
)
MOST_COLOURED = 6  # models side by side whose code has its colours on the page of a run: colours are many elements


# --- events in their places ---


@register.simple_tag
def contest_matrix(
    slots: Mapping[str, list[Entry]] | None, begun: Mapping[str, Any], cast: Mapping[str, str]
) -> board.Matrix:
    return board.matrix(dict(slots or {}), begun, cast)


@register.simple_tag
def contest_phases(slots: Mapping[str, list[Entry]] | None, begun: Mapping[str, Any]) -> list[board.Phase]:
    return board.phases(dict(slots or {}), begun)


@register.simple_tag
def check_places(
    slots: Mapping[str, list[Entry]] | None, turn: int, version: str = ""
) -> list[tuple[str, list[Entry]]]:
    """The place of each check of a problem, or of its second version ("repair-"), with what stands there."""
    names = [f"{version}{name}" for name in board.CHECKS]
    return [(name, (slots or {}).get(f"check-{turn}-{name}", [])) for name in names]


@register.simple_tag
def vote_cell(data: Mapping[str, Any], cast: Mapping[str, str] | None = None) -> SafeString:
    """The cell of a vote. Hundreds stand on a page, so that they are no templates."""
    judgment, place = data["judgment"], vote_anchor(data)
    called = coders.names(cast or {})
    who = [called.get(judgment[name]) or str(seat_name(judgment[name])) for name in ("judge_seat", "subject")]
    if judgment["scores"] is None:
        words = _("%(judge)s gave %(solver)s no vote: %(reason)s") % {
            "judge": who[0],
            "solver": who[1],
            "reason": judgment["unscored_reason"],
        }
        return format_html(MISSING_VOTE, place, place, words, _("no vote"))
    overall = judgment["scores"]["overall"]
    words = _("%(judge)s on %(solver)s") % {"judge": who[0], "solver": who[1]}
    return format_html(VOTE, min(9, int(overall)), place, place, words, tenth(overall))


# --- words ---


@register.filter
def tenth(value: Any) -> str:
    """A score with one decimal, always: 7.0."""
    return MISSING if value is None or value == "" else f"{float(value):.1f}"


@register.filter
def in_hundredths(value: Any) -> str:
    return MISSING if value is None or value == "" else f"{float(value):.2f}"


@register.filter
def share(value: Any) -> str:
    """A share of 0 to 1 in whole per cent."""
    return MISSING if value is None or value == "" else f"{round(100 * float(value))} %"


@register.filter
def coder_number(seat: str) -> str:
    """2 for "coder-2"."""
    return seat.rpartition("-")[2]


@register.filter
def called(seat: str, cast: Mapping[str, str] | None) -> str:
    """The name of the model in a seat; the seat's own where nobody is known to sit there."""
    return coders.names(cast or {}).get(seat) or str(seat_name(seat))


@register.filter
def left_out(data: Mapping[str, Any], cast: Mapping[str, str] | None) -> list[dict[str, Any]]:
    """Who does not take part after a look at the pool, and why, as far as this look says it."""
    found = {one["seat"]: one for one in data["checked"]}
    absent = [seat for seat in cast or found if seat not in data["pool"]]
    return [{"seat": seat, **found.get(seat, {"state": "", "error": ""})} for seat in absent]


@register.filter
def absent(data: Mapping[str, Any], cast: Mapping[str, str] | None) -> list[str]:
    """The names of those who are seated and do not take part in a cycle."""
    named = coders.names(cast or {})
    return [name for seat, name in named.items() if seat not in data["coders"]]


@register.filter
def phase_label(name: str) -> Any:
    return PHASES[name]


@register.filter
def phase_state(state: str) -> Any:
    return STATES[state]


@register.filter
def sentences(reason: str) -> list[str]:
    """A reason that holds several, one a line."""
    return [line for line in reason.splitlines() if line.strip()]


@register.filter
def best_of(rated: Mapping[str, Any]) -> tuple[str, float] | None:
    """The seat with the highest mean of a cycle, and that mean."""
    means: Mapping[str, float] = rated["means"]
    return max(means.items(), key=lambda item: item[1]) if means else None


@register.filter
def was_skipped(data: Mapping[str, Any]) -> bool:
    """Whether nobody was asked whether they are there."""
    return bool(data["checked"]) and all(one["state"] == "skipped" for one in data["checked"])


@register.filter
def verdict_label(verdict: str) -> Any:
    return VERDICTS.get(verdict, (verdict, verdict))[1]


@register.filter
def verdict_sign(verdict: str) -> str:
    return str(VERDICTS.get(verdict, ("?", verdict))[0])


@register.filter
def failures(verdicts: Sequence[Mapping[str, Any]]) -> str:
    """The tests that were not passed, by what became of them."""
    missed: dict[str, list[str]] = {}
    for one in verdicts:
        if one["verdict"] != "passed":
            missed.setdefault(one["verdict"], []).append(one["name"])
    return "; ".join(f"{verdict_label(verdict)}: {', '.join(names)}" for verdict, names in missed.items())


@register.simple_tag
def dots(verdicts: Sequence[Mapping[str, Any]]) -> SafeString:
    """A sign for each test; the words beside them say the same."""
    signs = (
        (one["verdict"], f"{one['name']}: {verdict_label(one['verdict'])}", verdict_sign(one["verdict"]))
        for one in verdicts
    )
    return format_html(
        '<ul class="dots" aria-hidden="true">{}</ul>',
        format_html_join("", '<li class="dot {}" title="{}">{}</li>', signs),
    )


@register.filter
def check_label(key: str) -> Any:
    """Which check of a problem an execution is."""
    name = check_name(key).removeprefix("repair-")
    if name.startswith("mutant-"):
        return _("reference with an error %(number)s") % {"number": name.rpartition("-")[2]}
    return CHECKS.get(name, name)


@register.filter
def has_to_pass(key: str) -> bool:
    """Of the reference, which has to pass; all others have to fail."""
    return check_name(key).removeprefix("repair-").startswith("reference")


@register.filter
def check_state(data: Mapping[str, Any]) -> str:
    """Whether a check came out as it has to: good, bad or unknown."""
    if data["state"] != "done":
        return "unknown"
    passed = bool(data["of"]) and data["passed"] == data["of"]
    return "good" if passed == has_to_pass(data["key"]) else "bad"


@register.filter
def recorded_check(check: Mapping[str, Any]) -> str:
    """The same of a check as it is recorded with its problem."""
    done = check["passed"] is not None
    return check_state({**check, "key": check["name"], "state": "done" if done else "failed"})


@register.filter
def tenfold(value: float) -> str:
    """A score of 0 to 10 as a width of 0 to 100."""
    return f"{10 * value:g}"


@register.filter
def rating_points(value: float | None) -> str:
    return figures.elo(value)


@register.filter
def points_changed(value: Any) -> str:
    """A change of a rating, with its sign: +8.3, −0.4."""
    return MISSING if value is None or value == "" else f"{round(float(value), 1) + 0.0:+.1f}".replace("-", MINUS)


@register.filter
def comparison_label(name: str) -> Any:
    return COMPARISONS.get(name, name)


@register.filter
def dimension_label(name: str) -> Any:
    return DIMENSION_LABELS.get(name, name)


@register.filter
def as_json(value: Any) -> str:
    """A value as it stands in a test, on one line."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def call_words(arguments: Iterable[Any]) -> str:
    """Arguments as they are written in a call."""
    return ", ".join(map(as_json, arguments))


@register.filter
def code(text: str) -> SafeString:
    """Python with its colours."""
    return mark_safe(coloured(text or "", "python"))  # noqa: S308 - sanitised by coloured


@register.filter
def is_coloured(cast: Mapping[str, str] | None) -> bool:
    """Whether so few models write side by side that their code can have its colours at once."""
    return len(cast or {}) <= MOST_COLOURED


@register.filter
def backend_words(name: str) -> Any:
    return isolation.backend_label(name)


@register.filter
def histogram_words(drawing: Histogram) -> str:
    bars = [f"{figure(bar.low, 1)}–{figure(bar.high, 1)}: {bar.count}" for bar in drawing.filled]
    return _("Cycles by overall average: %(bars)s") % {"bars": ", ".join(bars)}


# --- ratings ---


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", MINUS) if round(value, 2) else "0.00"


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)


@register.simple_tag
def figure_of(found: Figure, form: str) -> SafeString:
    """A figure with its interval. form: points (one decimal), plain (two), signed (two, with its sign), percent."""
    if found.value is None:
        return format_html('<span class="muted small why">{}</span>', reason_words(found.reason))
    written = FORMS[form]
    value = written(found.value)
    if found.low is None or found.high is None:
        why = _("no interval: %(reason)s") % {"reason": reason_words(found.no_interval)} if found.no_interval else ""
        return format_html('<b>{}</b> <span class="muted small why">{}</span>', value, why)
    return format_html(
        '<b>{}</b> <span class="muted small">{}</span>', value, figures.span(written(found.low), written(found.high))
    )


@register.filter
def change(value: float | None) -> str:
    """By how much a rating moved, to a tenth; nothing for who was not in the cycle."""
    if value is None:
        return MISSING
    return f"{value:+.1f}".replace("-", MINUS) if round(value, 1) else "±0"


FORMS: dict[str, Callable[[float], str]] = {
    "points": tenth,
    "signed": _signed,
    "plain": _plain,
    "percent": figures.in_percent,
}
PHASES = {
    "problem": gettext_lazy("Problem"),
    "checks": gettext_lazy("Checks"),
    "solutions": gettext_lazy("Solutions"),
    "executed": gettext_lazy("Executed"),
    "judged": gettext_lazy("Judged"),
    "rated": gettext_lazy("Rated"),
}
VERDICTS = {
    "passed": ("✓", gettext_lazy("passed")),
    "failed": ("✗", gettext_lazy("wrong result")),
    "error": ("!", gettext_lazy("error")),
    "timeout": ("T", gettext_lazy("out of time")),
    "memory": ("M", gettext_lazy("out of memory")),
    "output_limit": ("O", gettext_lazy("printed too much")),
    "not_run": ("–", gettext_lazy("not run")),
}
CHECKS = {
    "reference": gettext_lazy("reference"),
    "reference-again": gettext_lazy("reference, again"),
    "constant": gettext_lazy("always the same result"),
    "echo": gettext_lazy("gives back its input"),
}
COMPARISONS = {
    "exact": gettext_lazy("exactly equal"),
    "tolerance": gettext_lazy("numbers within a tolerance"),
    "unordered": gettext_lazy("lists in any order"),
}
DIMENSION_LABELS = {
    "correctness": gettext_lazy("Correctness"),
    "efficiency": gettext_lazy("Efficiency"),
    "readability": gettext_lazy("Readability"),
    "robustness": gettext_lazy("Robustness"),
    "explanation": gettext_lazy("Explanation"),
    "overall": gettext_lazy("Overall"),
}
STATES = {
    "waiting": gettext_lazy("waits"),
    "active": gettext_lazy("under way"),
    "done": gettext_lazy("done"),
    "void": gettext_lazy("void"),
}
