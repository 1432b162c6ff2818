"""Queues over crafted runs, and people who review in them."""

from typing import Any

from experiments.models import ReviewQueue, ReviewRubric
from experiments.review import answers, queues, rubrics
from experiments.review.answers import Content
from tests.experiments.reports.records import SCORES, Record

SAID = "First we share the panels. Then we share the night! Is that fair?"
HALVES = ("A", "B")


def record(owner: Any, turns: int = 2, **run: Any) -> Record:
    """A talk of so many turns, each side judged in each: cooperation 0.4, goal deviation 12."""
    made = Record(owner, **run)
    for turn in range(1, turns + 1):
        for seat in HALVES:
            made.reply(seat, turn, f"{seat}{turn}. {SAID}")
        made.judged(turn, {seat: dict(SCORES) for seat in HALVES})
    return made


def rubric(slug: str = "turn") -> ReviewRubric:
    return ReviewRubric.objects.get(family=rubrics.family_of(slug))


def queue(owner: Any, *members: Any, turns: int = 2, played: bool = True, **fields: Any) -> ReviewQueue:
    if played:
        record(owner, turns)
    names = [one.username for one in members]
    asked = {"name": "Panels", "rubric": fields.pop("rubric", None) or rubric(), "members": names, **fields}
    return queues.make(by=owner, **asked)


def scored(cooperation: float | None = 0.5, **fields: Any) -> Content:
    scores = {} if cooperation is None else {"cooperation": cooperation}
    return Content(**{"scores": scores, "note": "", **fields})


def answer(item: Any, by: Any, cooperation: float | None = 0.5, **fields: Any) -> Any:
    return answers.submit(item, scored(cooperation, **fields), by=by)
