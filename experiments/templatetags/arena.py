"""Words and figures of the pages: events as fragments, Markdown, numbers, moments and icons."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from django import template
from django.utils.dateparse import parse_datetime
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from experiments.lab.budgets import standing as budget_standing
from experiments.models import Run
from experiments.models.client import ClientSystem
from experiments.models.labels import (
    ACTIONS,
    BAND_LABELS,
    END_REASONS,
    ERRORS,
    FLAGS,
    INTERVENTION_KINDS,
    PARAMS,
    PURPOSES,
    SCRIPT_CONDITIONS,
    SENTIMENT_LABELS,
    seat_name,
    short_name,
    stage_name,
    workflow_name,
)
from experiments.models.labels import judge_saw as judge_saw_words
from experiments.runs import timeline
from experiments.runs.markdown import to_html
from experiments.runs.timeline import Entry
from experiments.setup.forms import CHOICES
from experiments.setup.layout import SetupFact, facts
from experiments.workflows import surface_of, workflow_of
from experiments.workflows.base.judge import SENTIMENTS
from experiments.workflows.base.limits import WORDS

register = template.Library()


MISSING = "–"
SAID_BY_FINISH = {"length": "truncated", "content_filter": "refusal"}
MINUS = "−"


@register.simple_tag
def setup_facts(run: Run) -> list[SetupFact]:
    return list(facts(run.experiment.workflow, run.config))


@register.filter
def in_words(name: str) -> str:
    """A name of a program as people would write it: `topic_covered` is "Topic covered"."""
    return name.replace("_", " ").capitalize()


@register.simple_tag
def run_title(run: Run) -> str:
    title = surface_of(run.experiment.workflow).title
    return str(title) % {"title": run.experiment.title} if title else run.experiment.title


@register.simple_tag
def entry(shown: Entry, run: Run, **words: Any) -> SafeString:
    """The fragment of an entry, as the WebSocket sends it too. words: what only the page knows, as it does the run."""
    return mark_safe(timeline.render(shown, run.pk, timeline.look_of(run.experiment), run=run, **words))  # noqa: S308 - a rendered template


@register.simple_tag
def within(slots: Mapping[str, list[Entry]] | None, name: str, *parts: Any) -> list[Entry]:
    """What stands in a slot at first paint; nothing in a fragment that was pushed."""
    return (slots or {}).get("-".join(str(part) for part in (name, *parts) if part != ""), [])


@register.filter
def judge_saw(saw: Mapping[str, str] | str) -> list[str]:
    """Nothing of an event that was written before this was stored."""
    return judge_saw_words(saw) if isinstance(saw, Mapping) else []


@register.filter
def markdown(text: str) -> SafeString:
    return mark_safe(to_html(text or ""))  # noqa: S308 - sanitised by to_html


@register.filter
def moment(value: Any) -> datetime | None:
    """A datetime, also from the text that events carry."""
    return value if isinstance(value, datetime) or not value else parse_datetime(str(value))


@register.filter
def turn_name(turn: int | None) -> str:
    """What is said before the first turn, such as a debate's request, is in none."""
    return gettext("Turn %(turn)s") % {"turn": turn} if turn else gettext("Before turn 1")


@register.filter
def grouped(value: Any) -> str:
    """A whole number with its thousands grouped: 12,345."""
    return MISSING if value is None or value == "" else f"{int(value):,}"


@register.filter
def money(value: Any) -> str:
    """US dollars, precise where they are few: $12.50, $0.0042."""
    if value is None or value == "":
        return MISSING
    amount = Decimal(str(value))
    if 0 < amount < Decimal("0.0001"):
        return "<$0.0001"
    return f"${amount:,.2f}" if amount >= 1 or not amount else f"${amount:.4f}"


@register.filter
def exact_money(value: Any) -> str:
    """US dollars with every digit that counts."""
    if value is None or value == "":
        return MISSING
    digits = f"{Decimal(str(value)):.10f}".rstrip("0")
    whole, _dot, fraction = digits.partition(".")
    return f"${whole}.{fraction.ljust(2, '0')}"


@register.filter
def limits_shown(limits: Mapping[str, Any] | None, in_dollars: Callable[[Any], str] = money) -> str:
    """The limits of a run in words; "none" without any."""
    given = {name: value for name in WORDS if (value := (limits or {}).get(name)) is not None}
    told = [
        gettext(WORDS[name].shown) % {"n": f"{round(value):,}", "money": in_dollars(value)}
        for name, value in given.items()
    ]
    return ", ".join(told) or gettext("none")


@register.filter
def limit_fields(limits: Mapping[str, Any] | None) -> list[tuple[str, str, Any]]:
    """Names, labels and values of the fields in which limits are changed."""
    return [(name, gettext(words.label), (limits or {}).get(name)) for name, words in WORDS.items()]


@register.filter
def clock(seconds: Any) -> str:
    """Seconds as 4:05 or 1:04:05."""
    if seconds is None or seconds == "":
        return MISSING
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


@register.filter
def rounded(value: int) -> str:
    """A whole number as roughly as it is known: 24,000."""
    digits = max(0, len(str(abs(value))) - 2)
    return f"{round(value, -digits):,}"


