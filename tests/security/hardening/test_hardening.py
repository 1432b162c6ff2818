"""`manage.py check --deploy` names what a lab that faces others has not set yet."""

import sys
from types import SimpleNamespace

import dj_database_url
from django.core.management import call_command

from accounts.hardening import findings
from arenasite.environment import Mail, SignInServer
from tests.cases import each_case

SAFE = {
    "HTTPS": True,
    "ALLOWED_HOSTS": ["arena.example"],
    "DEMO_MODE": False,
    "REQUIRE_MFA": ["researcher", "reviewer", "curator", "admin"],
    "BREACHED_PASSWORDS": "/etc/arena/stolen.txt",
    "DATABASES": {"default": dj_database_url.parse("postgres://a:b@db.example/arena?sslmode=verify-full")},
    "REDIS_URL": "rediss://arena:secret@redis.example:6380/0",
    "MAIL": Mail("mail.example", 587, "a", "b", starttls=True, tls=False),
    "OIDC": SignInServer("Lab", "https://id.example", "arena", "secret"),
}


def found(**other):
    return [number for number, _text, hint in findings(SimpleNamespace(**SAFE | other)) if hint]


def test_a_hardened_lab_is_told_nothing():
    assert found() == []


def test_embedded_parts_on_the_same_machine_need_no_tls():
    here = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "x"}}

    assert found(DATABASES=here, REDIS_URL="unix:///run/redis.sock", MAIL=None, OIDC=None) == []


@each_case(
    ("name", "value", "expected"),
    [
        ("HTTPS", False, "W001"),
        ("ALLOWED_HOSTS", ["*"], "W002"),
        ("DEMO_MODE", True, "W003"),
        ("REQUIRE_MFA", ["admin"], "W004"),
        ("BREACHED_PASSWORDS", "", "W005"),
        ("DATABASES", {"default": dj_database_url.parse("postgres://a:b@db.example/arena")}, "W006"),
        ("DATABASES", {"default": dj_database_url.parse("postgres://a:b@db.example/a?sslmode=prefer")}, "W006"),
        ("REDIS_URL", "redis://arena:secret@redis.example/0", "W007"),
        ("REDIS_URL", "rediss://redis.example/0", "W008"),
        ("MAIL", Mail("mail.example", 25, "", "", starttls=False, tls=False), "W009"),
        ("OIDC", SignInServer("Lab", "http://id.example", "arena", "secret"), "W010"),
    ],
)
def test_what_is_missing_is_named_with_what_to_set(name, value, expected):
    assert found(**{name: value}) == [expected]


def test_the_command_says_it(capsys):
    call_command("check", "--deploy", stdout=sys.stdout, stderr=sys.stderr)

    assert "(arena.W001) Cookies, passwords and tokens travel unencrypted." in capsys.readouterr().err
