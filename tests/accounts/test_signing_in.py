"""The door: who comes in, who does not, and what is written down about both."""

import pytest
from django.test import Client

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


def test_passwords_of_one_name_are_not_tried_for_long(visitor, alice, deeds):
    for _ in range(5):
        sign_in(visitor, "alice", "wrong")

    refused = sign_in(visitor)

    assert refused.status_code == 200
    assert "tried too often" in refused.content.decode()
    assert visitor.get("/account/").status_code == 302
    assert deeds(Action.SIGN_IN_FAILED)[-1].detail == {"throttled": True}


def test_tries_that_were_not_looked_at_do_not_fill_the_record(visitor, alice, deeds):
    for _ in range(12):
        sign_in(visitor, "alice", "wrong")

    assert len(deeds(Action.SIGN_IN_FAILED)) == 6


def test_another_name_can_be_signed_in_meanwhile(visitor, alice, bob):
    for _ in range(6):
        sign_in(visitor, "alice", "wrong")

    assert sign_in(Client(), "bob").status_code == 302


def test_whoever_sends_without_end_is_slowed_down(visitor, alice):
    answers = [sign_in(visitor, f"name{number}", "wrong").status_code for number in range(31)]

    assert answers[-1] == 429


@pytest.mark.system
def test_the_limit_holds_and_everybody_can_sign_in_while_redis_is_away(visitor, alice, bob, redis_server):
    redis_server.stop()
    try:
        for _ in range(5):
            sign_in(visitor, "alice", "wrong")
        assert "tried too often" in sign_in(visitor).content.decode()
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
