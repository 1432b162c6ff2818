"""Who may ask: people with a token or a session that holds, whose role and scopes allow it; and who makes them so."""

import json
from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts import projects
from accounts.authentication import SocketAuthentication
from accounts.models import ApiToken, AuditEntry, Invitation, Membership, User
from accounts.permissions import HasScope, scope_of
from accounts.tokens import create_token
from tests.cases import each_case
from tests.experiments.api.conftest import Api
from tests.experiments.api.handlers import handlers


@each_case(
    "header",
    [None, "Bearer wrong", "Bearer a b", "Bearer alab_" + "0" * 64, "Bearer \xff\xfe", "Basic YWxpY2U6cGFzc3dvcmQ="],
)
def test_without_a_token_or_with_none_that_holds_nothing_opens_not_even_beside_a_session(
    nobodys, alice, body, counts, is_problem, header
):
    nobodys.headers, before = {"Authorization": header} if header else {}, counts()
    answer = nobodys.get("runs/")
    is_problem(answer, 401, *(() if header else ("credentials",)))
    assert answer["WWW-Authenticate"] == "Bearer"
    is_problem(nobodys.post("experiments/", body), 401)
    assert counts() == before

    if header and header.startswith("Bearer "):
        nobodys.client.force_login(alice)
        is_problem(nobodys.get("runs/"), 401)


def test_a_token_is_stored_as_a_hash_with_its_scopes_its_days_and_its_last_use(alice):
    token = create_token(alice, days=3)

    row = ApiToken.objects.get(user=alice)
    assert token.startswith("alab_")
    assert not any(token in str(value) for value in vars(row).values())
    assert timedelta(days=2.9) < row.expiry - timezone.now() < timedelta(days=3.1)
    assert row.scopes == ["read", "write", "spend", "review", "admin"], "as no others were asked for"
    ApiToken.objects.update(last_used=timezone.now() - timedelta(days=1), last_address="192.0.2.1")
    Api(token).get("runs/")
    used = ApiToken.objects.get()
    assert used.expiry == row.expiry, "using it does not prolong it"
    assert timezone.now() - used.last_used < timedelta(minutes=1)
    assert used.last_address == "127.0.0.1"
    Api(token).get("runs/")
    assert ApiToken.objects.get().last_used == used.last_used, "known to the minute"
    assert Api(token[:-1]).get("runs/").status_code == 401
    User.objects.filter(pk=alice.pk).update(is_active=False)
    assert Api(token).get("runs/").status_code == 401


def test_a_session_opens_what_a_token_does_with_its_csrf_token_until_its_owner_is_deactivated(
    alice, body, counts, is_problem
):
    browser, strict = Client(), Client(enforce_csrf_checks=True)
    for one in (browser, strict):
        one.force_login(alice)
    before = counts()

    is_problem(strict.post("/api/experiments/", json.dumps(body), "application/json"), 403, "CSRF")
    assert counts() == before
    response = browser.post("/api/experiments/", json.dumps(body), "application/json")
    assert response.status_code == 201
    assert browser.get(f"/api/experiments/{response.json()['id']}/").status_code == 200
    User.objects.filter(pk=alice.pk).update(is_active=False)
    is_problem(browser.get("/api/runs/"), 401)


def limited(person, *scopes, **more):
    return Api(create_token(person, scopes=scopes, **more))


def test_every_view_asks_for_a_scope_and_every_handler_that_changes_something_for_its_own():
    changing = [one for one in handlers() if one.changes]
    nobodys = {one.name for one in handlers() if HasScope not in one.view.permission_classes}

    assert nobodys == {"api-health", "compat-health", "api-schema", "api-docs"}, "nobody is asked who they are"
    assert len(changing) >= 50
    assert [one for one in changing if not (getattr(one.does, "scope", None) or scope_of(one.view, one.method))] == []


def test_a_refusal_names_the_scope_that_is_needed_and_is_in_the_audit_record(alice, charlie, arena, is_problem):
    cache.clear()  # a refusal is written down once a minute

    response = limited(alice, "write").get("runs/")

    said = is_problem(response, 403, "lacks the scope", "read")
    assert "account page" in said["detail"]
    assert response["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="read"'
    assert AuditEntry.objects.filter(action="rights_refused", name="GET /api/runs/").exists()
    assert limited(alice, "read").get("runs/").status_code == 200
    assert limited(charlie, "spend").post(f"experiments/{arena().pk}/start/").status_code == 404, "it is not theirs"
    assert limited(alice, "read").send("DELETE", "models/").status_code == 405, "that is told first"
    is_problem(limited(alice, "write").get("ladders/"), 403, "read")
    assert Client().get("/api/ladders/").status_code == 200


def test_starting_and_managing_keys_need_a_scope_of_their_own_and_a_role(
    alice, arena, body, counts, is_problem, nobody_is_woken
):
    path, before = f"experiments/{arena().pk}/start/", counts()
    spender, writer = limited(alice, "spend"), limited(alice, "write")
    User.objects.filter(pk=alice.pk).update(role=User.Role.REVIEWER)
    is_problem(writer.post("experiments/", body), 403, "role")
    is_problem(spender.post(path), 403, "role")
    User.objects.filter(pk=alice.pk).update(role=User.Role.RESEARCHER)
    is_problem(limited(alice, "read", "write").post(path), 403, "spend")
    is_problem(limited(alice, "read", "spend").post("experiments/", body), 403, "write")
    assert (counts(), nobody_is_woken) == (before, [])

    assert spender.post(path).status_code == 201
    assert writer.post("experiments/", body).status_code == 201
    for method, managed in (("POST", "keys/"), ("PUT", "budgets/"), ("POST", "webhooks/")):
        is_problem(limited(alice, "read", "write", "spend", "review").send(method, managed), 403, "admin")


@pytest.mark.django_db(transaction=True)
async def test_a_socket_opens_to_a_token_that_may_read(alice):
    met = []

    async def inner(scope, receive, send):
        met.append(scope["user"])

    for scopes in (["read"], ["spend"]):
        token = await sync_to_async(create_token)(alice, scopes=scopes)
        headers = [(b"authorization", f"Bearer {token}".encode())]
        await SocketAuthentication(inner)({"type": "websocket", "headers": headers}, None, None)

    assert met == [alice, AnonymousUser()]


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


def test_a_project_is_made_changed_archived_and_taken_up_again_and_its_lead_who_stays_places_members(
    api, charlies, alice, charlie, is_problem
):
    project = projects.create(by=alice, name="Solar villages")
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
def test_the_audit_record_is_read_by_deed_person_and_day(admins, alice):
    project = projects.create(by=alice, name="Solar villages")
    [entry] = admins.get("audit/", action="project_created", person="alice").json()["results"]
    today = timezone.now().date()

    assert (entry["actor"], entry["name"], entry["target"]) == ("alice", "Solar villages", f"project:{project.pk}")
    assert admins.get("audit/", target="Solar", since=today.isoformat()).json()["results"] == [entry]
    assert admins.get("audit/", until=(today - timedelta(days=1)).isoformat()).json()["results"] == []
    assert admins.get("audit/", since="yesterday").status_code == 400
