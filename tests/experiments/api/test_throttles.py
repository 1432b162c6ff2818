"""How often the API may be asked in a minute."""

import pytest
from django.core.cache import cache
from django.test import Client

from accounts import throttling
from experiments.keys import keyring
from experiments.models import Provider

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def a_minute_that_stands_still(monkeypatch):
    cache.clear()
    monkeypatch.setattr(throttling.time, "time", lambda: 600_000.0 * 60 + 20)
    yield
    cache.clear()


def test_each_answer_says_how_many_requests_are_left(api, settings):
    settings.API_PER_PERSON = 5
    api.get("runs/")

    answer = api.get("runs/")

    assert [answer[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset")] == ["5", "3", "40"]


def test_one_too_many_is_told_when_to_come_again(api, charlies, settings, is_problem):
    settings.API_PER_PERSON = 2
    api.get("runs/")
    api.get("runs/")

    answer = api.get("runs/")

    is_problem(answer, 429, "available in 40 seconds")
    assert (answer["Retry-After"], answer["X-RateLimit-Remaining"]) == ("40", "0")
    assert charlies.get("runs/").status_code == 200


def test_the_next_minute_begins_anew(api, settings, monkeypatch):
    settings.API_PER_PERSON = 1
    api.get("runs/")
    monkeypatch.setattr(throttling.time, "time", lambda: 600_001.0 * 60)

    assert api.get("runs/").status_code == 200


def test_visitors_are_counted_by_address(settings, is_problem):
    settings.API_PER_ADDRESS = 1
    Client().get("/api/ladders/")

    is_problem(Client().get("/api/ladders/"), 429)

    assert Client(REMOTE_ADDR="192.0.2.7").get("/api/ladders/").status_code == 200


def test_the_smaller_of_two_limits_is_the_one_that_is_told(api, settings):
    settings.API_PER_PERSON, settings.API_PER_ADDRESS = 9, 4

    assert api.get("runs/")["X-RateLimit-Limit"] == "4"


def test_keys_are_tested_less_often(api, alice, provider, settings, is_problem):
    settings.API_KEY_TESTS = 1
    key = keyring.add(by=alice, provider=Provider.objects.get(), key="sk-nobody-reads-this-key")
    assert api.post(f"keys/{key.pk}/test/").status_code == 200

    is_problem(api.post(f"keys/{key.pk}/test/"), 429)

    assert api.get("runs/").status_code == 200


def test_no_limit_is_no_header(api):
    assert "X-RateLimit-Limit" not in api.get("runs/")
