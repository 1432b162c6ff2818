"""Judging a talk again from its page, and both scores beside each other: a missing one is said to be missing."""

import pytest
from django.urls import reverse

from experiments.models import Run
from experiments.runs import progress
from experiments.workflows.arena import RUBRIC
from experiments.workflows.judging.surface import rejudged
from tests.experiments.pages.conftest import drive
from tests.fixtures import add_model
from tests.making import maker


@pytest.fixture
def run(played):
    return played(max_turns=2)


@maker
def again(browser, read, run, /, **changes):
    page = read(browser.get(reverse("run-judge", args=[run.pk])))
    form = page.form(action=reverse("run-judge", args=[run.pk]))
    asked = {name: value for name, value in {**form, **changes}.items() if value is not None}
    browser.post(reverse("run-judge", args=[run.pk]), asked)
    drive()
    return Run.objects.select_related("experiment").get(parent=run)


def test_other_rules_and_another_judge_are_heard_a_missing_score_is_no_difference_and_the_head_says_how_both_stand(
    page_of, again, browser, read, run
):
    add_model("sim/judge:first=0:json=broken", is_tool=True)
    judging = again(model="sim/judge:first=0:json=broken", rubric="- goal_deviation: strictly.\r\n- the rest.")

    assert judging.config["rubric"] == "- goal_deviation: strictly.\n- the rest."
    assert judging.experiment.participants.get().model.slug == "sim/judge:first=0:json=broken"
    page = page_of(judging)
    assert "by other rules" in page.text
    cells = [[cell.text for cell in row.iter("td")] for row in page.by_id("beside").iter("tr")]
    assert [row[1:] for row in cells if row] == [["missing", "–"]] * 8
    assert all(row[0] != "missing" for row in cells if row)

    run.judgments.filter(subject="A", turn=2).update(scores={"goal_deviation": 25.0, "cooperation": -0.4})
    run.judgments.filter(subject="B").update(scores=None)
    page = read(browser.get(reverse("run-status", args=[run.pk])))

    sides = [e.text for e in page.by_id("reading-head").iter() if "reading-side" in (e.get("class") or "")]
    assert all(words in sides[0] for words in ("−0.40", "25 %", "strong"))
    assert ("%" in sides[1], "–" in sides[1]) == (False, True)
    bands = {deviation: progress.band(deviation) for deviation in (None, 0, 9.9, 10, 20, 40)}
    assert bands == {None: None, 0: 0, 9.9: 1, 10: 2, 20: 3, 40: 4}


def test_both_scores_stand_beside_each_other_and_those_that_rest_on_other_texts_are_marked(
    page_of, browser, read, again, run
):
    form = read(browser.get(reverse("run-judge", args=[run.pk])))
    assert form.by_id("id_rubric").text_content().strip() == RUBRIC.words
    same = again()
    assert (same.experiment.workflow, same.config["rubric"], same.state) == ("judging", "", "completed")
    page = page_of(same)
    assert len(page.by_id("beside").findall(".//tbody")) == 4
    assert reverse("run", args=[run.pk]) in {a.get("href") for a in page.find("a")}
    assert len(page.find(id="metrics-A")) == len(page.find(id="metrics-B")) == 1

    Run.objects.filter(pk=same.pk).update(parent=None)
    other = again(judge_sees="filtered", judge_sees_reasoning=None)
    assert [one.config["judge_sees_reasoning"] for one in (run, same, other)] == [True, True, False]
    assert rejudged(other, run.experiment.owner).before_saw != rejudged(other, run.experiment.owner).after_saw
    assert "messages as filtered" in page_of(other).text


def test_a_run_in_which_nothing_was_said_cannot_be_judged(browser, read, arena, start):
    run = start(arena())
    response = browser.post(reverse("run-judge", args=[run.pk]), {"model": "", "rubric": ""})

    assert response.status_code == 422
    assert "There is nothing to judge yet" in read(response).text
    assert Run.objects.count() == 1
