"""A judge's scores as a table: a line per criterion, with what the first and the second shown were given."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from experiments.models import Contestant, Verdict

SIDES = ("left", "right")
LETTERS = ("A", "B")  # what a judge calls what it is shown first and second


@dataclass(frozen=True, slots=True)
class Line:
    """A criterion. values: of the first and the second shown, None where there is none. higher: 0 or 1, which of them
    is the higher one; None where neither is.
    """

    criterion: str
    values: tuple[float | None, float | None]
    higher: int | None

    @property
    def cells(self) -> list[tuple[float | None, bool]]:
        """Each value, and whether it is the higher one."""
        return [(value, place == self.higher) for place, value in enumerate(self.values)]


@dataclass(frozen=True, slots=True)
class Scores:
    """absent: why scores are missing, as sentences. others: what else was given, such as by judges of elsewhere."""

    lines: tuple[Line, ...]
    absent: tuple[str, ...]
    others: tuple[tuple[str, str], ...]


def scores_of(verdict: Verdict, shown: tuple[Contestant, Contestant]) -> Scores:
    """shown: the contestants in the order in which the judge saw them."""
    given: Mapping[str, Any] = verdict.scores if isinstance(verdict.scores, Mapping) else {}
    absent = given.get("absent")
    sides = SIDES if verdict.order == Verdict.Order.ORIGINAL else SIDES[::-1]
    tables: list[Any] = [given.get(side) for side in sides]
    is_table = all(isinstance(one, Mapping) for one in tables)
    apart = {*(SIDES if is_table else ()), *(("absent",) if isinstance(absent, list) else ())}
    return Scores(
        lines=tuple(_lines(*tables)) if is_table else (),
        absent=tuple(_named(str(said), shown) for said in absent) if isinstance(absent, list) else (),
        others=tuple((_words(name), _text(value)) for name, value in given.items() if name not in apart),
    )


def _lines(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[Line]:
    return [_line(name, _number(first.get(name)), _number(second.get(name))) for name in {**first, **second}]


def _line(name: str, first: float | None, second: float | None) -> Line:
    differ = first is not None and second is not None and first != second
    higher = None if not differ else 0 if (first or 0) > (second or 0) else 1
    return Line(_words(name), (first, second), higher)


def _named(said: str, shown: tuple[Contestant, Contestant]) -> str:
    """With the contestant's name for the letter that the judge knew it by."""
    for letter, contestant in zip(LETTERS, shown, strict=True):
        before, _whose, rest = said.partition("'s ")
        if before == letter:
            return f"{contestant}: {rest}"
    return said


def _words(name: Any) -> str:
    """A criterion's name as words: text_rendering is Text rendering."""
    words = str(name).replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _text(value: Any) -> str:
    """Anything that JSON can say, in one line."""
    if isinstance(value, Mapping):
        return ", ".join(f"{_words(name)} {_text(one)}" for name, one in value.items())
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    if isinstance(value, float):
        return f"{value:g}"
    return "–" if value is None else str(value)
