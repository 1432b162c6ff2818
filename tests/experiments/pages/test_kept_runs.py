"""Renaming, archiving and deleting runs: on pages, in the API, on the audit log, and in the sums of usage."""

from django.urls import reverse

from accounts.models import AuditEntry
from experiments.lab.usage import days
from experiments.models import Call, Event, Experiment, Message, Note, Run
from tests.cases import each_case
from tests.experiments.search.transcripts import talk


def listed(browser, query="archived=no"):
    page = browser.get(f"/runs/?{query}").content.decode()
    return {run for run in Run.objects.all() if f"/runs/{run.pk}/" in page}


def recorded(action):
    return list(AuditEntry.objects.filter(action=action).values_list("actor", "name"))


def test_a_run_is_renamed_by_who_may_change_it_and_found_by_its_new_title(browser, alice, charlies):
    run = talk(alice, "We share.", title="Panels", visibility="lab")
    address = reverse("run-rename", args=[run.pk])

    browser.post(address, {"title": " Roof  panels "})
    browser.post(address, {"title": " "})
    charlies.post(address, {"title": "Mine"})

    assert Experiment.objects.get(pk=run.experiment_id).title == "Roof panels"
    assert listed(browser, "search=roof") == {run}
    assert recorded("renamed") == [("alice", "Roof panels")]


def test_an_archived_run_leaves_the_list_until_it_is_restored(browser, alice):
    run, other = talk(alice, "We share."), talk(alice, "We do not.")
    live = talk(alice, state="waiting")

    browser.post("/runs/chosen/", {"run": [run.pk], "do": "archive"})
    browser.post("/runs/chosen/", {"run": [live.pk, other.pk], "do": "archive"})

    assert listed(browser) == {other, live}
    assert listed(browser, "archived=yes") == {run}
    browser.post("/runs/chosen/", {"run": [run.pk], "do": "restore"})
    assert listed(browser) == {run, other, live}
    assert [len(recorded(action)) for action in ("archived", "restored")] == [1, 1]


def test_a_deleted_run_leaves_nothing_but_what_it_cost(browser, alice):
    run = talk(alice, "We share.", "So we do.")
    Note.objects.create(run=run, author=alice, text="Read this.")
    before = days.amount_of(Call.objects.all())

    assert browser.get(f"/runs/delete/?run={run.pk}").status_code == 200
    browser.post("/runs/delete/", {"run": [run.pk]})

    assert browser.get(run.get_absolute_url()).status_code == 404
    for model in (Run, Experiment, Message, Event, Note):
        assert not model.objects.exists(), model
    assert Call.objects.exists()
    assert days.amount_of(Call.objects.all()) == before
    assert not Call.objects.exclude(text="", request={}).exists()
    assert recorded("deleted") == [("alice", "A talk")]


@each_case(
    ("fields", "who", "status"),
    [
        ({"state": "running"}, "alice", 409),
        ({"visibility": "public"}, "alice", 409),
        ({"visibility": "lab"}, "charlie", 403),
        ({}, "charlie", 404),
    ],
)
def test_what_runs_or_is_public_or_anothers_is_not_deleted(alice, browser, charlies, fields, who, status):
    run = talk(alice, "We share.", **fields)
    page = {"alice": browser, "charlie": charlies}[who]

    assert page.get(f"/runs/delete/?run={run.pk}").status_code == status
    assert page.delete(f"/api/runs/{run.pk}/").status_code == status
    page.post("/runs/delete/", {"run": [run.pk]})
    assert Run.objects.get().messages.count() == 1


def test_the_last_run_takes_its_experiment_with_it_and_a_branch_stays(browser, alice):
    first = talk(alice, "We share.")
    second = Run.objects.create(experiment=first.experiment, seed=8, state="completed")
    branch = talk(alice, "We share.", parent=first, branched_from=first.messages.get())

    browser.post("/runs/delete/", {"run": [first.pk]})
    assert set(Run.objects.all()) == {second, branch}
    assert Run.objects.get(pk=branch.pk).branched_from is None
    browser.post("/runs/delete/", {"experiment": [second.experiment_id]})
    assert set(Experiment.objects.all()) == {branch.experiment}


def test_what_somebody_else_judges_again_stays_and_ones_own_judging_goes_with_it(browser, alice, charlie):
    run = talk(alice, "We share.", visibility="lab")
    judging = talk(charlie, parent=run, workflow="judging")

    assert browser.delete(f"/api/runs/{run.pk}/").status_code == 409
    assert set(Run.objects.all()) == {run, judging}
    Experiment.objects.filter(pk=judging.experiment_id).update(owner=alice)
    assert browser.delete(f"/api/runs/{run.pk}/").status_code == 204
    assert not Run.objects.exists()
