"""The page of a run that waits for its operator, by plain forms and by a script, and what its rivals are told."""

import pytest
from django.urls import reverse

from experiments.models import Run
from experiments.steering import steering
from tests.cases import each_case
from tests.experiments.pages.driving import drive, page_of
from tests.fixtures import add_model
from tests.markup import value_of

pytestmark = pytest.mark.django_db

JSON = {"Accept": "application/json"}
MIXED = "Teile {sieben} Platten.\r\n\tUnd: 漢字 🎈 <b>&amp;\n\rEnde. "


@pytest.fixture
def manual(arena, start):
    """A manual run at its first pause."""

    def begin(**config):
        run = start(arena(mode="manual", **config))
        drive()
        return Run.objects.get(pk=run.pk)

    return begin


def pause(run):
    [step] = Run.objects.get(pk=run.pk).open_pauses
    return step


def sent(run, key="turn/1/A"):
    """The one message of a step's request."""
    [message] = run.calls.get(step__key=key).request["messages"]
    return message["content"]


def fields_of(page):
    """What a browser sends of the panel, its button aside: fields stand outside of the form that they belong to."""
    form = page.form(id="say-form")
    for field in page.root.iter("input", "textarea"):
        if field.get("form") == "say-form":
            form[field.get("name") or ""] = as_submitted(value_of(field))
    return form


