"""Who can sign in, who cannot, and what is recorded of both."""

import re

import pytest
from django.conf import settings
from django.core import mail
from django.test import Client

from accounts import guessing
from accounts.models import AuditEntry, User
from tests.accounts.conftest import sign_in
from tests.fixtures import PASSWORD

Action = AuditEntry.Action


@pytest.mark.parametrize("name", ["bob", "bob@lab.example", "BOB@lab.example"])
def test_one_signs_in_by_name_or_by_address(visitor, bob, name):
    assert sign_in(visitor, name)["Location"] == "/arena/"
    assert visitor.get("/account/").status_code == 200


def test_a_sign_in_and_a_sign_out_are_recorded(visitor, alice, deeds):
    sign_in(visitor)
    visitor.post("/sign-out/")

    [came], [went] = deeds(Action.SIGNED_IN), deeds(Action.SIGNED_OUT)
    assert (came.actor_id, came.actor, came.address, came.detail) == (
        alice.pk,
        "alice",
        "127.0.0.1",
        {"by_means_of": ["password"]},
    )
    assert went.actor == "alice"


def test_a_failed_sign_in_is_recorded_with_the_name_that_was_typed(visitor, alice, deeds):
    sign_in(visitor, "alice", "wrong")
    sign_in(visitor, "nobody", "wrong")

    assert [(entry.actor_id, entry.name) for entry in deeds(Action.SIGN_IN_FAILED)] == [
        (None, "alice"),
        (None, "nobody"),
    ]
    assert "wrong" not in str([entry.detail for entry in AuditEntry.objects.all()])


def test_a_name_with_line_ends_stays_one_line_and_is_cut(visitor, db, deeds):
    sign_in(visitor, "eve\r\n2026-01-01 admin signed_in \x1b[2J" + "x" * 500, "wrong")

    [entry] = deeds(Action.SIGN_IN_FAILED)
    assert entry.name.isprintable()
    assert entry.name.startswith("eve��2026-01-01")
    assert len(entry.name) == 200


def test_a_deactivated_person_is_refused_and_it_is_recorded(visitor, alice, deeds):
    User.objects.filter(pk=alice.pk).update(is_active=False)

    assert sign_in(visitor).status_code == 200
    assert deeds(Action.SIGN_IN_FAILED)[0].detail == {"deactivated": True}


WAYS = ["alice", "ALICE", "alice@lab.example"]


@pytest.mark.parametrize("way", WAYS)
def test_passwords_of_one_person_are_not_tried_for_long_from_one_address(visitor, alice, deeds, way):
    User.objects.filter(pk=alice.pk).update(email="alice@lab.example")
    for number in range(7):
        sign_in(visitor, WAYS[number % 3], "wrong")

    assert sign_in(visitor, way).status_code == 200
    assert visitor.get("/account/").status_code == 302
    assert len(deeds(Action.SIGN_IN_FAILED)) == 6  # those that were not looked at do not fill the record
    assert deeds(Action.SIGN_IN_FAILED)[-1].detail == {"throttled": True}


@pytest.fixture
def few_from_one_address(monkeypatch):
    monkeypatch.setattr(guessing, "ANYBODY_FROM_ONE_ADDRESS", (guessing.Limit(3, 60),))


@pytest.mark.usefixtures("few_from_one_address")
def test_one_address_tries_so_many_passwords_whoever_they_are_for(visitor, alice, bob):
    tried = [sign_in(Client(), "bob").status_code for _ in range(4)]  # right ones do not count
    for number in range(3):
        sign_in(visitor, f"name{number}", "wrong")

    assert [*tried, sign_in(visitor).status_code] == [302, 302, 302, 302, 200]


def strangers(number, first="198.51.100.{}"):
    """Wrong passwords for Alice, from so many addresses."""
    for host in range(number):
        sign_in(Client(REMOTE_ADDR=first.format(host)), "alice", "wrong")


@pytest.fixture
def alices(alice):
    """A browser in which Alice has signed in before."""
    browser = Client()
    sign_in(browser)
    browser.post("/sign-out/")
    return browser


def test_wrong_passwords_from_other_addresses_do_not_keep_the_right_one_out(visitor, alice):
    strangers(6)
    for _ in range(5):
        sign_in(Client(REMOTE_ADDR="203.0.113.9"), "alice", "wrong")

    assert sign_in(Client(REMOTE_ADDR="203.0.113.9")).status_code == 200
    assert sign_in(visitor).status_code == 302


