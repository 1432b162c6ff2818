"""What people meet of a transcript that is judged again: its page, and its report."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from experiments.models import Judgment, Run
from experiments.models.labels import judge_saw
from experiments.runs.metrics import in_order
from experiments.runs.reports import words
from experiments.runs.reports.report import Block, Fact, Facts, Fold, Part, Text
from experiments.runs.reports.setup import Rows, judging_facts, limits, of_side, prompt
from experiments.templatetags.arena import MISSING, grouped
from experiments.workflows.base.surface import Surface, Told

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


def rejudged(run: Run, reader: "User | AnonymousUser") -> Rejudged | None:
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


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Judged run"), str(rows.run.parent_id or config.get("source") or MISSING)),
        Fact(_("Its workflow"), words.workflow_name(str(config.get("workflow", MISSING)))),
        Fact(_("Judged"), ", ".join(words.seat_name(seat) for seat in config.get("subjects", [])) or MISSING),
        Fact(_("Turns judged"), grouped(len(config.get("turns", [])))),
        *judging_facts(rows),
        Fact(_("Limits"), limits(rows)),
        Fact(_("Seed"), str(rows.run.seed)),
    )
    rubric = str(config.get("rubric", ""))
    objectives = dict(config.get("objectives") or {})
    return [
        Facts(facts),
        prompt("rubric", _("Rubric"), rubric, none=_("The workflow's default rubric.")),
        *(prompt(f"objective-{seat}", of_side(seat), str(text), seat) for seat, text in objectives.items()),
        *_judged_texts(config),
    ]


def _judged_texts(config: dict[str, Any]) -> Iterable[Block]:
    """What the judge was shown, turn by turn: the judged run's own report has it as a talk."""
    turns = config.get("turns", [])
    said = tuple(
        Part(
            f"shown-{turn['turn']}-{seat}",
            seat,
            words.badge(seat),
            _("Turn %(turn)s · %(seat)s") % {"turn": turn["turn"], "seat": words.seat_name(seat)},
            (Text(str(text), "plain"),),
        )
        for turn in turns
        for seat, text in turn.get("messages", {}).items()
    )
    return [Fold(_("What was judged"), _("as the judge was shown it"), said)] if said else []


SURFACE = Surface(
    name=gettext_lazy("Judged again"),
    description=gettext_lazy("An existing transcript is scored again, by another judge or another rubric."),
    urls="experiments.workflows.judging.pages.views",
    look=lambda config: str(config["workflow"]),
    context=lambda reader, run, entries: {"rejudged": rejudged(run, reader)},
    title=gettext_lazy("%(title)s, judged again"),
    told=Told(settings=settings, has_talk=False),
)
