"""A run as a page, from rows as from events: what was said, how far it is, what may be done; its files, and imports."""

import threading
import time
from datetime import timedelta
from decimal import Decimal

import pytest
from django.contrib.staticfiles import finders
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone, translation

from experiments.engine.driver import Driver
from experiments.models import Call, Event, Export, Message, Provider, Run
from experiments.runs import actions, timeline
from experiments.runs.fragments import Fragments
from experiments.runs.live import backlog
from experiments.runs.timeline import Entry, render
from experiments.setup.layout import facts
from experiments.templatetags.modules import imports
from experiments.workflows import REGISTRY, surface_of
from tests.experiments.pages.conftest import drive
from tests.experiments.pages.painted import assert_same_page
from tests.experiments.reports.records import FILTERED, Record
from tests.markup import value_of
from tests.parts import stepped_engine


def test_a_run_that_has_ended_can_be_neither_stopped_nor_resumed_and_gives_every_event_in_order_in_few_queries(
    browser, read, played, monkeypatch, django_assert_max_num_queries
):
    run = played(max_turns=1)
    response = browser.get(reverse("run-status", args=[run.pk]))
    bar = read(response)

    assert (bar.find(id="stop-form"), bar.find(id="resume-form")) == ([], [])
    assert "<html" not in response.content.decode()
    parts = {element.get("data-part"): element.text for element in bar.root.iter()}
    totals = Run.objects.with_totals().get()
    assert parts["tokens"].replace(",", "") == str(totals.input_tokens + totals.output_tokens)
    for name in ("run-stop", "run-resume"):
        refused = read(browser.post(reverse(name, args=[run.pk]), follow=True))
        assert refused.find(role="status")
        assert Run.objects.get().state == Run.State.COMPLETED

    found = asked(browser, run).json()

    assert [envelope["seq"] for envelope in found["events"]] == list(range(1, run.last_seq + 1))
    assert {**found["events"][1], "html": ...} == {**Event.objects.get(run=run, seq=2).envelope, "html": ...}
    assert all(f'id="message-{pk}"' in str(found["events"]) for pk in run.messages.values_list("pk", flat=True))
    assert (found["partials"], found["more"]) == ([], False)
    unknown = asked(browser, run, after=run.last_seq - 2).json()["events"]
    assert [event["seq"] for event in unknown] == [run.last_seq - 1, run.last_seq]
    assert asked(browser, run, after=run.last_seq).json()["events"] == []
    for nonsense in ("x", "-1", "1.5", "٣", "9" * 19, "%00"):
        assert asked(browser, run, after=nonsense).status_code == 400, nonsense

    monkeypatch.setattr(backlog, "ROWS", 3)
    with django_assert_max_num_queries(8):
        portions, seen = asked(browser, run).json(), 0
    while portions["more"]:
        seen += len(portions["events"])
        portions = asked(browser, run, after=seen).json()
    assert seen + len(portions["events"]) == run.last_seq

    browser.post("/language/", {"language": "zh-hans"})
    assert "Turn 1" not in str(asked(browser, run, after=seen).json()["events"]), "in the language of the page"


def test_a_run_that_nobody_drives_yet_is_shown_and_stopped(page_of, browser, arena, start):
    run = start(arena())
    page = page_of(run)
    assert page.by_id("stop-form").get("action") == reverse("run-stop", args=[run.pk])
    assert page.find(id="resume-form") == []
    hinted = {link.get("href") for link in page.find("link", rel="modulepreload")}
    assert {"/static/socket.js", "/static/waiting.js", "/static/drafts.js", "/static/preferences.js"} <= hinted

    asked = {"path": reverse("run-stop", args=[run.pk]), "headers": {"accept": "application/json"}}
    assert "/sign-in/" in Client().post(**asked)["Location"]
    assert browser.post(asked["path"])["Location"] == reverse("run", args=[run.pk])
    assert Run.objects.get().state == Run.State.STOPPED
    told = browser.post(**asked)
    assert (told.status_code, told["Content-Type"]) == (200, "application/json"), "a script is told in JSON"


