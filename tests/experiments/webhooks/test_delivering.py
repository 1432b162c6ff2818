"""From a row to a receiver: signed, at least once, and no further than allowed."""

import os
import re
import socket
import subprocess
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from accounts.crypto import decrypt
from experiments.lab.webhooks import delivering, hooks, sending
from experiments.lab.webhooks.sending import Answer, Letter
from experiments.models import Webhook, WebhookDelivery
from tests.arenasite.platforms import free_port
from tests.cases import each_case
from tests.experiments.webhooks.conftest import Receiver, hook_of
from tests.fixtures import wait_until

State, Problem = WebhookDelivery.State, WebhookDelivery.Problem


def the_only():
    return WebhookDelivery.objects.get()


def is_signed(received, secret):
    headers = {name.lower(): value for name, value in received.headers.items()}
    expected = sending.signature(secret, headers["webhook-id"], headers["webhook-timestamp"], received.body)
    return expected in headers["webhook-signature"].split()


@pytest.mark.databases
def test_a_delivery_arrives_signed_as_in_the_published_example_and_its_answer_is_kept(hook, alice, receiver, deliver):
    """The vector is of the Standard Webhooks reference libraries."""
    secret, id_ = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek"
    signed = sending.signature(secret, id_, "1614265330", b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="

    hooks.test(hook, by=alice)
    deliver()
    sent, row = receiver.received[0], the_only()
    assert is_signed(sent, decrypt(hook.secret))
    assert receiver.told[0]["id"] == str(row.pk) == sent.headers["webhook-id"]
    assert (row.state, row.status, row.answer, row.problem) == (State.DELIVERED, 200, "ok", "")
    assert row.seconds > 0


def test_for_a_day_an_older_secret_signs_beside_the_newer(hook, alice, receiver, deliver):
    older = decrypt(hook.secret)
    newer = hooks.rotate(hook, by=alice)
    hooks.test(hook, by=alice)
    deliver()
    Webhook.objects.update(older_until=timezone.now())
    delivering.sweep()
    hooks.test(hook, by=alice)
    deliver()

    [both, one] = receiver.received
    assert is_signed(both, older)
    assert is_signed(both, newer)
    assert is_signed(one, newer)
    assert not is_signed(one, older)
    assert Webhook.objects.get().older_secret == ""


@pytest.mark.databases
def test_what_failed_is_sent_again_under_the_same_id_after_growing_waits_and_at_last_when_somebody_asks(
    hook, alice, receiver, deliver, in_time
):
    waits = [delivering.wait_after(tries) for tries in range(1, delivering.MOST_TRIES)]
    assert waits[:-4] == sorted(waits[:-4])
    assert 4 <= waits[0] <= 6
    assert 20 * 3600 < sum(waits) < 32 * 3600
    assert delivering.wait_after(delivering.MOST_TRIES) is None

    receiver.status = 500
    hooks.test(hook, by=alice)
    deliver()
    failed = the_only()
    deliver()  # not before its time
    assert (failed.state, failed.status, failed.problem) == (State.WAITING, 500, Problem.REFUSED)
    assert failed.next_at > timezone.now() + timedelta(seconds=3)
    assert len(receiver.received) == 1

    WebhookDelivery.objects.update(tries=delivering.MOST_TRIES - 1)
    in_time()
    deliver()
    assert the_only().state == State.FAILED
    receiver.status = 204
    assert hooks.send_again(the_only(), by=alice)
    deliver()
    assert (len(receiver.received), the_only().state, the_only().attempt) == (3, State.DELIVERED, 3)
    assert len({one["id"] for one in receiver.told}) == 1


@pytest.mark.databases
def test_what_a_killed_sender_had_under_way_is_sent_again_and_its_last_word_does_not_count(hook, alice, deliver):
    hooks.test(hook, by=alice)
    [dead] = delivering._claim()
    assert delivering._claim() == []  # while its lease lasts nobody else sends it
    WebhookDelivery.objects.update(next_at=timezone.now())
    deliver()
    delivering._settle(dead, Answer(Problem.TIMEOUT))

    assert (the_only().state, the_only().pk) == (State.DELIVERED, dead.pk)


def test_a_sender_that_is_asked_to_end_gives_back_what_is_under_way(hook, alice, receiver, settings):
    stop, settings.DRAIN_SECONDS = threading.Event(), 0
    receiver.stands_still, receiver.noticed = True, stop.set
    hooks.test(hook, by=alice)
    letters = [delivering._letter(one) for one in delivering._claim()]
    answers = delivering.asyncio.run(delivering._send(letters, stop))

    assert answers == [None]
    delivering._give_back(the_only())
    assert (the_only().tries, WebhookDelivery.objects.due().count()) == (0, 1)


@pytest.mark.parametrize(
    ("status", "headers", "problem"),
    [(302, {"Location": "http://169.254.169.254/"}, Problem.REDIRECT), (404, {}, Problem.REFUSED), (201, {}, "")],
)
def test_no_redirect_is_followed_only_a_2xx_is_an_acceptance_and_of_a_long_answer_the_beginning_is_kept(
    hook, alice, receiver, deliver, status, headers, problem
):
    secret = decrypt(hook.secret)
    receiver.status, receiver.headers = status, headers
    receiver.body = f"You said {secret}. ".encode() + b"\x00x" * 50_000
    hooks.test(hook, by=alice)
    deliver()

    assert (the_only().status, the_only().problem, len(receiver.received)) == (status, problem, 1)
    answer = the_only().answer
    assert secret.removeprefix("whsec_")[:12] not in answer
    assert answer.startswith("You said ")
    assert len(answer.encode()) <= 3 * 2048
    assert "\x00" not in answer


@each_case("url", ["http://127.0.0.1:9/", "http://localhost:9/", "http://[::1]/", "http://rebinding.example/"])
def test_without_permission_no_private_address_is_connected_to(alice, deliver, monkeypatch, url):
    """What counts is where one connects: a name server may say something else than when the webhook was made. It is not
    tried again by itself.
    """
    hook = hook_of(alice, url)
    Webhook.objects.update(allow_private=False)

    async def resolve(self, host, port, **more):
        return [(2, 1, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr("asyncio.base_events.BaseEventLoop.getaddrinfo", resolve)
    hooks.test(hook, by=alice)
    deliver()

    assert (the_only().problem, the_only().status) == (Problem.FORBIDDEN, None)
    assert (the_only().state, the_only().tries) == (State.FAILED, 1)


@pytest.mark.system
@each_case("url", ["http://nowhere.invalid/", "http://127.0.0.1:1/", "http://[::1", "http://127.0.0.1:99999/"])
def test_an_address_that_leads_nowhere_ends_nothing(alice, deliver, url):
    hooks.test(hook_of(alice, url), by=alice)
    deliver()

    assert (the_only().state, the_only().problem) == (State.WAITING, Problem.UNREACHABLE)


def test_a_receiver_that_stands_still_holds_up_no_other(hook, alice, receiver, deliver, settings):
    settings.WEBHOOK_SECONDS = 0.1
    receiver.stands_still = True
    for _ in range(3):
        hooks.test(hook, by=alice)
    other = Receiver()
    hooks.test(hook_of(alice, other.url), by=alice)
    deliver()
    other.close()

    assert len(other.received) == 1
    waiting = WebhookDelivery.objects.filter(webhook=hook)
    assert set(waiting.values_list("state", "problem")) == {(State.WAITING, Problem.TIMEOUT)}


def test_a_secret_that_is_lost_is_said_and_nothing_is_sent_unsigned(hook, alice, receiver, deliver):
    Webhook.objects.update(secret="tampered with")
    hooks.test(hook, by=alice)
    deliver()

    assert (the_only().problem, receiver.received) == (Problem.UNREADABLE, [])
    assert "whsec" not in repr(Letter("1", "https://a.example/", b"{}", False, ["whsec_AAAA"]))


TEXT = (Path(__file__).parents[3] / "docs" / "api.md").read_text(encoding="utf-8")
[CODE] = re.findall(r"```python\n(.*?)```", TEXT.partition("## Webhooks")[2], re.DOTALL)


@pytest.mark.system
def test_the_receiver_of_the_page_takes_what_is_ours_and_refuses_what_is_not(alice, deliver):
    port = free_port()
    hook = hook_of(alice, f"http://127.0.0.1:{port}/")
    environment = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": decrypt(hook.secret)}
    process = subprocess.Popen([sys.executable, "-c", CODE], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, "the receiver")
        hooks.rotate(hook, by=alice)  # it knows the older secret still
        genuine = hooks.test(hook, by=alice)
        deliver()
        Webhook.objects.update(secret=hooks._encrypted(sending.new_secret()), older_secret="")
        forged = hooks.test(Webhook.objects.get(), by=alice)
        deliver()

        answers = dict(WebhookDelivery.objects.values_list("pk", "status"))
        assert answers == {genuine.pk: 204, forged.pk: 401}
        assert f'"id":"{genuine.pk}"' in process.stdout.readline()
        assert process.stdout.readline().split() == [str(forged.pk), "refused"]
    finally:
        process.kill()
        process.communicate()
