"""Links that let one person in, once: invitations, and who may send them, and that of the first administrator."""

from datetime import timedelta
from functools import partial

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.management import CommandError, call_command
from django.db import transaction
from django.test import Client
from django.utils import timezone

from accounts import first_admin, invitations, projects, roles
from accounts.errors import Forbidden, NotFound
from accounts.invitations import InvitationUnusable
from accounts.models import AuditEntry, FirstAdminLink, Invitation, Membership, User
from tests.accounts.conftest import sign_in
from tests.cases import each_case
from tests.fixtures import PASSWORD, signed_in
from tests.rivals import at_once

Action = AuditEntry.Action
NEW = {"username": "zoe", "password1": "seventeen quiet otters", "password2": "seventeen quiet otters"}


def opened(token):
    """A visitor's browser in which the link was opened."""
    visitor = Client()
    assert visitor.get(f"/invitations/{token}/")["Location"].split("?")[0] == "/sign-up/"
    return visitor


def test_the_link_leads_to_an_account_with_the_role_and_a_place_in_the_project(admin, project, entries_of):
    place = {"project": project, "project_role": "watcher", "email": "zoe@lab.example"}
    for name, email, verified in (("zoe", "zoe@lab.example", True), ("eve", "eve@evil.example", False)):
        invitation, token = invitations.invite(by=admin, role="curator", **place)
        stored = str([*Invitation.objects.values(), *AuditEntry.objects.values()])
        assert token not in stored, "only its hash is kept"
        opened(token)
        sent = {**NEW, "username": name, "email": email}
        assert opened(token).post("/sign-up/", sent).status_code == 302, "looking does not use it up"

        person = User.objects.get(username=name)
        assert (person.role, person.is_staff) == ("curator", False)
        invitation.refresh_from_db()
        assert invitation.accepted_by == person
        [address] = EmailAddress.objects.filter(user=person)
        assert (address.email, address.verified) == (email, verified)
        assert Membership.objects.get(project=project, user=person).role == "watcher"
        assert entries_of(Action.MEMBER_CHANGED)[-1].detail == {"person": name, "before": None, "after": "watcher"}
        assert entries_of(Action.INVITED)[-1].detail == {"role": "curator", "project": "Solar"}
        came = entries_of(Action.SIGNED_UP)[-1]
        assert (came.actor, came.detail["invited_by"]) == (name, "ada")


@each_case(
    ("said", "void"),
    {
        "has been used": lambda rows, _admin: rows.update(accepted=timezone.now()),
        "was revoked": lambda rows, admin: invitations.revoke(rows.get(), by=admin),
        "has expired": lambda rows, _admin: rows.update(expires=timezone.now() - timedelta(seconds=1)),
        "may no longer invite": lambda _rows, admin: roles.change_role(admin, "researcher", by=admin),
        "not a valid invitation of this lab": lambda rows, _admin: rows.delete(),
    }.items(),
)
def test_a_link_that_lets_nobody_in_says_why_and_makes_no_account(admin, said, void):
    User.objects.create_user("other", role="admin")
    invitation, token = invitations.invite(by=admin, role="researcher")
    slow = opened(token)
    void(Invitation.objects.filter(pk=invitation.pk), admin)

    answer = Client().get(f"/invitations/{token}/")

    assert (answer.status_code, said in answer.content.decode()) == (410, True)
    for browser in (Client(), slow):
        assert browser.post("/sign-up/", NEW).status_code == 200
    assert not User.objects.filter(username="zoe").exists()


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_two_who_use_a_link_at_once_one_becomes_administrator_and_of_two_who_accept_one_comes_in():
    token = first_admin.new_token()
    people = [User(username=name, password="x") for name in ("ada", "eve")]
    given = at_once(*(partial(first_admin.create, person, token) for person in people), refused=NotFound)
    assert [type(error) for error in given if error] == [NotFound]
    admin = User.objects.get()

    invitation, _token = invitations.invite(by=admin, role="researcher")

    def accept(name):
        with transaction.atomic():
            person = User.objects.create(username=name)
            invitations.accept(Invitation.objects.select_related("invited_by", "project").get(pk=invitation.pk), person)

    given = at_once(*(lambda name=name: accept(name) for name in ("one", "other")), refused=InvitationUnusable)

    assert [type(error) for error in given if error] == [InvitationUnusable]
    [person] = User.objects.exclude(pk=admin.pk)
    assert Invitation.objects.get().accepted_by == person


def test_where_the_lab_allows_it_a_lead_invites_into_the_project_to_roles_below(settings, admin, alice, bob, project):
    settings.SIGNUP = "invite"
    projects.set_member(project, bob, "member", by=alice)
    others = projects.create(by=bob, name="Wind")

    for role in ("researcher", "reviewer"):
        invitations.invite(by=alice, role=role, project=project)
    for by, role, place in (
        (alice, "curator", project),
        (alice, "admin", project),
        (alice, "researcher", others),
        (alice, "researcher", None),
        (bob, "researcher", project),
    ):
        with pytest.raises(Forbidden):
            invitations.invite(by=by, role=role, project=place)

    settings.SIGNUP = "closed"
    with pytest.raises(Forbidden):
        invitations.invite(by=alice, role="researcher", project=project)
    invitations.invite(by=admin, role="researcher", project=project)
    assert Invitation.objects.count() == 3


