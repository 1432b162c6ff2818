"""The pages of admins about people, and the Django admin, which does the same."""

from accounts import inviting, projects
from accounts.models import AuditEntry, User
from tests.cases import each_case
from tests.fixtures import signed_in

Action = AuditEntry.Action


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


@each_case(
    ("query", "names"), [("search=BOB", {"bob"}), ("role=admin", {"ada"}), ("search=%00", {"ada", "alice", "bob"})]
)
def test_people_are_found(admins, alice, bob, query, names):
    assert {person.username for person in admins.get(f"/people/?{query}").context["page"]} == names


def test_a_role_is_changed_and_somebody_deactivated_and_activated(admins, alice):
    for path, sent, expected in (
        ("role", {"role": "curator"}, ("curator", True)),
        ("deactivate", {}, ("curator", False)),
        ("reactivate", {}, ("curator", True)),
    ):
        admins.post(f"/people/{alice.pk}/{path}/", sent)
        alice.refresh_from_db()
        assert (alice.role, alice.is_active) == expected


def test_what_the_verbs_refuse_is_said_on_the_page(admins, admin):
    person = f"/people/{admin.pk}"
    assert "no such role" in admins.post(f"{person}/role/", {"role": "king"}, follow=True).content.decode()
    assert "last administrator" in admins.post(f"{person}/deactivate/", follow=True).content.decode()


def test_whoever_gives_their_own_role_away_lands_on_their_account(admins, admin):
    User.objects.create_user("other", role="admin")

    answer = admins.post(f"/people/{admin.pk}/role/", {"role": "researcher"}, follow=True)

    assert answer.redirect_chain[-1] == ("/account/", 302)


def test_an_invitation_is_taken_back_on_the_page_once(admins, admin, entries_of):
    invitation, _ = inviting.invite(by=admin, role="reviewer", email="zoe@lab.example")
    assert "zoe@lab.example" in admins.get("/people/").content.decode()

    for _ in range(2):
        admins.post(f"/invitations/{invitation.pk}/revoke/")

    assert "zoe@lab.example" not in admins.get("/people/").content.decode()
    assert len(entries_of(Action.INVITATION_REVOKED)) == 1


FIELDS = {"first_name": "", "last_name": "", "email": "", "language": ""}


def test_the_django_admin_changes_people_by_the_same_verbs(admins, alice, entries_of):
    elsewhere = signed_in(alice)

    admins.post(f"/admin/accounts/user/{alice.pk}/change/", {"username": "alice", "role": "admin", **FIELDS})

    alice.refresh_from_db()
    assert (alice.role, alice.is_superuser, alice.is_active) == ("admin", True, False)
    assert elsewhere.get("/account/").status_code == 302
    assert entries_of(Action.ROLE_CHANGED)[0].actor == entries_of(Action.PERSON_DEACTIVATED)[0].actor == "ada"


def test_the_django_admin_keeps_the_last_admin(admins, admin):
    sent = {"username": "ada", "role": "reviewer", **FIELDS}

    page = admins.post(f"/admin/accounts/user/{admin.pk}/change/", sent, follow=True).content.decode()

    admin.refresh_from_db()
    assert admin.is_admin
    assert "last administrator" in page


def test_the_django_admin_changes_no_record_and_shows_no_secret(admins, admin):
    projects.create(by=admin, name="Solar")
    inviting.invite(by=admin, role="reviewer")

    for model in ("auditentry", "project", "invitation"):
        assert admins.get(f"/admin/accounts/{model}/").status_code == 200
        assert admins.get(f"/admin/accounts/{model}/add/").status_code == 403
    for model in ("mfa/authenticator", "socialaccount/socialapp", "socialaccount/socialtoken"):
        assert admins.get(f"/admin/{model}/").status_code == 404


def test_the_django_admin_makes_an_admin_whole(admins, entries_of):
    sent = {"username": "eva", "email": "", "role": "admin", "usable_password": "true"}
    admins.post(
        "/admin/accounts/user/add/", {**sent, "password1": "quiet otters swim", "password2": "quiet otters swim"}
    )

    eva = User.objects.get(username="eva")
    assert (eva.is_staff, eva.is_superuser) == (True, True)
    assert (entries_of(Action.SIGNED_UP)[0].actor, entries_of(Action.SIGNED_UP)[0].name) == ("ada", "eva")
