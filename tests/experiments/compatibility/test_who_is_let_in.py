"""Whose routes these are: nobody's without a token, and of each person their own."""

import pytest

from accounts.tokens import create_token
from experiments.models import ClientTalk
from tests.cases import each_case
from tests.experiments.api.conftest import Api

pytestmark = pytest.mark.databases
NOWHERE = "01a2017a-8bc0-72c0-9175-cb3ee99acb82"


@pytest.mark.django_db
@each_case(
    ("method", "path"),
    [
        ("post", "experiment/start"),
        ("get", "experiment/status"),
        ("post", "starchamber/turn"),
        ("get", "conversations"),
        ("post", f"conversations/{NOWHERE}/message/stream"),
        ("get", "llm/models"),
        ("post", "llm/test"),
        ("get", "models"),
    ],
)
def test_a_stranger_is_told_how_to_get_in(method, path):
    answer = Api().send(method.upper(), path)

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"]
    assert "token" in answer.json()["detail"]
    assert answer.json()["error"] == answer.json()["detail"]


def test_a_token_may_come_as_an_api_key(alice, models):
    key = {"X-API-Key": create_token(alice)}
    client = Api()
    client.headers = key

    assert client.get("llm/models").status_code == 200
    client.headers = {"X-API-Key": "alab_wrong"}
    assert client.get("llm/models").status_code == 401


@pytest.mark.django_db
@each_case(
    ("method", "path", "scope"),
    [
        ("post", "experiment/start", "spend"),
        ("post", "experiment/turn", "spend"),
        ("post", "starchamber/stop", "write"),
        ("post", f"conversations/{NOWHERE}/message/stream", "spend"),
        ("post", "conversations", "write"),
        ("post", "llm/test", "spend"),
        ("get", "models", "read"),
        ("get", "subsets", "read"),
    ],
)
def test_a_token_needs_the_scope_of_what_it_asks_for(alice, method, path, scope):
    others = {"read", "write", "spend", "review", "admin"} - {scope}

    answer = Api(create_token(alice, scopes=others)).send(method.upper(), path)

    assert (answer.status_code, f"scope “{scope}”" in answer.json()["detail"]) == (403, True)


def test_what_somebody_has_begun_is_found_by_nobody_else(api, charlies, models):
    talk = api.post("starchamber/start", {"model": {"modelId": models[0]}, "firstMessage": "Hello"}).json()
    opened = api.post("conversations", {}).json()["id"]

    assert charlies.get("starchamber/status", experimentId=talk["experimentId"]).status_code == 404
    said = {"experimentId": talk["experimentId"], "message": "Hello"}
    assert charlies.post("starchamber/turn", said).status_code == 404
    assert charlies.post("starchamber/stop", said).json() == {"success": True}
    assert charlies.get(f"conversations/{opened}").status_code == 404
    assert charlies.post(f"conversations/{opened}/message", {"content": "Why?"}).status_code == 404
    assert charlies.get("conversations").json() == []
    assert ClientTalk.objects.get(system="starchamber").run.state == "queued"


def test_health_is_told_to_everybody(db):
    answer = Api().get("health")

    assert answer.status_code in {200, 503}
    assert {"status", "services", "ok", "service", "timestamp"} <= set(answer.json())


def test_models_are_listed_as_clients_and_as_our_own_programs_read_them(api, models):
    answer = api.get("models", available="true").json()

    assert [model["id"] for model in answer["models"]] == sorted(models)
    assert {row["id"]: row["available"] for row in answer["availability"]} == dict.fromkeys(models, True)
    assert [row["slug"] for row in answer["results"]] == sorted(models)
    assert api.get("models/").json()["results"], "ours is where it was"
