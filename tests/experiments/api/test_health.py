"""The health of the platform: whether each part that a run needs answers."""

import os
import time
from datetime import timedelta

import django_rq
import pytest
from django.utils.dateparse import parse_datetime
from rq import SimpleWorker

from experiments.engine.jobs import QUEUE
from experiments.lab.health import KEPT_LONGER
from experiments.models import Provider
from experiments.tasks import clock


@pytest.fixture
def worker(redis_server):
    worker = SimpleWorker([django_rq.get_queue(QUEUE)], connection=django_rq.get_connection(QUEUE))
    worker.register_birth()
    yield worker
    worker.register_death()


def test_it_is_ok_while_every_part_answers_and_names_one_that_is_restarted_or_a_worker_long_silent(
    nobodys, provider, worker, settings, tmp_path
):
    response = nobodys.get("health/")

    report = response.json()
    assert (response.status_code, report["status"]) == (200, "ok")
    assert set(report["services"]) == {"database", "redis", "workers", "providers", "machine"}
    assert all(part["ok"] and part["detail"] for part in report["services"].values())
    assert parse_datetime(report["time"]) is not None

    settings.MISSING_PARTS_FILE = tmp_path / "missing-parts"
    settings.MISSING_PARTS_FILE.write_text(f"{os.getppid()}\nsandbox ended with exit code 1, 3 times in a row")
    report = nobodys.get("health/").json()
    assert (report["status"], report["services"]["parts"]["ok"]) == ("down", False)
    assert report["services"]["parts"]["detail"].startswith("sandbox")
    settings.MISSING_PARTS_FILE.write_text("0\nsandbox ended with exit code 1")  # of another supervisor
    assert nobodys.get("health/").json()["status"] == "ok"

    redis = django_rq.get_connection(QUEUE)
    for off in (-3600, 3600):
        wrong = time.strftime("%Y-%m-%dT%H:%M:%S.000000Z", time.gmtime(time.time() + off))
        redis.hset(worker.key, "last_heartbeat", wrong)
        assert nobodys.get("health/").json()["services"]["workers"] == {"ok": True, "detail": "1 at work"}

    redis.expire(worker.key, KEPT_LONGER - 5)

    assert nobodys.get("health/").json()["services"]["workers"]["ok"] is False


@pytest.mark.system
def test_without_redis_or_a_worker_it_is_down_and_answers_soon_and_tells_nobody_an_address_or_a_key(
    nobodys, provider, redis_server, monkeypatch
):
    redis_server.stop()
    try:
        began = time.monotonic()
        response = nobodys.get("health/")
        seconds = time.monotonic() - began
    finally:
        redis_server.start()

    services = response.json()["services"]
    assert response.status_code == 503
    assert services["redis"]["ok"] is False
    assert "Redis does not answer" in services["redis"]["detail"]
    assert services["workers"] == {"ok": False, "detail": "unknown while Redis is away"}
    assert services["database"]["ok"]
    assert seconds < 30, "it would wait for Redis for ever"

    response = nobodys.get("health/")
    services = response.json()["services"]
    assert (response.status_code, response.json()["status"]) == (503, "down")
    assert services["workers"] == {"ok": False, "detail": "no worker: start one with `manage.py up`"}
    assert services["redis"] == {"ok": True, "detail": "answers"}, "it is back"
    assert services["providers"] == {"ok": True, "detail": "simulated"}

    monkeypatch.setenv("A_KEY_OF_SOMEBODY", "sk-very-secret")
    Provider.objects.create(name="keyed", base_url="https://secret.example.org/v1", api_key_env="A_KEY_OF_SOMEBODY")
    nobodys.headers = {"Authorization": "Bearer wrong"}

    text = nobodys.get("health/").content.decode()

    assert "keyed" in text
    assert not any(secret in text for secret in ("sk-very-secret", "secret.example.org", str(redis_server.socket)))


def test_without_a_provider_that_can_be_asked_it_is_down_and_a_wrong_clock_is_told(nobodys, monkeypatch):
    monkeypatch.delenv("A_KEY_OF_NOBODY", raising=False)
    Provider.objects.create(name="keyless", base_url="https://api.example.org/v1", api_key_env="A_KEY_OF_NOBODY")
    Provider.objects.create(name="off", base_url="https://api.example.org/v1", is_active=False)
    right = clock.read
    for off in (-3600, 3600):
        monkeypatch.setattr(clock, "read", lambda off=off: right() - timedelta(seconds=off))
        services = nobodys.get("health/").json()["services"]
        assert (services["machine"]["ok"], "3600 seconds" in services["machine"]["detail"]) == (True, True)
    assert services["providers"] == {"ok": False, "detail": "none: add one with `manage.py add_provider`"}