def test_somebody_of_the_lab_takes_the_place_in_a_project_and_uses_up_nothing_else(admin, alice, bob, project):
    into_the_project, token = invitations.invite(by=admin, role="admin", project=project)
    _, into_the_lab = invitations.invite(by=admin, role="researcher")
    browser = signed_in(bob)
    assert browser.get(f"/invitations/{token}/").status_code == 200
    assert signed_in(alice).post(f"/invitations/{token}/").status_code == 410, "she is in it"
    assert browser.post(f"/invitations/{into_the_lab}/").status_code == 410
    assert Invitation.objects.open().count() == 2

    browser.post(f"/invitations/{token}/")

    bob.refresh_from_db()
    assert (project.memberships.get(user=bob).role, bob.role) == ("member", "researcher")
    into_the_project.refresh_from_db()
    assert into_the_project.accepted_by == bob


def test_the_page_shows_the_link_once_and_mails_it_where_there_is_a_mail_server(settings, admins, monkeypatch):
    for has_mail in (False, True):
        settings.HAS_MAIL = has_mail

        page = admins.post("/people/", {"email": "zoe@lab.example", "role": "reviewer"}).content.decode()

        link = page.partition('value="http://testserver')[2].partition('"')[0]
        assert invitations.find(link.split("/")[2]).email == "zoe@lab.example"
        assert link not in admins.get("/people/").content.decode()
        assert [letter.to for letter in mail.outbox] == [["zoe@lab.example"]] * has_mail
        assert all(f"http://testserver{link}" in letter.body for letter in mail.outbox)
        assert ("sent to zoe@lab.example" in page) == has_mail

    mail.outbox.clear()
    for address in ("a@b.example\nBcc: c@d.example", "a@b.example\r\n\r\nHello", "a@b.example,c@d.example"):
        admins.post("/people/", {"email": address, "role": "reviewer"})
    assert mail.outbox == [], "no address adds to a letter"

    def is_away(_backend, _letters):
        raise ConnectionRefusedError

    monkeypatch.setattr("django.core.mail.backends.locmem.EmailBackend.send_messages", is_away)
    page = admins.post("/people/", {"email": "mia@lab.example", "role": "reviewer"}).content.decode()
    assert "It could not be e-mailed" in page
    assert Invitation.objects.open().exclude(email="zoe@lab.example").count() == 1


ADA = NEW | {"username": "ada"}


@each_case("signup", ["none", "mandatory"])
def test_the_link_creates_an_administrator_signs_in_and_is_recorded(settings, entries_of, db, signup):
    settings.ACCOUNT_EMAIL_VERIFICATION = signup
    visitor, link = Client(), first_admin.PATH.format(first_admin.new_token())
    assert link.split("/")[-2] not in str(list(FirstAdminLink.objects.values())), "it is stored as a hash"
    assert visitor.get(link).status_code == visitor.get(link).status_code == 200  # looking does not use it up
    for password in ("short", "ada-administrator", "password2026!"):
        answer = visitor.post(link, ADA | {"password1": password, "password2": password})
        assert answer.context["form"].errors["password2"]
    assert not User.objects.exists()

    assert visitor.post(link, ADA).status_code == 302

    ada = User.objects.get()
    assert (ada.username, ada.is_admin, ada.is_staff, ada.is_superuser) == ("ada", True, True, True)
    assert visitor.get("/people/").status_code == 200
    [joined] = entries_of(AuditEntry.Action.SIGNED_UP)
    assert (joined.actor, joined.address) == ("ada", "127.0.0.1")
    assert joined.detail == {"role": "admin", "first_admin_link": True}
    assert Client().get(link).status_code == Client().post(link, ADA | {"username": "eve"}).status_code == 404
    assert first_admin.new_token() is None


def test_a_link_that_is_forged_expired_or_replaced_creates_nothing_and_says_where_to_find_one(visitor):
    def expired():
        FirstAdminLink.objects.update(expires=timezone.now() - timedelta(seconds=1))

    for forged, happens in (("x", bool), ("", expired), ("", first_admin.new_token)):
        link = first_admin.PATH.format(first_admin.new_token() + forged)
        happens()
        answer = visitor.post(link, ADA)
        assert (answer.status_code, "first_admin_link" in answer.content.decode()) == (404, True), happens
    assert not User.objects.exists()


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
    assert visitor.post(setting, {name: ADA[name] for name in ("password1", "password2")}).status_code == 302
    assert sign_in(visitor, "ada", ADA["password1"])["Location"] == "/"
    assert visitor.get("/people/").status_code == 200
    [recovered, changed] = entries_of(AuditEntry.Action.PASSWORD_CHANGED)
    assert recovered.detail == {"by_command": True, "factors": 2, "sessions": 1, "reactivated": True}
    assert (recovered.actor, recovered.target, changed.actor) == ("", f"user:{admin.pk}", "ada")
    assert Client().get(f"/{path}", follow=True).context["token_fail"]  # the link works once
