"""Tokens: made by `manage.py create_token`, used, expired."""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken
from accounts.tokens import TOLD_EVERY, create_token


@pytest.fixture
def token(alice):
    return create_token(alice, name="in use")


def ask(token: str) -> int:
    return Client().get("/api/models/", headers={"Authorization": f"Bearer {token}"}).status_code


def test_other_tokens_of_the_same_person_cost_nothing(alice, token, django_assert_num_queries):
    assert ask(token) == 200
    with django_assert_num_queries(3) as before:
        assert ask(token) == 200
    for number in range(20):
        create_token(alice, name=f"other {number}")

    with django_assert_num_queries(len(before)):
        assert ask(token) == 200


def test_one_that_has_expired_opens_nothing_and_others_are_forgotten_when_a_use_is_noted(alice, bob, token):
    """Not at every request: once in a minute, when something is written anyway."""
    assert ask(token) == 200
    expired = create_token(alice, name="used when expired")
    for name in ("old", "new"):
        create_token(alice, name=name)
    create_token(bob, name="bob's")
    past = timezone.now() - timedelta(days=1)
    ApiToken.objects.filter(name__in=["used when expired", "old", "bob's"]).update(expiry=past)

    assert (ask(expired), ask(token)) == (401, 200)
    assert set(ApiToken.objects.values_list("name", flat=True)) == {"in use", "new", "old", "bob's"}

    ApiToken.objects.filter(name="in use").update(last_used=timezone.now() - TOLD_EVERY)
    assert ask(token) == 200
    assert set(ApiToken.objects.values_list("name", flat=True)) == {"in use", "new", "bob's"}


def test_the_command_prints_the_token_on_the_last_line_or_says_what_cannot_be(alice, django_user_model, capsys):
    django_user_model.objects.create_user("gone", is_active=False)
    for arguments, said in (
        (["zoe"], "Nobody is called zoe"),
        (["gone"], "gone is not active"),
        *((["alice", "--days", days], "1 to 365 days") for days in ("0", "366", "-1")),
        *((["alice", "--scopes", scopes], "read, write, spend, review, admin") for scopes in ("", "fly", "read,fly")),
    ):
        with pytest.raises(CommandError, match=said):
            call_command("create_token", *arguments)
    assert not ApiToken.objects.exists()

    call_command("create_token", "alice", "--name", "nightly", "--days", "7", "--scopes", "spend, read")
    assert ask(capsys.readouterr().out.splitlines()[-1]) == 200
    row = ApiToken.objects.get()
    assert (row.name, row.scopes) == ("nightly", ["read", "spend"])
    assert abs(row.expiry - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)
