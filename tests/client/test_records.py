"""JSON becomes frozen, typed values and tables; an API that has grown breaks nobody, one that has lost a field does."""

from dataclasses import FrozenInstanceError
from datetime import timedelta
from decimal import Decimal
from typing import Any, get_args

import pytest
from drf_spectacular.generators import SchemaGenerator

from arena_lab import BadAnswer, Event, Said, records, to_dataframe
from arena_lab.events import KINDS, BallotRead, BattleJudged, CycleRated, Ended, Executed, Judged, Waiting, read_event
from arena_lab.frames import tidy
from arena_lab.records import Ballot, Experiment, Judgment, Message, Pause, Run
from arena_lab.records.base import fields_of

RUN = {
    "id": "0195",
    "experiment": "0194",
    "title": "<b>Panels</b>",
    "workflow": "arena",
    "state": "waiting",
    "seed": 7,
    "turn": 1,
    "waiting_for": {"key": "turn/1/next", "reason": "turn_start", "seat": "", "turn": 1, "actions": ["next", "end"]},
    "offer": None,
    "usage": {"input_tokens": 10, "output_tokens": 5, "reasoning_tokens": 0, "calls": 2},
    "cost": "0.0000595000",
    "created": "2026-02-28T10:00:00+01:00",
    "started": None,
    "last_seq": 9,
    "mood": "sunny",
}
JUDGMENT = {"id": "1", "turn": 2, "subject": "A", "judge": "sim/judge", "confidence": 0.9, "unscored_reason": ""}
ENVELOPE = {"v": 1, "run": "0195", "seq": 3, "type": "stars_aligned", "data": {"turn": 2}, "at": "2026-02-28T10:00:00Z"}
RECORDS = {getattr(records, name) for name in records.__all__} - {records.Record} | {Event}
COMPONENTS = {  # of the schema, where they have other names than the records
    records.Dataset: "DatasetDetail",
    records.Filtered: "Filter",
    records.Ladder: "LadderDetail",
    records.LadderEntry: "Ladder",
    records.Model: "ProviderModel",
    records.Part: "UsagePart",
    records.Pause: "WaitingFor",
    records.Run: "RunDetail",
    records.Spent: "Totals",
    records.Standing: "StandingRow",
    records.StudyAmounts: "Amounts",
    records.Totals: "RunTotals",
}


READ = {  # by events: the records in their data, by name, and fields
    Said: ({"": Message}, {"seat", "text"}),
    Judged: ({"judgments": Judgment, "judgment": Judgment}, set()),
    BallotRead: ({"ballot": Ballot}, set()),
    BattleJudged: ({}, {"winner", "left_name", "right_name", "open_reason"}),
    Executed: ({}, {"seat", "passed", "of", "complaint", "error"}),
    CycleRated: ({}, {"means", "overall", "passed", "unrated"}),
    Waiting: ({"": Pause}, set()),
    Ended: ({}, {"state", "reason", "message"}),
}


def judged(**fields):
    return Judgment.read({**JUDGMENT, **fields})


def test_a_record_has_exact_money_times_with_a_zone_and_whatever_else_there_was_but_no_other_kind():
    run = Run.read(RUN)

    assert run.cost == Decimal("0.0000595000")
    assert run.created.utcoffset() == timedelta(hours=1)
    assert (run.started, run.ended, run.metrics) == (None, None, None)
    assert run.waiting_for.actions == ("next", "end")
    assert run.extra == {"mood": "sunny"}
    with pytest.raises(FrozenInstanceError):
        run.state = "completed"

    json = run.to_json()
    same = ("cost", "created", "seed", "usage", "mood")
    assert {name: json[name] for name in same} == {name: RUN[name] for name in same}
    assert Run.read(json) == run

    for field, value in (
        *(("seed", "7"), ("seed", True), ("cost", 0.1), ("cost", "much"), ("usage", [])),
        ("created", "2026-02-28T10:00:00"),
    ):
        with pytest.raises(BadAnswer, match=f"Run.{field}|Totals"):
            Run.read({**RUN, field: value})
    with pytest.raises(BadAnswer, match=r"Run\.workflow is missing"):
        Run.read({name: value for name, value in RUN.items() if name != "workflow"})

    rest = {"id": "1", "title": "", "cast": [], "created": "2026-02-28T10:00:00Z"}
    for workflow, name in (("arena", "max_turns"), ("coding", "cycles"), ("debate", "rounds")):
        for turns in (3, None):
            assert Experiment.read({**rest, "workflow": workflow, "config": {name: turns}}).turns == turns, workflow


