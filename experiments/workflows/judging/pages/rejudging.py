"""First scores and second scores of one transcript beside each other, turn by turn."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from experiments.models import Judgment, Run
from experiments.models.labels import judge_saw
from experiments.runs.metrics import in_order

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

Scores = Mapping[tuple[int, str], Judgment]
MEASURES = ("goal_deviation", "cooperation")


@dataclass(frozen=True, slots=True)
class Change:
    """One measure before and after; None where no score was given, and no difference then."""

    measure: str
    before: float | None
    after: float | None

    @property
    def difference(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class Line:
    """One subject in one turn. before_reason and after_reason say why a score is missing."""

    turn: int
    subject: str
    changes: tuple[Change, ...]
    before_reason: str
    after_reason: str


@dataclass(frozen=True, slots=True)
class Rejudged:
    """The run whose transcript is judged again, and what has come of it so far. before_saw and after_saw: what the
    judges were shown, as labels; empty where that is not known.
    """

    source: Run
    before_judge: str
    after_judge: str
    before_saw: tuple[str, ...]
    after_saw: tuple[str, ...]
    lines: tuple[Line, ...]


def of(run: Run, reader: "User | AnonymousUser") -> Rejudged | None:
    """None when the run that was judged is not known, or not to the reader."""
    if run.parent is None or not Run.objects.visible_to(reader).filter(pk=run.parent.pk).exists():
        return None
    before, after = _scores(run.parent), _scores(run)
    lines = tuple(_line(place, before, after) for place in sorted({*before, *after}))
    return Rejudged(run.parent, _judge(before), _judge(after), _saw(before), _saw(after), lines)


def _scores(run: Run) -> Scores:
    """Of a turn that was judged twice, the later judgment."""
    return {(judgment.turn, judgment.subject): judgment for judgment in in_order(run)}


def _saw(scores: Scores) -> tuple[str, ...]:
    """Each label once: of one side the reasoning may be there, of the other not."""
    return tuple(dict.fromkeys(label for judgment in scores.values() for label in judge_saw(judgment.saw)))


def _line(place: tuple[int, str], before: Scores, after: Scores) -> Line:
    old, new = before.get(place), after.get(place)
    changes = tuple(Change(measure, _value(old, measure), _value(new, measure)) for measure in MEASURES)
    return Line(*place, changes, old.unscored_reason if old else "", new.unscored_reason if new else "")


def _value(judgment: Judgment | None, measure: str) -> float | None:
    return (judgment.scores or {}).get(measure) if judgment else None


def _judge(scores: Scores) -> str:
    return next((judgment.judge for judgment in scores.values() if judgment.judge), "")
