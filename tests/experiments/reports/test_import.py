"""A run that is exported and imported says the same again, in rows of its own."""

import json

import pytest
from django.utils import timezone

from experiments import actions, timeline
from experiments.catalog.syncing import add_model, sync_models
from experiments.fragments import render
from experiments.models import Call, Provider, ProviderModel, Run, Step
from experiments.refusals import NotAllowed
from experiments.reports.importing import import_document
from experiments.steering import branching, steering
from tests import fixtures
from tests.cases import each_case

pytestmark = [pytest.mark.django_db, pytest.mark.databases]

OWN = {"id", "call", "experiment", "run", "parent", "branched_from", "message", "judgments", "source"}


def without_ids(value):
    if isinstance(value, dict):
        return {name: without_ids(item) for name, item in value.items() if name not in OWN}
    return [without_ids(item) for item in value] if isinstance(value, list) else value


def assert_equal(before, after):
    for name in ("messages", "judgments", "metrics", "interventions", "calls", "steps"):
        assert without_ids(after[name]) == without_ids(before[name]), name
    changing = {"origin", "last_seq"}
    was, is_ = ({k: v for k, v in side["run"].items() if k not in OWN | changing} for side in (before, after))
    assert is_ == was
    assert without_ids(after["experiment"]) == without_ids(before["experiment"])


def assert_same_page(run):
    """What the rows say is what the events say."""
    rows, events = timeline.from_rows(run), timeline.replayed(run.events.all())
    assert [(e.anchor, render(e, run.pk)) for e in rows] == [(e.anchor, render(e, run.pk)) for e in events]


@each_case("setting", [{}, {"filter": False}, {"judge": False}, {"first": "B", "max_turns": 1}], ids=str)
def test_an_imported_run_says_the_same(played, alice, setting, exported):
    """Edge case 65."""
    before = exported(played(**setting))

    run = import_document(before, by=alice)

    assert_equal(before, exported(run))
    assert_same_page(run)


@each_case("manner", ["broken", "range", "missing", "injected"])
def test_missing_scores_stay_missing(played, alice, manner, exported):
    before = exported(played(judge_model=f"sim/judge:first=0:json={manner}"))

    run = import_document(before, by=alice)

    assert_equal(before, exported(run))
    assert_same_page(run)


def test_a_failed_run_stays_failed_with_its_attempts(played, alice, exported):
    retried = ":first=0:fail=503:times=1:retry_after=0"
    before = exported(played(f"sim/cooperative{retried}", "sim/neutral:first=0:fail=404"))

    run = import_document(before, by=alice)

    assert run.state == Run.State.FAILED
    assert_equal(before, exported(run))
    assert_same_page(run)


def test_a_run_of_no_messages(arena, start, alice, exported):
    """Edge case 62."""
    run = start(arena())
    actions.stop(run, by=alice)
    before = exported(run)

    again = import_document(before, by=alice)

    assert_equal(before, exported(again))
    assert_same_page(again)


def test_a_run_under_way_becomes_a_stopped_one(played, alice, exported):
    run = played(max_turns=1)
    Run.objects.filter(pk=run.pk).update(state=Run.State.RUNNING, ended=None)
    run.calls.filter(pk=run.calls.last().pk).update(state=Call.State.SENT, cost=None)

    again = import_document(exported(run), by=alice)

    assert (again.state, again.stop_reason) == (Run.State.STOPPED, "imported_live")
    assert again.ended is not None
    assert not again.calls.filter(state=Call.State.SENT).exists()
    assert again.calls.filter(state=Call.State.LOST).get().cost is None
    assert again.lease_until is None
    assert not Run.objects.claimable().filter(pk=again.pk).exists()
    assert_same_page(again)


def test_ids_are_new_and_the_owner_is_who_imported(played, charlie, exported):
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


def test_links_to_calls_lead_to_the_new_calls(played, alice, exported):
    again = import_document(exported(played(max_turns=1)), by=alice)

    for message in again.messages.all():
        assert message.call.run_id == again.pk
        assert again.calls.filter(pk=message.filter["call"]).exists()
    assert all(judgment.call.run_id == again.pk for judgment in again.judgments.all())


