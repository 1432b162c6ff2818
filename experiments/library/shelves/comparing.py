"""Two to four runs side by side: what was set up, what it came to, and what was said."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from accounts.errors import Invalid, NotFound
from experiments.library.shelves.settings_beside import Beside, differing
from experiments.models import Message, Run
from experiments.runs import progress
from experiments.runs.comparison import Cell, Comparison, Row, Said, compare
from experiments.runs.statistics import rows
from experiments.runs.statistics.summary import SubjectValues, values_of

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

LEAST, MOST = 2, 4
MOST_MESSAGES = 400  # of each run
LONGEST_TEXT = 20_000  # characters of a message
SHOWN = ("id", "run_id", "turn", "seat", "text", "raw_text", "operator")


@dataclass(frozen=True, slots=True)
class Side:
    """A run with its place, from 1, how far it is, and how many of its messages are left out here."""

    number: int
    run: Run
    progress: progress.Progress
    models: Mapping[str, Any]
    left_out: int


@dataclass(frozen=True)
class Beheld:
    """What the page and the API show. numbers: of each judged subject, one entry for each run. shortened: how many
    messages are longer than what is shown of them.
    """

    sides: Sequence[Side]
    settings: Sequence[Beside]
    settings_alike: int
    numbers: Mapping[str, Sequence[SubjectValues]]
    comparison: Comparison
    shortened: int

    @cached_property
    def columns(self) -> list[tuple[Side, list[tuple[int, Row, Cell]]]]:
        """Each run with what it has in every row, numbered from 1."""
        numbered = list(enumerate(self.comparison.rows, 1))
        return [(side, [(n, row, row.cells[side.number - 1]) for n, row in numbered]) for side in self.sides]

    @property
    def left_out(self) -> int:
        return sum(side.left_out for side in self.sides)


def chosen(reader: "User | AnonymousUser", ids: Iterable[str]) -> list[Run]:
    """The runs in this order, each once. Raises NotFound for one that may not be seen, and Invalid for too few or too
    many.
    """
    try:
        wanted = list(dict.fromkeys(UUID(one) for one in ids))
    except ValueError as error:
        raise NotFound from error
    if not LEAST <= len(wanted) <= MOST:
        raise Invalid(run=_("Choose %(least)s to %(most)s runs to compare.") % {"least": LEAST, "most": MOST})
    seen = Run.objects.visible_to(reader).filter(pk__in=wanted).with_totals().select_related("experiment__owner")
    found = {run.pk: run for run in seen.prefetch_related("experiment__participants__model__provider")}
    if len(found) < len(wanted):
        raise NotFound
    return [found[key] for key in wanted]


def of(runs: Sequence[Run]) -> Beheld:
    """runs: as `chosen` gives them."""
    talks = [_messages(run) for run in runs]
    settings, alike = differing(runs)
    shown = [[_as_said(message) for message in talk[:MOST_MESSAGES]] for talk in talks]
    longer = sum(len(m.raw_text or m.text) > LONGEST_TEXT for talk in talks for m in talk[:MOST_MESSAGES])
    return Beheld(
        sides=[_side(number, run, talk) for number, (run, talk) in enumerate(zip(runs, talks, strict=True), 1)],
        settings=settings,
        settings_alike=alike,
        numbers=_numbers(runs),
        comparison=compare(*shown),
        shortened=longer,
    )


def _messages(run: Run) -> "Sequence[Message]":
    """The talk as it stands, without answers in whose place another was asked for; one more than are shown."""
    rows = run.messages.filter(superseded=False).order_by("turn", "seq")
    return list(rows.only(*SHOWN)[: MOST_MESSAGES + 1])


def _side(number: int, run: Run, talk: Sequence[Message]) -> Side:
    there = run.messages.filter(superseded=False).count() if len(talk) > MOST_MESSAGES else len(talk)
    models = {one.seat: one.model for one in run.experiment.participants.all()}
    return Side(number, run, progress.of(run), models, max(0, there - MOST_MESSAGES))


def _as_said(message: Message) -> Said:
    return Said(
        turn=message.turn,
        seat=message.seat,
        text=(message.raw_text or message.text)[:LONGEST_TEXT],
        passed_on=message.text[:LONGEST_TEXT],
        id=str(message.pk),
        edited_by=str((message.operator or {}).get("by", "")),
    )


def _numbers(runs: Sequence[Run]) -> dict[str, list[SubjectValues]]:
    subjects = tuple(dict.fromkeys(subject for run in runs for subject in rows.subjects_of(run.experiment)))
    facts = rows.facts(runs, subjects)
    return {subject: [values_of(one.of(subject)) for one in facts] for subject in subjects}
