"""Annotations as pages show them: with the dimension that was asked, and where the quoted words stand."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from experiments.library.instruments.builtin import words_of
from experiments.models import Annotation, Run
from experiments.workflows.base.instruments import Dimension

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

MOST_SHOWN = 400  # on the page of a run


@dataclass(frozen=True, slots=True)
class Finding:
    """One annotation. author: the model that judged or the person that said it. instrument: its title."""

    annotation: Annotation
    dimension: Dimension
    instrument: str

    @property
    def author(self) -> str:
        person = self.annotation.person
        return person.get_username() if person else self.annotation.judge

    @property
    def by_person(self) -> bool:
        return self.annotation.person_id is not None

    @property
    def is_unverified(self) -> bool:
        return self.annotation.is_verified is False


@dataclass(frozen=True, slots=True)
class Beside:
    """What was found of one unit: of a message, a turn, or the whole run."""

    message: UUID | None
    turn: int | None
    findings: tuple[Finding, ...]

    @property
    def authors(self) -> list[str]:
        return list(dict.fromkeys(one.author for one in self.findings))

    @property
    def unverified(self) -> int:
        return sum(one.is_unverified for one in self.findings)


def of(rows: Iterable[Annotation]) -> Iterator[Finding]:
    """rows: with their version, its instrument and the person."""
    known: dict[UUID, tuple[dict[str, Dimension], str]] = {}
    for row in rows:
        if row.version_id not in known:
            known[row.version_id] = (dict(row.version.parsed.by_name), words_of(row.version.instrument)[0])
        dimensions, title = known[row.version_id]
        yield Finding(row, dimensions[row.dimension], title)


def beside(run: Run, reader: "User | AnonymousUser") -> list[Beside]:
    """What the reader may know of that was found in a run, unit by unit in the order of the transcript. What its own
    judge found while it was played stands in the transcript.
    """
    found = Annotation.objects.filter(run=run).exclude(made_in=run)
    if not found.exists():
        return []  # as for most runs; what each reader may see is a costly question
    rows = Annotation.objects.visible_to(reader).newest().filter(run=run).exclude(made_in=run)
    rows = rows.select_related("version__instrument", "person").order_by("turn", "unit", "place", "subject", "id")
    units: dict[tuple[str, int], list[Finding]] = {}
    for finding in of(rows[:MOST_SHOWN]):
        units.setdefault((finding.annotation.unit, finding.annotation.place), []).append(finding)
    first = (found[0].annotation for found in units.values())
    return [Beside(one.message_id, one.turn, tuple(found)) for one, found in zip(first, units.values(), strict=True)]
