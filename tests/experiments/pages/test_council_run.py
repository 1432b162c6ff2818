"""A council as a page: every stage in its place, what failed and what can be done about it."""

import pytest
from django.urls import reverse

from experiments.models import Call, Run
from tests.experiments.pages.council_pages import ANSWER, BROKEN, REVIEW, drive, page_of, retry_buttons

pytestmark = pytest.mark.django_db


def test_every_stage_stands_in_its_place(browser, read, scripted_sit):
    run = scripted_sit([ANSWER, REVIEW], [ANSWER, REVIEW], [ANSWER, REVIEW])
    page = page_of(browser, read, run)

    assert run.state == Run.State.COMPLETED
    assert "Why is the sky blue?" in page.by_id("slot-question-1").text
    for number in (1, 2, 3):
        assert "Short waves scatter more." in page.by_id(f"slot-reply-1-member-{number}").text
        assert "Extracted ranking" in page.by_id(f"slot-review-1-member-{number}").text
    assert "All methods" in page.by_id("slot-ranking-1").text or "do not agree" in page.by_id("slot-ranking-1").text
    assert "Chair: lab/chair" in page.by_id("slot-conclusion-1-chair").text
    assert "The council has answered" in page.by_id("slot-ending").text


def test_names_stand_for_labels_in_reviews_and_nowhere_else(browser, read, scripted_sit):
    run = scripted_sit([ANSWER, REVIEW], [ANSWER, REVIEW], [ANSWER, REVIEW])
    page = page_of(browser, read, run)
    review = page.by_id("slot-review-1-member-1")
    ballot = run.ballots.get(reviewer="member-1")

    names = [element.text for element in review.iter() if element.get("class") == "named"]
    shown = [f"model-{ballot.labels[label][-1]}" for label in ("Response A", "Response B")]
    assert names == shown * 2
    assert "Response Analysis" in review.text
    assert [element.text for element in review.findall(".//code")] == ["Response A"]
    assert [element.text for element in review.findall(".//blockquote")] == ["Response A said so"]
    assert "the reviewers saw labels" in page.text


def test_two_seats_of_one_model_can_be_told_apart(browser, read, sit):
    page = page_of(browser, read, sit("sim/neutral:first=0", "sim/neutral:first=0", "sim/cooperative:first=0"))

    names = [element.get("data-name") for element in page.find(class_="panel")][:3]
    assert names == ["neutral:first=0 #1", "neutral:first=0 #2", "cooperative:first=0"]


def test_a_structured_review_is_shown_in_words(browser, read, scripted_sit, scripted):
    answer = '{"review": "Response A is **best**.", "ranking": ["Response A", "Response B"]}'
    run = scripted_sit([ANSWER, answer], [ANSWER, REVIEW], [ANSWER, REVIEW])
    review = page_of(browser, read, run).by_id("slot-review-1-member-1")

    assert "{" not in review.text
    assert "read from a structured answer" in review.text


def test_a_member_that_failed_says_why_and_is_asked_again(browser, read, sit, press):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", f"{BROKEN}:times=1")
    page = page_of(browser, read, run)
    call = run.calls.get(state=Call.State.FAILED)
    failed = page.by_id("slot-reply-1-member-3")

    assert "gave no answer" in failed.text
    assert "key refused" in failed.text
    assert reverse("call", args=[call.pk]) in [element.get("href") for element in failed.findall(".//a")]
    assert retry_buttons(page) == ["member-3"]
    assert press(run, retry="member-3").status_code == 303
    late = page_of(browser, read, run).by_id("slot-reply-1-member-3")
    assert [element.tag for element in late] == ["div", "article"]
    assert "answered after the ranking" in late.text


def test_answers_are_ranked_again_with_the_late_one(browser, read, sit, press):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", f"{BROKEN}:times=1")
    press(run, retry="member-3")
    press(run, action="deliberate")
    page = page_of(browser, read, run)

    assert len(page.by_id("slot-ranking-1")) == 2
    assert len(page.by_id("count-1-2").findall(".//tbody")[0].findall(".//tr")) == 3
    assert "Earlier conclusion" in page.by_id("slot-conclusion-1-chair").text
    assert "count 2" in page.by_id("slot-review-1-member-1").text


def test_a_reviewer_without_a_ranking_abstains_with_its_reason(browser, read, scripted_sit, press, scripted):
    run = scripted_sit([ANSWER, REVIEW], [ANSWER, REVIEW], [ANSWER, "I like them all.", "Really all.", REVIEW])
    page = page_of(browser, read, run)
    review = page.by_id("slot-review-1-member-3")

    assert "Abstained" in review.text
    assert run.ballots.get(reviewer="member-3").abstained_reason in review.text
    [abstention] = page.by_id("slot-ranking-1").findall(".//li")
    assert "model-3" in abstention.text
    assert retry_buttons(page) == ["member-3"]
    press(run, retry="member-3")
    again = page_of(browser, read, run)
    assert "3 ballots" in again.by_id("slot-ranking-1").text
    assert "Extracted ranking" in again.by_id("slot-review-1-member-3").text


