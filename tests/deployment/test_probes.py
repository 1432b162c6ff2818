"""What balancers and service managers ask."""

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from arenasite import draining
from experiments.models import Run

FORWARDED = {"HTTP_HOST": "10.1.2.3:8000"}  # a balancer asks by address, and over plain HTTP


@pytest.fixture
def drained():
    draining.begin()
    yield
    draining.forget()


def test_a_process_that_answers_is_alive_whatever_became_of_the_database(client, settings):
    settings.SECURE_SSL_REDIRECT = True

    response = client.get("/healthz", **FORWARDED)  # a test without `db`: a query would fail it

    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response["Cache-Control"] == "no-store"


@pytest.mark.databases
@pytest.mark.django_db
def test_it_is_ready_when_the_database_is_migrated_and_redis_answers(client, settings):
    settings.SECURE_SSL_REDIRECT = True

    response = client.get("/readyz", **FORWARDED)

    assert (response.status_code, response.content) == (200, b"ok\n")


@pytest.mark.databases
@pytest.mark.django_db
def test_it_is_not_ready_while_the_database_lacks_a_migration(client):
    last = MigrationRecorder(connection).migration_qs.filter(app="experiments").order_by("name").last()
    last.delete()

    response = client.get("/readyz")

    assert response.status_code == 503
    assert response.content == b"The database lacks 1 migrations: run `manage.py migrate`.\n"


@pytest.mark.django_db
def test_a_database_that_a_newer_version_has_migrated_is_no_obstacle(client):
    MigrationRecorder(connection).record_applied("experiments", "9999_of_tomorrow")

    assert client.get("/readyz").status_code == 200


@pytest.mark.system
@pytest.mark.django_db
def test_it_is_not_ready_without_redis_and_says_no_address(client, redis_server, settings):
    redis_server.stop()
    try:
        response = client.get("/readyz")
    finally:
        redis_server.start()

    assert response.status_code == 503
    assert response.content.startswith(b"Redis does not answer (")
    assert settings.REDIS_URL.encode() not in response.content


@pytest.mark.django_db
def test_it_is_not_ready_while_it_is_being_stopped_and_serves_whoever_is_there(client, drained):
    response = client.get("/readyz")

    assert (response.status_code, client.get("/healthz").status_code) == (503, 200)
    assert b"being stopped" in response.content
    assert client.get("/leaderboard/").status_code == 200


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_nothing_can_be_sent_to_them(client, path):
    assert client.post(path).status_code == 405


@pytest.mark.django_db
def test_they_leave_no_trace(client):
    client.get("/healthz")
    client.get("/readyz")

    assert not client.cookies
    assert Run.objects.count() == 0
