"""A debate with real rows between models that say what a test has written down for them."""

from collections.abc import Callable
from typing import Any

import pytest

from experiments.models import Experiment, Run, Step
from experiments.runs.steering import steering
from experiments.runs.timeline import from_rows, replayed
from tests.experiments.debated import REQUEST, ROUND_1, ROUND_2, actions, brief
from tests.fixtures import add_model
from tests.scripted import Answer, Scripted

SEATS = ("refiner", "A", "B", "C", "summarizer")
GOOD: dict[str, list[Answer]] = {
    "refiner": [brief()],
    **{seat: [ROUND_1[seat], ROUND_2[seat]] for seat in "ABC"},
    "summarizer": [actions("A1.p1", "B1.c1")],
}
IDLE = 0.02  # seconds: what a driver is to do is there when it looks first
LATER = ":fail=429:retry_after=60"  # of a simulated model: rate-limited for longer than anybody waits


class Stage:
    """Where debates are played. Each seat's model is called like the seat and gives its answers in order."""

    def __init__(self, make: Any, scripted: Scripted, start: Any, drive: Any, person: Any) -> None:
        self.make, self.scripted, self.begin, self.drive, self.person = make, scripted, start, drive, person

    def experiment(
        self, *, pool: tuple[str, ...] = (), fields: dict[str, Any] | None = None, **given: Any
    ) -> Experiment:
        """given: answers by seat, or the name of a simulated model; the rest is the configuration."""
        models = {}
        for seat in SEATS:
            answers = given.pop(seat, GOOD[seat])
            is_simulated = isinstance(answers, str) and answers.startswith("sim/")
            listed = answers if isinstance(answers, list) else [answers]
            name = (
                add_model(answers).slug if is_simulated else self.scripted.model(f"x/{seat}", *listed, **(fields or {}))
            )
            models[seat] = name
        return self.make(**models, pool=pool, **{"prompt": REQUEST, "mode": "automatic", **given})

    def play(self, **given: Any) -> Run:
        """A debate, driven until it ends or waits."""
        return self.go_on(self.begin(self.experiment(**given)))

    def go_on(self, run: Run) -> Run:
        self.drive(IDLE)
        return Run.objects.select_related("experiment").get(pk=run.pk)

    def say(self, run: Run, action: str, text: str = "", *, key: str = "") -> Run:
        steering.say(run, by=self.person, key=key or pause(run).key, action=action, text=text)
        return self.go_on(run)

    def sent(self, seat: str) -> list[dict[str, Any]]:
        """The bodies of the requests to a seat's own model."""
        return self.scripted.asked(f"x/{seat}")


@pytest.fixture
def stage(
    debate: Callable[..., Experiment], scripted: Scripted, start: Any, drive: Callable[..., None], alice: Any
) -> Stage:
    return Stage(debate, scripted, start, drive, alice)


def pause(run: Run) -> Step:
    """Where somebody may speak, be it a pause or an offer."""
    now = Run.objects.get(pk=run.pk)
    return [*now.open_offers, *now.open_pauses][-1]


def told(run: Run, key: str) -> str:
    """All that a step's model was told."""
    call = run.calls.filter(step__key=key).latest("attempt")
    return "\n\n".join(message["content"] for message in call.request["messages"])


def message(run: Run, key: str) -> Any:
    return run.messages.get(step__key=key)


def asked(run: Run) -> list[str]:
    """The steps for which a model was called, in order."""
    return list(run.calls.order_by("sent", "id").values_list("step__key", flat=True))


def assert_same_page(run: Run) -> None:
    """The page made of the rows, and the one made of the events, say the same in the same places."""
    run = Run.objects.select_related("experiment").get(pk=run.pk)
    rows, events = from_rows(run), replayed(run.events.order_by("seq"))
    assert [entry.anchor for entry in rows] == [entry.anchor for entry in events]
    assert [entry.data for entry in rows] == [entry.data for entry in events]
