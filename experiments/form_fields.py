"""Fields that Django does not have: text with its own line ends, and a list of planned interventions."""

import re
from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.datastructures import MultiValueDict
from django.utils.translation import gettext as _

from experiments.workflows.arena.config import LONGEST_PROMPT, MOST_INTERVENTIONS

Row = dict[str, Any]

PARTS = ("kind", "side", "turn", "text")
KINDS = ("friend", "note", "alter")
SIDES = ("A", "B")
LAST_TURN = 1000
LEAST_ROWS = 3  # so many can be filled in without a script


class LinesField(forms.CharField):
    """Text as it was typed: browsers send each line end as two characters, whichever was typed."""

    def to_python(self, value: Any) -> str:
        return re.sub("\r\n?", "\n", str(super().to_python(value)))


class LineListField(forms.CharField):
    """One text a line; blank lines are none."""

    widget = forms.Textarea(attrs={"rows": 5})

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) or value is None else "\n".join(value)

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(super().to_python(value)).splitlines() if line.strip()]


class Rows(forms.Widget):
    """Rows of `NAME-0-PART` for each of the parts. A row in which none of `telling` was written is none.

    They are drawn by a template of their own, so that it cannot render itself.
    """

    parts: tuple[str, ...]
    telling: tuple[str, ...]

    def value_from_datadict(self, data: Mapping[str, Any], files: MultiValueDict[str, Any], name: str) -> list[Row]:
        pattern = re.compile(rf"{re.escape(name)}-(\d{{1,4}})-(?:{'|'.join(self.parts)})")
        numbers = sorted({int(found[1]) for key in data if (found := pattern.fullmatch(key))})
        rows = [{part: str(data.get(f"{name}-{number}-{part}", "")) for part in self.parts} for number in numbers]
        return [row for row in rows if any(row[part].strip() for part in self.telling)]

    def value_omitted_from_data(self, data: Mapping[str, Any], files: Any, name: str) -> bool:
        return False

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> Any:
        raise NotImplementedError("Rows are drawn by the template of their form.")


class InterventionRows(Rows):
    parts, telling = PARTS, ("text", "turn")


class InterventionsField(forms.Field):
    """What is planned to be done to the sides. row_errors: complaints by row and part, after cleaning."""

    widget = InterventionRows

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "initial": list, **options})
        self.row_errors: dict[int, dict[str, str]] = {}

    def clean(self, value: Any) -> list[Row]:
        self.row_errors = {}
        rows = [self._row(number, row) for number, row in enumerate(value or [])]
        if len(rows) > MOST_INTERVENTIONS:
            raise forms.ValidationError(
                _("At most %(most)s interventions can be planned.") % {"most": MOST_INTERVENTIONS}
            )
        if self.row_errors:
            raise forms.ValidationError(list(self._complaints()))
        return rows

    def complain(self, number: int, part: str, message: str) -> None:
        self.row_errors.setdefault(number, {})[part if part in PARTS else "text"] = message

    def _row(self, number: int, row: Row) -> Row:
        turn, text = str(row["turn"]).strip(), re.sub("\r\n?", "\n", str(row["text"]))
        if not turn.isdecimal() or not 1 <= int(turn[:6]) <= LAST_TURN:
            self.complain(number, "turn", _("A turn from 1 on is needed."))
        if not text.strip():
            self.complain(number, "text", _("Write what is said."))
        if len(text) > LONGEST_PROMPT:
            self.complain(number, "text", _("The text is too long."))
        for part, offered in (("kind", KINDS), ("side", SIDES)):
            if row[part] not in offered:
                self.complain(number, part, _("Choose one of the list."))
        return {"kind": row["kind"], "side": row["side"], "turn": int(turn) if turn.isdecimal() else turn, "text": text}

    def _complaints(self) -> list[str]:
        said = [(number, message) for number, row in sorted(self.row_errors.items()) for message in row.values()]
        return [_("Intervention %(number)s: %(message)s") % {"number": n + 1, "message": m} for n, m in said]
