"""How the set-ups of several runs differ: prompts, cast and parameters, each setting that is not the same in all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models import Run
from experiments.models.labels import PARAMS, seat_name
from experiments.runs.comparison import Allowance, Piece, word_differences
from experiments.setup.config_form import flat

LONG = 80  # characters: a longer text is shown by what differs in it
MISSING = "–"


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


LABELS = {
    "workflow": gettext_lazy("Workflow"),
    "prompt": gettext_lazy("Prompt for both"),
    "system_prompt": gettext_lazy("System prompt"),
    "context": gettext_lazy("System context"),
    "first_message": gettext_lazy("First message"),
    "question": gettext_lazy("Question"),
    "rubric": gettext_lazy("Rubric"),
    "max_turns": gettext_lazy("Turns at most"),
    "mode": gettext_lazy("Mode"),
    "first": gettext_lazy("Begins"),
    "filter": gettext_lazy("Filter"),
    "judge": gettext_lazy("Judge"),
    "persona": gettext_lazy("Persona"),
    "limits.cost": gettext_lazy("Limit of cost"),
    "limits.tokens": gettext_lazy("Limit of tokens"),
    "limits.seconds": gettext_lazy("Limit of seconds"),
    "dataset": gettext_lazy("Dataset"),
    "rounds": gettext_lazy("Rounds"),
    "cycles": gettext_lazy("Cycles"),
}
