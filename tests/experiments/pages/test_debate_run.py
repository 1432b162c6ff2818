"""Debates and talks as pages: stages, whose turn it is, figures and tokens, what failed; and talks judged again."""

import pytest
from django.urls import reverse

from experiments.models import Call, Experiment, Run
from experiments.runs import progress
from experiments.runs.steering import branching, steering
from experiments.workflows.arena import RUBRIC
from experiments.workflows.debate.pages.board import source
from experiments.workflows.judging import services as judging
from experiments.workflows.judging.surface import rejudged
from tests.cases import each_case
from tests.experiments.debated import points
from tests.experiments.pages.conftest import drive
from tests.experiments.pages.painted import assert_same_page
from tests.experiments.reports.records import SCORES, Record, logprobs
from tests.fixtures import add_model
from tests.making import maker

LIMITED = "sim/competitive:first=0:fail=429:retry_after=90"


@maker
def hold(debate, begun, alice, /, *words, **config):
    """Plays a debate through these words: each a pause's action, or an action and its text."""
    run = begun(debate(**config))
    for word in words:
        say(run, alice, *([word] if isinstance(word, str) else word))
    return Run.objects.get(pk=run.pk)


def pause_of(run):
    run = Run.objects.get(pk=run.pk)
    return [*run.open_pauses, *run.open_offers][-1]


def say(run, by, action, text=""):
    steering.say(run, by=by, key=pause_of(run).key, action=action, text=text)
    drive()


def steps(page):
    """What the path above a debate says of each step, by its label."""
    items = page.by_id("path").findall(".//li")
    labels = [next(inner.text for inner in item.iter() if inner.get("class") == "path-label") for item in items]
    return dict(zip(labels, [item.get("class").split()[0].removeprefix("path-") for item in items], strict=True))


def keep(browser, run, text, key=""):
    return browser.post(f"/runs/{run.pk}/draft/", {"key": key or pause_of(run).key, "text": text})


def send(browser, run, action, text=""):
    browser.post(f"/runs/{run.pk}/say/", {"key": pause_of(run).key, "action": action, "text": text})
    drive()


def test_the_refinement_asks_its_owner_for_a_final_prompt_that_is_prefilled_and_kept_as_a_draft(
    hold, page_of, charlies, read, browser
):
    run = hold()
    page = page_of(run)
    ahead = dict.fromkeys(("Round 1", "Round 2", "Summary"), "ahead")
    assert steps(page) == {"Refinement": "done", "Final prompt": "current", **ahead}
    labels = [label for label in page.find("label") if "data-question" in label.attrib]
    fields = [field for field in page.find("textarea") if "data-answer" in field.attrib]
    assert [label.get("for") for label in labels] == [field.get("id") for field in fields]
    assert "{" not in page.by_id("slot-refine").text

    Experiment.objects.update(visibility="lab")
    page = read(charlies.get(f"/runs/{run.pk}/"))
    assert run.messages.get(seat="refiner").parsed["objective"] in page.text
    assert "Its owner continues from here." in page.text
    assert not [part for id_ in ("say-form", "offer-form", "retry-A") for part in page.find(id=id_)]

    sent = page_of(run).form(id="say-form") | {"key": pause_of(run).key, "action": "send"}
    editor = page_of(run).by_id("pause-text")
    assert editor.text_content().removeprefix("\n") == pause_of(run).data["default"]
    assert (editor.get("form"), editor.get("name")) == ("say-form", "text-send")

    response = keep(browser, run, "Share it\r\nby the month.")
    assert (response.status_code, response.content) == (204, b"")
    for key, text, status in (("no/such", "x", 409), ("", "x\x00", 400), ("", "x" * 1_000_001, 400)):
        assert keep(browser, run, text, key).status_code == status
    browser.post("/language/", {"language": "zh-hans"})
    page = page_of(run)
    browser.post("/language/", {"language": "en"})
    assert page.find("html")[0].get("lang") == "zh-hans"
    editor = page.by_id("pause-text")
    assert editor.text_content().strip("\n") == "Share it\nby the month."
    assert editor.get("data-default") == pause_of(run).data["default"]

    response = browser.post(f"/runs/{run.pk}/say/", sent | {"text-send": "Share it by the week."})
    drive()

    assert (response.status_code, response["Location"]) == (303, f"/runs/{run.pk}/")
    page = page_of(run)
    assert "Share it by the week." in page.by_id("slot-prompt").text
    assert not page.find(id="pause-text")


def test_a_failed_debater_is_shown_with_its_reason_one_that_is_not_read_as_it_came_and_both_can_be_asked_again(
    hold, page_of, browser, scripted
):
    prose = scripted.model("scripted/prose", "I would <b>rather</b> not.")
    run = hold("send", B=scripted.model("scripted/late", 404, points("B", 1)), C=prose)
    page = page_of(run)
    [card] = [card for card in page.by_id("slot-round-1").findall(".//article") if card.get("data-seat") == "C"]
    assert "could not be read" in card.text
    assert "I would <b>rather</b> not." in card.text
    assert [button.get("value") for button in card.findall(".//button") if button.get("value")] == ["retry_seat"]
    [trouble] = [note for note in page.by_id("slot-round-1").findall(".//div") if note.get("data-seat") == "B"]
    assert "unknown model" in trouble.text
    [button] = trouble.findall(".//button")
    form = page.form(id=button.get("form"))
    keys = [field.get("value") for field in page.find("input", form=button.get("form"), name="key")]
    keep(browser, run, "It must be cheap.")

    sent = form | {"key": keys[0], button.get("name"): button.get("value")}
    assert browser.post(f"/runs/{run.pk}/say/", sent).status_code == 303
    drive()

    page = page_of(run)
    [answer] = [card for card in page.by_id("slot-round-1").findall(".//article") if card.get("data-seat") == "B"]
    assert "spoke after the others" in answer.text
    assert page.by_id("say-form-addendum").text_content().strip() == "It must be cheap."


