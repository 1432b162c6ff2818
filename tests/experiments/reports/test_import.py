"""A run that is exported and imported says the same again, in rows of its own; one with a fault is refused."""

import json

import pytest
from django.utils import timezone

from experiments.lab.catalog.syncing import add_model, sync_models
from experiments.models import Call, Event, Experiment, Judgment, Message, Provider, ProviderModel, Run, Step
from experiments.runs import actions, timeline
from experiments.runs.reports.importing import import_document
from experiments.runs.reports.json_values import InvalidDocument
from tests.experiments import contest_rows
from tests.experiments.reports import deliberations
from tests.experiments.reports.documents import assert_equal, assert_same_page, changed
from tests.making import maker


def test_an_imported_run_says_the_same(played, arena, start, alice, exported):
    silent = start(arena())
    actions.stop(silent, by=alice)
    retried = ":first=0:fail=503:times=1:retry_after=0"
    failed = played(f"sim/cooperative{retried}", "sim/neutral:first=0:fail=404")

    for run in (silent, played(judge_model="sim/judge:first=0:json=range"), failed):
        before = exported(run)
        again = import_document(before, by=alice)

        assert_equal(before, exported(again))
        assert_same_page(again)
        assert not actions.resume(again, by=alice), "nothing of it is asked again here"
        assert Run.objects.get(pk=again.pk).state == Run.objects.get(pk=run.pk).state


@pytest.mark.databases
@pytest.mark.parametrize("make", [deliberations.council, deliberations.debate])
def test_an_imported_deliberation_says_the_same(alice, exported, make):
    record = make(alice)
    for seq, message in zip((5000, 4000, 3000), record.run.messages.filter(step__purpose="reply"), strict=False):
        record.run.messages.filter(pk=message.pk).update(seq=seq)  # answers given side by side, the last one first
    before = exported(record.run)

    run = import_document(before, by=alice)

    assert_equal(before, exported(run))
    assert_same_page(run)
    assert run.ballots.count() == len(before["ballots"])
    shown = ("message_completed", "message_parsed", "ballot_read")
    numbers = set(run.events.filter(type__in=shown).values_list("seq", flat=True))
    assert set(run.messages.values_list("seq", flat=True)) <= numbers
    if make is deliberations.council:
        assert exported(run)["run"]["offer"] is None, "it offers nothing"
        assert run.steps.get(key="turn/1/next").state == Step.State.OPEN
        assert "offer_opened" not in [shown.type for shown in timeline.from_rows(run)]


def test_a_run_under_way_becomes_a_stopped_one(played, alice, exported):
    run = played(max_turns=1)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, ended=None)
    run.calls.filter(pk=run.calls.last().pk).update(state=Call.State.SENT, cost=None)

    again = import_document(exported(run), by=alice)

    assert (again.state, again.stop_reason, again.ended is None) == (Run.State.STOPPED, "imported_live", False)
    assert not again.calls.filter(state=Call.State.SENT).exists()
    assert (again.calls.get(state=Call.State.LOST).cost, again.lease_until) == (None, None)
    assert not Run.objects.claimable().filter(pk=again.pk).exists()
    assert_same_page(again)


@pytest.mark.databases
def test_ids_are_new_the_owner_is_who_imported_and_a_second_import_is_another_run(played, alice, charlie, exported):
    run = played(max_turns=1)
    before = exported(run)

    again = import_document(before, by=charlie)

    assert again.experiment.owner == charlie
    assert again.origin == Run.Origin.IMPORTED
    old = {row["id"] for name in ("messages", "judgments", "calls") for row in before[name]}
    text = json.dumps(exported(again))
    assert not [id_ for id_ in old if id_ in text]
    assert str(run.pk) not in text
    assert Run.objects.visible_to(charlie).get() == again
    for message in again.messages.all():
        assert message.call.run_id == again.pk
        assert again.calls.filter(pk=message.filter["call"]).exists()
        assert again.events.get(seq=message.seq).data["id"] == str(message.pk)
    assert all(judgment.call.run_id == again.pk for judgment in again.judgments.all())
    seqs = list(again.events.values_list("seq", flat=True))
    assert seqs == list(range(1, Run.objects.get(pk=again.pk).last_seq + 1))
    second = import_document(before, by=charlie)
    assert second.pk != again.pk
    assert_equal(exported(again), exported(second))


def test_a_document_without_steps_gets_them(played, alice, exported):
    before = exported(played())
    bare = {name: value for name, value in before.items() if name != "steps"}

    run = import_document(bare, by=alice)

    after = exported(run)
    assert_equal(before, after, "messages", "judgments", "metrics", "calls")
    assert after["run"]["turn"] == before["run"]["turn"]
    assert [e.type for e in timeline.from_rows(run)] == [
        *["turn_started", "message_completed", "message_completed", "judge_evaluation_completed"] * 2,
        *["model_metrics", "model_metrics", "experiment_stopped"],
    ]
    assert_same_page(run)

    deliberated = {name: value for name, value in exported(deliberations.council(alice).run).items() if name != "steps"}
    run = import_document(deliberated, by=alice)
    assert list(run.ballots.values_list("step__purpose", flat=True)) == ["ballot_read"] * 3
    purposes = {"message_sent", "reply", "review", "conclusion"}
    assert set(run.messages.values_list("step__purpose", flat=True)) == purposes


def test_models_the_lab_does_not_know_are_inactive_until_a_provider_offers_them(alice, exported):
    before = exported(deliberations.council(alice).run)
    for row in [*before["experiment"]["cast"], *before["calls"]]:
        row["model"] = row["model"].replace("lab/", "later/")
    for call in before["calls"]:
        call["simulated"] = call["model"] == "later/member-3"

    run = import_document(before, by=alice)

    entered = ProviderModel.objects.filter(slug__startswith="later/")
    assert {model.is_active for model in entered} == {False}
    assert not Provider.objects.filter(name__startswith="imported", is_active=True).exists()
    assert [call["simulated"] for call in exported(run)["calls"]] == [call["simulated"] for call in before["calls"]]

    lab = Provider.objects.create(name="later", base_url="http://lab.example/v1")
    sync_models(lab, [{"id": "later/member-1"}, {"id": "later/two"}], timezone.now())
    add_model(lab, "later/member-2")
    for slug in ("later/member-1", "later/member-2"):
        [model] = ProviderModel.objects.filter(slug=slug)
        assert (model.provider, model.upstream, model.is_active) == (lab, slug, True)
        assert run.experiment.participants.filter(model=model).exists()


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


def test_a_council_or_contest_that_could_not_be_drawn_is_refused_with_its_place(council, alice, exported, refuse):
    contest = exported(contest_rows.contest(alice, 2).run)
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
