"""The page of a debate: where it stands, what it waits for, what was kept, and what may be done from there."""

from experiments.models import Experiment, Run
from experiments.runs.steering import steering
from experiments.workflows.debate.pages.board import source
from tests.cases import each_case
from tests.experiments.debated import points
from tests.experiments.pages.conftest import drive
from tests.experiments.pages.painted import assert_same_page
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