def test_the_inspector_shows_what_was_sent_and_came_back_at_every_attempt(page_of, browser, read, played, monkeypatch):
    monkeypatch.setenv("A_KEY_OF_THE_LAB", "sk-very-secret-key")
    Provider.objects.update(api_key_env="A_KEY_OF_THE_LAB")
    run = played("sim/neutral:first=0:fail=503:times=1:retry_after=0", max_turns=1, judge=False, filter=False)
    failed, answered = run.calls.filter(step__key="turn/1/A").order_by("attempt")
    assert failed.state == Call.State.FAILED

    for call in (failed, answered):
        html = browser.get(reverse("call", args=[call.pk])).content.decode()
        assert (str(failed.pk) in html, str(answered.pk) in html, "very-secret-key" in html) == (True, True, False)
    page = read(browser.get(reverse("call", args=[answered.pk])))
    told = (run.experiment.config["prompt"], " ".join(answered.text.split())[:60], answered.model.slug)
    assert [words for words in told if words not in page.text] == []

    talk = page_of(run)
    assert talk.by_id(f"trouble-{failed.pk}").tag != "article"
    said = [element.get("id") for element in talk.by_id("transcript").iterchildren("article")]
    assert said == [f"message-{pk}" for pk in run.messages.values_list("pk", flat=True)]


def test_an_answer_that_is_no_ordinary_one_and_a_filter_that_failed_or_left_nothing_say_so(page_of, alice):
    record = Record(alice)
    left = {**FILTERED, "status": "emptied"}
    failed = {**FILTERED, "changed": False, "status": "failed", "reasoning": "It was no JSON."}
    said = (
        (record.reply("A", 1, "Plain."), set()),
        (record.reply("B", 1, "Cut", finish_reason="length"), {"cut off at the token limit"}),
        (record.reply("A", 2, "Half", finish_reason="stopped", filter=failed), {"stopped here", "It was no JSON."}),
        (record.reply("B", 2, "No.", finish_reason="content_filter", filter=left), {"refused", "there were no words"}),
    )
    page = page_of(record.run)

    for message, wanted in said:
        shown = page.by_id(f"message-{message.pk}").text
        assert {words for _message, of in said for words in of if words in shown} == wanted


def asked(browser, run, after=0):
    return browser.get(reverse("run-news", args=[run.pk]), {"after": after})


def test_it_gives_the_text_that_is_being_written(browser, arena, start):
    run = start(arena())
    step = run.steps.create(key="turn/1/A", kind="ask", purpose="reply", seat="A", turn=1)
    model, said = run.experiment.participants.get(seat="A").model, {"text": "I of", "reasoning": "They"}
    call = Call.objects.create(run=run, step=step, attempt=1, model=model, request={}, **said)

    [partial] = asked(browser, run).json()["partials"]
    assert {"call": str(call.pk), "seat": "A", "turn": 1, "offset": 0, **said}.items() <= partial.items()


