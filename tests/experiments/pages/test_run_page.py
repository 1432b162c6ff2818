"""A run as a page: what was said and found, how far it is, and what may be done with it."""

import pytest
from django.urls import reverse

from experiments.models import Call, Message, Run

pytestmark = pytest.mark.django_db


def page_of(browser, read, run):
    return read(browser.get(reverse("run", args=[run.pk])))


def test_it_shows_everything_that_was_said_and_found_in_order(browser, read, played):
    run = played()
    page = page_of(browser, read, run)

    ids = [element.get("id") for element in page.by_id("transcript")]
    messages = [f"message-{pk}" for pk in run.messages.values_list("pk", flat=True)]
    assert ids == [
        "turn-1",
        *messages[:2],
        "judge-turn-1-judge",
        "turn-2",
        *messages[2:],
        "judge-turn-2-judge",
        "ending",
    ]
    assert len(page.find(id="metrics-A")) == len(page.find(id="metrics-B")) == 1


def test_it_says_from_which_event_on_the_socket_has_to_tell(browser, read, played):
    run = played(max_turns=1)

    assert page_of(browser, read, run).by_id("run").get("data-after") == str(run.last_seq)


def test_a_run_that_nobody_drives_yet_is_shown_and_can_be_stopped(browser, read, arena, start):
    run = start(arena())
    page = page_of(browser, read, run)

    assert "Nothing has been said yet" in page.text
    assert page.by_id("stop-form").get("action") == reverse("run-stop", args=[run.pk])
    assert page.find(id="resume-form") == []


def test_a_run_that_has_ended_can_be_neither_stopped_nor_resumed(browser, read, played):
    page = page_of(browser, read, played(max_turns=1))

    assert (page.find(id="stop-form"), page.find(id="resume-form")) == ([], [])


def test_a_failed_run_says_why_and_can_be_resumed(browser, read, played):
    run = played(a="sim/neutral:first=0:fail=404")
    page = page_of(browser, read, run)

    assert "Model A gave no answer in turn 1" in page.by_id("ending").text
    assert page.by_id("resume-form").get("action") == reverse("run-resume", args=[run.pk])


def test_stopping_leads_back_to_the_run(browser, read, arena, start):
    run = start(arena())
    response = browser.post(reverse("run-stop", args=[run.pk]))

    assert response["Location"] == reverse("run", args=[run.pk])
    assert Run.objects.get().state == Run.State.STOPPED
    assert "Stopped" in page_of(browser, read, run).by_id("ending").text


@pytest.mark.parametrize("name", ["run-stop", "run-resume"])
def test_a_script_is_told_in_json_and_sent_elsewhere_only_to_sign_in(browser, arena, start, name):
    run = start(arena())
    asked = {"path": reverse(name, args=[run.pk]), "headers": {"accept": "application/json"}}

    taken = browser.post(**asked)
    browser.logout()
    refused = browser.post(**asked)

    assert (taken.status_code, taken["Content-Type"]) == (200, "application/json")
    assert (refused.status_code, "/sign-in/" in refused["Location"]) == (302, True)


def test_stopping_what_has_ended_says_so(browser, read, played):
    run = played(max_turns=1)
    page = read(browser.post(reverse("run-stop", args=[run.pk]), follow=True))

    assert "had ended already" in page.text
    assert Run.objects.get().state == Run.State.COMPLETED


def test_resuming_leads_back_to_the_run_that_waits_again(browser, played, nobody_is_woken):
    run = played(a="sim/neutral:first=0:fail=404")
    response = browser.post(reverse("run-resume", args=[run.pk]))

    assert response["Location"] == reverse("run", args=[run.pk])
    assert (Run.objects.get().state, nobody_is_woken[-1]) == (Run.State.QUEUED, run.pk)


def test_resuming_what_has_not_failed_says_so(browser, read, arena, start):
    run = start(arena())
    page = read(browser.post(reverse("run-resume", args=[run.pk]), follow=True))

    assert "Only a run that failed, was paused or was stopped by a budget can be resumed" in page.text


def test_what_models_write_is_no_markup_of_ours(browser, played):
    run = played(max_turns=1)
    evil = "<script>alert(1)</script>\n\n<img src=x onerror=alert(2)>\n\n[x](javascript:alert(3)) ![p](http://a/b.png)"
    Message.objects.filter(run=run).update(raw_text=evil, text=evil, reasoning=evil, model=evil)
    run.judgments.update(rationale=evil, dynamics=evil, judge=evil[:100], unscored_reason=evil)
    Message.objects.update(filter={"changed": True, "removed": [evil], "confidence": 1, "reasoning": evil,
                                   "status": "filtered", "call": None})  # fmt: skip
    html = browser.get(reverse("run", args=[run.pk])).content.decode()

    assert "<script>alert" not in html
    assert "<img" not in html
    assert 'href="javascript' not in html


