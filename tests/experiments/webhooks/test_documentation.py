"""What docs/webhooks.md promises, with the very code that stands there."""

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from accounts.crypto import decrypt
from experiments.models import Webhook, WebhookDelivery
from experiments.webhooks import hooks, signing
from tests.experiments.webhooks.conftest import hook_of
from tests.fixtures import wait_until

TEXT = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text(encoding="utf-8")
[CODE] = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)

pytestmark = pytest.mark.django_db


@pytest.fixture
def documented(alice):
    """The receiver of the page, in a process of its own: (its port, what it printed)."""
    hook = hook_of(alice, "https://example.org/")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "PORT": str(port), "WEBHOOK_SECRET": decrypt(hook.secret)}
    process = subprocess.Popen([sys.executable, "-c", CODE], env=environment, stdout=subprocess.PIPE, text=True)
    Webhook.objects.update(url=f"http://127.0.0.1:{port}/")
    wait_until(lambda: socket.socket().connect_ex(("127.0.0.1", port)) == 0, "the receiver")
    yield process
    process.kill()
    process.communicate()


@pytest.mark.system
def test_the_receiver_of_the_page_takes_what_is_ours_and_refuses_what_is_not(documented, alice, deliver):
    hook = Webhook.objects.get()
    hooks.rotate(hook, by=alice)  # it knows the older secret still
    genuine = hooks.test(hook, by=alice)
    deliver()
    Webhook.objects.update(secret=hooks._encrypted(signing.new_secret()), older_secret="")
    forged = hooks.test(Webhook.objects.get(), by=alice)
    deliver()

    answers = dict(WebhookDelivery.objects.values_list("pk", "status"))
    assert answers == {genuine.pk: 204, forged.pk: 401}
    said = [documented.stdout.readline(), documented.stdout.readline()]
    assert f'"id":"{genuine.pk}"' in said[0]
    assert said[1].split() == [str(forged.pk), "refused"]
