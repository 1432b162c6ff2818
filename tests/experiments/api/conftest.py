"""Asking the API over HTTP, as Alice, as Charlie and as nobody."""

import json
from functools import partialmethod
from typing import Any

import pytest
from django.apps import apps
from django.test import Client

from accounts.tokens import create_token
from tests.fixtures import add_model
from tests.making import maker


class Api:
    def __init__(self, token: str | None = None) -> None:
        self.client = Client()
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def get(self, path: str, **params: Any) -> Any:
        return self.client.get(f"/api/{path}", params, headers=self.headers)

    def post(self, path: str, body: Any = None, *, content_type: str = "application/json", **headers: str) -> Any:
        text = body if isinstance(body, str | bytes) else json.dumps(body if body is not None else {})
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return self.client.post(f"/api/{path}", text, content_type=content_type, headers=sent)

    def send(self, method: str, path: str, body: Any = None) -> Any:
        said = json.dumps(body or {})
        return self.client.generic(method, f"/api/{path}", said, "application/json", headers=self.headers)

    patch = partialmethod(send, "PATCH")
    put = partialmethod(send, "PUT")
    delete = partialmethod(send, "DELETE")


@pytest.fixture
def api(alice: Any) -> Api:
    return Api(create_token(alice, name="script"))


@pytest.fixture
def charlies(charlie: Any) -> Api:
    return Api(create_token(charlie))


@pytest.fixture
def nobodys(db: None) -> Api:
    return Api()


@pytest.fixture(autouse=True)
def nobody_is_woken(woken_runs: list[Any]) -> list[Any]:
    return woken_runs


@maker
def is_problem(response: Any, status: int, *words: str) -> dict[str, Any]:
    """Asserts that the answer is a problem document whose detail is a sentence with all these words; returns it."""
    assert response.status_code == status, response.content[:500]
    assert response["Content-Type"] == "application/problem+json"
    document = json.loads(response.content)
    told = {"type", "title", "status", "detail", "request_id"}
    assert told <= set(document) <= told | {"errors"}
    assert document["request_id"] == response["X-Request-ID"]
    assert document["status"] == status
    detail = document["detail"]
    assert len(detail.split()) > 1, detail
    assert not any(mark in detail for mark in ("ErrorDetail", "{'", "Traceback")), detail
    assert all(word.lower() in detail.lower() for word in words), detail
    return document


@maker
def counts(db: None, /) -> dict[str, int]:
    return {model.__name__: model._default_manager.count() for model in apps.get_app_config("experiments").get_models()}


@pytest.fixture
def body(provider: Any) -> dict[str, Any]:
    """What creates an arena experiment; the judge and the filter are the lab's."""
    seats = {
        "A": {"model": add_model("sim/cooperative:first=0").slug},
        "B": {"model": add_model("sim/neutral:first=0").slug},
    }
    config = {"prompt": "Share seven solar panels.", "max_turns": 2, "gap_seconds": 0}
    return {"workflow": "arena", "title": "Panels", "config": config, "cast": seats}
