"""The page of a debate: where it stands, what it waits for, what was kept, and what may be done from there."""

import json

import pytest
from django.template.loader import render_to_string

from experiments import actions, progress
from experiments.models import Run
from experiments.timeline import from_rows
from tests.cases import each_case
from tests.experiments.pages.held import JSON, drive, keep, pause_of, steps

pytestmark = pytest.mark.django_db

FAILS = "sim/competitive:first=0:fail=404"
POINTS = json.dumps(
    {"speaker": "B", "new_perspectives": [{"id": "p1", "contents": "It may rain."}], "counterpoints": []}
)


# --- where it stands ---


def test_the_way_says_that_the_final_prompt_waits(hold, page_of):
    page = page_of(hold())

    wanted = {"Refinement": "done", "Final prompt": "current", "Round 1": "ahead", "Round 2": "ahead"}
    assert steps(page) == {**wanted, "Summary": "ahead"}
    assert "waits for you" in page.by_id("path").text


def test_the_way_after_a_debate_of_one_round(hold, page_of):
    page = page_of(hold("send", "summarize"))

    states = list(steps(page).values())
    assert states == ["done", "done", "done", "left_out", "done"]
    assert "not held" in page.by_id("path").text


def test_the_way_says_where_a_debate_was_stopped(hold, page_of, alice):
    run = hold("send")
    actions.stop(run, by=alice)

    states = steps(page_of(run))
    assert list(states.values()) == ["done", "done", "stopped", "ahead", "ahead"]
    assert states["Round 1"] == "stopped"


def test_without_a_refiner_the_way_begins_with_the_final_prompt(hold, page_of):
    assert next(iter(steps(page_of(hold(refine=False))))) == "Final prompt"


# --- the refinement and the final prompt ---


def test_the_refinement_shows_what_it_found_and_asks(hold, page_of):
    run = hold()
    brief = run.messages.get(seat="refiner").parsed
    page = page_of(run)
    shown = page.by_id("slot-refine").text

    assert brief["objective"] in shown
    assert all(question in shown for question in brief["clarifying_questions"])
    labels = [label for label in page.find("label") if "data-question" in label.attrib]
    fields = [field for field in page.find("textarea") if "data-answer" in field.attrib]
    assert [label.get("for") for label in labels] == [field.get("id") for field in fields]
    assert "{" not in shown


def test_the_final_prompt_is_prefilled_and_sent_without_a_script(hold, page_of, browser):
    run = hold()
    sent = page_of(run).form(id="say-form") | {"key": pause_of(run).key, "action": "send"}
    editor = page_of(run).by_id("pause-text")
    assert editor.text_content().removeprefix("\n") == pause_of(run).data["default"]
    assert (editor.get("form"), editor.get("name")) == ("say-form", "text-send")

    response = browser.post(f"/runs/{run.pk}/say/", sent | {"text-send": "Share it by the week."})
    drive()

    assert (response.status_code, response["Location"]) == (303, f"/runs/{run.pk}/")
    page = page_of(run)
    assert "Share it by the week." in page.by_id("slot-prompt").text
    assert "locked" in page.by_id("slot-prompt").text
    assert "Change it: makes a new version" in page.by_id("slot-prompt").text
    assert not page.find(id="pause-text")


def test_changing_the_locked_prompt_makes_a_version_and_leaves_the_first(hold, page_of, browser):
    run = hold(("send", "Share it by the week."))
    locked = run.messages.get(parsed__kind="final_prompt")

    assert pause_of(run).purpose == "after_round"
    response = browser.post(f"/messages/{locked.pk}/branch/", {"text": "Share it by the night."})
    drive()

    other = Run.objects.get(parent=run)
    assert response["Location"] == f"/runs/{other.pk}/"
    assert other.messages.get(parsed__kind="final_prompt").raw_text == "Share it by the night."
    assert run.messages.get(parsed__kind="final_prompt").raw_text == "Share it by the week."
    [versions] = page_of(other).find(id="versions")
    assert "Versions of the final prompt" in versions.text
    assert "Share it by the week." in versions.text
    [versions] = page_of(run).find(id="versions")
    assert "Share it by the night." in versions.text
    assert {message.turn for message in other.messages.filter(seat="A")} == {1}


