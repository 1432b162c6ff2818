"""While the database is away, programs are told when to come back, and whether anything may have been done."""

from contextlib import contextmanager

import pytest
from django.db import OperationalError, connection
from django.test import Client

from tests.fixtures import PASSWORD

pytestmark = pytest.mark.django_db


@contextmanager
def database_away():
    def refuse(*_arguments):
        raise OperationalError("the server closed the connection unexpectedly")

    with connection.execute_wrapper(refuse):
        yield


@pytest.fixture
def browser(alice):
    browser = Client(raise_request_exception=False)
    assert browser.login(username="alice", password=PASSWORD)
    return browser


def test_a_question_to_the_api_may_be_asked_again(browser):
    with database_away():
        answer = browser.get("/api/runs/")

    assert (answer.status_code, answer["Retry-After"]) == (503, "3")
    assert answer["Content-Type"] == "application/problem+json"
    assert "Ask again" in answer.json()["detail"]


def test_of_a_change_nobody_says_that_it_was_not_done(browser):
    with database_away():
        answer = browser.post("/api/runs/import/", {}, content_type="application/json")

    assert answer.status_code == 502
    assert "Idempotency-Key" in answer.json()["detail"]


def test_a_page_says_that_the_database_does_not_answer(browser):
    with database_away():
        answer = browser.get("/")

    assert answer.status_code == 503
    assert "The database does not answer" in answer.content.decode()
