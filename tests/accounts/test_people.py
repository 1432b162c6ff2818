"""Roles, who may come in at all, and projects: who decides on them, by verbs and on the pages."""

from functools import partial

import pytest
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.test import Client

from accounts import invitations, projects, roles
from accounts.errors import Conflict, Forbidden
from accounts.models import ApiToken, AuditEntry, Membership, Project, User
from accounts.tokens import create_token
from tests.accounts.conftest import is_in, sign_in
from tests.fixtures import PASSWORD, signed_in
from tests.rivals import at_once

Action = AuditEntry.Action


def test_everybody_is_listed_and_found_in_few_queries(admins, alice, bob, app_of, django_assert_max_num_queries):
    def found(query):
        return {person.username for person in admins.get(f"/people/?{query}").context["page"]}

    assert (found("search=BOB"), found("role=admin")) == ({"bob"}, {"ada"})
    assert found("search=%00") == {"ada", "alice", "bob"}
    app_of(alice)
    projects.create(by=bob, name="Solar")
    User.objects.create_user("gone", is_active=False)

    page = admins.get("/people/").content.decode()

    for word in ("alice", "bob@lab.example", "Solar", "deactivated", "ada"):
        assert word in page
    assert page.count("<td>yes</td>") == 1

    for number in range(40):
        projects.create(by=User.objects.create_user(f"p{number}"), name=f"project {number}")
    with django_assert_max_num_queries(12):
        admins.get("/people/")


def test_pages_change_roles_deactivate_and_activate_and_say_what_is_refused(admins, admin, alice, entries_of):
    for path, sent, *expected in (
        ("role", {"role": "admin"}, "admin", True, True),
        ("role", {"role": "admin"}, "admin", True, True),
        ("role", {"role": "curator"}, "curator", False, True),
        ("deactivate", {}, "curator", False, False),
        ("reactivate", {}, "curator", False, True),
    ):
        admins.post(f"/people/{alice.pk}/{path}/", sent)
        alice.refresh_from_db()
        assert [alice.role, alice.is_superuser, alice.is_active] == expected
        assert alice.is_staff == alice.is_superuser, "to Django too"
    first, second = entries_of(Action.ROLE_CHANGED)  # the same role again is no change
    assert (first.actor, first.target, first.name) == ("ada", f"user:{alice.pk}", "alice")
    assert first.detail == {"before": "researcher", "after": "admin"}
    assert second.detail == {"before": "admin", "after": "curator"}

    own = f"/people/{admin.pk}"
    assert "no such role" in admins.post(f"{own}/role/", {"role": "king"}, follow=True).content.decode()
    assert "last administrator" in admins.post(f"{own}/deactivate/", follow=True).content.decode()

    invitation, _ = invitations.invite(by=admin, role="reviewer", email="zoe@lab.example")
    assert entries_of(Action.INVITED)[0].detail == {"role": "reviewer", "project": None}
    assert "zoe@lab.example" in admins.get("/people/").content.decode()
    for _ in range(2):
        admins.post(f"/invitations/{invitation.pk}/revoke/")
    assert "zoe@lab.example" not in admins.get("/people/").content.decode()
    assert len(entries_of(Action.INVITATION_REVOKED)) == 1

    User.objects.create_user("other", role="admin")
    answer = admins.post(f"{own}/role/", {"role": "researcher"}, follow=True)
    assert answer.redirect_chain[-1] == ("/account/", 302), "who gives the own role away"


FIELDS = {"first_name": "", "last_name": "", "email": "", "language": ""}


def test_the_django_admin_makes_and_changes_people_by_the_same_verbs_and_no_record(admins, admin, alice, entries_of):
    elsewhere, people = signed_in(alice), "/admin/accounts/user"
    words = {"password1": "quiet otters swim", "password2": "quiet otters swim", "usable_password": "true"}

    admins.post(f"{people}/{alice.pk}/password/", words)
    assert not is_in(elsewhere)
    elsewhere = Client()
    assert sign_in(elsewhere, "alice", "quiet otters swim").status_code == 302
    admins.post(f"{people}/{alice.pk}/change/", {"username": "alice", "role": "admin", **FIELDS})
    alice.refresh_from_db()
    assert (alice.role, alice.is_superuser, alice.is_active) == ("admin", True, False)
    assert not is_in(elsewhere)

    projects.create(by=admin, name="Solar")
    invitations.invite(by=admin, role="reviewer")
    kept = {"username": "ada", "role": "reviewer", **FIELDS}
    page = admins.post(f"{people}/{admin.pk}/change/", kept, follow=True).content.decode()
    admin.refresh_from_db()
    assert (admin.is_admin, "last administrator" in page) == (True, True)

    admins.post(f"{people}/add/", {"username": "eva", "email": "", "role": "admin", **words})
    eva = User.objects.get(username="eva")
    assert (eva.is_staff, eva.is_superuser) == (True, True)
    recorded = (Action.PASSWORD_CHANGED, Action.ROLE_CHANGED, Action.PERSON_DEACTIVATED, Action.SIGNED_UP)
    entries = [entries_of(one)[0] for one in recorded]
    assert [(one.actor, one.name) for one in entries] == [*[("ada", "alice")] * 3, ("ada", "eva")]
    for model in ("auditentry", "project", "invitation"):
        assert admins.get(f"/admin/accounts/{model}/").status_code == 200
        assert admins.get(f"/admin/accounts/{model}/add/").status_code == 403
    for model in ("mfa/authenticator", "socialaccount/socialapp", "socialaccount/socialtoken"):
        assert admins.get(f"/admin/{model}/").status_code == 404, "it holds a secret"


