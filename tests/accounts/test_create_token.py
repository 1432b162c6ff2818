"""`manage.py create_token`: a token for a script."""

import io
from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import ApiToken


def create(*arguments: str) -> list[str]:
    out = io.StringIO()
    call_command("create_token", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().splitlines()


def test_the_token_stands_alone_on_the_last_line_and_opens_the_api(alice, client):
    token = create("alice")[-1]

    assert client.get("/api/models/", headers={"authorization": f"Bearer {token}"}).status_code == 200


def test_it_has_a_name_and_an_end(alice):
    create("alice", "--name", "nightly", "--days", "7")

    token = ApiToken.objects.get()
    assert token.name == "nightly"
    assert abs(token.expiry - timezone.now() - timedelta(days=7)) < timedelta(minutes=1)


def test_nobody_of_that_name_is_said(db):
    with pytest.raises(CommandError, match="Nobody is called zoe"):
        create("zoe")


def test_somebody_inactive_gets_none(alice):
    alice.is_active = False
    alice.save()

    with pytest.raises(CommandError, match="alice is not active"):
        create("alice")


@pytest.mark.parametrize("days", ["0", "366", "-1"])
def test_it_ends_within_a_year(alice, days):
    with pytest.raises(CommandError, match="1 to 365 days"):
        create("alice", "--days", days)


def test_it_may_be_limited_to_some_scopes(alice):
    create("alice", "--scopes", "spend, read")

    assert ApiToken.objects.get().scopes == ["read", "spend"]


@pytest.mark.parametrize("scopes", ["", "fly", "read,fly"])
def test_scopes_that_there_are_not_are_said(alice, scopes):
    with pytest.raises(CommandError, match="read, write, spend, review, admin"):
        create("alice", "--scopes", scopes)
