"""The list of runs: its filters, page after page; and renaming, archiving and deleting what is in it."""

import re
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import Membership, Project
from experiments.lab.usage import days
from experiments.models import Call, Event, Experiment, Message, Note, Run
from experiments.review import flagging
from experiments.runs import run_table
from tests.experiments.search.transcripts import talk


def shown(browser, read, address):
    page = read(browser.get(address))
    links = [a.get("href") or "" for a in page.find("a")]
    beside = {a.get("rel"): a.get("href") for a in page.find("a") if a.get("rel") in {"next", "prev"}}
    runs = [link for link in links if re.fullmatch(r"/runs/[0-9a-f-]{36}/", link)]
    return [link[6:-1] for link in runs], beside


@pytest.mark.databases
def test_more_runs_than_fit_come_in_pages_there_and_back(browser, read, arena):
    one = arena()
    experiments = Experiment.objects.bulk_create(
        Experiment(owner=one.owner, workflow=one.workflow, title="Talk", config=one.config) for _number in range(60)
    )
    runs = Run.objects.bulk_create(Run(experiment=experiment, seed=1) for experiment in experiments)
    Run.objects.update(created=runs[0].created)
    Run.objects.filter(pk=runs[7].pk).update(created=runs[0].created - timedelta(days=3))
    expected = [str(run.pk) for run in (*(run for run in runs[::-1] if run != runs[7]), runs[7])]

    first, beside = shown(browser, read, "/runs/")
    assert set(beside) == {"next"}
    second, beside = shown(browser, read, f"/runs/{beside['next']}")
    third, last = shown(browser, read, f"/runs/{beside['next']}")
    back, _beside = shown(browser, read, f"/runs/{last['prev']}")
    front, at_front = shown(browser, read, f"/runs/{beside['prev']}")

    assert first + second + third == expected
    assert (len(first), len(second), len(third)) == (25, 25, 10)
    assert (back, front, set(at_front), set(last)) == (second, first, {"next"}, {"prev"})


@pytest.mark.databases
def test_each_filter_leaves_what_fits_it(browser, read, alice, charlie):
    project, theirs = Project.objects.create(name="Solar lab"), Project.objects.create(name="Wind lab")
    Membership.objects.create(project=project, user=alice, role=Membership.Role.MEMBER)
    here = talk(alice, "We share.", title="Zwölf panels of the village", project=project, state="failed")
    there = talk(charlie, "We share.", title="Night", visibility="lab", project=theirs)
    Run.objects.filter(pk=there.pk).update(created=here.created - timedelta(days=40))
    flagging.set_flag(here.messages.get(), "refusal", by=alice)
    day = here.created.date()

    def listed(asked):
        found = shown(browser, read, f"/runs/?whose=all&{asked}")[0]
        return {name for name, run in (("here", here), ("there", there)) if str(run.pk) in found}

    assert listed("") == {"here", "there"}
    assert listed("flag=refusal") == listed("by=alice") == listed("state=failed") == {"here"}
    assert listed(f"project={project.pk}") == {"here"}
    assert listed("project=Solar+lab") == set()
    assert listed(f"project={theirs.pk}") == set(), "nobody filters by a project that is not theirs"
    assert listed(f"since={day}") == {"here"}
    assert listed(f"until={day - timedelta(days=2)}") == {"there"}
    assert listed("model=lab/a") == listed("model=a") == {"here", "there"}
    assert listed("model=lab") == set()
    assert listed("search=village+pan") == listed("search=ZWÖLF") == {"here"}
    assert listed("search=lab/a+night") == {"there"}
    assert listed("search=!!") == set()
    assert listed("search=share&flag=truncated") == set()


@pytest.mark.databases
def test_as_many_queries_for_many_as_for_few(browser, alice):
    def queries(address):
        with CaptureQueriesContext(connection) as asked:
            assert browser.get(address).status_code == 200
        return len(asked)

    addresses = ("/runs/", "/runs/?whose=all&search=talk&model=lab/a", "/api/runs/", "/api/experiments/")
    for _number in range(3):
        talk(alice, "We share.")
    few = {address: queries(address) for address in addresses}
    for _number in range(7):
        talk(alice)
    assert {address: queries(address) for address in addresses} == few


