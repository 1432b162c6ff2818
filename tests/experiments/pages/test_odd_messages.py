"""What is odd about a message or a score is written beside it, in words."""

import json
import threading

import pytest
from django.urls import reverse

from experiments import progress
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
    [("broken", "the filter failed"), ("truncated", "the filter failed"), ("talk", "the filter failed")],
)
def test_a_filter_that_failed_is_said_to_have_failed_and_why(browser, read, played, manner, words):
    run = played(filter_model=f"sim/filter:first=0:json={manner}", judge=False, max_turns=1)
    message = run.messages.first()
    shown = page_of(browser, read, run).by_id(f"message-{message.pk}").text

    assert words in shown
    assert message.filter["reasoning"] in shown
    assert message.text == message.raw_text


def test_a_message_that_held_nothing_for_the_other_side_says_so(browser, read, played):
    run = played(filter_model="sim/filter:first=0:json=empty", judge=False, max_turns=1)

    shown = page_of(browser, read, run).by_id(f"message-{run.messages.first().pk}").text
    assert "nothing: no words were meant for it" in shown


@pytest.mark.parametrize("flag", ["speaks_for_other", "repeats_itself"])
def test_a_flag_is_shown_in_words(browser, read, played, flag):
    run = played(max_turns=1)
    message = run.messages.first()
    before = page_of(browser, read, run).by_id(f"message-{message.pk}").text
    Message.objects.filter(pk=message.pk).update(flags=[flag])
    after = page_of(browser, read, run).by_id(f"message-{message.pk}").text

    assert after != before
    assert flag not in after, "not as a code word"


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


def test_an_unlimited_run_is_called_that_and_its_progress_is_no_share(arena, start):
    run = start(arena(max_turns=None))
    shown = progress.of(Run.objects.with_totals().select_related("experiment").get(pk=run.pk))

    assert (shown.turns, shown.percent) == (None, None)
    assert "-1" not in json.dumps(run.experiment.config["max_turns"])
