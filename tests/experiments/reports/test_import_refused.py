"""A document that is no run, or a wrong one, is refused with the place of what is wrong, and nothing is stored."""

import copy

import pytest

from experiments.models import Call, Event, Experiment, Judgment, Message, ProviderModel, Run, Step
from experiments.reports.importing import import_document
from experiments.reports.json_values import InvalidDocument
from tests.cases import each_case

pytestmark = [pytest.mark.django_db, pytest.mark.databases]


def change(document, path, value):
    *way, last = path
    for part in way:
        document = document[part]
    document[last] = value


WRONG = [
    (["report_version"], 2, "report_version"),
    (["report_version"], "1", "report_version"),
    (["run"], None, "run"),
    (["run", "state"], "flying", "run.state"),
    (["run", "seed"], 2**64, "run.seed"),
    (["run", "seed"], 1.5, "run.seed"),
    (["run", "created"], 12, "run.created"),
    (["run", "created"], "0001-01-01T00:00:00+14:00", "run.created"),
    (["run", "created"], "yesterday", "run.created"),
    (["experiment", "workflow"], "poker", "experiment.workflow"),
    (["experiment", "config", "max_turns"], 0, "experiment.config.max_turns"),
    (["experiment", "config", "limits"], "none", "experiment.config.limits"),
    (["experiment", "title"], "t" * 201, "experiment.title"),
    (["experiment", "cast", 0, "seat"], "Z", "experiment.cast[0].seat"),
    (["experiment", "cast", 0, "seat"], "B", "experiment.cast[1].seat"),
    (["experiment", "cast", 0, "params"], {"temperature": 9}, "experiment.cast[0].params.temperature"),
    (["messages"], {}, "messages"),
    (["messages", 1, "turn"], -1, "messages[1].turn"),
    (["messages", 1, "turn"], 2**31, "messages[1].turn"),
    (["messages", 1, "turn"], 10**400, "messages[1].turn"),
    (["messages", 1, "turn"], True, "messages[1].turn"),
    (["messages", 1, "text"], "half \ud800", "messages[1].text"),
    (["messages", 1, "text"], "nul \x00", "messages[1].text"),
    (["messages", 1, "text"], None, "messages[1].text"),
    (["messages", 1, "seat"], '"><script>', "messages[1].seat"),
    (["messages", 1, "call"], "00000000-0000-7000-8000-000000000000", "messages[1].call"),
    (["messages", 1, "filter"], {"status": "kept"}, "messages[1].filter.changed"),
    (["judgments", 0, "scores", "fear"], 1.5, "judgments[0].scores"),
    (["judgments", 0, "scores", "fear"], float("nan"), "judgments[0].scores.fear"),
    (["judgments", 0, "scores", "fear"], "0.5", "judgments[0].scores.fear"),
    (["judgments", 0, "confidence"], float("inf"), "judgments[0].confidence"),
    (["judgments", 0, "subject"], "B", "judgments[1].subject"),
    (["calls", 0, "cost"], "-1", "calls[0].cost"),
    (["calls", 0, "cost"], "1e30", "calls[0].cost"),
    (["calls", 0, "cost"], "NaN", "calls[0].cost"),
    (["calls", 0, "attempt"], 0, "calls[0].attempt"),
    (["calls", 0, "model"], "a b", "calls[0].model"),
    (["calls", 0, "state"], "paid", "calls[0].state"),
    (["calls", 0, "request"], [], "calls[0].request"),
    (["steps", 1, "key"], "turn/1", "steps[1].key"),
    (["steps", 0, "message"], "00000000-0000-7000-8000-000000000000", "steps"),
]


@each_case(("path", "value", "place"), WRONG, ids=lambda case: str(case)[:40])
def test_what_is_wrong_is_named_and_nothing_is_stored(played, alice, path, value, place, exported):
    before = exported(played(max_turns=1))
    change(before, path, value)
    rows = [model.objects.count() for model in (Experiment, Run, Step, Call, Message, Judgment, Event, ProviderModel)]

    with pytest.raises(InvalidDocument) as caught:
        import_document(before, by=alice)

    assert place in caught.value.errors, caught.value.errors
    assert all(said and said[0] for said in caught.value.errors.values())
    assert rows == [
        model.objects.count() for model in (Experiment, Run, Step, Call, Message, Judgment, Event, ProviderModel)
    ]


@each_case("name", ["messages", "judgments", "calls"])
def test_an_id_that_stands_twice_is_named(played, alice, name, exported):
    before = exported(played(max_turns=1))
    before[name].append(copy.deepcopy(before[name][0]))

    with pytest.raises(InvalidDocument) as caught:
        import_document(before, by=alice)

    assert f"{name}[{len(before[name]) - 1}].id" in caught.value.errors


@each_case("garbage", [None, 1, "text", [], {}, [[[]]], {"run": []}, {"messages": "x" * 100}])
def test_what_is_no_run_is_refused(alice, garbage):
    with pytest.raises(InvalidDocument):
        import_document(garbage, by=alice)


def test_endless_depth_is_refused(alice):
    deep = []
    for _ in range(50_000):
        deep = [deep]

    with pytest.raises(InvalidDocument, match="deeper"):
        import_document({"report_version": 1, "x": deep}, by=alice)
