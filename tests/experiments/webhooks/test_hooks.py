"""Who has webhooks, what they may be, and how they are rested."""

from datetime import timedelta

import pytest
from django.core import mail
from django.core.management import call_command
from django.utils import timezone

from accounts.crypto import decrypt, is_newest
from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import AuditEntry, Membership, Project, User
from experiments.lab.webhooks import hooks, outbox
from experiments.lab.webhooks.outbox import Kind
from experiments.models import Webhook, WebhookDelivery
from tests.cases import each_case

OUT = "https://example.org/in"


@each_case(
    ("field", "asked"),
    [
        ("url", {"url": "ftp://example.org/"}),
        ("url", {"url": "http://example.org/"}),
        ("url", {"url": "https://name:word@example.org/"}),
        ("url", {"url": "https://127.0.0.1/"}),
        ("url", {"url": "https://127.1/"}),
        ("url", {"url": "https://2130706433/"}),
        ("url", {"url": "https://0x7f000001/"}),
        ("url", {"url": "https://0/"}),
        ("url", {"url": "https://LOCALHOST/"}),
        ("url", {"url": "https://hooks.localhost./"}),
        ("url", {"url": "https://example.org:99999/"}),
        ("url", {"url": "https://exa mple.org/"}),
        ("url", {"url": "https:///path"}),
        ("url", {"url": "https://example.org/" + "x" * 1000}),
        ("events", {"events": []}),
        ("events", {"events": ["run.exploded"]}),
        ("allow_private", {"allow_private": True}),
    ],
)
def test_what_cannot_be_one_is_refused_by_name(alice, field, asked):
    with pytest.raises(Invalid) as refused:
        hooks.add(**{"by": alice, "url": OUT, "events": ["run.failed"], **asked})

    assert list(refused.value.errors) == [field]


@pytest.mark.databases
def test_a_secret_is_told_once_and_kept_encrypted_anew_when_the_labs_secret_changes(alice, settings):
    hook, secret = hooks.add(by=alice, url=OUT, events=["run.failed", "run.failed"])
    assert secret.startswith("whsec_")
    assert secret not in str(Webhook.objects.values())
    assert decrypt(hook.secret) == secret
    assert hook.events == ["run.failed"]

    settings.KEY_SECRETS = ["n" * 40, *settings.KEY_SECRETS]
    call_command("rotate_keys", verbosity=0)

    stored = Webhook.objects.get()
    assert is_newest(stored.secret)
    assert decrypt(stored.secret) == secret


def test_who_may_have_none_and_what_a_project_is_not_told(alice, charlie):
    project = Project.objects.create(name="Solar")
    Membership.objects.create(project=project, user=charlie, role="member")
    Membership.objects.create(project=project, user=alice, role="lead")
    with pytest.raises(Invalid):
        hooks.add(by=alice, url=OUT, events=["dataset.ready"], project=project)  # it is of a person
    Membership.objects.filter(user=alice).delete()
    User.objects.filter(pk=alice.pk).update(role="reviewer")
    alice.refresh_from_db()
    for by, where in ((alice, None), (charlie, project), (alice, project)):
        with pytest.raises(Forbidden):
            hooks.add(by=by, url=OUT, events=["run.failed"], project=where)


def test_permission_for_a_private_address_is_for_one_host(alice, admin):
    hook, _secret = hooks.add(by=alice, url=OUT, events=["run.failed"])
    with pytest.raises(Forbidden):
        hooks.permit_private(hook, by=alice, allowed=True)
    hooks.permit_private(hook, by=admin, allowed=True)
    hook.refresh_from_db()
    hooks.change(hook, by=alice, url="https://example.org/other", events=["run.failed"], name="")
    assert Webhook.objects.get().allow_private
    hooks.change(hook, by=alice, url="https://example.com/", events=["run.failed"], name="")

    assert not Webhook.objects.get().allow_private
    with pytest.raises(Invalid):
        hooks.change(hook, by=alice, url="http://10.0.0.1/", events=["run.failed"], name="")


def test_nobody_else_touches_it_but_an_admin_may_pause_it(hook, alice, charlie, admin):
    for deed in (hooks.rotate, hooks.test, hooks.remove):
        with pytest.raises(Forbidden):
            deed(hook, by=charlie)
    with pytest.raises(Forbidden):
        hooks.rotate(hook, by=admin)
    assert hooks.set_active(hook, by=admin, is_active=False)
    with pytest.raises(Forbidden):
        hooks.set_active(hook, by=admin, is_active=True)
    with pytest.raises(Conflict):
        hooks.test(hook, by=alice)


def test_a_paused_one_is_told_nothing_new_and_what_waited_comes_later(hook, alice, receiver, deliver):
    hooks.test(hook, by=alice)
    hooks.set_active(hook, by=alice, is_active=False)
    outbox.tell(alice.pk, outbox.News(Kind.RUN_STARTED, "one", {}))
    deliver()
    assert receiver.received == []
    hooks.set_active(hook, by=alice, is_active=True)
    deliver()

    assert receiver.types == ["webhook.test"]


@pytest.mark.databases
def test_after_a_day_of_failures_it_is_paused_and_its_maker_told(
    hook, alice, receiver, deliver, settings, django_capture_on_commit_callbacks
):
    settings.HAS_MAIL, settings.EMAIL_BACKEND = True, "django.core.mail.backends.locmem.EmailBackend"
    User.objects.filter(pk=alice.pk).update(email="alice@lab.example")
    receiver.status = 500
    for failures, since in ((8, 30), (20, 2), (20, 25)):
        Webhook.objects.update(failures=failures, failing_since=timezone.now() - timedelta(hours=since))
        hooks.test(hook, by=alice)
        with django_capture_on_commit_callbacks(execute=True):
            deliver()

    stored = Webhook.objects.get()
    assert (stored.is_active, stored.pause_reason, stored.failures) == (False, "failing", 21)
    [letter] = mail.outbox
    assert letter.to == ["alice@lab.example"]
    assert "token=of-the-path" not in letter.body
    assert AuditEntry.objects.filter(action="webhook_changed", actor="").count() == 1


def test_a_success_forgets_the_failures_and_410_pauses_at_once(hook, alice, receiver, deliver):
    Webhook.objects.update(failures=20, failing_since=timezone.now())
    hooks.test(hook, by=alice)
    deliver()
    assert (Webhook.objects.get().failures, Webhook.objects.get().failing_since) == (0, None)
    receiver.status = 410
    hooks.test(hook, by=alice)
    deliver()

    assert Webhook.objects.get().pause_reason == "gone"


def test_there_are_limits_of_webhooks_and_of_tests(hook, alice, monkeypatch):
    monkeypatch.setattr(hooks, "MOST", 1)
    monkeypatch.setattr(hooks, "MOST_TESTS", 1)
    with pytest.raises(Forbidden, match="Delete one"):
        hooks.add(by=alice, url=OUT, events=["run.failed"])
    hooks.test(hook, by=alice)
    with pytest.raises(Conflict):
        hooks.test(hook, by=alice)


def test_what_was_told_long_ago_is_forgotten_and_the_audit_record_names_the_host_alone(hook, alice):
    hooks.test(hook, by=alice)
    WebhookDelivery.objects.update(created=timezone.now() - timedelta(days=31))
    call_command("sweep", verbosity=0)
    assert WebhookDelivery.objects.count() == 0

    hooks.remove(hook, by=alice)
    assert "of-the-path" not in str(list(AuditEntry.objects.values()))
