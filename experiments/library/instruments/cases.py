"""Test cases: units of transcripts of which it is known what an instrument should say, and what it says of them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from accounts.errors import Forbidden
from experiments.library.instruments import findings
from experiments.library.instruments.findings import Finding
from experiments.library.instruments.services import require_change
from experiments.models import Annotation, Instrument, InstrumentCase, InstrumentVersion, Run
from experiments.workflows.base.instruments import Definition, Dimension, answer_of, rubric_of
from experiments.workflows.base.rubrics import Label, Scale

if TYPE_CHECKING:
    from accounts.models import User

MOST_CASES = 200  # of an instrument
OPEN = ("", gettext_lazy("anything"))


@dataclass(frozen=True, slots=True)
class Check:
    """What one dimension says of a case. expected: in words. holds: None where there is no value yet, or no longer such
    a dimension.
    """

    title: str
    expected: str
    finding: Finding | None
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Checked:
    case: InstrumentCase
    checks: tuple[Check, ...]

    @property
    def holds(self) -> bool | None:
        """Whether all do; None as long as one of them has not been asked and none fails."""
        said = [check.holds for check in self.checks]
        return False if False in said else None if None in said else True


class ExpectedForm(forms.Form):
    """A field for each dimension, answered as people answer it; `anything` where nothing is expected."""

    def __init__(self, *args: Any, definition: Definition, **options: Any) -> None:
        super().__init__(*args, **options)
        rubric = rubric_of(definition)
        asked: list[Scale | Label] = [*rubric.scales, *rubric.labels]
        self.fields.update({f"expected-{one.name}": _field(one) for one in asked})
        self.order_fields([f"expected-{name}" for name in definition.by_name])

    @property
    def expected(self) -> dict[str, object]:
        """By the names of the dimensions, without those of which nothing is expected."""
        given = {name.removeprefix("expected-"): value for name, value in self.cleaned_data.items()}
        return {name: value for name, value in given.items() if value not in (None, "", [])}


def _field(asked: Scale | Label) -> forms.Field:
    if isinstance(asked, Scale):
        points = [(one.text, f"{one.text} {one.anchor}".strip()) for one in asked.points]
        return forms.TypedChoiceField(
            label=asked.title, choices=[OPEN, *points], coerce=float, empty_value=None, required=False
        )
    choices = [(choice.name, choice.title) for choice in asked.choices]
    if asked.multiple:
        return forms.MultipleChoiceField(label=asked.title, choices=choices, required=False)
    return forms.ChoiceField(label=asked.title, choices=[OPEN, *choices], required=False)


def keep(
    instrument: Instrument, run: Run, *, by: "User", unit: str, place: int, subject: str, expected: Mapping[str, Any]
) -> InstrumentCase:
    """A test case, in the place of the one that there is of this unit. Raises Forbidden."""
    require_change(instrument, by)
    if instrument.cases.count() >= MOST_CASES:
        raise Forbidden(_("An instrument has at most %(most)s test cases.") % {"most": MOST_CASES})
    case, _is_new = InstrumentCase.objects.update_or_create(
        instrument=instrument,
        run=run,
        unit=unit,
        place=place,
        subject=subject,
        defaults={"expected": dict(expected), "by": by},
    )
    return case


def delete(case: InstrumentCase, *, by: "User") -> None:
    """Raises Forbidden."""
    require_change(case.instrument, by)
    case.delete()


def checked(cases: Iterable[InstrumentCase], version: InstrumentVersion, reader: "User") -> list[Checked]:
    """What the version said last of each case, by any of its judges whose scans the reader sees."""
    cases = list(cases)
    rows = Annotation.objects.visible_to(reader).newest().filter(version=version, run__in={one.run_id for one in cases})
    rows = rows.filter(person__isnull=True).select_related("version__instrument", "person").order_by("pk")
    said = {(one.annotation.run_id, *_unit(one.annotation), one.annotation.dimension): one for one in findings.of(rows)}
    definition = version.parsed
    return [
        Checked(
            case,
            tuple(
                _check(definition.by_name[name], case.expected[name], said.get((case.run_id, *_unit(case), name)))
                for name in definition.by_name
                if name in case.expected
            ),
        )
        for case in cases
    ]


def _unit(row: Annotation | InstrumentCase) -> tuple[str, int, str]:
    return row.unit, row.place, row.subject


def _check(dimension: Dimension, expected: Any, found: Finding | None) -> Check:
    if found is None or found.annotation.value is None:
        return Check(dimension.title, expected, found, None)
    said: Any = answer_of(dimension, found.annotation.value)
    holds = set(said) == set(expected) if isinstance(expected, list) else bool(said == expected)
    return Check(dimension.title, expected, found, holds)
