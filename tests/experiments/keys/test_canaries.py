"""Planted keys, of the lab and of a person, are looked for wherever a hostile provider could carry them."""

import base64
import logging
import threading
import urllib.parse
import zlib
from collections import defaultdict
from functools import partial

import pytest
import redis
from channels.layers import get_channel_layer
from django.conf import settings
from django.core import mail
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.views.debug import ExceptionReporter

from experiments.engine import jobs
from experiments.gateway.redaction import redact
from experiments.lab.keys import keyring
from experiments.models import Provider, ProviderKey, WebhookDelivery
from tests.answering import answering
from tests.experiments.keys.conftest import KEYS, OF_ALICE, forms, found_in
from tests.fixtures import signed_in, step_up, wait_until
from tests.golden.outputs import pdf_text


def test_every_form_is_taken_out_of_what_a_provider_says():
    for key in KEYS:
        for form in forms(key):
            said = redact(f"before {form} after", key)
            assert f"before {redact(f'{form} after', key)}" == said
            assert "[key]" in said, form
            assert not any(form[at : at + 10] in said for at in range(8, len(form) - 12)), said
        for begin, mask, end in ((3, "…", 4), (7, "*****", 4), (5, "...", 4), (2, "…", 2)):
            assert redact(f"{key[:begin]}{mask}{key[-end:]}", key) == "[key]"


def test_no_row_no_line_of_a_log_no_page_no_file_and_no_answer_of_the_api_has_a_key_and_one_column_its_ciphertext(
    runs, planted, scripted, caplog, alice
):
    for key in ProviderKey.objects.active():
        keyring.test(key, by=key.owner or planted)
    call_command("rotate_keys")
    logged = [*caplog.get_records("setup"), *caplog.records]
    assert len(logged) > 3
    assert found_in("".join(f"{record.getMessage()} {vars(record)}" for record in logged)) == []
    received = {headers.get("Authorization") or headers.get("authorization") for headers, _body in scripted.received}
    assert {f"Bearer {key}" for key in KEYS} <= received
    ciphertexts = set(ProviderKey.objects.active().values_list("ciphertext", flat=True))
    assert len(ciphertexts) == 2
    where = set()
    for table in connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute(f'SELECT * FROM "{table}"')
            names = [column[0] for column in cursor.description]
            for row in cursor.fetchall():
                for name, value in zip(names, row, strict=True):
                    assert found_in(str(value)) == [], f"{table}.{name}: {value}"
                    where |= {(table, name)} if any(text in str(value) for text in ciphertexts) else set()
    assert where == {("experiments_providerkey", "ciphertext")}
    assert {run.state for run in runs} == {"completed", "failed"}
    assert WebhookDelivery.objects.count() >= 2 * len(runs), "what webhooks are told is among the rows"

    paths = ["/account/keys/", "/lab/keys/", "/models/", "/account/", "/runs/", "/api/keys/", "/api/models/"]
    paths += ["/admin/experiments/providerkey/", "/admin/experiments/provider/", "/admin/"]
    paths += [f"/admin/experiments/providerkey/{key.pk}/change/" for key in ProviderKey.objects.all()]
    paths += [f"/admin/experiments/provider/{provider.pk}/change/" for provider in Provider.objects.all()]
    paths += [f"/{page}/" for page in ("arena", "starchamber", "scenarios", "presets", "runs/import")]
    paths += [f"/api/{listed}/" for listed in ("experiments", "runs", "scenarios", "presets", "health")]
    general = len(paths)
    run = runs[-2]  # no row of any has one, which all pages are drawn from
    paths += [f"/runs/{run.pk}/{end}" for end in ("", "status/", "news/", "judge/")]
    paths += [f"{api}/experiments/{run.experiment_id}/" for api in ("", "/api")]
    paths += [f"/api/experiments/{run.experiment_id}/statistics/"]
    paths += [f"/runs/{run.pk}/report/{kind}/" for kind in ("html", "pdf", "md", "json")]
    paths += [f"/runs/{run.pk}/export/{kind}/" for kind in ("jsonl", "csv", "inspect")]
    paths += [f"/api/runs/{run.pk}/{end}" for end in ("", "messages/", "judgments/", "calls/", "events/", "lineage/")]
    paths += [f"/calls/{call.pk}/" for call in run.calls.all()]
    paths += [f"/messages/{message.pk}/branch/" for message in run.messages.all()]
    seen = 0
    for browser, most in ((signed_in(alice), len(paths)), (signed_in(planted), general), (Client(), general)):
        for address in paths[:most]:
            answer = browser.get(address)
            body = b"".join(answer) if answer.streaming else answer.content
            text = pdf_text(body) if body.startswith(b"%PDF") else body.decode("latin-1")
            assert answer.status_code < 500 or address == "/api/health/", address
            assert found_in(f"{answer.headers} {text}") == [], address
            seen += answer.status_code == 200
    assert seen > 40


