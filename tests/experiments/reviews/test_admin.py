"""The admin: every model has its pages, lists cost the same for more rows, deeds are those of the verbs."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import AuditEntry
from experiments.library.search import indexing
from experiments.models import Experiment, Message, Run, RunReview
from experiments.review import desk
from tests.experiments.reports.records import FILTERED, SCORES
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in
from tests.markup import Page

OURS = [model for app in ("experiments", "leaderboard") for model in apps.get_app_config(app).get_models()]
INLINE = "ModelPrice"


@pytest.fixture
def browser(people):
    return signed_in(people("root", "admin", is_staff=True, is_superuser=True))


def listed(model):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


@pytest.mark.databases
def test_every_model_is_there_in_groups_and_every_list_and_row_opens_and_is_searched_with_any_word(browser, alice, bob):
    queue = reviewed.queue(alice, bob)
    reviewed.answer(queue.items.first(), bob)

    assert {model.__name__ for model in OURS if not admin.site.is_registered(model)} == {INLINE}
    groups = browser.get(reverse("admin:index")).context["app_list"]
    assert [one["app_label"] for one in groups][0::6] == ["people", "internals"]
    assert "IdempotentRequest" in {one["object_name"] for one in groups[-1]["models"]}
    for model in (model for model in OURS if model.__name__ != INLINE):
        is_searched = admin.site.get_model_admin(model).search_fields
        words = "panels 01a200c2-8f75-72ae-b3b1-0620e38df926" if is_searched else ""
        assert browser.get(listed(model), {"q": words}).status_code == 200, model
        if row := model._default_manager.first():
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
            assert browser.get(reverse(name, args=[row.pk])).status_code == 200, model


def test_a_longer_list_takes_no_more_queries_and_counts_no_whole_table(browser, alice):
    def queries(model):
        with CaptureQueriesContext(connection) as captured:
            browser.get(listed(model))
        counts = [one["sql"] for one in captured if "COUNT(" in one["sql"].upper() and "experiments_run" in one["sql"]]
        assert model != Run or all("LIMIT" in sql for sql in counts)
        return len(captured)

    reviewed.record(alice, 1)
    few = {model: queries(model) for model in (Run, Experiment, Message)}
    for _ in range(3):
        reviewed.record(alice, 1)

    assert {model: queries(model) for model in few} == few


def change(row):
    return reverse(f"admin:experiments_{row._meta.model_name}_change", args=[row.pk])


def test_a_private_run_is_read_by_administrators_alone_with_all_that_was_found_and_neither_changed_nor_deleted(
    browser, alice, bob, cora, monkeypatch
):
    record = reviewed.record(alice, 1)
    changed = {"text": "Let us & share.", "reasoning": "I plan.", "filter": FILTERED}
    record.reply("A", 2, "<script>alert(1)</script> I must hide it", **changed)

    page = Page(browser.get(change(record.run)).content.decode())
    assert browser.get(change(record.run.messages.first())).status_code == 200
    assert not page.find("a", href=record.run.get_absolute_url()), "it is not shared"
    assert browser.get(record.run.get_absolute_url()).status_code == 404
    read = AuditEntry.objects.filter(action="run_read").values_list("actor", "target")
    assert list(read) == [("root", f"run:{record.run.pk}")] * 2
    for other in (Client(), *map(signed_in, (alice, bob, cora))):
        for private in (listed(Message), change(record.run), change(record.run.messages.first())):
            assert other.get(private)["Location"].startswith(reverse("admin:login")), private
    for forbidden in (change(record.run), reverse("admin:experiments_run_delete", args=[record.run.pk])):
        assert browser.post(forbidden, {"seed": "1", "post": "yes"}).status_code == 403

    parts = {(one.get("data-part"), one.text) for one in page.by_id("transcript").iter() if one.get("data-part")}
    said = {"said": "<script>alert(1)</script> I must hide it", "filtered": "Let us & share.", "reasoning": "I plan."}
    assert set(said.items()) <= parts
    judged = next(text for part, text in parts if part == "judgment")
    assert all(name in judged for name in SCORES)

    monkeypatch.setattr(desk, "MESSAGES_SHOWN", 3)
    record = reviewed.record(alice, 2)
    record.judged(9, {"A": dict(SCORES)})

    shown = [browser.get(change(record.run), {"page": number}).context["transcript"] for number in (1, 2)]

    assert [[len(entry.judgments) for entry in one.entries] for one in shown] == [[0, 2, 0], [2]]
    assert [[judgment.turn for judgment in one.others] for one in shown] == [[], [9]]


@pytest.mark.databases
def test_messages_of_every_run_are_searched_by_words_and_the_search_is_on_the_audit_log(browser, alice):
    said = reviewed.record(alice, 1).run.messages.first()
    Message.objects.filter(pk=said.pk).update(reasoning="I conceal <b>it</b>.")
    indexing.everything(only_missing=False)

    for words, finds in ((str(said.pk), 1), ("SHARE the panels", 2), ("conceal", 1), ("nowhere", 0)):
        page = browser.get(listed(Message), {"q": words})
        assert page.context["cl"].result_count == finds, words
        assert b"<b>it" not in page.content
    recorded = AuditEntry.objects.filter(action="runs_searched").order_by("pk").values_list("name", flat=True)
    assert list(recorded) == ["SHARE the panels", "conceal", "nowhere"], "a search for an id is not recorded"


def act(browser, action, *runs, **fields):
    sent = {"action": action, "_selected_action": [run.pk for run in runs], **fields}
    return browser.post(listed(Run), sent, follow=True)


def test_actions_on_many_runs_are_those_of_the_verbs(browser, alice):
    first, second = reviewed.record(alice, 1), reviewed.record(alice, 1)
    failed = act(browser, "exclude_chosen", first.run).context["messages"]
    assert [one.level_tag for one in failed] == ["error"], "a reason is missing, and no success is reported"
    act(browser, "approve_chosen", first.run, second.run)
    assert RunReview.objects.filter(approved__isnull=False).count() == 2

    act(browser, "exclude_chosen", first.run, reason="A test.")
    assert RunReview.objects.get(run=first.run).reason == "A test."
    act(browser, "include_chosen", first.run)
    assert RunReview.objects.get(run=first.run).excluded is None

    act(browser, "publish_chosen", second.run)
    assert Experiment.objects.get(pk=second.run.experiment_id).visibility == "public"
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"voided", "restored", "published"} <= actions

    Run.objects.filter(pk=first.run.pk).update(state=Run.State.RUNNING, ended=None)
    told = act(browser, "stop_chosen", first.run, second.run).context["messages"]
    assert [one.level_tag for one in told] == ["success", "info"], "one is over, which is said as well"
    assert Run.objects.get(state=Run.State.STOPPING) == first.run
    assert LogEntry.objects.get().object_id == str(first.run.pk)

    first.reply("A", 2, "I'm sorry, but I can't help with that.")
    act(browser, "scan_chosen", first.run)
    assert Message.objects.get(turn=2).flags == ["refusal"]