def test_a_run_is_a_table_in_which_a_title_is_text_and_a_row_with_columns_for_records_within():
    html = Run.read(RUN)._repr_html_()

    assert "&lt;b&gt;Panels&lt;/b&gt;" in html
    assert "<b>Panels" not in html
    assert "$0.0000595" in html

    [full] = tidy(Run.read(RUN))
    [bare] = tidy(Run.read({**RUN, "waiting_for": None, "cost": None}))

    assert (full["usage_input_tokens"], full["waiting_for"]) == (10, "turn/1/next")
    assert isinstance(full["cost"], float)
    assert full["cost"] == float(RUN["cost"])
    assert set(full) == set(bare)
    assert bare["cost"] is None


def test_an_event_says_what_it_is_about_also_one_of_an_unknown_type_and_of_a_contest():
    def told(type_, **data):
        return read_event({**ENVELOPE, "type": type_, "data": {"turn": 2, **data}}).words()

    unknown = read_event(ENVELOPE)
    said = read_event({**ENVELOPE, "type": "message_completed", "data": {"seat": "A", "text": "Good morning."}})

    assert (type(unknown), unknown.turn, str(unknown)) == (Event, 2, "[3] stars aligned 2")
    assert isinstance(said, Said)
    assert str(said) == "[3] A: Good morning."

    assert told("solution_executed", seat="coder-1", passed=3, of=5) == "coder-1: 3 of 5 tests passed"
    silent = told("solution_executed", seat="coder-2", passed=0, of=5, complaint="no function")
    assert silent == "coder-2: 0 of 5 tests passed (no function)"
    rated = {"means": {"coder-1": 6.0, "coder-2": 8.25}, "passed": {"coder-2": 0.5}, "overall": 7.125}
    assert told("cycle_rated", **rated, unrated={"coder-3": "no votes"}).splitlines() == [
        "coder-2: mean vote 8.2, tests passed 50%",
        "coder-1: mean vote 6.0",
        "coder-3: no mean (no votes)",
        "cycle 2: mean of all 7.1, best coder-2",
    ]
    assert told("cycle_rated", means={}, overall=None) == "cycle 2: no mean vote"


def test_a_judgment_has_one_row_per_score_or_one_that_says_why_there_is_none_and_a_frame_its_columns_first():
    rows = list(tidy(judged(scores={"cooperation": 0.7, "sentiment": {"anger": 0.0}})))
    [bare] = tidy(judged(scores=None, unscored_reason="no JSON"))
    frame = to_dataframe([judged(scores={"a": 1.0, "b": 2.0}), judged(scores={"a": 3.0})], run="0195")

    assert [(row["measure"], row["score"]) for row in rows] == [("cooperation", 0.7), ("sentiment.anger", 0.0)]
    assert (bare["measure"], bare["score"], bare["unscored_reason"]) == (None, None, "no JSON")
    assert list(frame.columns[:2]) == ["run", "id"]
    assert frame.groupby("measure")["score"].mean().to_dict() == {"a": 2.0, "b": 2.0}


def test_records_and_events_read_what_the_schema_promises():
    components = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    shown = [(record, components[COMPONENTS.get(record, record.__name__)]) for record in RECORDS]
    assert [wrong for record, schema in shown for wrong in unreadable(record, schema)] == []

    def named(reference):
        return components[reference.rpartition("/")[2]]

    types = components["Event"]["discriminator"]["mapping"]
    for type_, kind in KINDS.items():
        data = named(types[type_])["properties"]["data"]
        records, plain = READ[kind]
        assert plain <= set(data["properties"]), type_
        parts = {name: data if not name else data["properties"].get(name) for name in records}
        found = {name: part.get("items", part) for name, part in parts.items() if part}
        assert bool(found) == bool(records), type_
        for name, part in found.items():
            schema = named(part["$ref"]) if "$ref" in part else part
            assert list(unreadable(records[name], schema)) == [], type_


def unreadable(record, schema):
    properties = schema["properties"]
    for name, kind in fields_of(record).items():
        field = f"{record.__name__}.{name}"
        if name not in properties:
            yield f"{field} is not in the schema"
        elif may_be_null(properties[name]) and not (kind is Any or type(None) in get_args(kind)):
            yield f"{field} may be null"
        elif may_be_anything(properties[name]) and not is_free(kind):
            yield f"{field} may be anything"


def may_be_null(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    if isinstance(kind, list):
        return "null" in kind
    return kind == "null" or any(may_be_null(one) for word in ("oneOf", "anyOf") for one in schema.get(word, ()))


def may_be_anything(schema: dict[str, Any]) -> bool:
    says = {"type", "$ref", "allOf", "oneOf", "anyOf", "enum"} & set(schema)
    return not says or any(may_be_anything(one) for one in schema.get("oneOf", ()))


def is_free(kind: Any) -> bool:
    return kind is Any or any(is_free(one) for one in get_args(kind))