def test_a_document_without_steps_gets_them(played, alice, exported):
    before = exported(played())
    bare = {name: value for name, value in before.items() if name != "steps"}

    run = import_document(bare, by=alice)

    after = exported(run)
    for name in ("messages", "judgments", "metrics", "calls"):
        assert without_ids(after[name]) == without_ids(before[name]), name
    assert after["run"]["turn"] == before["run"]["turn"]
    assert [e.type for e in timeline.from_rows(run)] == [
        *["turn_started", "message_completed", "message_completed", "judge_evaluation_completed"] * 2,
        *["model_metrics", "model_metrics", "experiment_stopped"],
    ]
    assert_same_page(run)


def test_a_document_written_by_hand_needs_little(alice):
    written = {
        "report_version": 1,
        "run": {"state": "completed"},
        "experiment": {
            "workflow": "arena",
            "title": "Two villages",
            "config": {"prompt": "Share.", "judge": False, "filter": False},
            "cast": [{"seat": "A", "model": "lab/one"}, {"seat": "B", "model": "lab/two"}],
        },
        "messages": [
            {"turn": 1, "seat": "A", "model": "One", "text": "Half each?", "created": "2026-03-01T12:00:00Z"},
            {"turn": 1, "seat": "B", "model": "Two", "text": "Gladly.", "created": "2026-03-01T12:00:05Z"},
        ],
        "judgments": [{"turn": 1, "subject": "A", "scores": {"cooperation": 0.5}, "judge": "Three"}],
    }

    run = import_document(written, by=alice, origin=Run.Origin.DEMONSTRATION)

    assert run.origin == Run.Origin.DEMONSTRATION
    assert [(m.seat, m.raw_text, m.text) for m in run.messages.all()] == [
        ("A", "Half each?", "Half each?"),
        ("B", "Gladly.", "Gladly."),
    ]
    assert Run.objects.with_totals().get(pk=run.pk).turn == 1
    assert_same_page(run)


def test_models_the_lab_does_not_know_are_entered_as_inactive(played, alice, exported):
    before = exported(played(max_turns=1))
    for row in [*before["experiment"]["cast"], *before["calls"]]:
        row["model"] = "elsewhere/" + row["model"]
    before["calls"][0]["simulated"] = False

    run = import_document(before, by=alice)

    entered = ProviderModel.objects.filter(slug__startswith="elsewhere/")
    assert entered.exists()
    assert not entered.filter(is_active=True).exists()
    assert not Provider.objects.filter(name__startswith="imported", is_active=True).exists()
    assert [call["simulated"] for call in exported(run)["calls"]] == [call["simulated"] for call in before["calls"]]


def test_a_reader_imports_nothing(played, alice, exported):
    before = exported(played(max_turns=1))
    type(alice).objects.filter(pk=alice.pk).update(role="reader")
    alice.refresh_from_db()

    with pytest.raises(NotAllowed):
        import_document(before, by=alice)


def test_the_events_are_numbered_without_a_gap(played, alice, exported):
    run = import_document(exported(played()), by=alice)

    seqs = list(run.events.values_list("seq", flat=True))
    assert seqs == list(range(1, len(seqs) + 1))
    assert Run.objects.get(pk=run.pk).last_seq == len(seqs)
    for message in run.messages.all():
        assert run.events.get(seq=message.seq).data["id"] == str(message.pk)


def test_a_model_that_a_provider_lists_later_is_that_providers(played, alice, exported):
    """Whoever imports a run does not take a name away from the lab's catalogue."""
    before = exported(played(max_turns=1))
    before["experiment"]["cast"][0]["model"] = "later/one"
    run = import_document(before, by=alice)
    lab = Provider.objects.create(name="lab", base_url="http://lab.example/v1")

    sync_models(lab, [{"id": "later/one"}, {"id": "later/two"}], timezone.now())

    [model] = ProviderModel.objects.filter(slug="later/one")
    assert (model.provider, model.upstream, model.is_active) == (lab, "later/one", True)
    assert run.experiment.participants.filter(model=model).exists()
    assert lab.models.count() == 2