def test_a_branch_continues_with_the_message_as_it_stands_or_as_it_was_typed_and_says_so(browser, read, played):
    message = played(max_turns=1).messages.get(seat="A")
    Message.objects.filter(pk=message.pk).update(raw_text="First.\r\nSecond.\n\n<b>Third</b>", text="First.")
    message.refresh_from_db()
    links = {a.get("href") for a in read(browser.get(reverse("run", args=[message.run_id]))).find("a")}
    address = reverse("message-branch", args=[message.pk])
    assert address in links
    typed = message.raw_text.replace("\r\n", "\n")
    assert value_of(read(browser.get(address)).by_id("branch-text")) == typed
    response = browser.post(address, {"text": typed.replace("\n", "\r\n")})

    child = Run.objects.get(parent=message.run)
    assert response["Location"] == reverse("run", args=[child.pk])
    copy = child.messages.get(seat="A")
    assert (copy.raw_text, copy.operator) == (message.raw_text, None)
    words = reverse("message-text", args=[message.pk])
    assert browser.get(words).content.decode() == message.raw_text
    assert browser.get(words, {"heard": "1"}).content.decode() == "First."
    assert browser.get(words)["Content-Type"].startswith("text/plain")

    refused = browser.post(address, {"text": "  "})
    assert read(refused).by_id("branch-text").get("aria-invalid") == "true"
    changed = browser.post(address, {"text": "First.\r\nSecond.\r\n\r\nFourth."})
    copy = Run.objects.exclude(pk=child.pk).get(parent=message.run).messages.get(seat="A")
    assert copy.raw_text == "First.\r\nSecond.\n\nFourth."
    shown = read(browser.get(changed["Location"])).by_id(f"message-{copy.pk}").text
    for said in ("edited by alice", "What it said before it was edited", "<b>"):
        assert said in shown
    assert Run.objects.get(pk=message.run_id).messages.get(seat="A").raw_text == message.raw_text


def test_every_file_that_a_surface_names_is_there_and_what_its_scripts_import_is_hinted():
    surfaces = [surface_of(slug) for slug in REGISTRY]
    setups = [surface.setup for surface in surfaces if surface.setup]
    scripts = [one.script for one in (*surfaces, *setups) if one.script]
    styles = [style for surface in surfaces for style in surface.styles] + [one.style for one in setups if one.style]
    imported = {script: imports(script) for script in scripts}
    assert {"workflows/council/composer.js", "requests.js"} <= set(imported["workflows/council/run.js"])
    named = [*scripts, *styles, *(one for found in imported.values() for one in found)]
    assert [name for name in named if not finders.find(name)] == []


def test_rows_of_a_setting_are_told_by_their_fields_and_as_stored_where_the_workflow_is_not_installed():
    rows = [{"kind": "note", "side": "B", "turn": 2, "text": "Be brief."}, {"kind": "note", "side": "", "turn": 3}]
    told = {one.name: one.text for one in facts("arena", {"interventions": rows, "counterbalance": True})}
    assert told["interventions"] == "Kind: note, Side: B, Turn: 2, Text: Be brief.\nKind: note, Turn: 3"
    assert "{" not in " ".join(told.values())

    [gone] = facts("gone", {"stops": [{"town": "Rome", "nights": 2}], "empty": ""})
    assert (gone.label, gone.text) == ("stops", "town: Rome, nights: 2")


FORMATS = dict.fromkeys(("html", "pdf", "md", "json"), "report") | dict.fromkeys(("jsonl", "csv", "inspect"), "export")


def ask(browser, run, format_="csv"):
    return browser.post(reverse("run-files", args=[run.pk]), {"format": format_})