def test_another_chair_that_concludes_is_called_so(browser, read, sit):
    run = sit(chair=BROKEN, **{"chair-2": "sim/cooperative:first=0"})
    conclusion = page_of(browser, read, run).by_id("slot-conclusion-1-chair").text

    assert "Fallback chair: sim/cooperative:first=0" in conclusion
    assert "could not conclude" in conclusion
    assert "key refused" in conclusion


def test_the_best_ranked_answer_that_stands_in_is_called_so(browser, read, sit):
    run = sit(chair=BROKEN)
    page = page_of(browser, read, run)

    assert "Best ranked answer" in page.by_id("slot-conclusion-1-chair").text
    assert "No chair could conclude" in page.by_id("slot-conclusion-1-chair").text


def test_one_answer_needs_no_ranking(browser, read, sit):
    page = page_of(browser, read, sit("sim/cooperative:first=0", BROKEN))

    assert "Only one member answered" in page.by_id("slot-ranking-1").text
    assert "Chair:" in page.by_id("slot-conclusion-1-chair").text


def test_without_a_ballot_the_page_says_so(browser, read, scripted_sit):
    run = scripted_sit([ANSWER, "None."], [ANSWER, "None."])

    assert "No reviewer gave a ranking" in page_of(browser, read, run).by_id("slot-ranking-1").text


def test_when_nobody_answers_every_reason_is_shown(browser, read, sit):
    run = sit(BROKEN, BROKEN)
    page = page_of(browser, read, run)

    assert run.state == Run.State.FAILED
    assert page.text.count("key refused") >= 2
    assert "The run failed" in page.by_id("slot-ending").text


# --- The count ---


def test_the_count_is_a_page_and_a_part(browser, read, sit):
    run = sit()
    address = reverse("run-ranking", args=[run.pk, 1])
    part = browser.get(address, {"part": 1}).content.decode()

    assert "Ranking of the answers to question 1" in read(browser.get(address)).text
    assert "<html" not in part
    assert "Krippendorff" in part
    assert read(browser.get(address, {"part": 1})).text in page_of(browser, read, run).by_id("ranking-1-1").text


def test_a_count_that_was_not_made_is_not_found(browser, charlies, sit):
    run = sit()

    assert browser.get(reverse("run-ranking", args=[run.pk, 2])).status_code == 404
    assert browser.get(reverse("run-ranking", args=[run.pk, 1]), {"count": 7}).status_code == 404
    assert charlies.get(reverse("run-ranking", args=[run.pk, 1])).status_code == 404


def test_agreement_that_does_not_exist_says_why(browser, read, sit):
    text = page_of(browser, read, sit()).by_id("slot-ranking-1").text

    assert "not defined: the reviewers did not all rank the same answers" in text


def test_own_answers_show_what_a_reviewer_thinks_of_itself(browser, read, sit):
    text = page_of(browser, read, sit(own_answers="included")).by_id("slot-ranking-1").text

    assert "below 0: it prefers itself" in text
    assert "Kendall's W not defined" not in text


# --- Cost and time ---


def test_the_figures_add_up_to_every_call(browser, read, sit):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", BROKEN)
    rows = [element.text for element in page_of(browser, read, run).by_id("figures-1").findall(".//tr")]

    [whole] = [row for row in rows if row.startswith("Whole turn")]
    assert whole.split()[2] == str(run.calls.count())
    assert any(row.startswith("Answers, by the members 3 1 failed") for row in rows)
    assert any(row.startswith("Conclusion, by the chair 1") for row in rows)


# --- When it is over ---


def test_a_council_that_a_limit_stopped_can_go_on(browser, read, sit, press):
    run = sit(limits={"tokens": 300})
    page = page_of(browser, read, run)
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_tokens")
    assert "A limit has stopped the council" in page.text
    assert "disabled" in page.by_id("composer-text").attrib

    browser.post(reverse("run-lift", args=[run.pk]), {"tokens": "", "action": "lift"})
    drive()
    assert len(page_of(browser, read, run).by_id("slot-conclusion-1-chair"))


def test_thirty_members_have_a_page(browser, read, sit):
    run = sit(*["sim/neutral:first=0:words=30"] * 30)
    page = page_of(browser, read, run)

    assert len([one for one in page.find(class_="panel") if one.get("id").startswith("panel-review-1-")]) == 30
    assert "Kemeny: no order, because an exact order is sought for up to 8 answers only" in page.text
    assert "Response AC" in page.by_id("slot-review-1-member-1").text


def test_a_question_is_branched_from_and_answers_offer_no_branch(browser, read, sit):
    run = sit()
    message = run.messages.get(seat="person")
    address = reverse("message-branch", args=[message.pk])
    links = [element.get("href") for element in page_of(browser, read, run).find("a", **{"data-dialog": ""})]

    assert [link for link in links if link and link.endswith("/branch/")] == [address]
    branched = browser.post(address, {"text": "Why is the sea blue?"})
    drive()
    page = read(browser.get(branched["Location"]))
    assert "Why is the sea blue?" in page.by_id("slot-question-1").text
    assert len(page.by_id("slot-conclusion-1-chair"))
