"""Webhooks on pages, in the admin and by the API: who has them, what they may be, and how they are rested."""

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
from tests.fixtures import signed_in, step_up

OUT = "https://example.org/in"


def test_what_cannot_be_one_is_refused_by_name(alice):
    hosts = ["name:word@example.org", "127.0.0.1", "127.1", "2130706433", "0x7f000001", "0", "LOCALHOST"]
    hosts += ["hooks.localhost.", "example.org:99999", "exa mple.org", ""]
    urls = ["ftp://example.org/", "http://example.org/", *(f"https://{host}/" for host in hosts), OUT + "x" * 1000]
    wrong = [("events", []), ("events", ["run.exploded"]), ("allow_private", True), *(("url", url) for url in urls)]
    for field, value in wrong:
        with pytest.raises(Invalid) as refused:
            hooks.add(**{"by": alice, "url": OUT, "events": ["run.failed"], field: value})
        assert list(refused.value.errors) == [field], value


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


def test_nobody_else_touches_it_but_an_admin_may_pause_it_and_permit_a_private_address_for_one_host(
    hook, alice, charlie, admin, monkeypatch
):
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

    monkeypatch.setattr(hooks, "MOST", 2)
    monkeypatch.setattr(hooks, "MOST_TESTS", 1)
    hook, _secret = hooks.add(by=alice, url=OUT, events=["run.failed"])
    with pytest.raises(Forbidden, match="Delete one"):
        hooks.add(by=alice, url=OUT, events=["run.failed"])
    hooks.test(hook, by=alice)
    with pytest.raises(Conflict):
        hooks.test(hook, by=alice)

    with pytest.raises(Forbidden):
        hooks.permit_private(hook, by=alice, allowed=True)
    hooks.permit_private(hook, by=admin, allowed=True)
    for url, is_allowed in (("https://example.org/other", True), ("https://example.com/", False)):
        hook.refresh_from_db()
        hooks.change(hook, by=alice, url=url, events=["run.failed"], name="")
        assert Webhook.objects.get(pk=hook.pk).allow_private == is_allowed
    with pytest.raises(Invalid):
        hooks.change(hook, by=alice, url="http://10.0.0.1/", events=["run.failed"], name="")


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
def test_after_a_day_of_failures_it_is_paused_and_its_maker_told_after_410_at_once_and_a_success_forgets_them(
    hook, alice, receiver, deliver, settings, django_capture_on_commit_callbacks
):
    settings.HAS_MAIL, settings.EMAIL_BACKEND = True, "django.core.mail.backends.locmem.EmailBackend"
    User.objects.filter(pk=alice.pk).update(email="alice@lab.example")
    for status, failures, since in ((200, 20, 25), (500, 8, 30), (500, 20, 2), (500, 20, 25)):
        assert Webhook.objects.get().is_active
        receiver.status = status
        Webhook.objects.update(failures=failures, failing_since=timezone.now() - timedelta(hours=since))
        hooks.test(hook, by=alice)
        with django_capture_on_commit_callbacks(execute=True):
            deliver()
        stored = Webhook.objects.get()
        assert stored.failures == (0 if status == 200 else failures + 1)
        assert (stored.failing_since is None) == (status == 200)

    assert (stored.is_active, stored.pause_reason) == (False, "failing")
    [letter] = mail.outbox
    assert letter.to == ["alice@lab.example"]
    assert "token=of-the-path" not in letter.body
    assert AuditEntry.objects.filter(action="webhook_changed", actor="").count() == 1

    hooks.set_active(hook, by=alice, is_active=True)
    receiver.status = 410
    hooks.test(hook, by=alice)
    deliver()
    assert Webhook.objects.get().pause_reason == "gone"


def test_what_was_told_long_ago_is_forgotten_and_the_audit_record_names_the_host_alone(hook, alice):
    hooks.test(hook, by=alice)
    WebhookDelivery.objects.update(created=timezone.now() - timedelta(days=31))
    call_command("sweep", verbosity=0)
    assert WebhookDelivery.objects.count() == 0

    hooks.remove(hook, by=alice)
    assert "of-the-path" not in str(list(AuditEntry.objects.values()))


ASKED = {"url": "https://example.org/in", "name": "CI", "events": ["run.completed", "run.failed"]}


def test_one_is_made_by_who_has_just_given_the_password_and_its_secret_is_on_that_page_alone(browser, alice):
    wrong = browser.post("/account/webhooks/", {**ASKED, "url": "https://10.0.0.1/", "allow_private": "on"})
    assert (wrong.status_code, Webhook.objects.count()) == (422, 0)
    assert wrong.context["form"].errors["url"]
    assert "allow_private" not in wrong.context["form"].fields

    page = browser.post("/account/webhooks/", ASKED)
    hook = Webhook.objects.get()
    secret = decrypt(hook.secret)

    assert (page.status_code, hook.owner, hook.events) == (200, alice, ASKED["events"])
    assert secret in page.content.decode()
    assert "no-store" in page["Cache-Control"]
    for path in ("/account/webhooks/", f"/webhooks/{hook.pk}/"):
        shown = browser.get(path).content.decode()
        assert "https://example.org/in" in shown
        assert secret not in shown

    step_up(browser, alice, ago=10_000)
    for path in ("/account/webhooks/", f"/webhooks/{hook.pk}/secret/"):
        assert "/account/confirm/" in browser.post(path, ASKED)["Location"]
    assert decrypt(Webhook.objects.get().secret) == secret


