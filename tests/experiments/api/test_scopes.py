"""What a token may be used for, and when it was."""

from datetime import timedelta

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from accounts.models import ApiToken, AuditEntry
from accounts.permissions import HasScope, scope_of
from accounts.sockets import SocketAuthentication
from accounts.tokens import create_token
from tests.cases import each_case
from tests.experiments.api.conftest import Api
from tests.experiments.api.handlers import handlers

pytestmark = pytest.mark.django_db

OPEN = {"api-health", "compat-health", "api-schema", "api-docs"}  # nobody is asked who they are


def limited(person, *scopes, **more):
    return Api(create_token(person, scopes=scopes, **more))


def test_every_view_asks_for_a_scope():
    unguarded = {one.name for one in handlers() if HasScope not in one.view.permission_classes}

    assert unguarded == OPEN


def test_every_handler_that_changes_something_says_which_scope_it_needs():
    changing = [one for one in handlers() if one.changes]
    silent = [one for one in changing if not (getattr(one.does, "scope", None) or scope_of(one.view, one.method))]

    assert len(changing) >= 50
    assert silent == []


def test_reading_needs_the_scope_to_read(alice, is_problem):
    said = is_problem(limited(alice, "write").get("runs/"), 403, "lacks the scope", "read")

    assert "account page" in said["detail"]
    assert limited(alice, "read").get("runs/").status_code == 200


def test_a_refusal_names_the_scope_to_programs_and_is_in_the_audit_record(alice):
    cache.clear()  # a refusal is written down once a minute

    response = limited(alice, "write").get("runs/")

    assert response["WWW-Authenticate"] == 'Bearer error="insufficient_scope", scope="read"'
    assert AuditEntry.objects.filter(action="rights_refused", name="GET /api/runs/").exists()


def test_starting_needs_the_scope_to_spend(alice, arena, counts, is_problem, nobody_is_woken):
    experiment = arena()
    before = counts()

    is_problem(limited(alice, "read", "write").post(f"experiments/{experiment.pk}/start/"), 403, "spend")

    assert (counts(), nobody_is_woken) == (before, [])
    assert limited(alice, "spend").post(f"experiments/{experiment.pk}/start/").status_code == 201


def test_setting_up_needs_the_scope_to_write_and_spends_nothing(alice, body, is_problem):
    is_problem(limited(alice, "read", "spend").post("experiments/", body), 403, "write")

    assert limited(alice, "write").post("experiments/", body).status_code == 201


@each_case("path", ["keys/", "budgets/", "webhooks/"])
def test_keys_budgets_and_webhooks_need_the_scope_of_managing(alice, is_problem, path):
    method = "PUT" if path == "budgets/" else "POST"

    is_problem(limited(alice, "read", "write", "spend", "review").send(method, path), 403, "admin")


def test_what_is_public_is_not_public_to_a_token_that_may_not_read(alice, is_problem):
    is_problem(limited(alice, "write").get("ladders/"), 403, "read")

    assert Client().get("/api/ladders/").status_code == 200


def test_a_scope_gives_no_right_that_its_person_lacks(charlie, arena):
    assert limited(charlie, "spend").post(f"experiments/{arena().pk}/start/").status_code == 404


def test_a_method_that_there_is_not_is_told_before_a_scope_is_missed(alice):
    assert limited(alice, "read").send("DELETE", "models/").status_code == 405


def test_a_session_needs_no_scope(alice, body):
    browser = Client()
    browser.force_login(alice)

    assert browser.post("/api/experiments/", body, content_type="application/json").status_code == 201


def test_tokens_made_before_there_were_scopes_may_do_everything(alice):
    create_token(alice)

    assert ApiToken.objects.get().scopes == ["read", "write", "spend", "review", "admin"]


def test_its_last_use_is_known_to_the_minute_with_the_address(alice):
    script = limited(alice, "read")
    assert ApiToken.objects.get().last_used is None

    script.get("runs/")

    used = ApiToken.objects.get()
    assert timezone.now() - used.last_used < timedelta(minutes=1)
    assert used.last_address == "127.0.0.1"
    script.get("runs/")
    assert ApiToken.objects.get().last_used == used.last_used


def test_a_use_of_another_day_replaces_the_one_before(alice):
    script = limited(alice, "read")
    ApiToken.objects.update(last_used=timezone.now() - timedelta(days=1), last_address="192.0.2.1")

    script.get("runs/")

    assert ApiToken.objects.get().last_address == "127.0.0.1"


@pytest.mark.parametrize(("scopes", "is_known"), [(["read"], True), (["spend"], False)])
@pytest.mark.django_db(transaction=True)
async def test_a_socket_opens_to_a_token_that_may_read(alice, scopes, is_known):
    met = []

    async def inner(scope, receive, send):
        met.append(scope["user"])

    token = await sync_to_async(create_token)(alice, scopes=scopes)
    await SocketAuthentication(inner)(
        {"type": "websocket", "headers": [(b"authorization", f"Bearer {token}".encode())]}, None, None
    )

    assert met == ([alice] if is_known else [AnonymousUser()])
