"""Periods of a board: days in UTC on which its battles were decided."""

import re
from calendar import monthrange
from datetime import UTC, date, timedelta
from typing import NamedTuple, Self

from django.db.models import Max, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Invalid
from experiments.lab.usage.days import midnight
from experiments.models import Board

RECENT = ("30d", "90d")  # that pages offer, beside months
MOST_MONTHS = 120
LONGEST_WORD = 40


class Period(NamedTuple):
    """From the first to the last day, both included; without one it is open to that side."""

    first: date | None = None
    last: date | None = None

    @classmethod
    def read(cls, word: str) -> Self:
        """A month as 2026-11, days as 2026-01-15..2026-02-28 of which one may be missing, or the last days as 30d,
        today included. Empty for all time. Raises Invalid for anything else.
        """
        try:
            if last := re.fullmatch(r"([1-9]\d{0,3})d", word, re.ASCII):
                today = timezone.now().astimezone(UTC).date()
                return cls(today - timedelta(days=int(last[1]) - 1), today)
            if month := re.fullmatch(r"(\d{4})-(\d\d)", word, re.ASCII):
                first = date(int(month[1]), int(month[2]), 1)
                return cls(first, first.replace(day=monthrange(first.year, first.month)[1]))
            first_word, dots, last_word = word.partition("..")
            period = cls(*(date.fromisoformat(one) if one else None for one in (first_word, last_word)))
            if word in ("", dots) or (dots and not (period.first and period.last and period.first > period.last)):
                return period
        except ValueError:
            pass
        said = _(
            "“%(word)s” is no period. Write a month as 2026-11, days as 2026-01-15..2026-02-28, the earlier day "
            "first, or the last 30 days as 30d."
        )
        raise Invalid({"period": [said % {"word": word[:LONGEST_WORD]}]})

    @property
    def word(self) -> str:
        """Its days, as `read` reads them; empty for all time."""
        return "..".join(day.isoformat() if day else "" for day in self) if any(self) else ""

    @property
    def battles(self) -> Q:
        """Which battles were decided in it. Imported ones whose time is unknown are in none but all time."""
        found = Q()
        if self.first:
            found &= Q(judged__gte=midnight(self.first))
        if self.last:
            found &= Q(judged__lt=midnight(self.last) + timedelta(days=1))
        return found


def slice_words(word: str, facet: str) -> str:
    """What a slice is called: a period by its days, anything else by its name."""
    if facet == "period" and word.endswith("d"):
        return _("Last %(n)s days") % {"n": word[:-1]}
    if facet != "period" or ".." not in word:
        return word
    first, _dots, last = word.partition("..")
    if not last:
        return _("Since %(day)s") % {"day": first}
    return f"{first} – {last}" if first else _("Until %(day)s") % {"day": last}


def months_of(board: Board) -> tuple[str, ...]:
    """The months in which battles of the board were decided, newest first, as 2026-11: at most MOST_MONTHS."""
    found: list[str] = []
    before = Q(judged__isnull=False)
    while len(found) < MOST_MONTHS and (newest := board.battles.filter(before).aggregate(at=Max("judged"))["at"]):
        first = newest.astimezone(UTC).date().replace(day=1)
        found.append(f"{first:%Y-%m}")
        before = Q(judged__lt=midnight(first))
    return tuple(found)
