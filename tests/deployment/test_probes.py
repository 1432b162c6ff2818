"""What balancers and service managers ask."""

import pytest
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

from arenasite import probes

FORWARDED = {"HTTP_HOST": "10.1.2.3:8000"}  # a balancer asks by address, and over plain HTTP


def test_a_process_that_answers_is_alive_whatever_became_of_the_database(client, settings):
    settings.SECURE_SSL_REDIRECT = True

    response = client.get("/healthz", **FORWARDED)  # a test without `db`: a query would fail it

    assert (response.status_code, response.content) == (200, b"ok\n")
    assert response["Cache-Control"] == "no-store"


@pytest.mark.system
@pytest.mark.django_db
def test_it_is_ready_when_redis_answers_and_the_database_lacks_no_migration(client, redis_server, settings):
    settings.SECURE_SSL_REDIRECT = True
    MigrationRecorder(connection).record_applied("experiments", "9999_of_tomorrow")

    response = client.get("/readyz", **FORWARDED)
    assert (response.status_code, response.content) == (200, b"ok\n")
    assert not client.cookies

    redis_server.stop()
    try:
        response = client.get("/readyz", **FORWARDED)
    finally:
        redis_server.start()
    assert response.status_code == 503
    assert response.content.startswith(b"Redis does not answer (")
    assert settings.REDIS_URL.encode() not in response.content

    MigrationRecorder(connection).migration_qs.filter(app="experiments", name__lt="9").latest("name").delete()
    response = client.get("/readyz", **FORWARDED)
    assert response.status_code == 503
    assert b"lacks 1 migrations" in response.content


@pytest.mark.django_db
def test_it_is_not_ready_while_it_is_being_stopped_and_serves_whoever_is_there(client):
    probes.begin_draining()
    try:
        response = client.get("/readyz")
        assert (response.status_code, client.get("/healthz").status_code) == (503, 200)
        assert b"being stopped" in response.content
        assert client.get("/leaderboard/").status_code == 200
        assert [client.post(path).status_code for path in ("/healthz", "/readyz")] == [405, 405]
    finally:
        probes._draining.clear()