def test_a_model_that_is_entered_by_hand_later_is_that_providers(played, alice, exported):
    before = exported(played(max_turns=1))
    before["experiment"]["cast"][0]["model"] = "later/one"
    import_document(before, by=alice)
    lab = Provider.objects.create(name="lab", base_url="http://lab.example/v1")

    assert add_model(lab, "later/one").slug == "later/one"


def test_two_imports_of_the_same_document_are_two_runs(played, alice, exported):
    before = exported(played(max_turns=1))
    before["experiment"]["cast"][0]["model"] = "elsewhere/one"

    first, second = import_document(before, by=alice), import_document(before, by=alice)

    assert first.pk != second.pk
    assert_equal(exported(first), exported(second))


def test_an_imported_run_that_failed_does_not_go_on(played, alice, exported):
    """It is the record of what another platform did: nothing of it is asked again here."""
    run = import_document(exported(played(a="sim/neutral:first=0:fail=404")), by=alice)

    assert not actions.resume(run, by=alice)
    assert Run.objects.get(pk=run.pk).state == Run.State.FAILED


@pytest.fixture
def say(alice, drive):
    """Answers the pause at which a run waits, and lets it go on."""

    def answer(run, action="send", text=""):
        pause = run.steps.get(kind="listen", state=Step.State.OPEN)
        steering.say(Run.objects.get(pk=run.pk), by=alice, key=pause.key, action=action, text=text)
        drive()

    return answer


@pytest.mark.django_db(transaction=True)
def test_a_manual_run_with_its_interventions(arena, start, drive, say, alice, exported):
    run = start(arena(mode="manual", max_turns=1))
    drive()
    say(run, text="Say only yes.")
    say(run, "note", "Stay calm.")
    say(run, "skip")
    before = exported(run)
    assert before["interventions"]

    again = import_document(before, by=alice)

    after = exported(again)
    for name in ("messages", "judgments", "metrics", "interventions", "calls", "steps"):
        assert without_ids(after[name]) == without_ids(before[name]), name
    assert_same_page(again)


@pytest.mark.django_db(transaction=True)
def test_a_talk_with_one_model_and_an_answer_given_again(provider, alice, start, drive, say, exported):
    model, judge = fixtures.add_model("sim/neutral:first=0"), fixtures.add_model("sim/judge:first=0")
    config = {"first_message": "What do you fear?"}
    cast = {"model": {"model": model.slug}, "judge": {"model": judge.slug}}
    run = start(actions.create(owner=alice, workflow="starchamber", config=config, cast=cast))
    drive()
    say(run, "regenerate")
    say(run, "send", "And hope?")
    say(run, "end")
    before = exported(run)
    assert [m["superseded"] for m in before["messages"]].count(True) == 1

    again = import_document(before, by=alice)

    assert_equal(before, exported(again))
    assert_same_page(again)


@pytest.mark.django_db(transaction=True)
def test_a_branch_and_a_judging(arena, start, drive, alice, exported):
    run = start(arena(max_turns=2))
    drive()
    branch = branching.branch(run.messages.get(turn=1, seat="B"), by=alice, text="No.")
    judging = branching.judge_again(Run.objects.get(pk=run.pk), by=alice)
    drive()

    for made in (branch, judging):
        before = exported(made)
        again = import_document(before, by=alice)
        after = exported(again)
        assert [words(message) for message in after["messages"]] == [words(message) for message in before["messages"]]
        for name in ("judgments", "interventions", "calls", "steps"):
            assert without_ids(after[name]) == without_ids(before[name]), name
        assert again.parent is None
        assert_same_page(again)


def words(message):
    """What the file of a branch says of a message; what it was paid with is in the file of the parent."""
    return {name: value for name, value in without_ids(message).items() if name not in {"usage", "cost", "logprobs"}}
