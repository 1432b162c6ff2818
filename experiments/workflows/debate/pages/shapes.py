"""What the structured answers of a debate have to look like in a document that is to be taken over."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from experiments.runs.reports.shape_types import Kept, LongText

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