def test_after_a_summary_the_draft_is_the_addendum_another_round_is_offered_and_another_prompt_makes_a_version(
    hold, page_of, browser
):
    run = hold(("send", "Share it by the week."))
    keep(browser, run, "It must be cheap.")
    send(browser, run, "summarize")

    assert run.messages.get(parsed__kind="addendum").raw_text == "It must be cheap."
    page = page_of(run)
    assert "It must be cheap." in page.by_id("slot-addendum").text
    sources = [link for link in page.by_id("slot-summary").findall(".//a") if "data-source" in link.attrib]
    assert sources
    for link in sources:
        seat, turn = link.get("data-source")
        assert page.find(id=link.get("href").removeprefix("#"))
        assert run.messages.get(seat=seat, turn=turn).model in link.text
        assert f"round {turn}" in link.text
    wanted = {"A1.p2": "point-A1-p2", "C2.c10": "point-C2-c10", "B1": "point-B1", "D1.p1": None, "A1.x": None}
    assert {one: getattr(source(one), "anchor", None) for one in wanted} == wanted
    assert list(steps(page).values()) == ["done", "done", "done", "left_out", "done"]
    assert {b.get("value") for b in page.find("button", form="offer-form")} == {"round", "summarize"}
    assert page.find("a", href=f"/debate/?clone={run.pk}")

    keep(browser, run, "Or free.")
    assert "Or free." in page_of(run).by_id("offer-form-addendum").text_content()
    send(browser, run, "round", "Or free.")
    assert "Or free." in page_of(run).by_id("slot-addendum").text
    assert run.messages.filter(seat="A", turn=2).exists()

    locked = run.messages.get(parsed__kind="final_prompt")
    response = browser.post(f"/messages/{locked.pk}/branch/", {"text": "Share it by the night."})
    drive()
    other = Run.objects.get(parent=run)
    assert response["Location"] == f"/runs/{other.pk}/"
    assert "Share it by the week." in page_of(other).by_id("versions").text
    assert "Share it by the night." in page_of(run).by_id("versions").text


def test_a_debate_that_a_limit_has_stopped_goes_on_without_the_answer(hold, page_of, browser, read):
    run = hold("send", limits={"tokens": 1000}, refine=False)
    assert (run.state, run.stop_reason) == (Run.State.STOPPED, "limit_tokens")
    assert page_of(run).by_id("lift-tokens").get("value") == "1000"
    for nonsense in ({"tokens": "-1"}, {"cost": "much"}, {"seconds": "0"}):
        refused = read(browser.post(f"/runs/{run.pk}/lift/", nonsense, follow=True))
        assert "not valid limits for a run" in refused.text

    assert browser.post(f"/runs/{run.pk}/lift/", {"tokens": "90000", "action": "skip"}).status_code == 302
    drive()
    assert pause_of(run).purpose == "after_round"
    page = page_of(run)
    assert not page.by_id("lift-place").text
    assert "was not asked because of a limit" in page.by_id("slot-round-1").text
    assert "retry_seat" in pause_of(run).data["actions"]


TROUBLED, PROSE = "sim/neutral:first=0:fail=503:times=1:retry_after=0", "sim/neutral:first=0:json=talk"


@each_case(
    ("config", "kinds"),
    [
        ({"refine": False, "B": LIMITED, "pool": ["sim/deceptive:first=0"]}, ("seat_replaced", "call_failed")),
        (
            {"A": TROUBLED, "summarizer": TROUBLED, "C": PROSE, "blind": True, "rotate": True},
            ("call_retried", "message_parsed", "stage_started", "turn_started"),
        ),
    ],
)
def test_at_every_pause_of_a_debate(debate, start, alice, config, kinds):
    run = start(debate(**config))
    assert_same_page(run)
    drive()
    assert_same_page(run, "waiting_for_user")
    say(run, alice, "send", "Share it by the week.")
    assert_same_page(run, "waiting_for_user", *kinds)
    say(run, alice, "round", "It must be cheap.")
    assert_same_page(run, *kinds)
    say(run, alice, "summarize")
    assert_same_page(run, "offer_opened", "experiment_stopped", *kinds)


@pytest.fixture
def talk(starchamber, begun):
    return lambda *model, **config: begun(starchamber(*model, **config))


@maker
def speak(browser, /, run, action, text=""):
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


def test_a_talk_is_shown_in_order_and_steered_without_scripts(page_of, talk, speak, alice):
    run = talk(persona="Dr. Who", context="You are Ines.", preset="custom")
    assert speak(run, "send", "And what do you want?")["Location"] == run.get_absolute_url()
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

    speak(run, "end")
    assert Run.objects.get(pk=run.pk).state == Run.State.STOPPED
    assert buttons(page_of(run)) == set()


def test_a_replaced_answer_is_folded_keeps_its_judgment_and_is_counted(page_of, browser, read, talk, speak):
    run = talk(context=" ")
    speak(run, "regenerate")
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
