"""Words, figures and pieces of the pages of coding contests: places of events, verdicts, checks, scores and ratings."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.runs import figures
from experiments.runs.markdown import coloured
from experiments.templatetags.arena import MINUS, MISSING, figure
from experiments.workflows.coding.pages.drawings import Histogram
from experiments.workflows.coding.pages.rated import Figure, reason_words
from experiments.workflows.coding.pages.run_page import (
    called,
    check_name,
    check_places,
    coders,
    matrix,
    phases,
    vote_anchor,
)
from experiments.workflows.coding.pages.setup import backend_label

Data = Mapping[str, Any]
Cast = Mapping[str, str]

register = template.Library()
for shared in (figures.bounds, figures.rank_range, figures.rating_or_bound, reason_words, called):
    register.filter(shared)
register.filter("rating_points", figures.elo)
register.filter("backend_words", backend_label)
register.simple_tag(matrix, name="contest_matrix")
register.simple_tag(phases, name="contest_phases")
register.simple_tag(check_places)


# --- numbers ---


@register.filter
def tenth(value: Any) -> str:
    """A score with one decimal, always: 7.0."""
    return MISSING if value is None or value == "" else f"{float(value):.1f}"


@register.filter
def in_hundredths(value: Any) -> str:
    return MISSING if value is None or value == "" else f"{float(value):.2f}"


@register.filter
def tenfold(value: float) -> str:
    """A score of 0 to 10 as a width of 0 to 100."""
    return f"{10 * value:g}"


@register.filter
def points_changed(value: Any) -> str:
    """A change of a rating, with its sign: +8.3, −0.4."""
    return MISSING if value is None or value == "" else f"{round(float(value), 1) + 0.0:+.1f}".replace("-", MINUS)


@register.filter
def change(value: float | None) -> str:
    """By how much a rating moved, to a tenth; nothing for who was not in the cycle."""
    return points_changed(value) if value is None or round(value, 1) else "±0"


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", MINUS) if round(value, 2) else "0.00"


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", MINUS)


FORMS: dict[str, Callable[[float], str]] = {
    "points": tenth,
    "signed": _signed,
    "plain": _plain,
    "percent": figures.in_percent,
}


@register.simple_tag
def figure_of(found: Figure, form: str) -> SafeString:
    """A figure with its interval. form: points (one decimal), plain (two), signed (two, with its sign), percent."""
    if found.value is None:
        return format_html('<span class="muted small why">{}</span>', reason_words(found.reason))
    written = FORMS[form]
    if found.low is None or found.high is None:
        beside = _("no interval: %(reason)s") % {"reason": reason_words(found.no_interval)} if found.no_interval else ""
        why = " why"
    else:
        beside, why = figures.span(written(found.low), written(found.high)), ""
    return format_html('<b>{}</b> <span class="muted small{}">{}</span>', written(found.value), why, beside)


@register.filter
def histogram_words(drawing: Histogram) -> str:
    bars = [f"{figure(bar.low, 1)}–{figure(bar.high, 1)}: {bar.count}" for bar in drawing.filled]
    return _("Cycles by overall average: %(bars)s") % {"bars": ", ".join(bars)}


# --- who takes part ---


@register.filter
def coder_number(seat: str) -> str:
    """2 for "coder-2"."""
    return seat.rpartition("-")[2]


@register.filter
def left_out(data: Data, cast: Cast | None) -> list[dict[str, str]]:
    """Who does not take part after a look at the pool, and why, as far as this look says it."""
    found = {one["seat"]: one for one in data["checked"]}
    absent = [seat for seat in cast or found if seat not in data["pool"]]
    return [{"seat": seat, **found.get(seat, {"state": "", "error": ""})} for seat in absent]


@register.filter
def was_skipped(data: Data) -> bool:
    """Whether nobody was asked whether they are there."""
    return bool(data["checked"]) and all(one["state"] == "skipped" for one in data["checked"])


@register.filter
def absent(data: Data, cast: Cast | None) -> list[str]:
    """The names of those who are seated and do not take part in a cycle."""
    return [one.name for one in coders(cast or {}) if one.seat not in data["coders"]]


@register.filter
def best_of(rated: Data) -> tuple[str, float] | None:
    """The seat with the highest mean of a cycle, and that mean."""
    means: Mapping[str, float] = rated["means"]
    return max(means.items(), key=lambda item: item[1]) if means else None


# --- problems, and what the sandbox found ---

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
    "echo": gettext_lazy("returns its input"),
}
LABELS = {  # of ways to compare results, and of what judges give points for
    "exact": gettext_lazy("exactly equal"),
    "tolerance": gettext_lazy("numbers within a tolerance"),
    "unordered": gettext_lazy("lists in any order"),
    "correctness": gettext_lazy("Correctness"),
    "efficiency": gettext_lazy("Efficiency"),
    "readability": gettext_lazy("Readability"),
    "robustness": gettext_lazy("Robustness"),
    "explanation": gettext_lazy("Explanation"),
    "overall": gettext_lazy("Overall"),
}
MOST_COLOURED = 6  # models side by side whose code has its colours on the page of a run: colours are many elements


@register.filter
def sentences(reason: str) -> list[str]:
    """A reason that holds several, one a line."""
    return [line for line in reason.splitlines() if line.strip()]


@register.filter
def contest_label(name: str) -> Any:
    return LABELS.get(name, name)


@register.filter
def as_json(value: Any) -> str:
    """A value as it stands in a test, on one line."""
    return json.dumps(value, ensure_ascii=False)


@register.filter
def call_words(arguments: Iterable[Any]) -> str:
    """Arguments as they are written in a call."""
    return ", ".join(map(as_json, arguments))


@register.filter
def code(text: str, language: str = "python") -> SafeString:
    """A program with its colours; without them where no language is named."""
    return mark_safe(coloured(text or "", language))  # noqa: S308 - sanitised by coloured


@register.filter
def is_coloured(cast: Cast | None) -> bool:
    """Whether so few models write side by side that their code can have its colours at once."""
    return len(cast or {}) <= MOST_COLOURED


@register.filter
def verdict_label(verdict: str) -> Any:
    return VERDICTS.get(verdict, (verdict, verdict))[1]


@register.filter
def verdict_sign(verdict: str) -> str:
    return str(VERDICTS.get(verdict, ("?", verdict))[0])


@register.filter
def failures(verdicts: Sequence[Data]) -> str:
    """The tests that were not passed, by what became of them."""
    missed: dict[str, list[str]] = {}
    for one in verdicts:
        if one["verdict"] != "passed":
            missed.setdefault(one["verdict"], []).append(one["name"])
    return "; ".join(f"{verdict_label(verdict)}: {', '.join(names)}" for verdict, names in missed.items())


@register.simple_tag
def dots(verdicts: Sequence[Data]) -> SafeString:
    """A sign for each test; the words beside them say the same."""
    signs = (
        (one["verdict"], f"{one['name']}: {verdict_label(one['verdict'])}", verdict_sign(one["verdict"]))
        for one in verdicts
    )
    items = format_html_join("", '<li class="dot {}" title="{}">{}</li>', signs)
    return format_html('<ul class="dots" aria-hidden="true">{}</ul>', items)


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
def check_state(data: Data) -> str:
    """Whether a check came out as it has to: good, bad or unknown."""
    if data["state"] != "done":
        return "unknown"
    passed = bool(data["of"]) and data["passed"] == data["of"]
    return "good" if passed == has_to_pass(data["key"]) else "bad"


@register.filter
def recorded_check(check: Data) -> str:
    """The same of a check as it is recorded with its problem."""
    return check_state({**check, "key": check["name"], "state": "failed" if check["passed"] is None else "done"})


# --- votes ---

VOTE = '<td class="vote score-{}" id="{}" data-slot="{}" title="{}">{}</td>'
MISSING_VOTE = (
    '<td class="vote missing" id="{}" data-slot="{}" title="{}">'
    '<span aria-hidden="true">✗</span><span class="sr">{}</span></td>'
)


@register.simple_tag
def vote_cell(data: Data, cast: Cast | None = None) -> SafeString:
    """The cell of a vote. Hundreds stand on a page, so that they are no templates."""
    judgment, place = data["judgment"], vote_anchor(data)
    who = {"judge": called(judgment["judge_seat"], cast), "solver": called(judgment["subject"], cast)}
    if judgment["scores"] is None:
        words = _("%(judge)s gave %(solver)s no vote: %(reason)s") % {**who, "reason": judgment["unscored_reason"]}
        return format_html(MISSING_VOTE, place, place, words, _("no vote"))
    overall = judgment["scores"]["overall"]
    return format_html(VOTE, min(9, int(overall)), place, place, _("%(judge)s on %(solver)s") % who, tenth(overall))
