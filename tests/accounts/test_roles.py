"""Roles, and who may come in at all."""

from functools import partial

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client

from accounts import roles
from accounts.models import ApiToken, AuditEntry, User
from accounts.refusals import NotForYou, NotPossible
from accounts.tokens import create_token
from tests.accounts.conftest import sign_in
from tests.cases import each_case
from tests.fixtures import PASSWORD, signed_in
from tests.rivals import at_once

Action = AuditEntry.Action


def test_an_admin_changes_a_role_and_it_is_recorded(admin, alice, entries_of):
    roles.change_role(alice, "curator", by=admin)

    assert User.objects.get(pk=alice.pk).role == "curator"
    [entry] = entries_of(Action.ROLE_CHANGED)
    assert (entry.actor, entry.target, entry.name) == ("ada", f"user:{alice.pk}", "alice")
    assert entry.detail == {"before": "researcher", "after": "curator"}

    roles.change_role(alice, "curator", by=admin)
    assert len(entries_of(Action.ROLE_CHANGED)) == 1, "the same role again is no change"
    for role, is_admin in (("admin", True), ("curator", False)):
        roles.change_role(alice, role, by=admin)
        alice.refresh_from_db()
        assert (alice.is_staff, alice.is_superuser) == (is_admin, is_admin), "to Django too"


@each_case("verb", [lambda who, by: roles.change_role(who, "admin", by=by), roles.deactivate])
def test_only_an_active_admin_decides_on_people(admin, alice, bob, verb):
    admin.is_active = False

    for by in (bob, admin):
        with pytest.raises(NotForYou):
            verb(alice, by=by)


@each_case("verb", [lambda who, by: roles.change_role(who, "curator", by=by), roles.deactivate])
def test_the_last_active_admin_stays(admin, verb):
    User.objects.create_user("old", role="admin", is_active=False)
    with pytest.raises(NotPossible):
        verb(admin, by=admin)

    admin.refresh_from_db()
    assert admin.is_admin


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_two_admins_who_go_at_once_one_stays():
    one, other = (User.objects.create_user(name, role="admin") for name in ("one", "other"))

    going = (partial(roles.change_role, who, "reviewer", by=by) for who, by in ((one, other), (other, one)))
    given = at_once(*going, refused=NotPossible)

    assert [type(error) for error in given if error] == [NotPossible]
    assert User.objects.filter(role="admin", is_active=True).count() == 1


def test_deactivation_ends_sign_ins_and_tokens_of_this_person_at_once(admin, alice, bob, entries_of):
    browser, bearer = signed_in(alice), {"authorization": f"Bearer {create_token(alice)}"}
    assert Client().get("/api/models/", headers=bearer).status_code == 200
    others = signed_in(bob)

    roles.deactivate(alice, by=admin)

    assert browser.get("/account/").status_code == 302
    assert Client().get("/api/models/", headers=bearer).status_code == 401
    assert (Session.objects.count(), ApiToken.objects.count()) == (1, 0)
    assert others.get("/account/").status_code == 200
    assert entries_of(Action.PERSON_DEACTIVATED)[0].detail == {"sessions": 1, "tokens": 1}

    roles.reactivate(alice, by=admin)

    assert sign_in(Client()).status_code == 302
    assert ApiToken.objects.count() == 0
    assert entries_of(Action.PERSON_REACTIVATED)[0].name == "alice"


def test_createsuperuser_makes_an_admin(db, monkeypatch):
    monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", PASSWORD)

    call_command("createsuperuser", "--noinput", username="root", email="root@lab.example", verbosity=0)

    assert User.objects.get().is_admin
    assert sign_in(Client(), "root").status_code == 302
