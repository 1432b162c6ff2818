"""The planted keys are looked for where things pass that are in no row: in Redis, and on the wire."""

import threading
import zlib
from collections import defaultdict

import pytest
import redis
from channels.layers import get_channel_layer
from django.conf import settings

from experiments.engine import jobs
from experiments.keys import keyring
from experiments.models import ProviderKey
from tests.experiments.keys.canaries import OF_ALICE, found_in
from tests.fixtures import signed_in, wait_until

pytestmark = pytest.mark.django_db(transaction=True)
READ = {
    b"none": lambda server, key: [],  # it has ended meanwhile
    b"string": lambda server, key: [server.get(key)],
    b"hash": lambda server, key: [part for pair in server.hgetall(key).items() for part in pair],
    b"list": lambda server, key: server.lrange(key, 0, -1),
    b"set": lambda server, key: list(server.smembers(key)),
    b"zset": lambda server, key: server.zrange(key, 0, -1),
}


@pytest.fixture
def server():
    return redis.Redis(unix_socket_path=settings.REDIS_URL.removeprefix("unix://"))


def unpacked(value):
    """RQ packs what a job is called with."""
    try:
        return value + zlib.decompress(value)
    except zlib.error:
        return value


@pytest.mark.system
def test_no_key_and_no_value_in_redis_has_one(server, runs, planted, alice):
    """With jobs that wait, sessions that were counted, and keys that were entered, tested and refused."""
    jobs._ring(runs[0].pk)
    browser = signed_in(alice)
    browser.post("/account/keys/", {"provider": runs[0].calls.first().model.provider_id, "key": OF_ALICE})
    browser.get("/admin/login/")
    for key in ProviderKey.objects.active():
        keyring.test(key, by=key.owner or planted)
    looked_at = 0
    for key in server.scan_iter():
        for value in [key, *READ[server.type(key)](server, key)]:
            assert found_in(unpacked(value).decode("latin-1")) == [], key
            looked_at += 1

    assert looked_at > 10


@pytest.fixture
def wire(server):
    """Everything that is published while the test lasts."""
    heard, is_over = [], threading.Event()
    listener = server.pubsub(ignore_subscribe_messages=True)
    listener.psubscribe("*")
    wait_until(lambda: server.pubsub_numpat(), "the subscription")

    def listen():
        while not is_over.is_set():
            if message := listener.get_message(timeout=0.1):
                heard.append(message["data"])

    thread = threading.Thread(target=listen)
    thread.start()
    yield heard
    is_over.set()
    thread.join()
    listener.close()


@pytest.mark.system
def test_nothing_that_is_sent_to_viewers_has_one_also_not_in_pieces(wire, runs, server):
    server.publish("the-end", b"the end")
    wait_until(lambda: wire and wire[-1] == b"the end", "the last message")
    texts = defaultdict(str)
    for raw in wire[:-1]:
        assert found_in(raw.decode("latin-1")) == []
        message = get_channel_layer().deserialize(raw)
        if message["type"] == "run.delta":
            piece = message["data"]
            texts[piece["call"]] += piece["text"]
            texts[f"{piece['call']} thinks"] += piece["reasoning"]

    assert found_in(str(dict(texts))) == []
    assert len(wire) > 20
    assert any(texts.values())
