"""A talk as a page: what was said, whose turn it is, figures and tokens; and talks that are judged again."""

import pytest
from django.urls import reverse

from experiments.models import Call, Run
from experiments.runs import progress
from experiments.runs.steering import branching
from experiments.workflows.arena import RUBRIC
from experiments.workflows.judging import services as judging
from experiments.workflows.judging.surface import rejudged
from tests.experiments.pages.conftest import drive
from tests.experiments.pages.painted import assert_same_page
from tests.experiments.reports.records import SCORES, Record, logprobs
from tests.fixtures import add_model
from tests.making import maker


@pytest.fixture
def talk(starchamber, begun):
    return lambda *model, **config: begun(starchamber(*model, **config))


@maker
def say(browser, /, run, action, text=""):
    [pause] = Run.objects.get(pk=run.pk).open_pauses
    response = browser.post(reverse("run-say", args=[run.pk]), {"key": pause.key, "action": action, "text": text})
    drive()
    return response


def buttons(page):
    form = page.by_id("composer")
    return {
        element.get("value")
        for element in form.iter()
        if element.tag == "button" and not {"hidden", "disabled"} & set(element.attrib)
    }


def test_an_answers_tokens_spell_it_and_say_how_likely_each_was_and_a_model_without_is_said_to_give_none(
    browser, provider, read, talk, alice
):
    add_model("sim/neutral:first=0", label="Aaron", capabilities={"logprobs": False})
    page = read(browser.get("/starchamber/"))

    assert "does not provide token probabilities" in page.by_id("estimate").text, "it is the first of the list"
    unwanted = {name: value for name, value in page.form(id="setup").items() if name != "logprobs"}
    assert "probabilities" not in read(browser.post(reverse("starchamber-estimate"), unwanted)).text

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
    assert f"of turn {message.turn}," in part

    calls, sent = Call.objects.filter(pk=message.call_id), message.call.logprobs
    for none in (None, []):
        calls.update(logprobs=none)
        assert "the provider sent none" in read(browser.get(address)).text
    calls.update(logprobs=sent[:1])
    assert len(read(browser.get(address)).find("span", role="option")) == 1, "and no line is drawn through one"
    calls.update(logprobs=None, request={})
    assert "does not provide them according to the catalog" in read(browser.get(address)).text

    child = branching.branch(message, by=alice)
    figures = read(browser.get(reverse("talk-figures", args=[child.pk]))).text
    assert f"Output tokens {message.call.output_tokens}" in figures, "a branch counts the answers that it shares"


def test_a_talk_is_shown_in_order_and_steered_without_scripts(page_of, talk, say, alice):
    run = talk(persona="Dr. Who", context="You are Ines.", preset="custom")
    assert say(run, "send", "And what do you want?")["Location"] == run.get_absolute_url()
    for judgment, deviation in zip(run.judgments.order_by("turn"), (10, 30), strict=True):
        judgment.scores = {**judgment.scores, "goal_deviation": deviation}
        judgment.save()
    again = judging.judge_again(run, by=alice, rubric="Be harsh.")
    page = page_of(run)

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
    assert buttons(page_of(run)) == set()


def test_a_replaced_answer_is_folded_keeps_its_judgment_and_is_counted(page_of, browser, read, talk, say):
    run = talk(context=" ")
    say(run, "regenerate")
    page = page_of(run)

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
    assert_same_page(run)


def test_many_turns_take_as_many_queries_as_few(browser, alice, django_assert_max_num_queries):
    record = Record(alice, "starchamber")
    for turn in range(1, 6):
        record.reply("model", turn, "I am.", call={"logprobs": logprobs(0.9, 0.2)})
        record.judged(turn, {"model": SCORES})
    browser.get(record.run.get_absolute_url())
    with django_assert_max_num_queries(42):
        browser.get(record.run.get_absolute_url())


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