# --- rounds ---


def test_points_are_numbered_and_can_be_linked_to(hold, page_of):
    run = hold("send")
    page = page_of(run)

    for message in run.messages.filter(seat__in="ABC"):
        for point in (*message.parsed["new_perspectives"], *message.parsed["counterpoints"]):
            item = page.by_id(f"point-{message.seat}1-{point['id']}")
            assert item.getparent().tag == "ol"
            assert item.findall(".//a")[0].get("href") == f"#{item.get('id')}"
    order = [card.get("data-seat") for card in page.by_id("slot-round-1").findall(".//article")]
    assert order == ["A", "B", "C"]
    assert "{" not in page.by_id("slot-round-1").text


def test_the_second_round_and_the_summary_are_plain_forms(hold, page_of, browser):
    run = hold("send")
    page = page_of(run)
    key = next(field.get("value") for field in page.find("input", form="say-form", name="key"))
    assert {b.get("value") for b in page.find("button", form="say-form")} == {"round", "summarize", "end"}

    browser.post(f"/runs/{run.pk}/say/", {"key": key, "action": "round", "text": "It must be cheap."})
    drive()
    page = page_of(run)
    assert "It must be cheap." in page.by_id("slot-addendum").text
    assert "locked" in page.by_id("slot-addendum").text
    assert not page.find(id="say-form-addendum")
    browser.post(f"/runs/{run.pk}/say/", {"key": pause_of(run).key, "action": "summarize"})
    drive()

    assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED
    assert page_of(run).by_id("slot-summary").findall(".//article")


def test_the_draft_is_the_addendum_when_nothing_else_is_sent(hold, page_of, browser):
    run = hold("send")
    keep(browser, run, "It must be cheap.")
    browser.post(f"/runs/{run.pk}/say/", {"key": pause_of(run).key, "action": "summarize"})
    drive()

    assert run.messages.get(parsed__kind="addendum").raw_text == "It must be cheap."
    page = page_of(run)
    assert "It must be cheap." in page.by_id("slot-addendum").text
    assert steps(page)["Round 2"] == "left_out"


def test_a_failed_debater_is_shown_with_its_reason_and_can_be_asked_again(hold, page_of, browser, scripted):
    run = hold("send", B=scripted.model("scripted/late", 404, POINTS))
    page = page_of(run)
    [trouble] = [note for note in page.by_id("slot-round-1").findall(".//div") if note.get("data-seat") == "B"]
    assert "gave no answer" in trouble.text
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


def test_a_model_that_was_told_too_much_can_be_told_less(hold, page_of, scripted):
    scripted.error = b'{"error": {"message": "This model\'s maximum context length is 10 tokens.", "code": 400}}'
    run = hold("send", B=scripted.model("scripted/small", 400))
    page = page_of(run)

    [trouble] = [note for note in page.by_id("slot-round-1").findall(".//div") if note.get("data-seat") == "B"]
    assert "too long for the model" in trouble.text
    assert {button.get("value") for button in trouble.findall(".//button")} == {"retry_short", "retry_seat"}
    assert "shorter context" in trouble.text


def test_who_answers_in_place_of_a_rate_limited_model_is_said(hold, page_of):
    limited = "sim/competitive:first=0:fail=429:retry_after=90"
    run = hold("send", B=limited, pool=["sim/deceptive:first=0"])
    [note] = page_of(run).find("div", id="replaced-round-1-B-pool-1")

    assert f"{limited}: rate limited." in note.text
    assert "answers instead" in note.text
    assert note.findall(".//strong")[0].text == "sim/deceptive:first=0"
    assert run.messages.get(seat="B").model == "sim/deceptive:first=0"


