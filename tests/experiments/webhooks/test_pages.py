"""The pages, the admin and the API of webhooks."""

from accounts.crypto import decrypt
from accounts.models import Membership, Project
from experiments.lab.webhooks import hooks
from experiments.models import Webhook, WebhookDelivery
from tests.fixtures import signed_in, step_up

ASKED = {"url": "https://example.org/in", "name": "CI", "events": ["run.completed", "run.failed"]}


def test_one_is_made_and_its_secret_is_on_that_page_alone(browser, alice):
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


def test_a_secret_is_made_only_for_who_has_just_given_the_password(browser, alice, hook):
    step_up(browser, alice, ago=10_000)
    before = Webhook.objects.get().secret

    assert "/account/confirm/" in browser.post("/account/webhooks/", ASKED)["Location"]
    assert "/account/confirm/" in browser.post(f"/webhooks/{hook.pk}/secret/")["Location"]
    assert Webhook.objects.get().secret == before


def test_the_log_shows_what_was_answered_as_text_and_sends_again(browser, alice, hook, receiver, deliver):
    receiver.status, receiver.body = 500, b"<script>alert(1)</script>"
    hooks.test(hook, by=alice)
    deliver()
    WebhookDelivery.objects.update(state="failed")
    page = browser.get(f"/webhooks/{hook.pk}/").content.decode()
    one = WebhookDelivery.objects.get()
    browser.post(f"/deliveries/{one.pk}/again/")

    assert "&lt;script&gt;alert(1)" in page
    assert "The receiver did not accept it." in page
    assert WebhookDelivery.objects.get().state == "waiting"


def test_the_log_is_read_page_by_page(browser, alice, hook, monkeypatch):
    monkeypatch.setattr("experiments.lab.webhooks.views.ON_A_PAGE", 2)
    for _ in range(3):
        hooks.test(hook, by=alice)
    first = browser.get(f"/webhooks/{hook.pk}/")
    second = browser.get(f"/webhooks/{hook.pk}/?before={first.context['older']}")

    seen = [one.pk for page in (first, second) for one in page.context["deliveries"]]
    assert seen == list(WebhookDelivery.objects.order_by("-pk").values_list("pk", flat=True))
    assert browser.get(f"/webhooks/{hook.pk}/?before=x").status_code == 200


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
