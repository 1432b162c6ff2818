"""Fields that Django does not have: text with its own line ends, texts one a line, and rows of things."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)?")
LEAST_ROWS = 3  # so many can be filled in without a script

Row = dict[str, Any]


def as_typed(text: str) -> str:
    """The text with a line feed at each line end: browsers send two characters, whatever was shown."""
    return re.sub("\r\n?", "\n", text)


def is_same(text: str, shown: str) -> bool:
    """Whether a field that showed `shown` came back as it was."""
    return as_typed(text) == as_typed(shown)


def restored(text: str, shown: str) -> str:
    """What somebody meant who changed `shown` into `text`: the lines above and below the change are those that were
    shown, with their own line ends; each line in between ends with a line feed.
    """
    if is_same(text, shown):
        return shown
    typed, before = ([line for line in LINE.findall(one) if line] for one in (as_typed(text), shown))
    above = _equal(typed, before)
    below = _equal(typed[above:][::-1], before[above:][::-1])
    kept_below = before[len(before) - below :]
    return "".join((*before[:above], *typed[above : len(typed) - below], *kept_below))


def _equal(typed: list[str], shown: list[str]) -> int:
    """How many lines from the beginning on are the same."""
    pairs = zip(typed, shown, strict=False)
    return sum(1 for _pair in takewhile(lambda pair: pair[0] == as_typed(pair[1]), pairs))


def pairs(text: str) -> list[tuple[str, str]]:
    """`value = words` a line; words alone name themselves."""
    found = []
    for line in text.splitlines():
        name, equals, words = (part.strip() for part in line.partition("="))
        if name:
            found.append((name, words if equals else name))
    return found


class LinesField(forms.CharField):
    """Text as it was typed: browsers send each line end as two characters, whichever was typed."""

    def to_python(self, value: Any) -> str:
        return as_typed(str(super().to_python(value)))


class LineListField(forms.CharField):
    """One text a line; blank lines are none."""

    widget = forms.Textarea(attrs={"rows": 5})

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) or value is None else "\n".join(value)

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(super().to_python(value)).splitlines() if line.strip()]


class Rows(forms.Widget):
    """Rows of `NAME-0-PART` in the order in which they were sent. A row in which none of `telling` was written is none.

    They are drawn by a template of their own, so that it cannot render itself.
    """

    def __init__(self, parts: Sequence[str], telling: Sequence[str]) -> None:
        super().__init__()
        self.parts, self.telling = tuple(parts), tuple(telling)

    def value_from_datadict(self, data: Mapping[str, Any], files: MultiValueDict[str, Any], name: str) -> list[Row]:
        pattern = re.compile(rf"{re.escape(name)}-(\d{{1,4}})-(?:{'|'.join(self.parts)})")
        numbers = dict.fromkeys(int(found[1]) for key in data if (found := pattern.fullmatch(key)))
        rows = [{part: str(data.get(f"{name}-{number}-{part}", "")) for part in self.parts} for number in numbers]
        return [row for row in rows if any(row[part].strip() for part in self.telling)]

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return False

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        raise NotImplementedError("Rows are drawn by the template of their form.")


class RowsField(forms.Field):
    """{part: value} of each row. fields: what is filled in for each part of a row. errors: complaints by row and part,
    after cleaning; part "" for the whole row.
    """

    def __init__(self, fields: Mapping[str, forms.Field], telling: Sequence[str], **options: Any) -> None:
        super().__init__(**{"required": False, "initial": list, "widget": Rows(tuple(fields), telling), **options})
        self.fields = fields
        self.errors: dict[int, dict[str, str]] = {}

    def clean(self, value: Any) -> list[Row]:
        """Each part as text, also of rows that were stored; the Config checks what it says."""
        self.errors = {}
        typed = [{part: row.get(part) for part in self.fields} for row in value or []]
        return [{part: "" if text is None else as_typed(str(text)) for part, text in row.items()} for row in typed]

    def sent(self, name: str, rows: Iterable[Row]) -> Row:
        """The rows as a browser would send them."""
        return {f"{name}-{n}-{part}": value for n, row in enumerate(rows or ()) for part, value in row.items()}

    def complain(self, row: int, part: str, message: str) -> str:
        """Note a complaint at its row. Rows count from 0. Returns the complaint as it is said of the whole list."""
        self.errors.setdefault(row, {})[part if part in self.fields else ""] = message
        return self.of_list(row, message)

    def of_list(self, row: int, message: str) -> str:
        return _("%(row)s: %(message)s") % {"row": self.row_name(row), "message": message}

    def row_name(self, row: int) -> Any:
        return _("Row %(number)s") % {"number": row + 1}