def test_a_button_gives_the_file_of_a_short_run_at_once_and_of_a_long_one_leads_to_a_page_that_follows_it_to_its_end(
    browser, played, read, bells, make_files, settings
):
    run = played(max_turns=1)
    for format_, kind in FORMATS.items():
        answer = ask(browser, run, format_)
        assert answer["Location"] == reverse(f"run-{kind}", args=[run.pk, format_])
        other = {"report": "export", "export": "report"}[kind]
        assert browser.get(reverse(f"run-{other}", args=[run.pk, format_])).status_code == 404
    file = browser.get(answer["Location"])  # what is in each file is proved where reports and data are tested
    assert (file.status_code, file["Content-Disposition"][:12], bool(b"".join(file))) == (200, "attachment; ", True)
    assert (bells, Export.objects.count()) == ([], 0)
    refused = browser.post(reverse("run-files", args=[run.pk]), {"format": "exe"}, follow=True)
    assert "not available" in read(refused).text

    settings.EXPORT_DIRECT_MESSAGES = 1
    answer = ask(browser, run)
    export = Export.objects.get()
    assert (answer["Location"], export.state, bells) == (export.get_absolute_url(), "queued", [1])
    assert ask(browser, run)["Location"] == answer["Location"], "a double click asks for one file"
    assert browser.get(reverse("file-download", args=[export.pk]))["Location"] == export.get_absolute_url()

    waiting = file_page(browser, read)
    assert waiting.by_id("file").get("hx-trigger")
    assert [link.get("href") for link in waiting.find("a") if link.text == "Refresh"]

    begun = timezone.now() - timedelta(seconds=30)
    making = file_page(browser, read, state="running", progress=0.25, started=begun)
    [bar] = making.find("progress")
    assert (bar.get("value"), bar.get("max"), "≈ 1:3" in making.text) == ("0.250", "1", True)

    failed = file_page(browser, read, state="failed", error="ValueError: <b>no</b> such glyph")
    assert "ValueError: <b>no</b> such glyph" in failed.text
    [button] = failed.find("button", name="format")
    assert (button.get("value"), button.text) == ("csv", "Try again")

    Export.objects.update(state="queued")
    make_files()
    done = file_page(browser, read)
    [link] = done.find("a", id="download")
    assert browser.get(link.get("href")).getvalue().startswith(b"\xef\xbb\xbf")
    assert done.by_id("file").get("hx-trigger") is None

    Export.objects.get().path.unlink()
    page = browser.get(link.get("href"), follow=True)
    assert page.redirect_chain[-1][0] == run.get_absolute_url()
    assert "The file was deleted" in read(page).text


def file_page(browser, read, **fields):
    Export.objects.update(**fields)
    return read(browser.get(Export.objects.get().get_absolute_url()))


def test_what_is_no_report_or_too_large_is_refused_in_words(browser, read, settings):
    settings.UPLOAD_BYTES = 2000
    for data, status in {b"{": 422, b"\xff\xfe": 422, b" " * 2001: 413}.items():
        file = SimpleUploadedFile("report.json", data, "application/json")
        page = browser.post(reverse("run-import"), {"file": file})
        assert (page.status_code, "Nothing was imported" in read(page).text) == (status, True), data
    assert not Run.objects.exists()


def test_of_a_run_whose_judge_and_filter_talk_nonsense_or_give_up(played):
    for judge, filter_ in (("json=broken", "json=missing"), ("json=range", "json=injected"), ("fail=404", "fail=404")):
        tools = {"judge_model": f"sim/judge:first=0:{judge}", "filter_model": f"sim/filter:first=0:{filter_}"}
        run = played(max_turns=1, **tools)
        assert run.state == Run.State.COMPLETED, tools
        assert_same_page(run, "judge_evaluation_completed", "message_completed", "model_metrics")


def test_of_a_run_that_lost_a_call(arena, start, settings):
    settings.DRAIN_SECONDS, settings.LEASE_SECONDS = 0, 3  # the driver calls `beat` four times within it
    run = start(arena("sim/cooperative:first=0:tps=20:words=2000"))
    killed = threading.Event()
    Driver(killed, heartbeat=lambda: run.calls.filter(state=Call.State.SENT).exists() and killed.set()).drive(60)
    assert run.calls.filter(state=Call.State.SENT).count() == 1

    Run.objects.filter(pk=run.pk).update(lease_until=None)
    run.experiment.participants.filter(seat="A").update(model=run.experiment.participants.get(seat="B").model)
    drive()

    assert run.calls.filter(state=Call.State.LOST).count() == 1
    assert_same_page(run, "call_lost", "experiment_stopped")


def test_of_a_run_that_failed_goes_on_and_failed_again_after_a_judged_turn(played, alice):
    run = played(b="sim/neutral:first=0:fail=404:times=1")
    assert_same_page(run, "experiment_error")

    actions.resume(run, by=alice)
    assert_same_page(run)
    drive()
    assert Run.objects.get(pk=run.pk).state == Run.State.FAILED
    assert (run.messages.count(), run.judgments.count()) == (3, 2)
    assert_same_page(run, "model_metrics", "call_retried", "experiment_error")


