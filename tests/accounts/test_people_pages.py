"""The pages of admins about people, and the Django admin, which does the same."""

import pytest

from accounts import inviting, projects
from accounts.models import AuditEntry, User
from tests.fixtures import signed_in

Action = AuditEntry.Action


@pytest.mark.parametrize("path", ["/people/", "/people/{pk}/", "/audit/", "/audit/audit.csv"])
def test_to_everybody_else_there_are_no_such_pages(browser, visitor, reviewer, alice, path):
    path = path.format(pk=alice.pk)

    assert browser.get(path).status_code == 404
    assert signed_in(reviewer).get(path).status_code == 404
    assert visitor.get(path)["Location"].startswith("/sign-in/")
    assert path not in browser.get("/account/").content.decode()


@pytest.mark.parametrize("deed", ["role", "deactivate", "reactivate", "factors"])
def test_nor_deeds(browser, bob, deed):
    assert browser.post(f"/people/{bob.pk}/{deed}/", {"role": "admin"}).status_code == 404
    bob.refresh_from_db()
    assert (bob.role, bob.is_active) == ("researcher", True)


def test_everybody_is_listed_with_what_matters(admins, alice, bob, app_of):
    app_of(alice)
    projects.create(by=bob, name="Solar")
    User.objects.create_user("gone", is_active=False)

    page = admins.get("/people/").content.decode()

    for word in ("alice", "bob@lab.example", "Solar", "deactivated", "ada"):
        assert word in page
    assert page.count("<td>yes</td>") == 1


def test_the_list_costs_the_same_for_many(admins, django_assert_max_num_queries):
    for number in range(40):
        person = User.objects.create_user(f"p{number}")
        projects.create(by=person, name=f"project {number}")

    with django_assert_max_num_queries(12):
        admins.get("/people/")


@pytest.mark.parametrize(("query", "names"), [("search=BOB", {"bob"}), ("role=admin", {"ada"}), ("search=%00", set())])
def test_people_are_found(admins, alice, bob, query, names):
    page = admins.get(f"/people/?{query}").context["page"]

    assert names <= {person.username for person in page}
    assert len(page) == len(names) or query == "search=%00"


def test_a_role_is_changed_and_somebody_deactivated_and_activated(admins, alice):
    admins.post(f"/people/{alice.pk}/role/", {"role": "curator"})
    admins.post(f"/people/{alice.pk}/deactivate/")
    alice.refresh_from_db()
    assert (alice.role, alice.is_active) == ("curator", False)

    page = admins.post(f"/people/{alice.pk}/reactivate/", follow=True).content.decode()
    assert "Active again." in page


def test_a_role_that_does_not_exist_is_said(admins, alice):
    assert "no such role" in admins.post(f"/people/{alice.pk}/role/", {"role": "king"}, follow=True).content.decode()


def test_the_last_admin_is_told(admins, admin):
    for deed, sent in {"role": {"role": "reviewer"}, "deactivate": {}}.items():
        page = admins.post(f"/people/{admin.pk}/{deed}/", sent, follow=True).content.decode()
        assert "last administrator" in page


def test_whoever_gives_their_own_role_away_lands_on_their_account(admins, admin):
    User.objects.create_user("other", role="admin")

    answer = admins.post(f"/people/{admin.pk}/role/", {"role": "researcher"}, follow=True)

    assert answer.redirect_chain[-1] == ("/account/", 302)


def test_an_invitation_is_taken_back_on_the_page(admins, admin):
    invitation, _ = inviting.invite(by=admin, role="reviewer", email="zoe@lab.example")
    assert "zoe@lab.example" in admins.get("/people/").content.decode()

    admins.post(f"/invitations/{invitation.pk}/revoke/")

    assert "zoe@lab.example" not in admins.get("/people/").content.decode()


FIELDS = {"first_name": "", "last_name": "", "email": "", "language": ""}


def test_the_django_admin_changes_people_by_the_same_verbs(admins, alice, deeds):
    elsewhere = signed_in(alice)

    admins.post(f"/admin/accounts/user/{alice.pk}/change/", {"username": "alice", "role": "admin", **FIELDS})

    alice.refresh_from_db()
    assert (alice.role, alice.is_superuser, alice.is_active) == ("admin", True, False)
    assert elsewhere.get("/account/").status_code == 302
    assert deeds(Action.ROLE_CHANGED)[0].actor == deeds(Action.PERSON_DEACTIVATED)[0].actor == "ada"


def test_the_django_admin_keeps_the_last_admin(admins, admin):
    sent = {"username": "ada", "role": "reviewer", **FIELDS}

    page = admins.post(f"/admin/accounts/user/{admin.pk}/change/", sent, follow=True).content.decode()

    admin.refresh_from_db()
    assert admin.is_admin
    assert "last administrator" in page


def test_the_django_admin_makes_an_admin_whole(admins, deeds):
    sent = {"username": "eva", "email": "", "role": "admin", "usable_password": "true"}
    admins.post(
        "/admin/accounts/user/add/", {**sent, "password1": "quiet otters swim", "password2": "quiet otters swim"}
    )

    eva = User.objects.get(username="eva")
    assert (eva.is_staff, eva.is_superuser) == (True, True)
    assert (deeds(Action.SIGNED_UP)[0].actor, deeds(Action.SIGNED_UP)[0].name) == ("ada", "eva")


@pytest.mark.parametrize("model", ["auditentry", "project", "invitation"])
def test_the_record_is_read_in_the_django_admin_and_not_changed(admins, admin, model):
    projects.create(by=admin, name="Solar")
    inviting.invite(by=admin, role="reviewer")

    assert admins.get(f"/admin/accounts/{model}/").status_code == 200
    assert admins.get(f"/admin/accounts/{model}/add/").status_code == 403


@pytest.mark.parametrize("model", ["mfa/authenticator", "socialaccount/socialapp", "socialaccount/socialtoken"])
def test_secrets_of_sign_ins_are_not_in_the_django_admin(admins, model):
    assert admins.get(f"/admin/{model}/").status_code == 404