def test_an_experiment_with_several_runs_is_one_row_also_where_a_query_makes_no_sense(browser, read, arena):
    experiment = arena()
    Run.objects.bulk_create(Run(experiment=experiment, seed=n, state="completed") for n in range(3))
    Run.objects.create(experiment=experiment, seed=3, state="failed")

    def rows(query):
        return [a.get("href") for a in read(browser.get(f"/runs/?{query}")).root.cssselect("[data-open]")]

    address = f"/experiments/{experiment.pk}/"
    assert rows("") == rows("state=failed") == [address]
    assert rows("state=stopped") == []
    for query in ("before=x", "after=x_y", f"before=2026-01-01T00:00:00_{0:032}", "page=-1", "search=%00", "state=x"):
        assert rows(query) == [address], query


@pytest.mark.databases
def test_rows_are_sorted_by_a_column_both_ways_and_columns_are_chosen(browser, read, alice, charlie):
    titles = ["ash", "Birch", "cedar"]
    for title in (titles[1], titles[2], titles[0]):
        talk(alice, "We share.", title=title)

    def order(sort):
        return [a.text for a in read(browser.get(f"/runs/?sort={sort}")).root.cssselect("[data-open]")]

    assert order("title") == titles
    assert order("-title") == titles[::-1]
    for column in run_table.OPTIONAL:
        assert sorted(order(column), key=str.lower) == titles
    headings = read(browser.get("/runs/?sort=-title")).root.cssselect("th[aria-sort]")
    assert [th.get("aria-sort") for th in headings] == ["descending"]

    browser.post("/runs/columns/", {"column": ["state", "cost"]})
    headings = read(browser.get("/runs/")).root.cssselect(".run-list thead a")
    assert [a.text for a in headings] == ["Run", "State", "Cost"]
    assert run_table.hidden_columns(charlie) == [], "they are theirs alone"


def listed(browser, query="archived=no"):
    page = browser.get(f"/runs/?{query}").content.decode()
    return {run for run in Run.objects.all() if f"/runs/{run.pk}/" in page}


def test_a_run_is_renamed_by_who_may_change_it_and_leaves_the_list_while_it_is_archived(browser, alice, charlies):
    run = talk(alice, "We share.", title="Panels", visibility="lab")
    address = reverse("run-rename", args=[run.pk])

    browser.post(address, {"title": " Roof  panels "})
    browser.post(address, {"title": " "})
    charlies.post(address, {"title": "Mine"})

    assert Experiment.objects.get(pk=run.experiment_id).title == "Roof panels"
    assert listed(browser, "search=roof") == {run}

    other, live = talk(alice, "We do not."), talk(alice, state="waiting")
    browser.post("/runs/chosen/", {"run": [run.pk], "do": "archive"})
    browser.post("/runs/chosen/", {"run": [live.pk, other.pk], "do": "archive"})

    assert listed(browser) == {other, live}
    assert listed(browser, "archived=yes") == {run}
    browser.post("/runs/chosen/", {"run": [run.pk], "do": "restore"})
    assert listed(browser) == {run, other, live}


def test_a_deleted_run_leaves_nothing_but_what_it_cost_takes_its_experiment_along_and_leaves_branches_and_judgings(
    browser, alice, charlie
):
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

    run = talk(alice, "We share.", visibility="lab")
    judging = talk(charlie, parent=run, workflow="judging")
    assert browser.delete(f"/api/runs/{run.pk}/").status_code == 409
    assert set(Run.objects.all()) == {run, judging}
    Experiment.objects.filter(pk=judging.experiment_id).update(owner=alice)
    assert browser.delete(f"/api/runs/{run.pk}/").status_code == 204
    assert not Run.objects.exists(), "one's own judging goes with it"

    first = talk(alice, "We share.")
    second = Run.objects.create(experiment=first.experiment, seed=8, state="completed")
    branch = talk(alice, "We share.", parent=first, branched_from=first.messages.get())

    browser.post("/runs/delete/", {"run": [first.pk]})
    assert set(Run.objects.all()) == {second, branch}
    assert Run.objects.get(pk=branch.pk).branched_from is None
    browser.post("/runs/delete/", {"experiment": [second.experiment_id]})
    assert set(Experiment.objects.all()) == {branch.experiment}


def test_what_runs_or_is_public_or_anothers_is_not_deleted(alice, browser, charlies):
    for fields, page, status in (
        ({"state": "running"}, browser, 409),
        ({"visibility": "public"}, browser, 409),
        ({"visibility": "lab"}, charlies, 403),
        ({}, charlies, 404),
    ):
        run = talk(alice, "We share.", **fields)
        assert page.get(f"/runs/delete/?run={run.pk}").status_code == status, fields
        assert page.delete(f"/api/runs/{run.pk}/").status_code == status, fields
        page.post("/runs/delete/", {"run": [run.pk]})
        assert run.messages.count() == 1
