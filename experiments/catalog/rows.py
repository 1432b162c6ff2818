"""Models with parameters of each as one field of a form: the members of a council, the pool of a contest."""

from typing import Any, ClassVar

from django import forms
from django.utils.translation import gettext as _

from experiments.form_fields import Row, Rows

NUMBERS = {"temperature": float, "max_tokens": int}


class ModelRows(Rows):
    parts, telling = ("model", *NUMBERS, "reasoning_effort"), ("model",)


class ModelRowsField(forms.Field):
    """{model, params} of each, in order. row_errors: complaints by row, after cleaning."""

    widget = ModelRows
    least: ClassVar[int]
    most: ClassVar[int]

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"required": False, "initial": list, **options})
        self.row_errors: dict[int, str] = {}

    def too_few(self) -> str:
        raise NotImplementedError

    def too_many(self) -> str:
        raise NotImplementedError

    def about(self, number: int, message: str) -> str:
        """The complaint about row `number`, counted from 1."""
        raise NotImplementedError

    def clean(self, value: Any) -> list[Row]:
        self.row_errors = {}
        rows = [{"model": row["model"], "params": self._params(number, row)} for number, row in enumerate(value or [])]
        if len(rows) < self.least:
            raise forms.ValidationError(self.too_few())
        if len(rows) > self.most:
            raise forms.ValidationError(self.too_many())
        if self.row_errors:
            raise forms.ValidationError(self.complaints())
        return rows

    def complaints(self) -> list[str]:
        return [self.about(row + 1, message) for row, message in sorted(self.row_errors.items())]

    def _params(self, number: int, row: Row) -> dict[str, Any]:
        params: dict[str, Any] = {"reasoning_effort": effort} if (effort := row.get("reasoning_effort")) else {}
        for name, read in NUMBERS.items():
            if not str(row.get(name) or "").strip():
                continue
            try:
                params[name] = read(str(row[name]))
            except ValueError:
                self.row_errors[number] = _("A number is needed.")
        return params