def test_a_title_is_no_markup_of_ours(browser, arena, start):
    start(arena(prompt="</title><script>alert(1)</script>"))

    for path in (reverse("run", args=[Run.objects.get().pk]), reverse("runs")):
        assert "<script>alert" not in browser.get(path).content.decode()


def test_scores_that_are_missing_are_said_to_be_missing(browser, read, played):
    run = played(judge_model="sim/judge:first=0:json=broken", max_turns=1)
    page = page_of(browser, read, run)

    assert "Not scored" in page.by_id("judge-turn-1-judge").text
    assert "(not scored)" in page.by_id("metrics-A").text


def test_an_open_length_shows_no_minus_one(browser, read, arena, start):
    run = start(arena(max_turns=None))
    page = page_of(browser, read, run)

    text = page.by_id("run").text.replace(str(run.pk), "")
    assert "open length" in text
    assert "-1" not in text
    assert "None" not in text


def test_the_status_bar_comes_by_itself(browser, read, played):
    run = played(max_turns=1)
    response = browser.get(reverse("run-status", args=[run.pk]))

    assert response.status_code == 200
    assert "<html" not in response.content.decode()
    parts = {element.get("data-part"): element.text for element in read(response).root.iter()}
    totals = Run.objects.with_totals().get()
    assert parts["tokens"].replace(",", "") == str(totals.input_tokens + totals.output_tokens)


def test_many_turns_take_as_many_queries_as_few(browser, played, django_assert_max_num_queries):
    runs = [played(max_turns=1), played(max_turns=5)]
    for run in runs:
        with django_assert_max_num_queries(25):
            browser.get(reverse("run", args=[run.pk]))

    assert runs[1].messages.count() == 10


def test_the_inspector_shows_what_was_sent_and_what_came_back(browser, read, played):
    run = played(max_turns=1)
    call = run.calls.first()
    page = read(browser.get(reverse("call", args=[call.pk])))

    assert run.experiment.config["prompt"] in page.text
    assert " ".join(call.text.split())[:60] in page.text
    assert call.model.slug in page.text


def test_the_inspector_shows_every_attempt(browser, read, played):
    run = played("sim/neutral:first=0:fail=503:times=1:retry_after=0", max_turns=1, judge=False, filter=False)
    failed, answered = run.calls.filter(step__key="turn/1/A").order_by("attempt")

    for call in (failed, answered):
        html = browser.get(reverse("call", args=[call.pk])).content.decode()
        assert str(failed.pk) in html
        assert str(answered.pk) in html
    assert failed.state == Call.State.FAILED


def test_the_inspector_shows_no_markup_of_a_model(browser, played):
    run = played(max_turns=1)
    call = run.calls.first()
    call.text = call.error = call.reasoning = "<script>alert(1)</script>"
    call.request = {**call.request, "messages": [{"role": "user", "content": "</pre><script>alert(2)</script>"}]}
    call.save()

    assert "<script>alert" not in browser.get(reverse("call", args=[call.pk])).content.decode()


def test_no_page_of_a_run_shows_a_key(browser, played, monkeypatch):
    monkeypatch.setenv("A_KEY_OF_THE_LAB", "sk-very-secret-key")
    run = played(max_turns=1)
    type(run.calls.first().model.provider).objects.update(api_key_env="A_KEY_OF_THE_LAB")

    for path in [
        reverse("run", args=[run.pk]),
        reverse("arena"),
        *(reverse("call", args=[c.pk]) for c in run.calls.all()),
    ]:
        assert "sk-very-secret-key" not in browser.get(path).content.decode()


def test_the_page_offers_the_reports_of_the_run(browser, read, played):
    run = played(max_turns=1)
    page = page_of(browser, read, run)

    [form] = page.find("form", action=reverse("run-files", args=[run.pk]))
    offered = {button.get("value") for button in form.iter("button")}
    assert {"html", "pdf", "md", "json", "csv", "jsonl", "inspect"} <= offered


def test_the_browser_is_told_of_every_script_at_once(browser, read, arena, start):
    page = page_of(browser, read, start(arena()))
    hinted = {link.get("href") for link in page.find("link", rel="modulepreload")}

    assert {"/static/socket.js", "/static/waiting.js", "/static/drafts.js", "/static/preferences.js"} <= hinted
