"""Tokens, people, invitations, projects and the audit log over HTTP."""

from datetime import timedelta

import pytest
from django.utils import timezone

from accounts import projects
from accounts.models import ApiToken, Invitation, Membership, User
from accounts.tokens import create_token
from tests.experiments.api.conftest import Api


@pytest.fixture
def admin(db):
    return User.objects.create_user("ada", "ada@lab.example", role=User.Role.ADMIN)


@pytest.fixture
def admins(admin):
    return Api(create_token(admin))


def test_a_token_makes_another_one_that_may_less_and_is_revoked_by_its_owner_alone(api, charlies, alice, is_problem):
    made = api.post("tokens/", {"name": "reader", "days": 5, "scopes": ["read"]})
    said = made.json()
    assert (made.status_code, said["scopes"], said["last_used"]) == (201, ["read"], None)
    assert Api(said["token"]).get("runs/").status_code == 200
    assert said["token"] not in api.get("tokens/").content.decode()
    assert {one["name"] for one in api.get("tokens/").json()["results"]} == {"script", "reader"}

    path = f"tokens/{ApiToken.objects.get(name='reader').token_key}/"
    assert charlies.delete(path).status_code == 404
    assert api.get(path).json()["name"] == "reader"
    assert api.delete(path).status_code == 204
    assert Api(said["token"]).get("runs/").status_code == 401

    narrow, count = Api(create_token(alice, scopes=["read", "admin"], days=2)), ApiToken.objects.count()
    is_problem(narrow.post("tokens/", {"name": "x", "scopes": ["read", "spend"]}), 403, "cannot grant", "spend")
    assert ApiToken.objects.count() == count
    narrow.post("tokens/", {"name": "x", "days": 365, "scopes": ["read"]})
    assert ApiToken.objects.get(name="x").expiry - timezone.now() <= timedelta(days=2), "none outlives it"


def test_administrators_invite_and_find_people_and_decide_on_them_but_the_last_one_stays(
    admins, admin, api, charlie, is_problem
):
    [found] = admins.get("people/", search="char").json()["results"]
    path = f"people/{found['id']}/"

    assert admins.patch(path, {"role": "reviewer"}).json()["role"] == "reviewer"
    assert admins.post(f"{path}deactivate/").json()["is_active"] is False
    assert admins.post(f"{path}reactivate/").json()["is_active"] is True
    assert admins.post(f"{path}factors/remove/").json()["has_factor"] is False
    told = admins.get("audit/", target=f"user:{charlie.pk}").json()["results"]
    assert [one["action"] for one in told] == ["person_reactivated", "person_deactivated", "role_changed"]
    is_problem(admins.patch(f"people/{admin.pk}/", {"role": "reviewer"}), 409, "last administrator")

    made = admins.post("invitations/", {"role": "reviewer", "email": "rita@lab.example"}).json()
    assert "/invitations/" in made["address"]
    [shown] = admins.get("invitations/").json()["results"]
    assert "address" not in shown
    assert (shown["id"], api.get("invitations/").json()["results"]) == (made["id"], [])
    assert api.delete(f"invitations/{made['id']}/").status_code == 404
    assert admins.delete(f"invitations/{made['id']}/").status_code == 204
    assert Invitation.objects.open().count() == 0


@pytest.fixture
def project(alice):
    return projects.create(by=alice, name="Solar villages")


def test_a_project_is_made_changed_archived_and_taken_up_again_and_its_lead_who_stays_places_members(
    api, charlies, project, alice, charlie, is_problem
):
    made = api.post("projects/", {"name": "Wind"}).json()
    path = f"projects/{made['id']}/"

    assert api.patch(path, {"description": "Of the north."}).json()["name"] == "Wind"
    assert api.patch(path, {"archived": True}).json()["archived"] is True
    assert api.patch(path, {"archived": False}).json()["archived"] is False
    assert {one["name"] for one in api.get("projects/").json()["results"]} == {"Wind", "Solar villages"}
    is_problem(api.post("projects/", {"name": "Wind"}), 400, "name")
    is_problem(api.patch(path, {"name": "Solar villages"}), 409, "with this name")

    path = f"projects/{project.pk}/members/"
    assert api.post(path, {"username": "charlie", "role": "watcher"}).json()["role"] == "watcher"
    assert [one["username"] for one in charlies.get(path).json()["results"]] == ["alice", "charlie"]
    is_problem(charlies.post(path, {"username": "charlie", "role": "lead"}), 403, "leads")
    assert api.patch(f"{path}{charlie.pk}/", {"role": "member"}).json()["role"] == "member"
    assert charlies.delete(f"{path}{charlie.pk}/").status_code == 204
    is_problem(api.delete(f"{path}{alice.pk}/"), 409, "needs a lead")
    is_problem(api.post(path, {"username": "nobody"}), 400, "username")
    assert Membership.objects.get(project=project).user == alice


@pytest.mark.databases
def test_the_audit_record_is_read_by_deed_person_and_day(admins, api, project):
    [entry] = admins.get("audit/", action="project_created", person="alice").json()["results"]
    today = timezone.now().date()

    assert (entry["actor"], entry["name"], entry["target"]) == ("alice", "Solar villages", f"project:{project.pk}")
    assert admins.get("audit/", target="Solar", since=today.isoformat()).json()["results"] == [entry]
    assert admins.get("audit/", until=(today - timedelta(days=1)).isoformat()).json()["results"] == []
    assert admins.get("audit/", since="yesterday").status_code == 400
