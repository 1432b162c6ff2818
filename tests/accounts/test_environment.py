"""What the environment says about people, and what it says wrongly."""

from functools import partial

import pytest
from django.core.exceptions import ImproperlyConfigured

from arenasite import environment


def test_a_mail_server_is_read_from_its_address_and_a_sign_in_server_named_whole_or_not_at_all(monkeypatch):
    for url, expected in {
        "smtp+tls://lab:p%40ss@mail.uni.example:587": ("mail.uni.example", 587, "lab", "p@ss", True, False),
        "smtp+ssl://mail.uni.example": ("mail.uni.example", 465, "", "", False, True),
        "smtp://localhost:2525": ("localhost", 2525, "", "", False, False),
    }.items():
        monkeypatch.setenv("ARENA_EMAIL_URL", url)
        mail = environment.mail("ARENA_EMAIL_URL")
        assert (mail.host, mail.port, mail.user, mail.password, mail.starttls, mail.tls) == expected
        assert "p@ss" not in repr(mail)

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


def test_what_cannot_be_read_is_said_without_a_password_and_an_empty_line_says_nothing(monkeypatch):
    drain, tokens = partial(environment.seconds, default=5), partial(environment.whole, default=2000)
    flag = partial(environment.flag, default=True)
    for read, texts, said in (
        (environment.mail, ("mail.uni.example", "imap://x", "smtp://u:secret@h:port", "smtp://"), "ARENA_SOMETHING"),
        (drain, ("-1", "soon", "nan", "inf", "1s"), "must be a number of seconds"),
        (tokens, ("800abc", "0", "-5", "1.5", "8e2", "٣", "800 900"), "must be a whole number"),
        (lambda name: environment.one_of(name, environment.SIGNUPS), ["open"], "closed, invite, domain"),
        (lambda name: environment.some_of(name, environment.ROLES), ["admin, currator"], "currator"),
    ):
        for text in texts:
            monkeypatch.setenv("ARENA_SOMETHING", text)
            with pytest.raises(ImproperlyConfigured, match=said) as raised:
                read("ARENA_SOMETHING")
            assert "secret" not in str(raised.value), text

    for read, texts, value in (
        (environment.mail, ["", "console://"], None),
        (drain, ["", "  "], 5.0),
        (drain, ["0"], 0.0),
        (drain, ["2.5"], 2.5),
        (tokens, ["", "  "], 2000),
        *((flag, ["", "1"], True), (flag, ["0", "no"], False)),
    ):
        for text in texts:
            monkeypatch.setenv("ARENA_SOMETHING", text)
            assert read("ARENA_SOMETHING") == value, text
