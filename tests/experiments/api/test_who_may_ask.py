"""Who may ask: people with a token or a session that holds, whose role allows what they ask for."""

import json
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, User
from accounts.tokens import create_token
from tests.cases import each_case

pytestmark = pytest.mark.django_db

READS = ["models/", "experiments/", "runs/"]


@each_case("path", READS)
def test_nobody_reads_anything(nobodys, is_problem, path):
    response = nobodys.get(path)

    is_problem(response, 401, "credentials")
    assert response["WWW-Authenticate"] == "Bearer"


def test_nobody_creates_anything(nobodys, body, counts, is_problem):
    before = counts()

    is_problem(nobodys.post("experiments/", body), 401)

    assert counts() == before


@each_case(
    "header",
    [
        "Bearer wrong",
        "Bearer",
        "Bearer a b",
        "Bearer alab_" + "0" * 64,
        "Bearer \xff\xfe",
        "Bearer a\x00b",
        "Basic YWxpY2U6cGFzc3dvcmQ=",
        "Token abc",
    ],
    ids=ascii,
)
def test_a_token_that_is_none_opens_nothing(nobodys, is_problem, header):
    nobodys.headers = {"Authorization": header}

    is_problem(nobodys.get("runs/"), 401)


@each_case("cut", [1, 10, 40])
def test_a_part_of_a_token_opens_nothing(api, is_problem, cut):
    api.headers = {"Authorization": api.headers["Authorization"][:-cut]}

    is_problem(api.get("runs/"), 401)


def test_a_token_that_has_expired_opens_nothing(api, alice, is_problem):
    ApiToken.objects.filter(user=alice).update(expiry=timezone.now() - timedelta(seconds=1))

    is_problem(api.get("runs/"), 401)


def test_a_token_is_valid_for_the_days_asked_for(alice):
    create_token(alice, days=3)

    expiry = ApiToken.objects.get(user=alice).expiry
    assert timedelta(days=2.9) < expiry - timezone.now() < timedelta(days=3.1)


def test_a_token_is_stored_as_a_hash_alone(alice):
    token = create_token(alice, name="script")

    row = ApiToken.objects.get(user=alice)
    assert token.startswith("alab_")
    assert not any(token in str(value) for value in vars(row).values())


def test_using_a_token_does_not_prolong_it(api, alice):
    before = ApiToken.objects.get(user=alice).expiry
    api.get("runs/")

    assert ApiToken.objects.get(user=alice).expiry == before


def test_a_token_is_void_as_soon_as_it_is_revoked(api, alice, is_problem):
    assert api.get("runs/").status_code == 200
    ApiToken.objects.filter(user=alice).delete()

    is_problem(api.get("runs/"), 401)


def test_a_token_is_void_as_soon_as_its_owner_is_deactivated(api, alice, is_problem):
    User.objects.filter(pk=alice.pk).update(is_active=False)

    is_problem(api.get("runs/"), 401, "inactive")


def test_a_session_is_void_as_soon_as_its_owner_is_deactivated(alice, is_problem):
    browser = Client()
    browser.force_login(alice)
    assert browser.get("/api/runs/").status_code == 200
    User.objects.filter(pk=alice.pk).update(is_active=False)

    is_problem(browser.get("/api/runs/"), 401)


def test_a_session_opens_what_a_token_does(alice, body):
    browser = Client()
    browser.force_login(alice)

    response = browser.post("/api/experiments/", json.dumps(body), "application/json")
    assert response.status_code == 201
    assert browser.get(f"/api/experiments/{response.json()['id']}/").status_code == 200


def test_a_session_needs_its_csrf_token_to_change_anything(alice, body, counts, is_problem):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice)
    before = counts()

    is_problem(browser.post("/api/experiments/", json.dumps(body), "application/json"), 403, "CSRF")

    assert counts() == before


def test_a_wrong_token_is_not_healed_by_a_session(alice, is_problem):
    browser = Client()
    browser.force_login(alice)

    is_problem(browser.get("/api/runs/", headers={"Authorization": "Bearer wrong"}), 401)


def test_a_reviewer_may_not_create_experiments(api, alice, body, counts, is_problem):
    User.objects.filter(pk=alice.pk).update(role=User.Role.REVIEWER)
    before = counts()

    is_problem(api.post("experiments/", body), 403, "role")

    assert counts() == before


def test_a_reviewer_may_not_start_experiments_of_former_days(api, alice, arena, counts, is_problem, nobody_is_woken):
    experiment = arena()
    User.objects.filter(pk=alice.pk).update(role=User.Role.REVIEWER)
    before = counts()

    is_problem(api.post(f"experiments/{experiment.pk}/start/"), 403, "role")

    assert (counts(), nobody_is_woken) == (before, [])


def test_a_reviewer_still_reads_what_is_theirs(api, alice, arena):
    experiment = arena()
    User.objects.filter(pk=alice.pk).update(role=User.Role.REVIEWER)

    assert api.get(f"experiments/{experiment.pk}/").status_code == 200


@each_case("role", [User.Role.RESEARCHER, User.Role.CURATOR, User.Role.ADMIN])
def test_other_roles_may_create_and_start(api, alice, body, role):
    User.objects.filter(pk=alice.pk).update(role=role)

    created = api.post("experiments/", body)
    assert created.status_code == 201
    assert api.post(f"experiments/{created.json()['id']}/start/").status_code == 201