def test_only_an_active_admin_decides_on_people_and_the_last_one_stays(admin, alice, bob):
    User.objects.create_user("old", role="admin", is_active=False)
    gone = User(pk=admin.pk, username="ada", role="admin", is_active=False)
    for verb in (lambda who, by: roles.change_role(who, "curator", by=by), roles.deactivate):
        for by in (bob, gone):
            with pytest.raises(Forbidden):
                verb(alice, by=by)
        with pytest.raises(Conflict):
            verb(admin, by=admin)
    admin.refresh_from_db()
    assert admin.is_admin


@pytest.mark.databases
@pytest.mark.django_db(transaction=True)
def test_of_two_admins_and_of_two_leads_of_a_project_who_go_at_once_one_stays(alice):
    one, other = (User.objects.create_user(name, role="admin") for name in ("one", "other"))
    bob = User.objects.create_user("bob")
    project = projects.create(by=alice, name="Solar")
    projects.set_member(project, bob, "lead", by=alice)

    going = [partial(roles.change_role, who, "reviewer", by=by) for who, by in ((one, other), (other, one))]
    leaving = [partial(projects.remove_member, project, who, by=who) for who in (alice, bob)]
    for both in (going, leaving):
        given = at_once(*both, refused=Conflict)
        assert [type(error) for error in given if error] == [Conflict], both

    assert User.objects.filter(role="admin", is_active=True).count() == 1
    assert project.memberships.count() == 1


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


def role_of(project, person):
    return getattr(Membership.objects.filter(project=project, user=person).first(), "role", None)


def test_whoever_makes_one_leads_it_and_invites_where_the_lab_allows_it(alice, project, entries_of, settings, browser):
    assert role_of(project, alice) == "lead"
    assert entries_of(Action.PROJECT_CREATED)[0].target == f"project:{project.pk}"

    reviewer = User.objects.create_user("rita", role="reviewer")
    with pytest.raises(Forbidden):
        projects.create(by=reviewer, name="Wind")
    assert signed_in(reviewer).post("/projects/new/", {"name": "Wind"}).status_code == 403

    sent = {"role": "researcher", "project_role": "member"}
    assert browser.post(f"{project.get_absolute_url()}invite/", sent).status_code == 403

    settings.SIGNUP = "invite"
    page = browser.post(f"{project.get_absolute_url()}invite/", sent).content.decode()

    assert "http://testserver/invitations/" in page
    assert browser.post(f"{project.get_absolute_url()}invite/", {**sent, "role": "admin"}).status_code == 200
    assert project.invitation_set.count() == 1


def test_a_lead_does_it_all_on_the_pages_and_the_last_one_stays(browser, alice, bob, admin, entries_of):
    projects.create(by=bob, name="Wind")
    made = browser.post("/projects/new/", {"name": "Solar", "description": "Panels"})["Location"]
    for path, sent, said in (
        ("members/", {"username": "nobody", "role": "member"}, "No person in the lab has this name"),
        ("members/", {"username": "bob", "role": "king"}, "king"),
        ("change/", {"name": "Wind"}, "with this name"),
    ):
        answer = browser.post(f"{made}{path}", sent)
        assert (answer.status_code, said in answer.content.decode()) == (200, True), said
    browser.post(f"{made}members/", {"username": "bob", "role": "watcher"})
    for _ in range(2):
        browser.post(f"{made}members/{bob.pk}/", {"role": "member"})
    project = Project.objects.get(name="Solar")
    with pytest.raises(Forbidden):
        projects.remove_member(project, alice, by=bob)
    assert ["Add a person" in one.get(made).content.decode() for one in (browser, signed_in(bob))] == [True, False]
    mine = browser.get("/projects/").content.decode()
    assert [words in mine for words in ("Solar", '<td class="number">2</td>', "Wind")] == [True, True, False]

    projects.remove_member(project, bob, by=bob)
    steps = [(entry.detail["before"], entry.detail["after"]) for entry in entries_of(Action.MEMBER_CHANGED)]
    assert steps == [(None, "watcher"), ("watcher", "member"), ("member", None)]
    Membership.objects.create(project=project, user=User.objects.create_user("old", is_active=False), role="lead")
    for change in (projects.remove_member, partial(projects.set_member, role="member")):
        with pytest.raises(Conflict):
            change(project, alice, by=alice)
    answer = browser.post(f"{made}members/{alice.pk}/", {"role": ""}, follow=True)
    assert ("needs a lead" in answer.content.decode(), role_of(project, alice)) == (True, "lead")

    browser.post(f"{made}members/", {"username": "bob", "role": "lead"})
    browser.post(f"{made}change/", {"name": "Solar 2", "description": ""})
    browser.post(f"{made}archive/", {"archived": "1"})
    project.refresh_from_db()
    assert (role_of(project, bob), project.name, project.archived) == ("lead", "Solar 2", True)

    browser.post(f"{made}archive/")
    left = browser.post(f"{made}members/{alice.pk}/", {"role": ""}, follow=True)
    assert left.redirect_chain[-1][0] == "/projects/"
    assert role_of(project, alice) is None

    User.objects.filter(pk=bob.pk).update(is_active=False)
    projects.set_member(project, alice, "lead", by=admin)
    assert role_of(project, alice) == "lead", "an administrator helps where the leads are gone"
    assert signed_in(admin).get(made).status_code == 200
