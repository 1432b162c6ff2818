"""What the report of a debate says of its result, of how it was set up, and of its stages."""

from collections.abc import Iterator
from typing import Annotated, Literal

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from pydantic import Field, StringConstraints

from experiments.models import Call, Run
from experiments.runs.reports import words
from experiments.runs.reports.messages import actions
from experiments.runs.reports.report import Block, Fact, Facts, Text
from experiments.runs.reports.setup import Rows, closing_facts, instrument_facts, prompt, script
from experiments.runs.reports.shape_types import Kept, LongText
from experiments.templatetags.arena import grouped

PARTS = {"refine": gettext_lazy("Refinement"), "summary": gettext_lazy("Summary")}


def settings(rows: Rows) -> list[Block]:
    config = rows.config
    facts = (
        Fact(_("Mode"), str(Run.Mode(rows.run.mode).label)),
        Fact(_("Refiner"), words.yes_or_no(config.get("refine", True))),
        Fact(_("Rounds planned"), grouped(config.get("rounds"))),
        Fact(_("Blind first round"), words.yes_or_no(config.get("blind"))),
        Fact(_("Another debater begins the second round"), words.yes_or_no(config.get("rotate"))),
        *instrument_facts(rows),
        *closing_facts(rows),
    )
    addendum = str(config.get("addendum", ""))
    planned = [prompt("addendum", _("Addendum planned"), addendum)] if addendum.strip() else []
    return [Facts(facts), prompt("request", _("Request"), str(config.get("prompt", ""))), *planned, *script(rows)]


def finding(rows: Rows) -> Iterator[Block]:
    """The actions of the last summary."""
    summary = rows.run.messages.filter(step__purpose="summary", superseded=False).order_by("turn", "seq").last()
    if summary is None or (summary.parsed or {}).get("kind") != "actions":
        yield Text(_("There is no summary that could be read."), tone="muted")
    else:
        yield from actions("result", summary.parsed)


def stage_of(call: Call) -> str:
    """A repair belongs to what it repairs, which its key begins with."""
    if call.step.purpose == "judge":
        return _("Judge")
    part = PARTS.get(call.step.key.partition("/")[0])
    return str(part) if part else _("Round %(turn)s") % {"turn": call.step.turn}


Reference = Annotated[str, StringConstraints(min_length=1, max_length=80)]
Texts = Annotated[list[LongText], Field(max_length=1000)]


class Point(Kept):
    id: Reference
    contents: LongText


class Deed(Point):
    """Something to do or to leave, and the points that it follows from."""

    sources: Annotated[list[Reference], Field(max_length=1000)] = []


Points = Annotated[list[Point], Field(max_length=1000)]
Deeds = Annotated[list[Deed], Field(max_length=1000)]


class Brief(Kept):
    kind: Literal["brief"]
    objective: LongText = ""
    context: LongText = ""
    preferences: Texts = []
    missing: Texts = []
    clarifying_questions: Texts = []


class PointsRead(Kept):
    kind: Literal["points"]
    speaker: LongText = ""
    new_perspectives: Points = []
    counterpoints: Points = []


class Actions(Kept):
    kind: Literal["actions"]
    recommended: Deeds = []
    discouraged: Deeds = []


class Unread(Kept):
    kind: Literal["unread"]
    reason: LongText = ""


PARSED: dict[str, type[Kept]] = {"brief": Brief, "points": PointsRead, "actions": Actions, "unread": Unread}
