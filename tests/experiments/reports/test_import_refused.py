"""A document that is no run, or a wrong one, is refused with the place of what is wrong, and nothing is stored."""

import pytest

from experiments.models import Call, Event, Experiment, Judgment, Message, ProviderModel, Run, Step
from experiments.runs.reports.importing import import_document
from experiments.runs.reports.json_values import InvalidDocument
from tests.experiments import contest_rows
from tests.experiments.reports import deliberations
from tests.experiments.reports.documents import changed
from tests.making import maker

STORED = (Experiment, Run, Step, Call, Message, Judgment, Event, ProviderModel)
NOWHERE = "00000000-0000-7000-8000-000000000000"


@maker
def refuse(alice, /, document):
    """Asserts that a document is refused and nothing of it is stored; returns the faults by their places."""
    rows = [model.objects.count() for model in STORED]
    with pytest.raises(InvalidDocument) as refused:
        import_document(document, by=alice)
    assert rows == [model.objects.count() for model in STORED]
    assert all(said and said[0] for said in refused.value.errors.values())
    return refused.value


@pytest.fixture
def arena_run(played, exported):
    return exported(played(max_turns=1))


@pytest.fixture
def council(alice, exported):
    return exported(deliberations.council(alice).run)


@pytest.fixture
def contest(alice, exported):
    return exported(contest_rows.contest(alice, 2).run)


def test_what_is_wrong_is_named_and_nothing_is_stored(arena_run, refuse):
    for path, value, place in (
        (["report_version"], 2, "report_version"),
        (["run", "state"], "flying", "run.state"),
        (["run", "seed"], 2**64, "run.seed"),
        (["run", "created"], "0001-01-01T00:00:00+14:00", "run.created"),
        (["experiment", "workflow"], "poker", "experiment.workflow"),
        (["experiment", "config", "max_turns"], 0, "experiment.config.max_turns"),
        (["experiment", "cast", 0, "seat"], "Z", "experiment.cast[0].seat"),
        (["experiment", "cast", 0, "seat"], "B", "experiment.cast[1].seat"),
        (["experiment", "cast", 0, "params"], {"temperature": 9}, "experiment.cast[0].params.temperature"),
        (["messages", 1, "turn"], 2**31, "messages[1].turn"),
        (["messages", 1, "text"], "half \ud800", "messages[1].text"),
        (["messages", 1, "text"], "nul \x00", "messages[1].text"),
        (["messages", 1, "seat"], '"><script>', "messages[1].seat"),
        (["messages", 1, "call"], NOWHERE, "messages[1].call"),
        (["messages", 1, "filter"], {"status": "kept"}, "messages[1].filter.changed"),
        (["judgments", 0, "scores", "fear"], 1.5, "judgments[0].scores"),
        (["judgments", 0, "scores", "fear"], float("nan"), "judgments[0].scores.fear"),
        (["judgments", 0, "subject"], "B", "judgments[1].subject"),
        (["calls", 0, "cost"], "1e30", "calls[0].cost"),
        (["calls", 0, "model"], "a b", "calls[0].model"),
        (["steps", 1, "key"], "turn/1", "steps[1].key"),
        (["steps", 0, "message"], NOWHERE, "steps"),
        (["steps", 0], {"key": "next", "kind": "listen", "purpose": "next", "data": {"text": 5}}, "steps[0]"),
    ):
        assert place in refuse(changed(arena_run, *path, value=value)).errors, (path, value)


def test_a_council_or_contest_that_could_not_be_drawn_or_rated_is_refused_with_its_place(council, contest, refuse):
    for document, path, value, said in (
        (council, ("ballots", 0, "order"), [["member-1"]], "not shown"),
        (council, ("ballots", 0, "order"), [["member-2"], ["member-2"]], "one twice"),
        (council, ("ballots", 0, "order"), [[]], "at least 1"),
        (council, ("ballots", 0, "call"), NOWHERE, "no such call"),
        (council, ("messages", 1, "parsed"), {"kind": "points", "new_perspectives": [{"id": "p1"}]}, "required"),
        (council, ("messages", 1, "parsed"), {"no": "kind"}, "required"),
        (contest, ("cycles", 1, "votes", "coder-1"), {"coder-1": 5.0}, "own solution"),
        (contest, ("cycles", 1, "votes", "coder-1"), {"coder-2": 11.0}, "less than or equal to 10"),
        (contest, ("cycles", 1, "votes", "coder-1"), {"coder-9": 5.0}, "not contestants"),
        (contest, ("cycles", 1, "setter"), "coder-9", "not a contestant"),
        (contest, ("cycles", 1, "turn"), 1, "twice"),
        (contest, ("executions", 0, "key"), "cycle/1/nowhere", "no step"),
        (contest, ("executions", 0, "results"), None, "has results"),
        (contest, ("executions", 0, "results", 0, "verdict"), "perfect", "passed"),
        (contest, ("judgments", 0, "scores"), {"overall": 1000.0}, "from 0 to 10"),
    ):
        refused = refuse(changed(document, *path, value=value))
        assert {place.split(".")[0].split("[")[0] for place in refused.errors} == {path[0]}, (path, value)
        assert said in str(refused)

    [place] = [n for n, step in enumerate(council["steps"]) if step["purpose"] == "ballots_counted"]
    for fields in (
        {"seats": "all"},
        {"ballots": [{"reviewer": "member-1", "order": [["member-9"]], "offered": ["member-9"]}]},
        {"ballots": [{"reviewer": "member-1", "order": [["member-2"]], "offered": ["member-3"]}]},
        {"best": ["member-9"]},
    ):
        refused = refuse(changed(council, "steps", place, "data", value=deliberations.counted(**fields)))
        assert any(name.startswith(f"steps[{place}]") for name in refused.errors), fields


def test_what_is_no_run_endless_depth_and_what_stands_twice_are_refused(arena_run, council, refuse):
    for garbage in (None, [], {}, {"run": []}):
        refuse(garbage)
    deep = []
    for _ in range(50_000):
        deep = [deep]
    assert "deeper" in str(refuse({"report_version": 1, "x": deep}))

    for name in ("messages", "judgments", "calls"):
        rows = arena_run[name]
        assert f"{name}[{len(rows)}].id" in refuse({**arena_run, name: [*rows, rows[0]]}).errors
    first, second, _third = (step for step in council["steps"] if step["ballot"])
    second["ballot"] = first["ballot"]
    refuse(council)
