"""What a token costs with every request, and what becomes of those that have expired."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken
from accounts.tokens import TOLD_EVERY, create_token

pytestmark = pytest.mark.django_db


@pytest.fixture
def token(alice):
    return create_token(alice, name="in use")


def ask(token: str) -> int:
    return Client().get("/api/models/", headers={"Authorization": f"Bearer {token}"}).status_code


def expire(name: str) -> None:
    ApiToken.objects.filter(name=name).update(expiry=timezone.now() - timedelta(days=1))


def test_other_tokens_of_the_same_person_cost_nothing(alice, token, django_assert_num_queries):
    assert ask(token) == 200
    with django_assert_num_queries(3) as before:
        assert ask(token) == 200
    for number in range(20):
        create_token(alice, name=f"other {number}")

    with django_assert_num_queries(len(before)):
        assert ask(token) == 200


def test_one_that_has_expired_opens_nothing_and_is_forgotten(token):
    expire("in use")

    assert ask(token) == 401
    assert not ApiToken.objects.exists()


def test_others_that_have_expired_are_forgotten_when_its_use_is_noted(alice, bob, token):
    """Not at every request: once in a minute, when something is written anyway."""
    assert ask(token) == 200
    for name in ("old", "new"):
        create_token(alice, name=name)
    create_token(bob, name="bob's")
    expire("old")
    expire("bob's")

    assert ask(token) == 200
    assert ApiToken.objects.filter(name="old").exists()

    ApiToken.objects.filter(name="in use").update(last_used=timezone.now() - TOLD_EVERY)
    assert ask(token) == 200
    assert set(ApiToken.objects.values_list("name", flat=True)) == {"in use", "new", "bob's"}
