"""What the environment says about people, and what it says wrongly."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from arenasite import environment


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp+tls://lab:p%40ss@mail.uni.example:587", ("mail.uni.example", 587, "lab", "p@ss", True, False)),
        ("smtp+ssl://mail.uni.example", ("mail.uni.example", 465, "", "", False, True)),
        ("smtp://localhost:2525", ("localhost", 2525, "", "", False, False)),
    ],
)
def test_a_mail_server(monkeypatch, url, expected):
    monkeypatch.setenv("ARENA_EMAIL_URL", url)

    mail = environment.mail("ARENA_EMAIL_URL")

    assert (mail.host, mail.port, mail.user, mail.password, mail.starttls, mail.tls) == expected
    assert "p@ss" not in repr(mail)


@pytest.mark.parametrize("url", ["", "console://"])
def test_no_mail_server(monkeypatch, url):
    monkeypatch.setenv("ARENA_EMAIL_URL", url)

    assert environment.mail("ARENA_EMAIL_URL") is None


@pytest.mark.parametrize("url", ["mail.uni.example", "imap://x", "smtp://u:secret@h:port", "smtp://"])
def test_a_mail_server_that_cannot_be_read_is_said_without_its_password(monkeypatch, url):
    monkeypatch.setenv("ARENA_EMAIL_URL", url)

    with pytest.raises(ImproperlyConfigured, match="ARENA_EMAIL_URL") as raised:
        environment.mail("ARENA_EMAIL_URL")
    assert "secret" not in str(raised.value)


def test_a_policy_that_does_not_exist_is_no_policy(monkeypatch):
    monkeypatch.setenv("ARENA_SIGNUP", "open")

    with pytest.raises(ImproperlyConfigured, match="closed, invite, domain"):
        environment.one_of("ARENA_SIGNUP", environment.SIGNUPS)


def test_a_role_that_does_not_exist_needs_no_factor(monkeypatch):
    monkeypatch.setenv("ARENA_REQUIRE_MFA", "admin, currator")

    with pytest.raises(ImproperlyConfigured, match="currator"):
        environment.some_of("ARENA_REQUIRE_MFA", environment.ROLES)


def test_a_sign_in_server_is_named_whole_or_not_at_all(monkeypatch):
    monkeypatch.delenv("ARENA_OIDC_ISSUER", raising=False)
    assert environment.oidc() is None

    monkeypatch.setenv("ARENA_OIDC_ISSUER", "https://id.uni.example/")
    with pytest.raises(ImproperlyConfigured, match="ARENA_OIDC_CLIENT_ID"):
        environment.oidc()

    monkeypatch.setenv("ARENA_OIDC_CLIENT_ID", "arena")
    monkeypatch.setenv("ARENA_OIDC_CLIENT_SECRET", "hush")
    server = environment.oidc()
    assert (server.name, server.issuer) == ("id.uni.example", "https://id.uni.example")
    assert "hush" not in repr(server)


@pytest.mark.parametrize(("text", "value"), [("", 5.0), ("  ", 5.0), ("0", 0.0), ("2.5", 2.5)])
def test_a_time(monkeypatch, text, value):
    monkeypatch.setenv("ARENA_DRAIN_SECONDS", text)

    assert environment.seconds("ARENA_DRAIN_SECONDS", 5) == value


@pytest.mark.parametrize("text", ["-1", "soon", "nan", "inf", "1s"])
def test_what_is_no_time_is_said(monkeypatch, text):
    monkeypatch.setenv("ARENA_DRAIN_SECONDS", text)

    with pytest.raises(ImproperlyConfigured, match="ARENA_DRAIN_SECONDS must be a number of seconds"):
        environment.seconds("ARENA_DRAIN_SECONDS", 5)


@pytest.mark.parametrize(("text", "value"), [("", True), ("0", False), ("1", True), ("no", False)])
def test_an_empty_line_leaves_a_switch_as_it_is(monkeypatch, text, value):
    monkeypatch.setenv("ARENA_ACCESS_LOG", text)

    assert environment.flag("ARENA_ACCESS_LOG", default=True) is value