def as_submitted(text):
    """HTML turns every line end into one, and forms send two characters for it."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


def press(browser, run, page, action, **typed):
    say = reverse("run-say", args=[run.pk])
    return browser.post(say, {**fields_of(page), **typed, "action": action})


def buttons(page):
    panel = page.by_id("waiting")
    return {b.get("value") for b in panel.iter() if b.tag == "button" and b.get("form") == "say-form"}


def test_it_says_what_it_waits_for_and_shows_what_would_be_sent(browser, read, arena, start):
    experiment = arena(mode="manual", max_turns=1, prompt="</textarea><script>alert(1)</script>")
    experiment.participants.create(seat="friend", model=add_model("sim/neutral:first=0"))
    run = start(experiment)
    drive()
    page = page_of(browser, read, run)

    assert "Turn 1 waits for you: Model A is to begin" in page.by_id("waiting-title").text
    assert page.by_id("pause-text").text_content() == "\n" + pause(run).data["default"]
    assert buttons(page) == {"send", "default", "skip", "next", "end", "note", "alter", "friend"}
    assert "waits for you" in page.by_id("status").text
    assert "<script>alert" not in browser.get(reverse("run", args=[run.pk])).content.decode()


def test_an_unchanged_prompt_is_sent_byte_for_byte(browser, read, manual):
    run = manual(prompt=MIXED)
    default = pause(run).data["default"]
    response = press(browser, run, page_of(browser, read, run), "send")
    drive()

    assert (response.status_code, response["Location"]) == (303, reverse("run", args=[run.pk]))
    assert MIXED in default
    assert sent(run) == default
    assert not run.events.get(type="said").data["edited"]


def test_an_edited_prompt_is_sent_as_it_was_shown(browser, read, manual):
    run = manual(prompt=MIXED)
    page = page_of(browser, read, run)
    shown = fields_of(page)["text-send"]
    press(browser, run, page, "send", **{"text-send": shown + "\r\n\r\nSei kurz. "})
    drive()

    default = run.steps.get(kind="listen", key="turn/1/A/prompt").data["default"]
    assert sent(run) == default + "\n\nSei kurz. "
    page = page_of(browser, read, run)
    assert "rewrote what Model A was asked" in page.by_id("transcript").text
    assert "Sei kurz." in page.by_id("transcript").text


@each_case(("action", "typed"), [("default", "Something else."), ("send", " \r\n")])
def test_the_default_is_sent_when_it_is_asked_for_or_nothing_was_typed(browser, read, manual, action, typed):
    run = manual()
    default = pause(run).data["default"]
    press(browser, run, page_of(browser, read, run), action, **{"text-send": typed})
    drive()

    assert sent(run) == default


def test_a_turn_is_played_by_its_buttons_and_ended(browser, read, manual):
    run = manual(max_turns=3)
    reasons = []
    for action in ("send", "skip", "next", "next", "end"):
        page = page_of(browser, read, run)
        reasons.append(page.by_id("waiting").get("data-reason"))
        if reasons[-1] == "turn_completed":
            assert (page.find(id="pause-text"), buttons(page)) == ([], {"next", "end"}), "nothing is to be written"
        press(browser, run, page, action)
        drive()

    assert reasons == ["turn_start", "model_completed", "turn_completed", "turn_start", "turn_completed"]
    page = page_of(browser, read, run)
    assert page.find(id="waiting") == []
    assert "Stopped" in page.by_id("ending").text
    assert "skipped Model B" in page.by_id("transcript").text
    assert list(run.messages.values_list("seat", flat=True)) == ["A"]


@each_case(
    ("action", "typed"),
    [("note", {"text-note": "They bluff.\r\nReally."}), ("alter", {"text-alter": "I give up."})],
)
def test_an_intervention_is_done_and_the_run_waits_again(browser, read, manual, action, typed):
    run = manual()
    press(browser, run, page_of(browser, read, run), "send")
    drive()
    press(browser, run, page_of(browser, read, run), action, **typed)
    drive()

    page = page_of(browser, read, run)
    words = next(iter(typed.values())).replace("\r\n", "\n")
    assert words in pause(run).data["default"]
    assert page.by_id("waiting").get("data-reason") == "model_completed"
    [shown] = [e for e in page.find("div") if (e.get("id") or "").startswith("intervention-")]
    assert " ".join(words.split()) in shown.text
    assert "alice" in shown.text
    if action == "alter":
        message = run.messages.get(seat="A")
        shown = page.by_id(f"message-{message.pk}")
        assert "altered by alice for the other side" in shown.text
        assert "I give up." in shown.text
        assert " ".join(message.raw_text.split())[:20] in shown.text


def test_a_failed_call_says_why_and_waits(browser, read, manual):
    run = manual(a="sim/cooperative:fail=401:times=1")
    press(browser, run, page_of(browser, read, run), "send")
    drive()
    panel = page_of(browser, read, run).by_id("waiting")

    assert panel.get("data-reason") == "call_failed"
    assert "gave no answer" in panel.text
    assert pause(run).data["error"] in panel.text


def test_whoever_comes_second_is_told_what_was_said_first(browser, read, manual, alice):
    run = manual()
    page, key = page_of(browser, read, run), pause(run).key
    steering.say(run, by=alice, key=key, action="skip")

    response = press(browser, run, page, "send", **{"text-send": "Me too."})
    shown = read(browser.get(response["Location"]))
    assert response.status_code == 303
    assert "alice skipped a side" in shown.find(role="status")[0].text
    script = browser.post(reverse("run-say", args=[run.pk]), {"key": key, "action": "default"}, headers=JSON)
    assert (script.status_code, script.json()["said"]["by"]) == (409, "alice")
    drive()
    assert run.calls.count() == 0


@each_case(
    ("asked", "status"),
    [
        ({"key": "turn/9/A/prompt", "action": "default"}, 409),
        ({"action": "regenerate"}, 422),
        ({"action": "note", "text-note": " "}, 422),
        ({"action": "send", "text-send": "a\x00b"}, 422),
        ({"key": "", "action": ""}, 409),
    ],
    ids=str,
)
def test_what_cannot_be_said_is_refused_and_the_run_waits_on(browser, manual, asked, status):
    run = manual()
    answer = browser.post(reverse("run-say", args=[run.pk]), {"key": pause(run).key, **asked}, headers=JSON)

    assert answer.status_code == status
    assert answer.json()["problem"]
    assert pause(run).key == "turn/1/A/prompt"
