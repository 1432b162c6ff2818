"""The page of an experiment: its runs, and what they say together."""

import re

import pytest
from django.urls import reverse

from experiments.models import Experiment, Run
from experiments.templatetags import drawing
from tests.experiments.repeated import branched, ended, judged, said


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


def cells(read, response, measure):
    """The rows of a measure in the table of figures: side, mean, interval, SD, range, runs."""
    bodies = [body for body in read(response).find("tbody", class_="measure") if body.text.startswith(measure)]
    return [[cell.text for cell in row if cell.get("scope") != "rowgroup"] for body in bodies for row in body]


def test_every_run_is_listed_figures_are_those_of_the_runs_that_count_and_more_are_started_by_a_form_once(
    browser, read, repeated, nobody_is_woken
):
    response = browser.get(page_of(repeated))
    page = read(response)
    a, b, difference = cells(read, response, "Goal deviation in the last turn")

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
