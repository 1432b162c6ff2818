"""Two to four runs side by side: what was set up, what it came to, and what was said."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.errors import Invalid, NotFound
from experiments.models import Message, Run
from experiments.models.labels import PARAMS, seat_name
from experiments.models.seats import SEATED
from experiments.runs import progress
from experiments.runs.comparison import Allowance, Cell, Comparison, Piece, Row, Said, compare, word_differences
from experiments.runs.statistics import rows as run_rows
from experiments.runs.statistics.summary import SubjectValues, values_of
from experiments.setup.forms import flat

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

LEAST, MOST = 2, 4
MOST_MESSAGES = 400  # of each run
LONGEST_TEXT = 20_000  # characters of a message
LONG = 80  # characters of a setting: a longer one is shown by what differs in it
MISSING = "–"
SHOWN = ("id", "run_id", "turn", "seat", "text", "raw_text", "operator")
LABELS = {
    "workflow": gettext_lazy("Workflow"),
    "prompt": gettext_lazy("Prompt for both"),
    "system_prompt": gettext_lazy("System prompt"),
    "context": gettext_lazy("System context"),
    "first_message": gettext_lazy("First message"),
    "question": gettext_lazy("Question"),
    "rubric": gettext_lazy("Rubric"),
    "max_turns": gettext_lazy("Max turns"),
    "mode": gettext_lazy("Mode"),
    "first": gettext_lazy("Begins"),
    "filter": gettext_lazy("Filter"),
    "judge": gettext_lazy("Judge"),
    "persona": gettext_lazy("Persona"),
    "limits.cost": gettext_lazy("Max cost"),
    "limits.tokens": gettext_lazy("Max tokens"),
    "limits.seconds": gettext_lazy("Max seconds"),
    "dataset": gettext_lazy("Dataset"),
    "rounds": gettext_lazy("Rounds"),
    "cycles": gettext_lazy("Cycles"),
}


@dataclass(frozen=True, slots=True)
class Beside:
    """A setting in each of the runs, as words. pieces: beside those of the first run, empty where that helps nobody."""

    name: str
    label: str
    values: tuple[Any, ...]
    words: tuple[str, ...]
    pieces: tuple[tuple[Piece, ...], ...]

    @property
    def is_long(self) -> bool:
        return any(len(words) > LONG for words in self.words)

    @property
    def cells(self) -> Iterable[tuple[str, tuple[Piece, ...]]]:
        return zip(self.words, self.pieces, strict=True)


@dataclass(frozen=True, slots=True)
class Side:
    """A run with its place, from 1, how far it is, and how many of its messages are left out here."""

    number: int
    run: Run
    progress: progress.Progress
    models: Mapping[str, Any]
    left_out: int


@dataclass(frozen=True)
class SideBySide:
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


def of(runs: Sequence[Run]) -> SideBySide:
    """runs: as `chosen` gives them."""
    sides, said, shortened = [], [], 0
    for number, run in enumerate(runs, 1):
        rows = run.messages.filter(superseded=False)  # without answers in whose place another was asked for
        messages = list(rows.order_by("turn", "seq").only(*SHOWN)[: MOST_MESSAGES + 1])
        left_out = rows.count() - MOST_MESSAGES if len(messages) > MOST_MESSAGES else 0
        models = {one.seat: one.model for one in run.experiment.participants.all()}
        sides.append(Side(number, run, progress.of(run), models, left_out))
        said.append([_as_said(message) for message in messages[:MOST_MESSAGES]])
        shortened += sum(len(one.raw_text or one.text) > LONGEST_TEXT for one in messages[:MOST_MESSAGES])
    settings, alike = differing(runs)
    subjects = tuple(dict.fromkeys(subject for run in runs for subject in run_rows.subjects_of(run.experiment)))
    facts = run_rows.facts(runs, subjects)
    numbers = {subject: [values_of(one.of(subject)) for one in facts] for subject in subjects}
    return SideBySide(sides, settings, alike, numbers, compare(*said), shortened)


def _as_said(message: Message) -> Said:
    is_seated = (message.operator or {}).get("kind") == SEATED
    return Said(
        turn=message.turn,
        seat=message.seat,
        text=(message.raw_text or message.text)[:LONGEST_TEXT],
        passed_on=message.text[:LONGEST_TEXT],
        id=str(message.pk),
        edited_by="" if is_seated else str((message.operator or {}).get("by", "")),
    )


def differing(runs: Sequence[Run]) -> tuple[list[Beside], int]:
    """The settings that are not the same in all runs, and how many are."""
    found = [dict(_settings(run)) for run in runs]
    names = list(dict.fromkeys(name for one in found for name in one))
    differ = [name for name in names if len({repr(one.get(name)) for one in found}) > 1]
    allowance = Allowance()
    return [_beside(name, [one.get(name) for one in found], allowance) for name in differ], len(names) - len(differ)


def _settings(run: Run) -> Iterator[tuple[str, Any]]:
    yield "workflow", run.experiment.workflow
    for one in run.experiment.participants.all():
        yield f"cast.{one.seat}.model", one.model.slug
        yield f"cast.{one.seat}.persona", one.persona or None
        for name, value in one.params.items():
            yield f"cast.{one.seat}.{name}", value
    for name, value in flat(run.config):
        yield name.replace("-", "."), value


def _beside(name: str, values: Sequence[Any], allowance: Allowance) -> Beside:
    words = tuple(map(_in_words, values))
    first, *others = words
    compared = [word_differences(first, one, allowance) if len(one) > LONG else None for one in others]
    return Beside(name, _label(name), tuple(values), words, ((), *(pieces or () for pieces in compared)))


def _in_words(value: Any) -> str:
    if value is None or value == "":
        return MISSING
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_in_words(one)}" for name, one in value.items())
    return ", ".join(map(_in_words, value)) or MISSING if isinstance(value, list | tuple) else str(value)


def _label(name: str) -> str:
    match name.split("."):
        case ["cast", seat, "model"]:
            return str(seat_name(seat))
        case ["cast", seat, "persona"]:
            return _("%(seat)s, persona") % {"seat": seat_name(seat)}
        case ["cast", seat, *rest]:
            return f"{seat_name(seat)}, {PARAMS.get(rest[0], rest[0])}"
        case ["prompts", side]:
            return _("Prompt for Model %(side)s") % {"side": side}
    return str(LABELS.get(name) or name.replace("_", " ").replace(".", ": "))
