"""What the client reads is what the platform's own schema promises: a field that goes, or may be null, is noticed."""

from typing import Any, get_args

import pytest
from drf_spectacular.generators import SchemaGenerator

from arena_lab import records
from arena_lab.events import Event
from arena_lab.records.base import fields_of
from tests.cases import each_case

COMPONENTS = {
    records.Ballot: "Ballot",
    records.Battle: "Battle",
    records.Budget: "Budget",
    records.Call: "Call",
    records.Campaign: "Campaign",
    records.Dataset: "DatasetDetail",
    records.Execution: "Execution",
    records.Experiment: "Experiment",
    records.Filtered: "Filter",
    records.Judgment: "Judgment",
    records.Ladder: "LadderDetail",
    records.LadderEntry: "Ladder",
    records.Message: "Message",
    records.Model: "ProviderModel",
    records.Part: "UsagePart",
    records.Participant: "Participant",
    records.Pause: "WaitingFor",
    records.Progress: "Progress",
    records.Run: "RunDetail",
    records.Spent: "Totals",
    records.Standing: "StandingRow",
    records.Totals: "RunTotals",
    records.Usage: "Usage",
    records.UsageReport: "UsageReport",
    records.Verdict: "Verdict",
    Event: "Event",
}


@pytest.fixture(scope="module")
def components() -> dict[str, Any]:
    schema = SchemaGenerator().get_schema(request=None, public=True)
    return dict(schema["components"]["schemas"])


@each_case("record", COMPONENTS, ids=lambda record: record.__name__)
def test_every_field_of_a_record_is_in_the_schema(record, components):
    assert set(fields_of(record)) <= set(components[COMPONENTS[record]]["properties"])


@each_case("record", COMPONENTS, ids=lambda record: record.__name__)
def test_what_may_be_null_may_be_none(record, components):
    properties = components[COMPONENTS[record]]["properties"]
    nullable = {name for name in fields_of(record) if may_be_null(properties[name])}

    assert {name for name in nullable if not may_be_none(fields_of(record)[name])} == set()


@each_case("record", COMPONENTS, ids=lambda record: record.__name__)
def test_what_may_be_anything_is_taken_as_it_comes(record, components):
    properties = components[COMPONENTS[record]]["properties"]
    free = {name for name in fields_of(record) if may_be_anything(properties[name])}

    assert {name for name in free if not is_free(fields_of(record)[name])} == set()


def test_every_record_is_compared():
    named = {getattr(records, name) for name in records.__all__} - {records.Record}

    assert named == set(COMPONENTS) - {Event}


def may_be_null(schema: dict[str, Any]) -> bool:
    kind = schema.get("type")
    if isinstance(kind, list):
        return "null" in kind
    return kind == "null" or any(may_be_null(one) for one in schema.get("oneOf", ()))


def may_be_none(kind: Any) -> bool:
    return kind is Any or type(None) in get_args(kind)


def may_be_anything(schema: dict[str, Any]) -> bool:
    says = {"type", "$ref", "allOf", "oneOf", "anyOf", "enum"} & set(schema)
    return not says or any(may_be_anything(one) for one in schema.get("oneOf", ()))


def is_free(kind: Any) -> bool:
    return kind is Any or any(is_free(one) for one in get_args(kind))
