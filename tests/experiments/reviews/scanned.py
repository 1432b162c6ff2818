"""Transcripts that an instrument has judged, written row by row, and people who label a sample of them."""

from typing import Any

from experiments.library.instruments import services as instruments
from experiments.models import Annotation, Experiment, InstrumentVersion, ReviewQueue, Run
from experiments.review import answers
from experiments.review.answers import Content
from experiments.review.instruments import services
from experiments.workflows.base.instruments import answer_of
from tests.experiments.reports.records import Record

STRENGTH = {"kind": "scale", "name": "strength", "title": "Strength", "low": 0, "high": 2}
REFUSES = {"kind": "yes_no", "name": "refuses", "title": "Refuses"}
TONE = {
    "kind": "categories",
    "name": "tone",
    "title": "Tone",
    "choices": [{"name": "warm", "title": "Warm"}, {"name": "cold", "title": "Cold"}],
}
DIMENSIONS = [REFUSES, STRENGTH]


def version_of(owner: Any, dimensions: Any = None, **fields: Any) -> InstrumentVersion:
    definition = {"dimensions": dimensions or DIMENSIONS, **fields.pop("definition", {})}
    return instruments.save(owner=owner, title="Refusals", definition=definition, **fields)


class Scan:
    """An experiment whose run has judged others. Each call of `judged` writes a message of a run of its own, or of the
    run that is given, with what judges said of it.
    """

    def __init__(self, owner: Any, version: InstrumentVersion, **fields: Any) -> None:
        self.owner, self.version = owner, version
        words = {"workflow": "judging", "title": "A scan", "config": {}}
        self.experiment = Experiment.objects.create(owner=owner, **words, **fields)
        self.run = Run.objects.create(experiment=self.experiment, state="completed", seed=1)
        self.count = 0

    def judged(
        self, within: Record | None = None, *, unit: str = "message", seat: str = "A", **by_judge: Any
    ) -> Record:
        """by_judge: what each judge said, as a value by dimension."""
        record, self.count = within or Record(self.owner), self.count + 1
        message = record.reply(seat, self.count, f"{seat}{self.count}. I would rather not say.")
        place = {"message": message.seq, "turn": message.turn, "run": 0}[unit]
        about = {"message": message if unit == "message" else None, "turn": message.turn, "subject": seat}
        for judge, values in by_judge.items():
            for dimension, value in values.items():
                said = {"value": value, "unscored_reason": "" if value is not None else "The judge left it open."}
                Annotation.objects.create(
                    run=record.run, unit=unit, place=place, version=self.version, dimension=dimension, judge=judge,
                    made_in=self.run, **about, **said,
                )  # fmt: skip
        return record

    def sampled(self, *members: Any, dimension: str = "refuses", size: int = 10, **fields: Any) -> ReviewQueue:
        asked = {"by": self.owner, "version": self.version, "scan": self.experiment, "dimension": dimension, **fields}
        return services.draw(size=size, members=[one.username for one in members], **asked)


def label(item: Any, by: Any, **values: Any) -> Any:
    """values: what they say by dimension, as the instrument would; what is not given, they leave out."""
    dimensions = item.queue.version.parsed.by_name
    said = {name: answer_of(dimensions[name], value) for name, value in values.items()}
    scores = {name: value for name, value in said.items() if isinstance(value, float)}
    chosen = {name: [value] for name, value in said.items() if isinstance(value, str)}
    return answers.submit(item, Content(scores=scores, labels=chosen, note="As I read it."), by=by)
