"""Tokens: made by `manage.py create_token`, used, expired."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken
from accounts.tokens import TOLD_EVERY, create_token
from tests.cases import each_case

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


def create(*arguments: str) -> list[str]:
    out = io.StringIO()
    call_command("create_token", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def test_the_command_prints_the_token_on_the_last_line(alice):
    token = create("alice", "--name", "nightly", "--days", "7", "--scopes", "spend, read")[-1]

    assert ask(token) == 200
    row = ApiToken.objects.get()
    assert (row.name, row.scopes) == ("nightly", ["read", "spend"])
    assert abs(row.expiry - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)


def test_the_command_makes_none_for_somebody_inactive(alice):
    alice.is_active = False
    alice.save()

    with pytest.raises(CommandError, match="alice is not active"):
        create("alice")


@each_case(
    ("arguments", "said"),
    [
        (["zoe"], "Nobody is called zoe"),
        *((["alice", "--days", days], "1 to 365 days") for days in ("0", "366", "-1")),
        *((["alice", "--scopes", scopes], "read, write, spend, review, admin") for scopes in ("", "fly", "read,fly")),
    ],
)
def test_the_command_says_what_cannot_be(alice, arguments, said):
    with pytest.raises(CommandError, match=said):
        create(*arguments)
    assert not ApiToken.objects.exists()
