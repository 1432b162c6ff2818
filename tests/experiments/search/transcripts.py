"""Transcripts that were written row by row, and indexed as the engine and the import do."""

from typing import Any

from experiments.library.search import finding, indexing
from experiments.library.search.query import read
from experiments.models import Run
from tests.experiments.reports.records import Record


def talk(owner: Any, *texts: str, title: str = "A talk", **fields: Any) -> Run:
    """Said in turns by A and B. fields: of the run; `visibility` and `project` of its experiment."""
    of_experiment = {name: fields.pop(name) for name in ("visibility", "project") if name in fields}
    record = Record(owner, title=title, config={"prompt": "Agree."}, **fields)
    for number, text in enumerate(texts):
        record.reply("AB"[number % 2], 1 + number // 2, text)
    experiment = record.run.experiment
    for name, value in of_experiment.items():
        setattr(experiment, name, value)
    experiment.save()
    indexing.setup(experiment.pk)
    indexing.of_run(record.run.pk)
    return record.run


def found(person: Any, text: str, **fields: str) -> list[str]:
    """What was found, the latest first: texts of messages, titles of set-ups."""
    return [said(hit) for hit in finding.find(read(text, fields), person).hits]


def said(hit: Any) -> str:
    return hit.passage.message.text if hit.passage.message else hit.passage.experiment.title
