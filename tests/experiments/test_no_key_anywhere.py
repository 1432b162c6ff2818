"""A planted key of a provider is looked for in everything that leaves the platform, and in everything it keeps."""

import io

import pytest
from django.apps import apps
from django.core import serializers
from django.test import Client
from pypdf import PdfReader

from experiments.models import Provider, Run

pytestmark = pytest.mark.django_db

CANARY = "sk-canary-7f3a9c55e1d24b08"
PAGES = ["/arena/", "/starchamber/", "/runs/", "/scenarios/", "/presets/", "/account/", "/runs/import/"]
LISTS = ["models", "experiments", "runs", "scenarios", "presets", "health", "schema"]
OF_RUN = ["", "messages/", "judgments/", "calls/", "events/", "lineage/"]


@pytest.fixture
def canary(scripted, monkeypatch):
    """Every provider needs the key."""
    monkeypatch.setenv("KEY_OF_THE_LAB", CANARY)
    Provider.objects.update(api_key_env="KEY_OF_THE_LAB")
    return CANARY


@pytest.fixture
def runs(canary, scripted, arena, starchamber, start, drive):
    """Runs that went well, one whose provider repeats the key in its error, and a talk."""
    scripted.error = f'{{"error": {{"message": "Incorrect API key provided: {CANARY}"}}}}'.encode()
    fails = scripted.model("scripted/fails", 401)
    begun = [
        start(arena(max_turns=1)),
        start(arena(fails, max_turns=1)),
        start(arena(scripted.model("scripted/speaks", "I take four."), max_turns=1)),
        start(starchamber(logprobs=True)),
    ]
    drive()
    return [Run.objects.get(pk=run.pk) for run in begun]


def test_the_key_is_sent_to_the_provider_and_nowhere_else(runs, scripted, alice, canary):
    sent = {headers.get("authorization") or headers.get("Authorization") for headers, _body in scripted.received}
    assert sent == {f"Bearer {CANARY}"}
    assert {run.state for run in runs} == {"completed", "failed", "waiting"}

    assert_no_row_has(canary)
    assert_no_page_has(canary, runs, alice)
    assert_no_page_of_the_administration_has(canary, alice)


def assert_no_page_has(canary, runs, alice):
    browser, seen = Client(), 0
    browser.force_login(alice)
    for path in paths(runs):
        answer = browser.get(path)
        body = b"".join(answer) if answer.streaming else answer.content
        assert answer.status_code < 500 or path == "/api/health/", path
        assert canary.encode() not in body, path
        assert canary not in str(answer.headers), path
        if body.startswith(b"%PDF"):
            assert canary not in "".join(page.extract_text() for page in PdfReader(io.BytesIO(body)).pages)
        seen += answer.status_code == 200
    assert seen > 50


def paths(runs):
    yield from PAGES
    yield from (f"/api/{name}/" for name in LISTS)
    for run in runs:
        yield from (f"/runs/{run.pk}/{end}" for end in ("", "status/", "news/", "judge/"))
        yield from (f"/runs/{run.pk}/report/{name}/" for name in ("html", "pdf", "md", "json"))
        yield from (f"/runs/{run.pk}/export/{name}/" for name in ("jsonl", "csv", "inspect"))
        yield from (f"/api/runs/{run.pk}/{end}" for end in OF_RUN)
        yield from (f"/calls/{call.pk}/" for call in run.calls.all())
        yield from (f"/messages/{message.pk}/branch/" for message in run.messages.all())
        yield f"/experiments/{run.experiment_id}/"
        yield f"/api/experiments/{run.experiment_id}/"
        yield f"/api/experiments/{run.experiment_id}/statistics/"


def assert_no_row_has(canary):
    """Events, which are what travels over the WebSocket, are rows too."""
    for model in [*apps.get_app_config("experiments").get_models(), *apps.get_app_config("accounts").get_models()]:
        for row in serializers.serialize("jsonl", model._default_manager.all()).splitlines():
            assert canary not in row, model.__name__


def assert_no_page_of_the_administration_has(canary, alice):
    type(alice).objects.filter(pk=alice.pk).update(is_staff=True, is_superuser=True, role="admin")
    browser = Client()
    browser.force_login(type(alice).objects.get(pk=alice.pk))
    provider = Provider.objects.get(name="scripted")
    for path in ("/admin/", "/admin/experiments/provider/", f"/admin/experiments/provider/{provider.pk}/change/"):
        answer = browser.get(path)
        assert answer.status_code == 200, path
        assert canary not in answer.content.decode(), path
