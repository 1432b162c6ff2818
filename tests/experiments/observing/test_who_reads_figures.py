"""Figures are for whoever shows the token, and for administrators; they are told also when something is away."""

from unittest.mock import Mock

import pytest
from django.core.cache import caches
from django.db import connection
from django.db.utils import OperationalError
from django.test import Client

from accounts.tokens import create_token
from tests.cases import each_case
from tests.fixtures import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("nothing_counted")]
TOKEN = "scrape-me-0123456789abcdef"


@pytest.fixture
def token(settings):
    settings.METRICS_TOKEN = TOKEN
    return TOKEN


def asked(token="", scheme="Bearer"):
    return Client().get("/metrics", headers={"Authorization": f"{scheme} {token}"} if token else {})


def test_whoever_shows_the_token_reads_them_and_without_it_only_administrators(token, alice, admin, settings):
    answer = asked(token)
    assert b"arena_database_up 1.0" in answer.content
    assert answer["Content-Type"].startswith("text/plain")
    assert "no-store" in answer["Cache-Control"]

    for shown, scheme in (
        ("", ""),
        (TOKEN[:-1], "Bearer"),
        (TOKEN + "x", "Bearer"),
        ("ünï", "Bearer"),
        (TOKEN, "Basic"),
    ):
        assert asked(shown, scheme).status_code == 404
    assert asked(create_token(alice)).status_code == 404
    assert signed_in(alice).get("/metrics").status_code == 404
    assert signed_in(admin).get("/metrics").status_code == 200
    assert signed_in(admin).post("/metrics").status_code == 405

    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_without_redis_or_a_database_the_rest_is_told_as_a_figure_and_on_the_operators_page(token, admin, redis_server):
    browser = signed_in(admin)
    redis_server.stop()
    try:
        text, page = asked(token).content.decode(), browser.get("/operator/").content.decode()
    finally:
        redis_server.start()
    assert "arena_redis_up 0.0" in text
    assert "arena_database_up 1.0" in text
    assert "arena_runs{" in text
    assert "arena_calls_total{" not in text
    assert "Redis is not responding." in page
    assert "Unknown while Redis is away." in page
    assert "SQLite" in page or "PostgreSQL" in page

    caches["memory"].clear()
    with connection.execute_wrapper(Mock(side_effect=OperationalError("the database is away"))):
        answer = asked(token)
    assert answer.status_code == 200
    assert b"arena_database_up 0.0" in answer.content
    assert b"arena_redis_up 1.0" in answer.content
    assert b"arena_runs{" not in answer.content


@each_case("shown", [TOKEN, ""])
def test_a_scrape_asks_the_database_little_and_not_again_at_once(token, shown, django_assert_max_num_queries):
    with django_assert_max_num_queries(12):
        for _ in range(5):
            asked(shown)
