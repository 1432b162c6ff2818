"""JSON becomes frozen, typed values, and an API that has grown breaks nobody."""

from dataclasses import FrozenInstanceError
from datetime import timedelta
from decimal import Decimal

import pytest

from arena_lab import BadAnswer, Event, Said
from arena_lab.events import read_event
from arena_lab.records import Experiment, Run
from tests.cases import each_case

RUN = {
    "id": "0195",
    "experiment": "0194",
    "title": "<b>Panels</b>",
    "workflow": "arena",
    "state": "waiting",
    "seed": 7,
    "turn": 1,
    "waiting_for": {
        "key": "turn/1/next",
        "reason": "turn_completed",
        "seat": "",
        "turn": 1,
        "actions": ["next", "end"],
    },
    "offer": None,
    "usage": {"input_tokens": 10, "output_tokens": 5, "reasoning_tokens": 0, "calls": 2},
    "cost": "0.0000595000",
    "created": "2026-02-28T10:00:00+01:00",
    "started": None,
    "last_seq": 9,
    "mood": "sunny",
}
ENVELOPE = {"v": 1, "run": "0195", "seq": 3, "type": "stars_aligned", "data": {"turn": 2}, "at": "2026-02-28T10:00:00Z"}


def test_money_is_exact_times_know_their_zone_and_what_is_missing_is_none():
    run = Run.read(RUN)

    assert run.cost == Decimal("0.0000595000")
    assert run.created.utcoffset() == timedelta(hours=1)
    assert (run.started, run.ended, run.metrics) == (None, None, None)
    assert run.waiting_for.actions == ("next", "end")


def test_what_is_not_known_is_kept():
    run = Run.read(RUN)

    assert run.extra == {"mood": "sunny"}
    assert run.to_json()["mood"] == "sunny"


def test_a_record_becomes_the_json_that_it_was():
    json = Run.read(RUN).to_json()

    assert {
        name: json[name] for name in ("cost", "created", "seed", "waiting_for", "usage") if name != "waiting_for"
    } == {name: RUN[name] for name in ("cost", "created", "seed", "usage")}
    assert Run.read(json) == Run.read(RUN)


def test_it_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        Run.read(RUN).state = "completed"


@each_case(
    ("field", "value"),
    [("seed", "7"), ("seed", True), ("cost", 0.1), ("cost", "much"), ("created", "2026-02-28T10:00:00"), ("usage", [])],
)
def test_what_is_of_another_kind_is_no_answer(field, value):
    with pytest.raises(BadAnswer, match=f"Run.{field}|Totals"):
        Run.read({**RUN, field: value})


def test_what_has_to_be_there_is_named_when_it_is_not():
    with pytest.raises(BadAnswer, match=r"Run\.workflow is missing"):
        Run.read({name: value for name, value in RUN.items() if name != "workflow"})


def test_a_notebook_shows_a_run_as_a_table_in_which_a_title_is_text():
    html = Run.read(RUN)._repr_html_()

    assert "&lt;b&gt;Panels&lt;/b&gt;" in html
    assert "<b>Panels" not in html
    assert "$0.0000595" in html


def test_an_event_of_a_type_that_is_not_known_is_an_event():
    event = read_event(ENVELOPE)

    assert type(event) is Event
    assert event.turn == 2
    assert str(event) == "[3] stars aligned 2"


def test_an_event_that_is_known_has_what_it_is_about():
    said = read_event({**ENVELOPE, "type": "message_completed", "data": {"seat": "A", "text": "Good morning."}})

    assert isinstance(said, Said)
    assert str(said) == "[3] A: Good morning."


@each_case(("workflow", "name"), [("arena", "max_turns"), ("coding", "cycles"), ("debate", "rounds")])
def test_an_experiment_knows_how_many_turns_there_are_to_be(workflow, name):
    rest = {"id": "1", "title": "", "cast": [], "created": "2026-02-28T10:00:00Z"}

    assert Experiment.read({**rest, "workflow": workflow, "config": {name: 3}}).turns == 3
    assert Experiment.read({**rest, "workflow": workflow, "config": {name: None}}).turns is None
