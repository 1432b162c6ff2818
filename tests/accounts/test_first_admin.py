"""The first administrator of an empty platform is created through a one-time link."""

from datetime import timedelta
from functools import partial

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from accounts import first_admin
from accounts.errors import NotFound
from accounts.models import AuditEntry, FirstAdminLink, User
from tests.accounts.conftest import sign_in
from tests.cases import each_case
from tests.fixtures import PASSWORD
from tests.rivals import at_once

NEW = {"username": "ada", "password1": "seventeen quiet otters", "password2": "seventeen quiet otters"}


@each_case("signup", ["none", "mandatory"])
def test_the_link_creates_an_administrator_signs_in_and_is_recorded(settings, entries_of, db, signup):
    settings.ACCOUNT_EMAIL_VERIFICATION = signup
    visitor, link = Client(), first_admin.PATH.format(first_admin.new_token())
    assert link.split("/")[-2] not in str(list(FirstAdminLink.objects.values())), "it is stored as a hash"
    assert visitor.get(link).status_code == visitor.get(link).status_code == 200  # looking does not use it up
    for password in ("short", "ada-administrator", "password2026!"):
        answer = visitor.post(link, NEW | {"password1": password, "password2": password})
        assert answer.context["form"].errors["password2"]
    assert not User.objects.exists()

    assert visitor.post(link, NEW).status_code == 302

    ada = User.objects.get()
    assert (ada.username, ada.is_admin, ada.is_staff, ada.is_superuser) == ("ada", True, True, True)
    assert visitor.get("/people/").status_code == 200
    [joined] = entries_of(AuditEntry.Action.SIGNED_UP)
    assert (joined.actor, joined.address) == ("ada", "127.0.0.1")
    assert joined.detail == {"role": "admin", "first_admin_link": True}
    assert Client().get(link).status_code == Client().post(link, NEW | {"username": "eve"}).status_code == 404
    assert first_admin.new_token() is None


def test_a_link_that_is_forged_expired_or_replaced_creates_nothing_and_says_where_to_find_one(visitor):
    def expired():
        FirstAdminLink.objects.update(expires=timezone.now() - timedelta(seconds=1))

    for forged, happens in (("x", bool), ("", expired), ("", first_admin.new_token)):
        link = first_admin.PATH.format(first_admin.new_token() + forged)
        happens()
        answer = visitor.post(link, NEW)
        assert (answer.status_code, "first_admin_link" in answer.content.decode()) == (404, True), happens
    assert not User.objects.exists()


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_two_uses_at_once_one_creates_an_administrator():
    token = first_admin.new_token()

    people = [User(username=name, password="x") for name in ("ada", "eve")]
    given = at_once(*(partial(first_admin.create, person, token) for person in people), refused=NotFound)

    assert [type(error) for error in given if error] == [NotFound]
    assert User.objects.count() == 1


@each_case(
    "people",
    [
        [],
        [{"role": "researcher", "password": PASSWORD}],
        [{"role": "admin"}],
        [{"role": "admin", "password": PASSWORD, "is_active": False}],
        [{"role": "admin", "password": PASSWORD}],
    ],
)
def test_it_is_offered_while_no_account_can_sign_in_as_administrator(visitor, db, capsys, people):
    for fields in people:
        User.objects.create_user("somebody", **fields)
    page, is_needed = visitor.get("/sign-in/").content.decode(), people != [{"role": "admin", "password": PASSWORD}]

    assert ("first_admin_link" in page) == is_needed
    assert "/first-administrator/" not in page
    if is_needed:
        call_command("first_admin_link")
        assert capsys.readouterr().out.startswith("http://localhost:8000/first-administrator/")
    else:
        with pytest.raises(CommandError):
            call_command("first_admin_link")


def test_an_administrator_of_the_sign_in_server_counts_and_the_link_leads_where_browsers_reach_us(admin, settings):
    User.objects.filter(pk=admin.pk).update(password="!")
    admin.socialaccount_set.create(provider="lab", uid="1")
    settings.OIDC = object()
    assert not first_admin.is_needed()

    settings.OIDC = None
    assert first_admin.is_needed()

    def link():
        return first_admin.link("t", "http://lab:9000").removesuffix("/first-administrator/t/")

    assert link() == "http://lab:9000"
    settings.HTTPS, settings.ALLOWED_HOSTS = True, ["*", "arena.example"]
    assert link() == "https://arena.example"
    settings.CSRF_TRUSTED_ORIGINS = ["https://*.uni.example", "https://arena.example:8443"]
    assert link() == "https://arena.example:8443"


def test_a_command_lets_administrators_alone_in_again(visitor, admins, admin, alice, app_of, entries_of, capsys):
    app_of(admin)
    User.objects.filter(pk=admin.pk).update(is_active=False)
    for name in ("alice", "nobody"):
        with pytest.raises(CommandError):
            call_command("recover_admin", name)

    call_command("recover_admin", "ada")

    address, path = capsys.readouterr().out.strip().split("/", 3)[2:]
    assert address == "localhost:8000"
    assert admins.get("/account/").status_code == 302  # who may have taken the account over is out
    setting = visitor.get(f"/{path}", follow=True).request["PATH_INFO"]
    assert visitor.post(setting, {name: NEW[name] for name in ("password1", "password2")}).status_code == 302
    assert sign_in(visitor, "ada", NEW["password1"])["Location"] == "/"
    assert visitor.get("/people/").status_code == 200
    [recovered, changed] = entries_of(AuditEntry.Action.PASSWORD_CHANGED)
    assert recovered.detail == {"by_command": True, "factors": 2, "sessions": 1, "reactivated": True}
    assert (recovered.actor, recovered.target, changed.actor) == ("", f"user:{admin.pk}", "ada")
    assert Client().get(f"/{path}", follow=True).context["token_fail"]  # the link works once
