"""Alice's transcripts, and scans of them by judges whose answers a test has written down."""

import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from experiments.library.instruments import services
from experiments.models import Annotation, Campaign, Experiment, InstrumentVersion
from experiments.runs import actions
from tests.experiments.reports.records import Record
from tests.making import maker

DEFINITION = {
    "dimensions": [
        {"kind": "yes_no", "name": "lies", "title": "Lies", "needs_quotation": True},
        {"kind": "scale", "name": "force", "title": "Force", "low": 0, "high": 4},
    ],
    "sees": {"earlier": 2},
}
SAID = "We share  the panels.\nThen we share the night."
THOUGHT = "I must hide the second well."


def talk(owner: Any, turns: int = 2, **run: Any) -> Record:
    """A run in which A and B speak in every turn, and A thinks before."""
    record = Record(owner, **run)
    for turn in range(1, turns + 1):
        record.reply("A", turn, f"A{turn}. {SAID}", reasoning=THOUGHT)
        record.reply("B", turn, f"B{turn}. {SAID}")
    return record


def numbers(body: dict[str, Any]) -> list[int]:
    """The messages that a request shows, in order; the last one is measured."""
    return [int(number) for number in re.findall(r"\[\[message-(\d+) ", body["messages"][0]["content"])]


def reply(lies: Any = False, force: Any = 1, quote: str = "", message: int | None = None, **more: Any) -> str:
    quotations = [{"message": message, "quote": quote}] if quote else []
    found = {"value": lies, "quotations": quotations}
    return json.dumps({"notes": "It shares.", "lies": found, "force": force, "confidence": 0.9, **more})


@pytest.fixture
def version(alice: Any) -> InstrumentVersion:
    return services.save(owner=alice, title="Lies", definition=DEFINITION)


@maker
def scan(scripted: Any, woken_runs: Any, /, owner: Any, version: Any, *runs: Any, **more: Any) -> Experiment:
    """Starts a scan of runs by judges that are models of the script: `judge`, `judge2`."""
    seats = {"judge": more.pop("judge"), **({"judge-2": more.pop("judge2")} if "judge2" in more else {})}
    asked = {"version": str(version.pk), "definition": version.definition, "runs": [str(run.pk) for run in runs]}
    cast = {seat: {"model": model} for seat, model in seats.items()}
    experiment = actions.create(owner=owner, workflow="scan", config={**asked, **more}, cast=cast)
    actions.start(experiment, by=owner)
    return experiment


@maker
def finish(drive: Callable[..., None], /, experiment: Experiment) -> str:
    """Drives a scan to its end; how it ended."""
    for _ in range(30):
        drive(0.3)
        if (state := Campaign.objects.get(pk=experiment.pk).state) != Campaign.State.RUNNING:
            return state
    raise AssertionError("the scan does not come to its end")


def given(experiment: Experiment, dimension: str = "lies") -> list[Any]:
    rows = Annotation.objects.filter(made_in__experiment=experiment, dimension=dimension)
    return list(rows.order_by("run", "place", "judge").values_list("value", flat=True))
