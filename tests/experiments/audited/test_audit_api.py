"""The audit record over HTTP."""

import pytest
from django.test import Client

from accounts import audit
from accounts.models import AuditEntry
from accounts.tokens import create_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(lab):
    token = create_token(lab.ada)
    return lambda query="": Client().get(f"/api/audit/{query}", headers={"authorization": f"Bearer {token}"})


def test_it_is_read_newest_first_filtered_and_page_by_page(ask, lab):
    for number in range(3):
        audit.record(audit.Action.EXPORTED, by=lab.alice, name=f"file {number}", path="/x/")
    audit.record(audit.Action.SHARED, by=lab.alice, name="other")

    first = ask("?deed=exported&person=ali&page_size=2").json()
    second = Client().get(first["next"], headers={"authorization": f"Bearer {create_token(lab.ada)}"}).json()

    assert [one["name"] for one in first["results"] + second["results"]] == ["file 2", "file 1", "file 0"]
    assert first["results"][0]["detail"] == {"path": "/x/"}


@pytest.mark.parametrize("query", ["?since=yesterday", "?deed=nothing"])
def test_a_filter_that_cannot_be_read_is_a_problem(ask, query):
    answer = ask(query)

    assert (answer.status_code, answer["Content-Type"]) == (400, "application/problem+json")


def test_it_is_for_administrators_and_cannot_be_changed(ask, lab):
    assert lab.browser.get("/api/audit/").status_code == 403
    assert Client().get("/api/audit/").status_code == 401
    assert lab.browser.delete("/api/audit/").status_code in {403, 405}
    assert AuditEntry.objects.exists()
