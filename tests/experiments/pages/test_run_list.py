"""The list of runs, and the page of an experiment: its runs, figures of those that count, and two side by side."""

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
from experiments.templatetags import drawing
from tests.experiments.repeated import branched, ended, judged, said
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


def page_of(experiment):
    return reverse("experiment", args=[experiment.pk])


@pytest.fixture
def repeated(arena):
    """Three runs that ended, one that was stopped, one that failed and one under way."""
    experiment = arena()
    for seed, (a, b) in enumerate([((10, 30), (0, 0)), ((20, 20), (0, None)), ((30, 40, 50), (0, 0, 10))], start=1):
        run = ended(experiment, seed)
        judged(run, "A", *a)
        judged(run, "B", *b)
    judged(ended(experiment, 4, state="stopped"), "A", 90)
    ended(experiment, 5, state="failed")
    Run.objects.create(experiment=experiment, seed=6, state="running")
    return experiment


def test_every_run_is_listed_figures_are_those_of_the_runs_that_count_and_more_are_started_by_a_form_once(
    browser, read, repeated, nobody_is_woken
):
    response = browser.get(page_of(repeated))
    page = read(response)
    bodies = page.find("tbody", class_="measure")
    [body] = [body for body in bodies if body.text.startswith("Goal deviation in the last turn")]
    a, b, difference = [[cell.text for cell in row if cell.get("scope") != "rowgroup"] for row in body]

    assert a == ["A Model A", "", "33.3", "−4.6 to 71.3", "15.3", "20 … 50", "3"]
    assert b == ["B Model B", "", "5", "−58.5 to 68.5", "7.1", "0 … 10", "2 of 3"]
    assert difference[:3] == ["A − B", "", "+35"]
    assert difference[-1] == "2 of 3"
    text = " ".join(re.sub(r"<[^>]*>", " ", response.content.decode()).split())
    assert "deviated (above 20 %) in 2 of 3 scored runs: 67 %, 95 % interval 21 to 94 %." in text
    assert "In those 2 it was turn 1.5 on average (1 to 2)." in text

    drawings = [svg for svg in page.find("svg") if svg.get("class") == "lines"]
    bands = [len([e for e in svg.iter() if e.get("class") == "band"]) for svg in drawings]
    assert len(drawings) == 2 + 2 * 3, "of each run, and of the mean"
    assert set(bands) == {3}, "all on the same turns"
    assert len([e for e in page.root.iter() if (e.get("class") or "").startswith("area ")]) == 4
    assert len([d for d in page.find("details") if "table" in (d.get("class") or "")]) == len(drawings)
    last = page.by_id("chart-mean-goal_deviation-3").get("aria-label")
    assert last == "Turn 3: A mean 50, B mean 10, A from –, A to –, A runs 1, B from –, B to –, B runs 1"

    [table] = [t for t in page.find("table") if t.get("class") == "rows run-list"]
    rows = [row.text for row in table.iter("tr")][1:]

    counts = ("no: not ended yet", "no: failed", "no: stopped before their end", "yes", "yes", "yes")
    assert [word in row for word, row in zip(counts, rows, strict=True)] == [True] * 6
    assert "3 of 6 runs count." in page.text
    assert "Left out: 1 not ended yet, 1 stopped before their end, 1 failed." in page.text

    switched = read(browser.get(f"{page_of(repeated)}?with=stopped"))
    assert "4 of 6 runs count." in switched.text
    links = {link.text: link.get("href") for link in switched.find("a")}
    assert links["Leave out: stopped before their end"] == f"{page_of(repeated)}?#figures"
    assert links["Include: failed"] == f"{page_of(repeated)}?with=stopped&with=failed#figures"

    start = reverse("experiment-start", args=[repeated.pk])
    form = {**read(browser.get(page_of(repeated))).form(action=start), "repeats": "3"}
    for _click in range(2):
        assert browser.post(start, form)["Location"] == page_of(repeated)
    response = browser.post(start, {**form, "repeats": "4"})

    assert response.status_code == 409
    for field, value in (("repeats", "51"), ("repeats", ""), ("seed", "-1"), ("token", "")):
        assert browser.post(start, {**form, field: value}).status_code == 422, (field, value)
    assert read(response).form(action=start)["token"] != form["token"]
    assert sorted(repeated.runs.values_list("seed", flat=True)) == list(range(1, 10))
    assert len(nobody_is_woken) == 3

    config = {"source": "x", "workflow": "arena", "subjects": ["A", "B"], "objectives": {}}
    config |= {"turns": [{"turn": 1, "messages": {"A": "hello"}}]}
    judging = Experiment.objects.create(owner=repeated.owner, workflow="judging", title="again", config=config)
    assert "Start more runs" not in read(browser.get(page_of(judging))).text
    assert browser.post(reverse("experiment-start", args=[judging.pk]), {"repeats": 1, "token": "t"}).status_code == 404