def test_the_log_shows_page_by_page_what_was_answered_as_text_and_sends_again(
    browser, alice, hook, receiver, deliver, monkeypatch
):
    monkeypatch.setattr("experiments.lab.webhooks.views.ON_A_PAGE", 2)
    receiver.status, receiver.body = 500, b"<script>alert(1)</script>"
    for _ in range(3):
        hooks.test(hook, by=alice)
    deliver()
    WebhookDelivery.objects.update(state="failed")
    first = browser.get(f"/webhooks/{hook.pk}/")
    second = browser.get(f"/webhooks/{hook.pk}/?before={first.context['older']}")

    seen = [one.pk for page in (first, second) for one in page.context["deliveries"]]
    assert seen == list(WebhookDelivery.objects.order_by("-pk").values_list("pk", flat=True))
    assert browser.get(f"/webhooks/{hook.pk}/?before=x").status_code == 200
    assert "&lt;script&gt;alert(1)" in first.content.decode()
    assert "The receiver did not accept it." in first.content.decode()
    browser.post(f"/deliveries/{seen[0]}/again/")
    assert WebhookDelivery.objects.get(pk=seen[0]).state == "waiting"


def test_one_of_a_project_is_changed_paused_switched_on_and_removed(browser, alice):
    project = Project.objects.create(name="Solar")
    Membership.objects.create(project=project, user=alice, role="lead")
    address = f"/projects/{project.pk}/webhooks/"
    assert address in browser.get(f"/projects/{project.pk}/").content.decode()
    assert browser.post(address, ASKED).status_code == 200
    hook = Webhook.objects.get(project=project)
    assert hook.owner == alice

    place = f"/webhooks/{hook.pk}/"
    browser.post(place, {**ASKED, "name": "Other"})
    assert (Webhook.objects.get().name, Webhook.objects.get().url) == ("Other", ASKED["url"])
    browser.post(f"{place}switch/", {"on": "0"})
    assert not Webhook.objects.get().is_active
    browser.post(f"{place}switch/", {"on": "1"})
    assert Webhook.objects.get().is_active
    browser.post(f"{place}test/")
    assert WebhookDelivery.objects.get().type == "webhook.test"
    assert browser.post(f"{place}secret/").context["secret"] == decrypt(Webhook.objects.get().secret)

    assert browser.post(f"{place}remove/").status_code == 302
    assert Webhook.objects.count() == 0


def test_the_admin_reads_them_permits_and_pauses(hook, alice, admin):
    hooks.test(hook, by=alice)
    Webhook.objects.update(allow_private=False)
    desk = signed_in(admin)
    pages = [f"/admin/experiments/{name}/" for name in ("webhook", "webhookdelivery")]
    pages += [f"{pages[0]}{hook.pk}/change/", f"{pages[1]}{WebhookDelivery.objects.get().pk}/change/"]
    for page in pages:
        answer = desk.get(page)
        assert answer.status_code == 200
        assert hook.secret not in answer.content.decode()
    for action in ("allow_private", "pause"):
        desk.post(pages[0], {"action": action, "_selected_action": [str(hook.pk)]})

    assert (Webhook.objects.get().allow_private, Webhook.objects.get().is_active) == (True, False)


def test_a_program_makes_changes_tests_and_removes_one(api, receiver, deliver):
    for wrong in ({"url": "http://169.254.169.254/"}, {"project": "0190f0f0-0000-7000-8000-000000000000"}):
        refused = api.post("webhooks/", ASKED | wrong)
        assert (refused.status_code, list(refused.json()["errors"])) == (400, list(wrong))
    made = api.post("webhooks/", ASKED)
    place = f"webhooks/{made.json()['id']}/"
    assert made.status_code == 201
    assert made.json()["secret"] == decrypt(Webhook.objects.get().secret)
    assert "secret" not in api.get(place).json()
    assert api.get("webhooks/").json()["results"][0]["events"] == ASKED["events"]

    changed = api.patch(place, {"name": "Nightly", "active": False}).json()
    assert (changed["name"], changed["active"], changed["url"]) == ("Nightly", False, ASKED["url"])
    assert api.post(f"{place}test/").status_code == 409
    api.patch(place, {"active": True})
    Webhook.objects.update(url=receiver.url, allow_private=True)
    sent = api.post(f"{place}test/")
    assert sent.status_code == 202
    deliver()
    told = api.get(f"deliveries/{sent.json()['id']}/").json()
    assert (told["state"], told["status"], told["payload"]["type"]) == ("delivered", 200, "webhook.test")
    assert api.post(f"deliveries/{told['id']}/again/").json()["state"] == "waiting"
    assert len(api.get(f"{place}deliveries/?state=waiting").json()["results"]) == 1
    assert api.get(f"{place}deliveries/?state=odd").status_code == 400
    assert api.post(f"{place}secret/").json()["secret"] == decrypt(Webhook.objects.get().secret)
    assert api.delete(place).status_code == 204
