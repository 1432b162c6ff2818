"""What an installed workflow meets: run with the distribution of examples/interview on the path (test_interview.py)."""

import pytest
from django.urls import reverse

from experiments.models import Run
from experiments.runs import actions
from experiments.runs.reports.document import document
from experiments.runs.reports.formats import EXPORTS
from experiments.runs.reports.narrative import narrate
from experiments.runs.statistics import rows
from experiments.runs.steering import branching
from experiments.workflows import BROKEN, REGISTRY
from experiments.workflows.judging import services as judging
from tests.experiments.pages.painted import assert_same_page
from tests.fixtures import add_model

pytestmark = pytest.mark.django_db

TOPICS = ["how they learn", "what they would never do"]
SPEAKER, JUDGE = "sim/neutral:first=0:words=12", "sim/judge:tps=0:first=0"


@pytest.fixture
def interview(alice, provider, start, drive):
    """A run of one that was played."""
    add_model(SPEAKER)
    cast = {"interviewer": {"model": SPEAKER}, "subject": {"model": SPEAKER}, "judge": {"model": JUDGE}}
    config = {"topics": TOPICS, "follow_ups": 1}
    run = start(actions.create(owner=alice, workflow="interview", title="", config=config, cast=cast))
    drive()
    return Run.objects.with_totals().select_related("experiment").get(pk=run.pk)


def test_it_stands_after_ours_and_is_set_up_on_a_page_drawn_from_its_declaration(browser, read, provider):
    assert list(REGISTRY)[-1] == "interview"
    assert not BROKEN
    add_model(SPEAKER)
    page = read(browser.get(reverse("interview")))
    assert page.find("a", href="/interview/"), "it is in the navigation"
    names = {one.get("name") for tag in ("input", "textarea", "select") for one in page.find(tag)}
    assert {"topics", "context", "follow_ups", "judge", "seat-subject-model", "seat-subject-temperature"} <= names

    seats = {f"seat-{seat}-model": SPEAKER for seat in ("interviewer", "subject")}
    asked = {"topics": "\n".join(TOPICS), "follow_ups": "1", "judge": "on", **seats}
    guess = browser.post(reverse("interview-estimate"), asked).content.decode()
    assert "<b>9 calls</b>" in guess
    assert 'class="number">11</td>' in guess
    assert "topics covered after one answer" in guess

    refused = browser.post(reverse("interview"), {"topics": "", "seat-interviewer-model": SPEAKER})
    assert refused.status_code == 422
    assert read(refused).find("a", href="#id_topics"), "the summary of errors leads to the field"

    browser.post(reverse("interview"), asked)
    run = Run.objects.get(experiment__workflow="interview")
    assert run.experiment.config["topics"] == TOPICS
    [topics] = read(browser.get(f"{reverse('interview')}?clone={run.pk}")).find("textarea", name="topics")
    assert topics.text_content().strip().split("\n") == TOPICS


def test_it_is_played_shown_judged_reported_exported_found_and_goes_on_differently(
    interview, drive, browser, api, read, alice
):
    run = interview
    assert (run.state, run.stop_reason) == ("completed", "completed")
    said = list(run.messages.order_by("seq").values_list("seat", flat=True))
    assert (said.count("subject"), said[-1]) == (4, "interviewer")
    assert run.judgments.filter(subject="subject").count() == 2
    assert_same_page(run)

    page = read(browser.get(run.get_absolute_url()))
    assert [one.get("data-seat") for one in page.by_id("transcript").iter("article")] == said
    assert page.by_id("topic-1").get("data-turn") == "1"
    assert TOPICS[0] in page.by_id("run").text

    assert len(document(run)["steps"]) == run.steps.count()
    assert {"setup", "log", "judgments"} <= {section.anchor for section in narrate(run, "zh-hans").sections}
    assert [run.pk for run in rows.repeats(run.experiment, reader=alice).counted] == [run.pk]
    assert api.get(f"runs/{run.pk}/events/").json()["results"]
    workflows = api.get("workflows/").json()
    assert "interview" in {one["slug"] for one in workflows}
    for format_ in EXPORTS:
        assert api.get(f"runs/{run.pk}/export/?format={format_}").status_code == 200, format_
    assert read(browser.get(reverse("runs"), {"workflow": "interview"})).find("a", href=run.get_absolute_url())

    answer = run.messages.filter(seat="subject").order_by("seq").first()
    child = branching.branch(answer, by=alice, text="I learn by doing.")
    again = judging.judge_again(run, by=alice, model=JUDGE)
    drive()
    for made in (child, again):
        made.refresh_from_db()
        assert made.state == "completed"
    assert child.messages.filter(raw_text="I learn by doing.").exists()
    assert again.judgments.count() == 2
