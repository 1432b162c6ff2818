"""A council as a page: every stage in its place, what failed and what can be done about it, and asking on."""

import threading

import pytest
from django.urls import reverse

from experiments import actions, steering
from experiments.engine.driver import Driver
from experiments.models import Call, Message, Run

pytestmark = pytest.mark.django_db

ANSWER = "Short waves scatter more.\n\n```python\nreturn 1 / wavelength**4\n```"
REVIEW = """Response A is exact, Response B is short; no Response Analysis was made. `Response A` is code.

> Response A said so

FINAL RANKING:
1. Response A
2. Response B
"""
EVIL = "<script>alert(1)</script>\n\n<img src=x onerror=alert(2)>\n\n[x](javascript:alert(3))"
BROKEN = "sim/neutral:first=0:fail=401"


def drive():
    Driver(threading.Event()).drive(0.1)


@pytest.fixture
def sit(council, start):
    """A council that has answered its first question."""

    def begin(*members, **config):
        run = start(council(*members, **config))
        drive()
        return Run.objects.get(pk=run.pk)

    return begin


@pytest.fixture
def scripted_sit(scripted, alice, start):
    """Each member has an answer and a review, word for word; the chair concludes."""

    def begin(*members, chair="They agree. Member 1 is right.", **config):
        models = [scripted.model(f"lab/model-{number}", *said) for number, said in enumerate(members, 1)]
        cast = {f"member-{number}": {"model": model} for number, model in enumerate(models, 1)}
        cast["chair"] = {"model": scripted.model("lab/chair", chair)}
        asked = {"question": "Why is the sky blue?", "title": False, **config}
        run = start(actions.create(owner=alice, workflow="council", config=asked, cast=cast))
        drive()
        return Run.objects.get(pk=run.pk)

    return begin


@pytest.fixture
def press(browser):
    """What a browser without scripts sends when a button of the composer is pressed; then the run is driven."""

    def send(run, is_driven=True, **words):
        offers = Run.objects.get(pk=run.pk).open_offers
        key = offers[-1].key if offers else ""
        response = browser.post(reverse("run-ask", args=[run.pk]), {"key": key, **words})
        if is_driven:
            drive()
        return response

    return send


def page_of(browser, read, run):
    return read(browser.get(reverse("run", args=[run.pk])))


def retry_buttons(page):
    return [element.get("value") for element in page.find("button") if element.get("name") == "retry"]


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

    names = [element.text for element in review.all() if element.get("class") == "named"]
    shown = [f"model-{ballot.labels[label][-1]}" for label in ("Response A", "Response B")]
    assert names == shown * 2
    assert "Response Analysis" in review.text
    assert [element.text for element in review.find_all("code")] == ["Response A"]
    assert [element.text for element in review.find_all("blockquote")] == ["Response A said so"]
    assert "the reviewers saw labels" in page.text


@pytest.mark.council(20)
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
    assert reverse("call", args=[call.pk]) in [element.get("href") for element in failed.find_all("a")]
    assert retry_buttons(page) == ["member-3"]
    assert press(run, retry="member-3").status_code == 303
    late = page_of(browser, read, run).by_id("slot-reply-1-member-3")
    assert [element.tag for element in late.children] == ["div", "article"]
    assert "answered after the ranking" in late.text


def test_answers_are_ranked_again_with_the_late_one(browser, read, sit, press):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", f"{BROKEN}:times=1")
    press(run, retry="member-3")
    press(run, action="deliberate")
    page = page_of(browser, read, run)

    assert len(page.by_id("slot-ranking-1").children) == 2
    assert len(page.by_id("count-1-2").find_all("tbody")[0].find_all("tr")) == 3
    assert "Earlier conclusion" in page.by_id("slot-conclusion-1-chair").text
    assert "count 2" in page.by_id("slot-review-1-member-1").text


def test_a_reviewer_without_a_ranking_abstains_with_its_reason(browser, read, scripted_sit, press, scripted):
    run = scripted_sit([ANSWER, REVIEW], [ANSWER, REVIEW], [ANSWER, "I like them all.", "Really all.", REVIEW])
    page = page_of(browser, read, run)
    review = page.by_id("slot-review-1-member-3")

    assert "Abstained" in review.text
    assert run.ballots.get(reviewer="member-3").abstained_reason in review.text
    [abstention] = page.by_id("slot-ranking-1").find_all("li")
    assert "model-3" in abstention.text
    assert retry_buttons(page) == ["member-3"]
    press(run, retry="member-3")
    again = page_of(browser, read, run)
    assert "3 ballots" in again.by_id("slot-ranking-1").text
    assert "Extracted ranking" in again.by_id("slot-review-1-member-3").text


@pytest.mark.council(13)
def test_another_chair_that_concludes_is_called_so(browser, read, sit):
    run = sit(chair=BROKEN, **{"chair-2": "sim/cooperative:first=0"})
    conclusion = page_of(browser, read, run).by_id("slot-conclusion-1-chair").text

    assert "Fallback chair: sim/cooperative:first=0" in conclusion
    assert "could not conclude" in conclusion
    assert "key refused" in conclusion