def test_guessing_from_very_many_addresses_is_slowed_and_a_known_browser_still_signs_in_at_once(
    visitor, alices, bob, monkeypatch
):
    monkeypatch.setattr(guessing, "PERSON_FROM_ANYWHERE", (guessing.Limit(2, 3600),))
    sign_in(visitor, "bob")
    visitor.post("/sign-out/")  # a browser that Bob has used
    strangers(3)

    assert [sign_in(browser).status_code for browser in (Client(REMOTE_ADDR="203.0.113.9"), visitor)] == [200, 200]
    assert sign_in(alices).status_code == 302


@pytest.mark.usefixtures("few_from_one_address")
def test_a_known_browser_signs_in_though_its_own_address_was_used_for_guessing(visitor, alices):
    for _ in range(6):
        sign_in(visitor, "alice", "wrong")

    assert sign_in(alices).status_code == 302


def test_wrong_passwords_in_a_known_browser_are_counted_there_alone(visitor, alices):
    for _ in range(5):
        sign_in(alices, "alice", "wrong")

    assert [sign_in(browser).status_code for browser in (alices, visitor)] == [200, 302]


def test_a_known_browser_cannot_be_made_up(visitor, alice, alices):
    name = settings.BROWSER_COOKIE_NAME
    cookie = alices.cookies[name]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    for _ in range(5):
        sign_in(visitor, "alice", "wrong")

    visitor.cookies[name] = f"x.{alice.pk}:{cookie.value.partition(':')[2]}"

    assert sign_in(visitor).status_code == 200


def test_addresses_of_one_ipv6_network_are_counted_together(alice):
    strangers(5, "2001:db8:0:1::{}")

    assert sign_in(Client(REMOTE_ADDR="2001:db8:0:1:ffff::1")).status_code == 200
    assert sign_in(Client(REMOTE_ADDR="2001:db8:0:2::1")).status_code == 302


def test_a_new_password_that_was_set_by_mail_can_be_used_at_once(visitor, bob, settings):
    settings.HAS_MAIL = True
    for _ in range(5):
        sign_in(visitor, "bob", "wrong")
    visitor.post("/forgotten/", {"email": bob.email})
    form = visitor.get(re.search(r"http://testserver(/\S+)", mail.outbox[0].body)[1])["Location"]

    visitor.post(form, {"password1": "seven solar panels", "password2": "seven solar panels"})

    assert sign_in(visitor, "bob", "seven solar panels").status_code == 302


@pytest.mark.system
def test_the_limit_holds_and_everybody_can_sign_in_while_redis_is_away(visitor, alice, bob, redis_server):
    redis_server.stop()
    try:
        for _ in range(5):
            sign_in(visitor, "alice", "wrong")
        assert sign_in(visitor).status_code == 200
        assert sign_in(visitor, "bob").status_code == 302
    finally:
        redis_server.start()


def test_the_door_of_the_django_admin_is_the_same(visitor, admin):
    first = visitor.get("/admin/", follow=True)

    assert first.redirect_chain[-1][0].startswith("/sign-in/?next=")
    assert sign_in(visitor, "ada", next="/admin/")["Location"] == "/admin/"
    assert visitor.get("/admin/").status_code == 200


def test_the_django_admin_is_for_admins(browser, db):
    assert browser.get("/admin/login/").status_code == 403


def test_the_address_is_what_our_own_proxy_saw(visitor, alice, settings, deeds):
    settings.TRUSTED_PROXIES = 1
    told = {"HTTP_X_FORWARDED_FOR": "6.6.6.6, 203.0.113.9"}

    visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD}, **told)

    assert deeds(Action.SIGNED_IN)[0].address == "203.0.113.9"


def test_what_a_client_says_of_its_address_counts_for_nothing_without_a_proxy(visitor, alice, deeds):
    visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD}, HTTP_X_FORWARDED_FOR="203.0.113.9")

    assert deeds(Action.SIGNED_IN)[0].address == "127.0.0.1"


def test_one_can_sign_in_through_a_unix_socket(visitor, alice, deeds):
    answer = visitor.post("/sign-in/", {"username": "alice", "password": PASSWORD}, REMOTE_ADDR="")

    assert answer.status_code == 302
    assert deeds(Action.SIGNED_IN)[0].address is None
