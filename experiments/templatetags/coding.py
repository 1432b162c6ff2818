"""Words and pieces of the pages of coding contests."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import template
from django.forms import BaseForm
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from experiments import figures, fragments
from experiments.contests import board, coders, isolation
from experiments.contests.drawings import Histogram
from experiments.contests.estimates import Guess
from experiments.contests.forms import LEAST_ROWS
from experiments.contests.rated import Solver as Rated
from experiments.contests.slots import check_name, slot_of
from experiments.council_cast import short_name as shortened
from experiments.council_forms import models_offered
from experiments.forms import CHOICES, EFFORTS
from experiments.labels import seat_name
from experiments.markdown import coloured
from experiments.models import ProviderModel, Run
from experiments.templatetags.arena import MINUS, figure
from experiments.templatetags.setup import Group, Option, grouped_by_provider
from experiments.timeline import Entry
from experiments.workflows.coding.config import MOST_CODERS
from experiments.workflows.coding.judging import DIMENSIONS

register = template.Library()

MOST_COLOURED = 6  # models side by side whose code has its colours on the page of a run: colours are many elements


VOTE = '<td class="vote score-{}" id="{}" data-slot="{}" title="{}">{}</td>'
MISSING_VOTE = (
    '<td class="vote missing" id="{}" data-slot="{}" title="{}">'
    '<span aria-hidden="true">✗</span><span class="sr">{}</span></td>'
)


@dataclass(frozen=True, slots=True)
class CoderRow:
    """One row of the form. shown: its number as people count. error: what is wrong with it."""

    number: int | str
    shown: str
    model: str = ""
    temperature: Any = ""
    max_tokens: Any = ""
    reasoning_effort: str = ""
    error: str = ""

    @property
    def has_params(self) -> bool:
        return bool(self.error or self.temperature or self.max_tokens or self.reasoning_effort)


@dataclass(frozen=True, slots=True)
class CoderRows:
    """blank: what a script adds rows from."""

    rows: list[CoderRow]
    blank: CoderRow


# --- the form ---


@register.simple_tag
def coder_rows(form: BaseForm) -> CoderRows:
    """The models as they were chosen, with empty rows so that more can be chosen without a script."""
    errors = form.fields["coders"].row_errors if form.is_bound else {}  # type: ignore[attr-defined]
    given = form["coders"].value() or []
    rows = [_coder_row(number, row, errors.get(number, "")) for number, row in enumerate(given)]
    blank = [CoderRow(number, str(number + 1)) for number in range(len(rows), max(len(rows) + 1, LEAST_ROWS))]
    return CoderRows([*rows, *blank][:MOST_CODERS], CoderRow("__NUMBER__", "__SHOWN__"))


@register.simple_tag
def coder_groups() -> list[Group]:
    """Every model that can take part, by provider, the simulated ones last."""
    offered = models_offered()
    models = {m.slug: m for m in ProviderModel.objects.available().filter(slug__in=[slug for slug, _label in offered])}
    return grouped_by_provider([Option(slug, label, False, models.get(slug)) for slug, label in offered])


@register.simple_tag
def effort_choices() -> list[tuple[str, Any]]:
    return [("", _("the model's own")), *((effort, CHOICES[effort]) for effort in EFFORTS)]


@register.filter
def setters_words(guess: Guess | None) -> str:
    """Who sets the problems, as the form is filled in."""
    if guess is None:
        return _("In turn where the cycles are a multiple of the models, otherwise drawn by the seed.")
    n = {"n": guess.coders}
    if guess.mode == "random":
        words = _("The seed draws a setter for each cycle. In turn comes out even with %(n)s cycles, or a multiple.")
        return words % n
    if guess.each != int(guess.each):
        return _("In turn, but not evenly: that needs %(n)s cycles, or a multiple.") % n
    each = int(guess.each)
    words = ngettext("In turn: every model sets once.", "In turn: every model sets %(n)s times.", each)
    return words % {"n": each} if each > 1 else words


def _coder_row(number: int, row: Mapping[str, Any], error: str) -> CoderRow:
    named = {name: row.get(name) or "" for name in ("temperature", "max_tokens", "reasoning_effort")}
    return CoderRow(number, str(number + 1), row["model"], **named, error=error)


# --- entries in their places ---


@register.simple_tag
def contest_entry(shown: Entry, run: Run, cast: Mapping[str, str], **words: Any) -> SafeString:
    """The fragment of an entry; first paint gives it words that a pushed one does without."""
    return mark_safe(fragments.render(shown, run.pk, "coding", run=run, cast=cast, **words))  # noqa: S308 - a rendered template


@register.simple_tag
def within(slots: Mapping[str, list[Entry]] | None, name: str, *parts: Any) -> list[Entry]:
    """What stands in a slot at first paint; nothing in a fragment that was pushed."""
    return (slots or {}).get("-".join([name, *map(str, parts)]), [])


@register.simple_tag
def contest_place(type_: str, data: Mapping[str, Any]) -> str:
    return slot_of(type_, data)


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
    judgment, turn = data["judgment"], data["turn"]
    place = f"vote-{turn}-{judgment['subject']}-{judgment['judge_seat']}"
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


# --- words and figures ---


@register.filter
def tenth(value: Any) -> str:
    """A score with one decimal, always: 7.0."""
    return "–" if value is None or value == "" else f"{float(value):.1f}"


@register.filter
def in_hundredths(value: Any) -> str:
    return "–" if value is None or value == "" else f"{float(value):.2f}"


@register.filter
def share(value: Any) -> str:
    """A share of 0 to 1 in whole per cent."""
    return "–" if value is None or value == "" else f"{round(100 * float(value))} %"


@register.filter
def coder_number(seat: str) -> str:
    """2 for "coder-2"."""
    return seat.rpartition("-")[2]


@register.filter
def short_name(label: str) -> str:
    return shortened(label)


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
    """The tests that were not passed, with what became of each."""
    missed = [one for one in verdicts if one["verdict"] != "passed"]
    return ", ".join(f"{one['name']} ({verdict_label(one['verdict'])})" for one in missed)


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
def rank_words(solver: Rated) -> str:
    """1, or 1–3 where the rank cannot be told more closely."""
    if solver.best is None:
        return "–"
    return str(solver.best) if solver.best == solver.worst else f"{solver.best}–{solver.worst}"


@register.filter
def interval_words(solver: Rated) -> str:
    return figures.bounds(solver.rating, solver.lower, solver.upper)


@register.filter
def points_changed(value: Any) -> str:
    """A change of a rating, with its sign: +8.3, −0.4."""
    return "–" if value is None or value == "" else f"{round(float(value), 1) + 0.0:+.1f}".replace("-", MINUS)


@register.filter
def comparison_label(name: str) -> Any:
    return COMPARISONS.get(name, name)


@register.filter
def dimension_label(name: str) -> Any:
    return DIMENSION_LABELS.get(name, name)


@register.simple_tag
def dimensions() -> tuple[str, ...]:
    return DIMENSIONS


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


@register.simple_tag
def cycle_address(run_id: UUID, turn: int) -> str:
    return f"/runs/{run_id}/cycles/{turn}/"


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
