"""While the database is away, programs are told when to come back, and whether anything may have been done."""

import pytest
from django.db import OperationalError, connection

from tests.fixtures import signed_in

pytestmark = pytest.mark.django_db


def test_who_asks_is_told_when_to_come_back_and_of_a_change_nobody_says_that_it_was_not_done(alice):
    def refuse(*_arguments):
        raise OperationalError("the server closed the connection unexpectedly")

    browser = signed_in(alice)
    browser.raise_request_exception = False
    with connection.execute_wrapper(refuse):
        asked = browser.get("/api/runs/")
        changed = browser.post("/api/runs/import/", {}, content_type="application/json")
        page = browser.get("/")

    assert (asked.status_code, asked["Retry-After"]) == (503, "3")
    assert asked["Content-Type"] == "application/problem+json"
    assert changed.status_code == 502
    assert "Idempotency-Key" in changed.json()["detail"]
    assert page.status_code == 503
    assert "The database is not responding" in page.content.decode()