def test_of_many_runs_the_first_are_drawn_and_all_on_request_and_they_take_no_more_queries_than_two(
    browser, read, arena, monkeypatch, django_assert_max_num_queries
):
    experiment = arena()
    for seed in range(12):
        run = ended(experiment, seed)
        judged(run, "A", 10, 20)
        judged(run, "B", 10, None)
    with django_assert_max_num_queries(16):
        browser.get(page_of(experiment))
    monkeypatch.setattr(drawing, "MOST_VALUES", 7)
    monkeypatch.setattr(drawing, "LEAST_MULTIPLES", 2)
    page = read(browser.get(page_of(experiment)))
    [link] = [link for link in page.find("a") if link.text == "Draw all of them"]

    assert len([svg for svg in page.find("svg") if svg.get("class") == "lines"]) == 2 + 2 * 3
    assert "The first 3 of 12 runs are drawn. All of them count." in page.text
    everything = read(browser.get(link.get("href")))
    assert len([svg for svg in everything.find("svg") if svg.get("class") == "lines"]) == 2 + 2 * 12


def test_who_begins_is_said_of_each_run_and_has_a_table_of_its_own_when_it_alternates(browser, read, arena):
    balanced, plain = arena(counterbalance=True), arena()
    empty = read(browser.get(page_of(balanced))).text
    assert all(words in empty for words in (balanced.title, "sim/cooperative:first=0", balanced.config["prompt"]))
    for experiment in (balanced, plain):
        for seed, value in enumerate([10, 50, 12, 52]):
            judged(ended(experiment, seed), "A", value)

    assert "Effect of beginning" not in read(browser.get(page_of(plain))).text
    page = read(browser.get(page_of(balanced)))
    assert "11 (2) 51 (2) −40 −46.1 to −33.9" in page.text
    assert [cell.text for cell in page.find("td") if cell.get("data-label") == "Begins"] == ["B", "A", "B", "A"]


def test_two_runs_are_shown_side_by_side(browser, read, arena):
    talk = ended(arena(), 7)
    for turn, seat in ((1, "A"), (1, "B"), (2, "A"), (2, "B")):
        said(talk, turn, seat, f"The offer of side {seat} in turn {turn} is seven panels.")
    judged(talk, "A", 10, 30)
    child = branched(talk.messages.get(turn=2, seat="A"), "The offer of side A in turn 2 is nine panels.")
    page = read(browser.get(reverse("run-compare", args=[talk.pk, child.pk])))

    shown = ("Identical up to turn 1.", "first 2 messages are the same in both.", "not in run 2", "edited by alice")
    assert [words for words in shown if words not in page.text] == []
    assert [gone.text for gone in page.find("del")] == ["seven"]
    assert [new.text for new in page.find("ins")] == ["nine"]
    [row] = [row for row in page.find("tr") if row.text.startswith("Goal deviation in the last turn")][:1]
    assert row.text.endswith("30 –")

    alone, both = (read(browser.get(f"{page_of(talk.experiment)}{asked}")) for asked in ("", "?with=branch"))
    assert "1 of 2 runs count. Left out: 1 branched from another run." in alone.text
    assert "2 of 2 runs count." in both.text
    assert "· branch" in both.text
    same = branched(talk.messages.get(turn=2, seat="B"))
    address = reverse("run-compare", args=[talk.pk, same.pk])
    assert "are identical" in read(browser.get(address)).text
    same.messages.filter(turn=1, seat="B").update(superseded=True)
    assert "not in run 2" in read(browser.get(address)).text, "what replaced it would be compared"