@pytest.mark.parametrize(("debug", "place"), [(True, "encrypt"), (False, "_put"), (True, "checked")])
def test_no_page_and_no_mail_about_an_error_has_what_was_typed(planted, alice, settings, monkeypatch, debug, place):
    settings.DEBUG, settings.ADMINS = debug, [("Ops", "ops@example.org")]
    provider = Provider.objects.get(name="scripted")
    monkeypatch.setattr(f"experiments.lab.keys.keyring.{place}", lambda *_, **__: 1 / 0)
    mails = logging.Handler()
    mails.emit = lambda record: mail.mail_admins("error", _report(record))
    logging.getLogger("django.request").addHandler(mails)
    browser = Client(raise_request_exception=False)
    browser.force_login(alice)
    step_up(browser, alice)
    try:
        pages = [
            browser.post("/account/keys/", {"provider": provider.pk, "key": OF_ALICE}),
            browser.post("/api/keys/", {"provider": "scripted", "key": OF_ALICE}, content_type="application/json"),
        ]
    finally:
        logging.getLogger("django.request").removeHandler(mails)
    monkeypatch.setattr("experiments.gateway.client.Client._send", lambda *_, **__: 1 / 0)
    pages += [browser.post(f"/keys/{ProviderKey.objects.owned_by(alice).get().pk}/test/")]
    assert [page.status_code for page in pages] == [500, 500, 500]
    assert {"ZeroDivisionError" in page.content.decode() for page in (pages[0], pages[2])} == {debug}
    assert len(mail.outbox) >= 2  # where debugging is off, Django sends its own, too
    for text in [*(page.content.decode() for page in pages), *(sent.body for sent in mail.outbox)]:
        assert found_in(text) == []


def _report(record):
    reporter = ExceptionReporter(record.request, *record.exc_info)
    return reporter.get_traceback_text() + reporter.get_traceback_html()


def repeated(manner, asked):
    """What a provider answers that repeats the key where it is not expected."""
    key = asked.headers["Authorization"].removeprefix("Bearer ")
    listed = {"no list": [key], "k": base64.b64encode(key.encode()).decode()}
    return {
        "redirect": (302, {"Location": f"https://elsewhere.example/?k={urllib.parse.quote(key)}"}, b"{}"),
        "encoding": (200, {"Content-Encoding": key}, b"{}"),
        "phrase": (403, {"X-Key": key, "Retry-After": key}, key.encode(), key),
        "list": listed,
    }[manner]


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_redirects_headers_and_codes_that_repeat_a_key_do_not_show_it(planted):
    for manner in ("redirect", "encoding", "phrase", "list"):
        with answering(partial(repeated, manner)) as address:
            for key in ProviderKey.objects.active():
                Provider.objects.filter(pk=key.provider_id).update(base_url=f"{address}/v1")
                key.provider.models.all().delete()
                tested = keyring.test(ProviderKey.objects.get(pk=key.pk), by=key.owner or planted)
                assert found_in(tested.test_words) == [], manner


READ = {
    b"none": lambda server, key: [],  # it has ended meanwhile
    b"string": lambda server, key: [server.get(key)],
    b"hash": lambda server, key: [part for pair in server.hgetall(key).items() for part in pair],
    b"list": lambda server, key: server.lrange(key, 0, -1),
    b"set": lambda server, key: list(server.smembers(key)),
    b"zset": lambda server, key: server.zrange(key, 0, -1),
}


def unpacked(value):
    """RQ packs what a job is called with."""
    try:
        return value + zlib.decompress(value)
    except zlib.error:
        return value


@pytest.fixture
def wire():
    """The server, and everything that is published while the test lasts."""
    server = redis.Redis(unix_socket_path=settings.REDIS_URL.removeprefix("unix://"))
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
    yield server, heard
    is_over.set()
    thread.join()
    listener.close()


@pytest.mark.system
@pytest.mark.django_db(transaction=True)
def test_nothing_in_redis_or_sent_to_viewers_has_one_also_not_in_pieces(wire, runs, planted, alice):
    """With jobs that wait, sessions that were counted, and keys that were entered, tested and refused."""
    server, heard = wire
    server.publish("the-end", b"the end")
    wait_until(lambda: heard and heard[-1] == b"the end", "the last message")
    texts = defaultdict(str)
    for raw in heard[:-1]:
        assert found_in(raw.decode("latin-1")) == []
        message = get_channel_layer().deserialize(raw)
        if message["type"] == "run.delta":
            piece = message["data"]
            texts[piece["call"]] += piece["text"]
            texts[f"{piece['call']} thinks"] += piece["reasoning"]
    assert found_in(str(dict(texts))) == []
    assert len(heard) > 20
    assert any(texts.values())

    jobs.wake_now(runs[0].pk)
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
