"""Words of the reports that several of their parts need."""

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from experiments.models import labels
from experiments.templatetags.arena import MISSING, error_label, exact_money, grouped

SEAT_NAMES = {
    "A": gettext_lazy("Model A"),
    "B": gettext_lazy("Model B"),
    "model": gettext_lazy("Model"),
    "researcher": gettext_lazy("Researcher"),
    "judge": gettext_lazy("Judge"),
    "filter": gettext_lazy("Filter"),
    "friend": gettext_lazy("Friend"),
    "person": gettext_lazy("Person"),
    "chair": gettext_lazy("Chair"),
    "refiner": gettext_lazy("Refiner"),
    "summarizer": gettext_lazy("Summarizer"),
    "title": gettext_lazy("Title"),
}
BADGES = {
    "model": "M",
    "researcher": "R",
    "judge": "J",
    "filter": "F",
    "friend": "Fr",
    "person": "P",
    "chair": "Ch",
    "refiner": "Re",
    "summarizer": "Su",
    "title": "T",
}
PURPOSE_NAMES: dict[str, Any] = {"friend": gettext_lazy("friend's answer")}
NUMBERED = re.compile(r"(?:member|coder|(chair)|(pool))-(\d+)")


def seat_name(seat: str) -> str:
    return str(SEAT_NAMES.get(seat) or labels.seat_name(seat))


def badge(seat: str) -> str:
    """One or two letters; a member's or a coder's is its number."""
    if found := NUMBERED.fullmatch(seat):
        return f"{'C' if found[1] else 'P' if found[2] else ''}{found[3]}"
    return BADGES.get(seat, seat[:2])


def seat_order(seat: str) -> tuple[str, int]:
    """By which seats are sorted, so that the tenth member follows the ninth."""
    name, _hyphen, number = seat.rpartition("-")
    return (name, int(number)) if number.isdigit() else (seat, 0)


def workflow_name(workflow: str) -> str:
    return str(labels.workflow_name(workflow))


def purpose_name(purpose: str) -> str:
    return str(PURPOSE_NAMES.get(purpose) or labels.PURPOSES.get(purpose, purpose.replace("_", " ")))


def flag_name(flag: str) -> str:
    """What looks wrong with an answer or a ballot, in words."""
    return str(labels.FLAGS.get(flag, str(flag).replace("_", " ")))


def end_reason(reason: str) -> str:
    """Why a run came to its end: a reason of its own, or the kind of failure that ended it."""
    return str(labels.END_REASONS.get(reason) or error_label(reason))


def abstention(reason: str) -> str:
    """In the reader's language where we know the sentence: workflows speak English."""
    return _(reason) if reason else ""


def order(groups: Sequence[Sequence[str]]) -> str:
    """Member 2 > Member 1 = Member 3: best first, equals together."""
    return " > ".join(" = ".join(seat_name(seat) for seat in group) for group in groups)


def moment(value: datetime | None) -> str:
    """2026-03-01 12:00:05 UTC."""
    return f"{value:%Y-%m-%d %H:%M:%S} UTC" if value else MISSING


def duration(span: timedelta | None) -> str:
    """4m 5s; unknown when the run never started."""
    if span is None:
        return _("unknown")
    minutes, seconds = divmod(max(0, round(span.total_seconds())), 60)
    return f"{minutes}m {seconds}s"


def tokens(counts: Iterable[int | None]) -> str:
    """A sum of tokens; a lower bound when some are unknown, missing when all are."""
    return _sum(counts, grouped) or MISSING


def cost(amounts: Iterable[Decimal | None]) -> str:
    """A sum of US dollars; a lower bound when some are unknown, and unknown when all are."""
    given = list(amounts)
    return _sum(given, exact_money) or (_("unknown") if given else exact_money(0))


def _sum(values: Iterable[Any], written: Callable[[Any], str]) -> str:
    """Empty when none is known."""
    given = list(values)
    known = [value for value in given if value is not None]
    unknown = len(given) - len(known)
    if not known or not unknown:
        return written(sum(known)) if known else ""
    more = ngettext("%(n)d call unknown", "%(n)d calls unknown", unknown) % {"n": unknown}
    return f"≥ {written(sum(known))} ({more})"


def characters(text: str) -> str:
    """How long it is."""
    return ngettext("%(n)s character", "%(n)s characters", len(text)) % {"n": grouped(len(text))}


def yes_or_no(value: Any) -> str:
    return _("yes") if value else _("no")
