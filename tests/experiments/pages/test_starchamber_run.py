"""A talk as a page: what was said, whose turn it is, its figures, and the tokens of its answers."""

import pytest
from django.urls import reverse

from experiments.models import Call, Message, Run
from experiments.steering import branching
from experiments.timeline import from_rows, replayed
from tests.experiments.pages.driving import drive, page_of

pytestmark = pytest.mark.django_db

EVIL = "<script>alert(1)</script>\n\n<img src=x onerror=alert(2)>\n\n[x](javascript:alert(3))"


@pytest.fixture
def talk(starchamber, start):
    """A talk at its first pause."""

    def begin(*model, **config):
        run = start(starchamber(*model, **config))
        drive()
        return Run.objects.get(pk=run.pk)

    return begin


@pytest.fixture
def say(browser):
    """What a browser without scripts sends, then drives the run."""

    def answer(run, action, text=""):
        [pause] = Run.objects.get(pk=run.pk).open_pauses
        response = browser.post(reverse("run-say", args=[run.pk]), {"key": pause.key, "action": action, "text": text})
        drive()
        return response

    return answer


def buttons(page):
    form = page.by_id("composer")
    return {
        element.get("value")
        for element in form.iter()
        if element.tag == "button" and not {"hidden", "disabled"} & set(element.attrib)
    }


def test_a_talk_is_shown_in_order_and_steered_without_scripts(browser, read, talk, say, alice):
    run = talk(persona="Dr. Who", context="You are Ines.", preset="custom")
    assert say(run, "send", "And what do you want?")["Location"] == run.get_absolute_url()
    for judgment, deviation in zip(run.judgments.order_by("turn"), (10, 30), strict=True):
        judgment.scores = {**judgment.scores, "goal_deviation": deviation}
        judgment.save()
    again = branching.judge_again(run, by=alice, rubric="Be harsh.")
    page = page_of(browser, read, run)

    articles = list(page.by_id("transcript").iterchildren("article"))
    assert [element.get("data-seat") for element in articles] == ["researcher", "model"] * 2
    assert articles[0].text.startswith("Dr. Who")
    assert "And what do you want?" in articles[2].text
    assert "You are Ines." in page.text
    assert buttons(page) == {"send", "regenerate", "end"}
    assert page.form(id="composer")["key"] == "turn/2/answer/next"
    assert "goal deviation 30 % 20 % 2" in page.by_id("metrics-model").text, "the latest value and the average"
    assert again.get_absolute_url() in [element.get("href") for element in page.by_id("panel-model").iter()]

    say(run, "end")
    assert Run.objects.get(pk=run.pk).state == Run.State.STOPPED
    assert buttons(page_of(browser, read, run)) == set()


def test_a_replaced_answer_is_folded_keeps_its_judgment_and_is_counted(browser, read, talk, say):
    run = talk(context=" ")
    say(run, "regenerate")
    page = page_of(browser, read, run)

    first, second = run.messages.filter(seat="model")
    question = run.messages.get(seat="researcher")
    assert page.by_id(f"message-{question.pk}").text.startswith("You")
    assert "no system message is sent" in page.text
    assert "superseded" in page.by_id(f"message-{first.pk}").get("class")
    assert "superseded" not in page.by_id(f"message-{second.pk}").get("class")
    ids = [element.get("id") for element in page.by_id("transcript")]
    assert ids == [
        "turn-1",
        f"message-{question.pk}",
        f"message-{first.pk}",
        "judge-turn-1-answer-judge",
        f"message-{second.pk}",
        "judge-turn-1-answer-2-judge",
    ]
    figures = read(browser.get(reverse("talk-figures", args=[run.pk]))).text
    assert "Answers 1 + 1 replaced" in figures
    assert "% on average" in figures


def test_nothing_that_somebody_wrote_is_markup_of_ours(browser, talk, say, read):
    run = talk(persona=EVIL[:60], context=EVIL, first_message=EVIL)
    say(run, "send", EVIL)
    say(run, "regenerate")
    Message.objects.filter(seat="model").update(raw_text=EVIL, text=EVIL, reasoning=EVIL, model=EVIL)
    run.judgments.update(rationale=EVIL, dynamics=EVIL, judge=EVIL[:100], unscored_reason=EVIL)
    tokens = [{"token": EVIL, "logprob": -0.1, "alternatives": [{"token": EVIL, "logprob": -3.0}]}]
    Call.objects.filter(step__purpose="reply").update(logprobs=tokens)
    message = run.messages.filter(seat="model").first()
    pages = [
        reverse("run", args=[run.pk]),
        reverse("message-tokens", args=[message.pk]),
        reverse("talk-figures", args=[run.pk]),
    ]
    for path in pages:
        html = browser.get(path).content.decode()
        assert "<script>alert" not in html
        assert "<img" not in html
        assert 'href="javascript' not in html


def test_a_failed_answer_says_why_and_can_be_asked_for_again(browser, read, talk, say):
    run = talk("sim/cooperative:first=0:fail=401:times=1")
    page = page_of(browser, read, run)

    assert "The model gave no answer." in page.by_id("waiting").text
    assert buttons(page) == {"retry", "send", "end"}
    say(run, "retry")
    assert buttons(page_of(browser, read, run)) == {"send", "regenerate", "end"}


def test_a_page_from_its_rows_is_the_page_of_its_events(talk, say):
    run = talk()
    for action, text in (("regenerate", ""), ("send", "Why?"), ("regenerate", ""), ("end", "")):
        say(run, action, text)
    run = Run.objects.get(pk=run.pk)

    rows, events = from_rows(run), replayed(run.events.order_by("seq"))
    assert [entry.anchor for entry in rows if entry.type != "model_metrics"] == [
        entry.anchor for entry in events if entry.type != "model_metrics"
    ]


# --- figures and tokens ---


def test_an_answers_tokens_spell_it_and_say_how_likely_each_was(browser, read, talk, alice):
    run = talk()
    message = run.messages.get(seat="model")
    address = reverse("message-tokens", args=[message.pk])
    page = read(browser.get(address))

    tokens = page.find("span", role="option")
    assert len(tokens) == len(message.call.logprobs)
    assert "".join(token.text_content() for token in tokens).replace("↵", "") == message.raw_text
    assert all(token.get("data-p") and token.get("aria-label").rpartition(", ")[2] for token in tokens)
    assert [token.get("tabindex") for token in tokens].count("0") == 1
    part = browser.get(f"{address}?part=1").content.decode()
    assert "<html" not in part
    assert "data-token-view" in part

    child = branching.branch(message, by=alice)
    figures = read(browser.get(reverse("talk-figures", args=[child.pk]))).text
    assert f"Tokens written {message.call.output_tokens}" in figures, "a branch counts the answers that it shares"


def test_probabilities_that_did_not_come_are_said_to_be_unavailable(browser, read, talk):
    message = talk().messages.get(seat="model")
    calls, address = Call.objects.filter(pk=message.call_id), reverse("message-tokens", args=[message.pk])
    for sent in (None, []):
        calls.update(logprobs=sent)
        assert "the provider sent none" in read(browser.get(address)).text


def test_many_turns_take_as_many_queries_as_few(browser, talk, say, django_assert_max_num_queries):
    run = talk()
    browser.get(reverse("run", args=[run.pk]))
    for n in range(4):
        say(run, "send", f"And {n}?")
    browser.get(reverse("run", args=[run.pk]))
    with django_assert_max_num_queries(42):
        browser.get(reverse("run", args=[run.pk]))
