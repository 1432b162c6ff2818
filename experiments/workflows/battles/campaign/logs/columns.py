"""Which column of a file of votes or judgments is what: as its importer names them, else by the names that LMArena,
MT-Bench and Kaggle publish.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django_stubs_ext import StrPromise

from accounts.errors import Invalid
from experiments.workflows.battles.campaign.logs.records import Malformed, text

LONGEST_COLUMN = 200
KAGGLE = {"winner_model_a": "model_a", "winner_model_b": "model_b", "winner_tie": "tie"}
PARTS: dict[str, tuple[str, ...]] = {  # what a file can tell, and the columns that tell it where none is named
    "model_a": ("model_a",),
    "model_b": ("model_b",),
    "winner": ("winner", *KAGGLE),
    "voter": ("voter",),
    "judge": ("judge",),
    "shown_first": ("shown_first",),
    "time": ("tstamp", "timestamp"),
    "language": ("language",),
    "question": ("question_id", "id"),
    "subset": ("subset",),
    "sample_index": ("sample_index",),
    "turn": ("turn",),
    "category": ("category",),
    "prompt": ("prompt",),
    "response_a": ("response_a",),
    "response_b": ("response_b",),
    "conversation_a": ("conversation_a",),
    "conversation_b": ("conversation_b",),
}
LABELS: dict[str, StrPromise] = {
    "model_a": gettext_lazy("First contestant"),
    "model_b": gettext_lazy("Second contestant"),
    "winner": gettext_lazy("Winner"),
    "voter": gettext_lazy("Voter"),
    "judge": gettext_lazy("Judge"),
    "shown_first": gettext_lazy("Shown first"),
    "time": gettext_lazy("Time"),
    "language": gettext_lazy("Language"),
    "question": gettext_lazy("Question"),
    "subset": gettext_lazy("Subset"),
    "sample_index": gettext_lazy("Sample number"),
    "turn": gettext_lazy("Turn"),
    "category": gettext_lazy("Category"),
    "prompt": gettext_lazy("Prompt"),
    "response_a": gettext_lazy("First answer"),
    "response_b": gettext_lazy("Second answer"),
    "conversation_a": gettext_lazy("First conversation"),
    "conversation_b": gettext_lazy("Second conversation"),
}


@dataclass(frozen=True, slots=True)
class Columns:
    """named: the column of each part that the importer has named."""

    named: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, named: Mapping[str, str]) -> Self:
        """Raises Invalid for a part that no file has, and for an empty name of a column."""
        for part, column in named.items():
            if part not in PARTS:
                said = _("A file has no part “%(part)s”. Its parts are: %(parts)s.")
                raise Invalid(columns=said % {"part": part[:60], "parts": ", ".join(PARTS)})
            if not column or len(column) > LONGEST_COLUMN:
                said = _("Name the column of %(part)s, in at most %(most)s characters.")
                raise Invalid(columns=said % {"part": part, "most": LONGEST_COLUMN})
        return cls(dict(named))

    @classmethod
    def read(cls, written: str, *, voter: str = "") -> Self:
        """Lines of PART=COLUMN. voter: the column of the voters. Raises Invalid."""
        named: dict[str, str] = {"voter": voter.strip()} if voter.strip() else {}
        for line in filter(None, map(str.strip, text(written).splitlines())):
            part, sign, column = (word.strip() for word in line.partition("="))
            if not sign or part in named:
                raise Invalid(columns=_("Write each part once, one per line, as PART=COLUMN."))
            named[part] = column
        return cls.of(named)

    @property
    def has_voters(self) -> bool:
        return "voter" in self.named

    @property
    def wanted(self) -> tuple[str, ...]:
        """All columns that can matter."""
        return tuple(dict.fromkeys((*self.named.values(), *(name for names in PARTS.values() for name in names))))

    def renamed(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """The row, with what is named under the names that are recognized. Raises Malformed for a missing column."""
        if not self.named:
            return row
        if missing := [column for column in self.named.values() if column not in row]:
            raise Malformed(_("The column “%(column)s” is missing.") % {"column": missing[0]})
        kept = dict(row)
        for part in self.named:
            for name in PARTS[part]:
                kept.pop(name, None)
        return kept | {PARTS[part][0]: row[column] for part, column in self.named.items()}

    def used(self, row: Mapping[str, Any]) -> dict[str, str]:
        """The columns of a row that are read, by part."""
        found = {part: next((name for name in names if name in row), "") for part, names in PARTS.items()}
        return {part: column for part, column in (found | dict(self.named)).items() if column}


AS_PUBLISHED = Columns()
