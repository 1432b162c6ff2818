"""What is odd about a message or a score is written beside it, in words."""

import threading

import pytest
from django.urls import reverse

from experiments.engine.driver import Driver
from experiments.models import Call, Message, Run
from experiments.steering import steering
from experiments.talks import figures as talk_figures
from tests.cases import each_case

pytestmark = pytest.mark.django_db


def page_of(browser, read, run):
    return read(browser.get(reverse("run", args=[run.pk])))


@each_case(
    ("finish", "words"),
    [("length", "cut off at the token limit"), ("stopped", "stopped here"), ("content_filter", "refused")],
)
def test_an_answer_that_is_no_ordinary_one_says_so(browser, read, played, finish, words):
    run = played(max_turns=1)
    message = run.messages.first()
    Message.objects.filter(pk=message.pk).update(finish_reason=finish)
    page = page_of(browser, read, run)

    assert words in page.by_id(f"message-{message.pk}").text
    assert words not in page.by_id(f"message-{run.messages.last().pk}").text


@each_case(
    ("manner", "words"),
    [("truncated", "the filter failed"), ("talk", "the filter failed"), ("empty", "nothing: no words were meant")],
)
def test_a_filter_that_failed_or_left_nothing_is_said_to(browser, read, played, manner, words):
    run = played(filter_model=f"sim/filter:first=0:json={manner}", judge=False, max_turns=1)
    message = run.messages.first()
    shown = page_of(browser, read, run).by_id(f"message-{message.pk}").text

    assert words in shown
    if manner != "empty":
        assert message.filter["reasoning"] in shown
        assert message.text == message.raw_text


def test_every_attempt_that_failed_is_shown_beside_the_talk_and_not_in_it(browser, read, played):
    run = played("sim/neutral:first=0:fail=503:times=1:retry_after=0", judge=False, filter=False, max_turns=1)
    page = page_of(browser, read, run)

    failed = run.calls.get(state=Call.State.FAILED)
    assert page.by_id(f"trouble-{failed.pk}").tag != "article"
    said = [element.get("id") for element in page.by_id("transcript").iterchildren("article")]
    assert said == [f"message-{pk}" for pk in run.messages.values_list("pk", flat=True)]


def test_turns_without_probabilities_do_not_count_in_the_average(starchamber, start, alice):
    run = start(starchamber())
    Driver(threading.Event()).drive(0.1)
    for text in ("Again?", "And again?"):
        steering.say(run, by=alice, key=Run.objects.get(pk=run.pk).open_pauses[-1].key, action="send", text=text)
        Driver(threading.Event()).drive(0.1)
    first, second, third = run.calls.filter(step__purpose="reply").order_by("id")
    for call, logprobs in ((first, [0.0, 0.0]), (second, None), (third, [-0.6931471805599453])):
        call.logprobs = logprobs and [{"token": "t", "logprob": value, "alternatives": []} for value in logprobs]
        call.save()

    found = talk_figures.of(Run.objects.get(pk=run.pk))
    assert found.confidence.average == pytest.approx((1 + 1 + 0.5) / 3)
    assert found.confidence.tokens == 3