def test_an_answer_that_cannot_be_read_is_shown_as_it_came(hold, page_of, scripted):
    run = hold("send", C=scripted.model("scripted/prose", "I would <b>rather</b> not."))
    page = page_of(run)
    [card] = [card for card in page.by_id("slot-round-1").findall(".//article") if card.get("data-seat") == "C"]

    assert "could not be read" in card.text
    assert "I would <b>rather</b> not." in card.text
    assert [button.get("value") for button in card.findall(".//button") if button.get("value")] == ["retry_seat"]


def test_a_round_without_any_answer_can_be_resumed(hold, page_of):
    run = hold("send", A=FAILS, B=FAILS, C=FAILS)

    assert run.state == Run.State.FAILED
    page = page_of(run)
    assert "no debater gave an answer" in page.by_id("ending").text
    assert page.find(id="resume-form")


# --- the summary, and after it ---


def test_advice_names_the_model_and_the_round_and_leads_to_the_point(hold, page_of):
    run = hold("send", "round", "summarize")
    page = page_of(run)
    sources = [link for link in page.by_id("slot-summary").findall(".//a") if "data-source" in link.attrib]

    assert sources
    for link in sources:
        seat, turn = link.get("data-source")
        assert page.find(id=link.get("href").removeprefix("#"))
        assert run.messages.get(seat=seat, turn=turn).model in link.text
        assert f"round {turn}" in link.text


def test_after_the_end_another_round_and_another_summary_are_offered(hold, page_of, browser):
    run = hold("send", "summarize")
    page = page_of(run)
    assert {b.get("value") for b in page.find("button", form="offer-form")} == {"round", "summarize"}
    assert page.find("a", href=f"/debate/?clone={run.pk}")
    keep(browser, run, "It must be cheap.")
    assert "It must be cheap." in page_of(run).by_id("offer-form-addendum").text_content()

    browser.post(f"/runs/{run.pk}/say/", {"key": pause_of(run).key, "action": "round", "text": "Or free."})
    drive()

    assert "Or free." in page_of(run).by_id("slot-addendum").text
    assert run.messages.filter(seat="A", turn=2).exists()


def test_a_debate_whose_models_are_gone_says_so_instead_of_going_on(hold, browser, read):
    run = hold("send", "summarize")
    run.experiment.participants.get(seat="A").model.__class__.objects.update(is_active=False)
    sent = {"key": pause_of(run).key, "action": "summarize"}

    assert browser.post(f"/runs/{run.pk}/say/", sent, **JSON).status_code == 422
    assert Run.objects.get(pk=run.pk).state == Run.State.COMPLETED


# --- strangers and visitors ---


@each_case("route", ["", "status/", "news/", "draft/", "lift/", "say/", "mode/", "stop/", "pause/"])
def test_a_stranger_learns_nothing_and_moves_nothing(hold, charlies, route):
    run = hold()
    before = run.last_seq
    method = charlies.get if route in {"", "status/", "news/"} else charlies.post

    response = method(f"/runs/{run.pk}/{route}", {"key": "prompt", "text": "x", "action": "send"})

    assert response.status_code == 404
    assert Run.objects.get(pk=run.pk).last_seq == before
    assert "draft" not in pause_of(run).data


def test_who_may_see_but_not_control_reads_on_and_is_offered_no_form(hold, rf, alice):
    """Today only owners see their runs; the page does not rest on that."""
    run = Run.objects.with_totals().get(pk=hold().pk)
    seats = {participant.seat: participant for participant in run.experiment.participants.all()}
    words = {"run": run, "progress": progress.of(run), "seats": seats, "entries": from_rows(run), "lineage": None}
    request = rf.get("/")
    request.user = alice
    shown = render_to_string("workflows/debate_run.html", {**words, "may_control": False}, request=request)

    assert run.messages.get(seat="refiner").parsed["objective"] in shown
    assert "Its owner goes on from here." in shown
    for id_ in ("say-form", "offer-form", "retry-A"):
        assert f'id="{id_}"' not in shown
    assert "data-may-control" not in shown
