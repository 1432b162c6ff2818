"""The admin: every model has its pages, lists cost the same for more rows, deeds are those of the verbs."""

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from accounts.models import AuditEntry
from experiments.models import Experiment, Message, Run, RunReview
from tests.experiments.reviews import reviewed
from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db
OURS = [model for app in ("experiments", "leaderboard") for model in apps.get_app_config(app).get_models()]
INLINE_ALONE = {"ModelPrice"}


@pytest.fixture
def browser(people):
    return signed_in(people("root", "admin", is_staff=True, is_superuser=True))


def listed(model):
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")


def test_every_model_is_there():
    missing = {model.__name__ for model in OURS if not admin.site.is_registered(model)}

    assert missing == INLINE_ALONE


def test_every_list_and_every_row_opens(browser, alice, bob):
    queue = reviewed.queue(alice, bob)
    reviewed.answer(queue.items.first(), bob)
    for model in OURS:
        if not admin.site.is_registered(model):
            continue
        assert browser.get(listed(model)).status_code == 200, model
        if row := model._default_manager.first():
            name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
            assert browser.get(reverse(name, args=[row.pk])).status_code == 200, model


@pytest.mark.parametrize("model", [Run, Experiment, Message], ids=lambda model: model.__name__)
def test_a_longer_list_takes_no_more_queries(browser, alice, model):
    def queries():
        with CaptureQueriesContext(
            connection,
        ) as captured:
            browser.get(listed(model))
        return len(captured)

    reviewed.record(alice, 1)
    few = queries()
    for _ in range(5):
        reviewed.record(alice, 1)

    assert queries() == few


def test_the_list_of_runs_counts_no_whole_table(browser, alice):
    reviewed.record(alice, 1)
    with CaptureQueriesContext(connection) as captured:
        browser.get(listed(Run))

    counts = [one["sql"] for one in captured if "COUNT(" in one["sql"].upper() and "experiments_run" in one["sql"]]
    assert all("LIMIT" in sql for sql in counts)


def test_a_run_is_read_with_its_transcript_and_no_markup_of_a_model(browser, alice):
    record = reviewed.record(alice, 1)
    record.reply("A", 2, "<script>alert(1)</script>")
    page = browser.get(reverse("admin:experiments_run_change", args=[record.run.pk])).content.decode()

    assert reviewed.SAID in page
    assert "<script>alert(1)" not in page
    assert record.run.get_absolute_url() in page


def act(browser, action, *runs, **fields):
    sent = {"action": action, "_selected_action": [run.pk for run in runs], **fields}
    return browser.post(listed(Run), sent, follow=True)


def test_deeds_on_many_runs_are_those_of_the_verbs(browser, alice):
    first, second = reviewed.record(alice, 1).run, reviewed.record(alice, 1).run
    act(browser, "approve_chosen", first, second)
    assert RunReview.objects.filter(approved__isnull=False).count() == 2

    assert "Say why" in act(browser, "exclude_chosen", first).content.decode()
    act(browser, "exclude_chosen", first, reason="A test.")
    assert RunReview.objects.get(run=first).reason == "A test."
    act(browser, "include_chosen", first)
    assert RunReview.objects.get(run=first).excluded is None

    act(browser, "publish_chosen", second)
    assert Experiment.objects.get(pk=second.experiment_id).visibility == "public"
    actions = set(AuditEntry.objects.values_list("action", flat=True))
    assert {"voided", "restored", "published"} <= actions


def test_chosen_runs_are_scanned(browser, alice):
    record = reviewed.record(alice, 1)
    record.reply("A", 2, "I'm sorry, but I can't help with that.")
    act(browser, "scan_chosen", record.run)

    assert Message.objects.get(turn=2).flags == ["refusal"]


def test_what_happened_cannot_be_changed_or_deleted(browser, alice):
    run = reviewed.record(alice, 1).run

    assert browser.post(reverse("admin:experiments_run_delete", args=[run.pk]), {"post": "yes"}).status_code == 403
    assert browser.post(reverse("admin:experiments_run_change", args=[run.pk]), {"seed": "1"}).status_code == 403


@pytest.mark.databases
@pytest.mark.parametrize("wanted", ["panels", "01a200c2-8f75-72ae-b3b1-0620e38df926"])
def test_every_list_can_be_searched_with_any_word(browser, alice, wanted):
    reviewed.record(alice, 1)
    searched = [
        model for model in OURS if admin.site.is_registered(model) and admin.site.get_model_admin(model).search_fields
    ]

    answers = {model.__name__: browser.get(listed(model), {"q": wanted}).status_code for model in searched}

    assert set(answers.values()) == {200}, answers