@register.filter
def duration(seconds: int) -> str:
    """A guessed time in words: 40 s, 12 min, 1 h 5 min."""
    if seconds < 90:
        return _("%(n)s s") % {"n": max(1, seconds)}
    hours, minutes = divmod(round(seconds / 60), 60)
    said = _("%(n)s min") % {"n": minutes}
    return f"{_('%(n)s h') % {'n': hours}} {said}" if hours else said


@register.filter
def figure(value: Any, digits: int = 2) -> str:
    """A number without needless zeros: 12.5, 0.07."""
    return MISSING if value is None or value == "" else f"{round(float(value), digits) + 0.0:g}".replace("-", MINUS)


@register.filter
def p_value(value: float | None) -> str:
    """To four digits. A smaller one is not 0."""
    return "< 0.0001" if value is not None and value < 0.0001 else figure(value, 4)


@register.filter
def signed(value: Any) -> str:
    """A number between -1 and 1 with its sign: +0.40, −0.15, 0.00."""
    if value is None or value == "":
        return MISSING
    rounded = round(float(value), 2)
    return f"{rounded:+.2f}".replace("-", MINUS) if rounded else "0.00"


@register.filter
def at(mapping: Mapping[str, Any] | None, key: str) -> Any:
    """The value under a key that is only known at run time; None when there is none."""
    return mapping.get(key) if mapping else None


@register.filter
def sentiment_label(name: str) -> Any:
    return SENTIMENT_LABELS.get(name, name)


@register.filter
def dominant(scores: Mapping[str, Any] | None) -> list[Any]:
    """The labels of the strongest sentiments; several when they tie, none when all are zero or missing."""
    given = {name: scores[name] for name in SENTIMENTS if scores and scores.get(name) is not None}
    most = max(given.values(), default=0)
    return [SENTIMENT_LABELS[name] for name, value in given.items() if value == most] if most else []


@register.filter
def strongest(scores: Mapping[str, Any] | None) -> float | None:
    """The value of the strongest sentiment; None when none was scored."""
    return max((scores[name] for name in SENTIMENTS if scores and scores.get(name) is not None), default=None)


@register.filter
def end_reason(reason: str) -> Any:
    """Why a run came to its end, in words."""
    return END_REASONS.get(reason, reason)


@register.filter
def purpose_label(purpose: str) -> Any:
    return PURPOSES.get(purpose, purpose)


@register.filter
def error_label(kind: str) -> Any:
    """What kind of failure it was, in words."""
    return ERRORS.get(kind, kind.replace("_", " "))


register.filter(seat_name)


@register.filter
def seat_among(seat: str, names: Mapping[str, Any] | None) -> Any:
    """What a seat is called in the transcripts of a workflow. names: those of its surface."""
    return (names or {}).get(seat) or seat_name(seat)


register.filter(short_name)
register.filter(stage_name)
register.filter(workflow_name)


@register.filter
def is_member(seat: str) -> bool:
    """Whether a council's member sits there."""
    return seat.startswith("member-")


@register.filter
def is_judged(workflow: str) -> bool:
    """Whether a judge can score its runs, once more or for the first time."""
    return workflow_of(workflow).judge is not None


@register.filter
def flag_label(flag: str) -> Any:
    """What looks wrong with a message, in words."""
    return FLAGS.get(flag, flag.replace("_", " "))


@register.filter
def beside(flags: Sequence[str], finish_reason: str) -> list[str]:
    """The flags that say more than the mark of the finish reason beside them."""
    return [flag for flag in flags or () if flag != SAID_BY_FINISH.get(finish_reason)]


@register.filter
def band_label(number: int | None) -> Any:
    """How far a goal deviation is, in a word."""
    return MISSING if number is None else BAND_LABELS[number]


@register.filter
def measured_score(value: float, measure: str) -> str:
    """A score as its measure is written: cooperation with its sign, goal deviation to a tenth."""
    return signed(value) if measure == "cooperation" else figure(value, 1)


@register.filter
def changed_score(value: float, measure: str) -> str:
    """The difference of two scores, with its sign; ±0 where there is none."""
    digits = 2 if measure == "cooperation" else 1
    said = figure(value, digits)
    if round(value, digits) == 0:
        return "±0"
    return f"+{said}" if value > 0 else said


@register.filter
def choice_label(value: str) -> Any:
    """A setting's value, in the words of the set-up form."""
    return CHOICES.get(value, value)


@register.filter
def param_label(name: str) -> Any:
    """What a parameter of a seat is called."""
    return PARAMS.get(name, name)


@register.filter
def intervention_label(kind: str) -> Any:
    return dict(INTERVENTION_KINDS).get(kind, kind)


@register.filter
def script_condition(when: str) -> Any:
    """When a message of a script is sent, in words."""
    return SCRIPT_CONDITIONS[when]


@register.filter
def action_label(action: str | None) -> Any:
    """What was said at a pause, in words."""
    return ACTIONS.get(action or "", action)


@register.filter
def budget_reached(told: Mapping[str, Any]) -> str:
    """Why a run was stopped, in the reader's language, from what its last event tells of the budget."""
    return budget_standing.reached(told)


@register.filter
def client_name(system: str) -> str:
    """Whose client it was, by the name that its system has in every language."""
    return str(ClientSystem(system).label)