def test_of_a_run_that_was_stopped_while_somebody_spoke_after_a_judged_turn(arena, start, alice):
    run = start(arena(b="sim/neutral:first=0:tps=40:words=120"))

    class Stopping(Driver):
        def _look_after_runs(self):
            speaking = run.calls.filter(step__key="turn/2/B", state=Call.State.SENT)
            if speaking.exclude(text="").exists():  # what was stopped before its first word is no message
                actions.stop(run, by=alice)
            super()._look_after_runs()

    Stopping(threading.Event()).drive(0.1)

    run.refresh_from_db()
    assert (run.state, run.messages.last().finish_reason) == (Run.State.STOPPED, "stopped")
    assert_same_page(run, "model_metrics", "experiment_stopped")


def test_at_every_moment_of_a_run(arena, start):
    fails = ":fail=503:times=1:retry_after=0.1"
    run = start(arena(f"sim/cooperative:first=0:tps=400{fails}", "sim/neutral:first=0:tps=400", max_turns=2))
    moments = set()
    with stepped_engine.driving(threading.Event()):
        while not Run.objects.get(pk=run.pk).is_over:
            moments.add(Run.objects.get(pk=run.pk).last_seq)
            assert_same_page(run)
            time.sleep(0.05)

    assert len(moments) > 2, "the page was compared while the run was under way"
    assert_same_page(run, "call_retried", "judge_evaluation_completed")


SAID = Entry("turn_started", {"turn": 3}, "turn-3")


@pytest.fixture
def rendered(monkeypatch):
    """The fragments that are really rendered, from now on, none of which is kept yet."""
    entries = []
    really = timeline._rendered
    monkeypatch.setattr(timeline, "_fragments", Fragments())
    monkeypatch.setattr(
        timeline, "_rendered", lambda *about, **words: entries.append(about[0]) or really(*about, **words)
    )
    return entries


def test_another_run_text_word_or_language_is_another_fragment_and_those_asked_for_last_are_kept(rendered):
    shown = [
        render(SAID, "run", "arena"),
        render(SAID, "other", "arena"),
        render(Entry("turn_started", {"turn": 4}, "turn-3"), "run", "arena"),
        render(Entry("turn_started", {"turn": 3}, "turn-4"), "run", "arena"),
        render(SAID, "run", "arena", cast={"A": "one"}),
    ]
    with translation.override("zh-hans"):
        shown.append(render(SAID, "run", "arena"))
    assert len(rendered) == 6
    assert len(set(shown)) == 4
    assert render(Entry("turn_started", {"turn": 3}, "turn-3"), "run", "arena", cast={"A": "one"}) == shown[4]
    assert len(rendered) == 6, "what shows the same is rendered once"
    for _time in range(2):
        render(SAID, "run", "arena", slots={"transcript": [SAID]})
    assert len(rendered) == 8, "one with others inside, each time"

    kept, made = Fragments(most=10), []

    def ask(*given):
        return kept.of(list(given), lambda: made.append(given) or "four")

    asked = [(1,), (Decimal(2),), (1,), (3,), (1,), (Decimal(2),)]
    assert {ask(*given) for given in asked} == {"four"}
    assert made == [(1,), (Decimal(2),), (3,), (Decimal(2),)]
    assert [kept.of(["long"], lambda: "x" * 11), kept.of(["long"], lambda: "again")] == ["x" * 11, "again"]


def test_a_page_asks_as_little_of_a_long_run_as_of_a_short_one(browser, played):
    asked = []
    for turns in (1, 4):
        run = played(max_turns=turns)
        with CaptureQueriesContext(connection) as queries:
            page = browser.get(reverse("run", args=[run.pk])).content
        assert page.count(b"data-message=") == 2 * turns
        asked.append(len(queries))
    assert asked[0] == asked[1] <= 20