@pytest.mark.council(13)
def test_the_best_ranked_answer_that_stands_in_is_called_so(browser, read, sit):
    run = sit(chair=BROKEN)
    page = page_of(browser, read, run)

    assert "Best ranked answer" in page.by_id("slot-conclusion-1-chair").text
    assert "No chair could conclude" in page.by_id("slot-conclusion-1-chair").text


@pytest.mark.council(10)
def test_one_answer_needs_no_ranking(browser, read, sit):
    page = page_of(browser, read, sit("sim/cooperative:first=0", BROKEN))

    assert "Only one member answered" in page.by_id("slot-ranking-1").text
    assert "Chair:" in page.by_id("slot-conclusion-1-chair").text


@pytest.mark.council(12)
def test_without_a_ballot_the_page_says_so(browser, read, scripted_sit):
    run = scripted_sit([ANSWER, "None."], [ANSWER, "None."])

    assert "No reviewer gave a ranking" in page_of(browser, read, run).by_id("slot-ranking-1").text


@pytest.mark.council(11)
def test_when_nobody_answers_every_reason_is_shown(browser, read, sit):
    run = sit(BROKEN, BROKEN)
    page = page_of(browser, read, run)

    assert run.state == Run.State.FAILED
    assert page.text.count("key refused") >= 2
    assert "The run failed" in page.by_id("slot-ending").text


# --- The count ---


@pytest.mark.council(26)
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


@pytest.mark.council(1)
def test_own_answers_show_what_a_reviewer_thinks_of_itself(browser, read, sit):
    text = page_of(browser, read, sit(own_answers="included")).by_id("slot-ranking-1").text

    assert "below 0: it prefers itself" in text
    assert "Kendall's W not defined" not in text


# --- Cost and time ---


def test_the_figures_add_up_to_every_call(browser, read, sit):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", BROKEN)
    rows = [element.text for element in page_of(browser, read, run).by_id("figures-1").find_all("tr")]

    [whole] = [row for row in rows if row.startswith("Whole turn")]
    assert whole.split()[2] == str(run.calls.count())
    assert any(row.startswith("Answers, by the members 3 1 failed") for row in rows)
    assert any(row.startswith("Conclusion, by the chair 1") for row in rows)


# --- Asking on ---


def test_the_next_question_makes_the_next_turn(browser, read, sit, press):
    run = sit()
    assert press(run, text="And why are sunsets red?")["Location"] == run.get_absolute_url()
    page = page_of(browser, read, run)

    assert "And why are sunsets red?" in page.by_id("slot-question-2").text
    assert page.by_id("slot-conclusion-2-chair").children
    assert retry_buttons(page) == []


@pytest.mark.council(23)
def test_a_question_asked_while_the_council_works_is_queued_and_shown(browser, read, council, start, press):
    run = start(council())
    press(run, is_driven=False, text="And why are sunsets red?")
    assert "And why are sunsets red?" in page_of(browser, read, run).by_id("queued").text

    drive()
    page = page_of(browser, read, run)
    assert "And why are sunsets red?" in page.by_id("slot-question-2").text
    assert page.by_id("queued").text == ""


def test_what_cannot_be_taken_is_refused_in_words(browser, sit, press, alice):
    run = sit()
    address = reverse("run-ask", args=[run.pk])
    json = {"Accept": "application/json"}
    [offer] = run.open_offers

    empty = browser.post(address, {"key": offer.key, "text": "  "}, headers=json)
    assert (empty.status_code, empty.json()["problem"]) == (422, "Write something first.")
    steering.say(run, by=alice, key=offer.key, action="conclude")
    late = browser.post(address, {"key": offer.key, "action": "conclude"}, headers=json)
    assert late.status_code == 409


@pytest.mark.council(24)
def test_nobody_asks_somebody_elses_council(charlies, sit):
    run = sit()

    assert charlies.post(reverse("run-ask", args=[run.pk]), {"text": "Mine?"}).status_code == 404
    assert charlies.get(reverse("run", args=[run.pk])).status_code == 404


@pytest.mark.edge(59, 61)
def test_nothing_that_somebody_wrote_is_markup_of_ours(browser, sit, press):
    run = sit("sim/cooperative:first=0", "sim/competitive:first=0", BROKEN, question=EVIL)
    press(run, text=EVIL)
    Message.objects.exclude(seat="person").update(raw_text=EVIL, text=EVIL, reasoning=EVIL, model=EVIL[:100])
    run.ballots.update(abstained_reason=EVIL, order=None)
    Call.objects.filter(state=Call.State.FAILED).update(error=EVIL)
    html = browser.get(reverse("run", args=[run.pk])).content.decode()

    assert "<script>alert" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


# --- When it is over ---


def test_a_council_that_a_limit_stopped_can_go_on(browser, read, sit, press):
    run = sit(limits={"tokens": 300})
    page = page_of(browser, read, run)
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_tokens")
    assert "A limit has stopped the council" in page.text
    assert "disabled" in page.by_id("composer-text").attributes

    browser.post(reverse("run-lift", args=[run.pk]), {"tokens": "", "action": "lift"})
    drive()
    assert page_of(browser, read, run).by_id("slot-conclusion-1-chair").children


@pytest.mark.council(19)
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
    assert page.by_id("slot-conclusion-1-chair").children
