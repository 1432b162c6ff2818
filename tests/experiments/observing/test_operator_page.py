"""What administrators see of what is going on, on the page and over the API, and who reads the figures."""

import json
import time
from datetime import datetime, timedelta
from unittest.mock import Mock

import django_rq
import pytest
from django.core.cache import caches
from django.db import connection
from django.db.utils import OperationalError
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rq import Worker as RqWorker

from accounts.scopes import Scope
from accounts.tokens import create_token
from experiments.engine import leases
from experiments.engine.limit_scripts import TELL
from experiments.lab.observing import counting
from experiments.models import Call, Provider, Run
from tests.fixtures import Worker, signed_in, wait_until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("nothing_counted")]


@pytest.fixture
def ask(admin, client):
    token = create_token(admin)

    def answer():
        caches["memory"].clear()
        return client.get("/api/operator/", headers={"Authorization": f"Bearer {token}"}).json()

    return answer


def row(rows, **named):
    [found] = [one for one in rows if named.items() <= one.items()]
    return found


def test_a_quiet_lab_is_shown_as_one_takes_a_token_of_the_scope_and_is_fetched_again_without_its_frame(
    admin, ask, client
):
    found = ask()
    page, part = (signed_in(admin).get(path) for path in ("/operator/", "/operator/now/"))

    assert found["database_up"] is found["redis_up"] is True
    none = dict.fromkeys(("queued", "running", "waiting", "stopping"), 0)
    assert row(found["runs"], workflow="arena") == {"workflow": "arena", **none}
    assert found["leases"] == {"held": 0, "ending": 0, "ended": 0}
    assert found["oldest_queued_seconds"] == 0
    assert found["failures"] == found["calls"] == found["workers"] == found["limits"] == []
    assert found["spent_today"] == {"cost": "0.0000000000", "calls": 0, "unpriced": 0}
    assert len(found["hours"]) == 24
    shown, fetched = page.content.decode(), part.content.decode()
    assert "There is no worker" in shown
    assert "No call failed within the last hour." in shown
    assert "no-store" in part["Cache-Control"]
    assert "<html" not in fetched
    for name in ("head", "runs", "queues", "workers", "failures", "hours", "machines"):
        assert shown.count(f'data-part="{name}"') == fetched.count(f'data-part="{name}"') == 1
    reads = create_token(admin, scopes=[Scope.READ])
    assert client.get("/api/operator/", headers={"Authorization": f"Bearer {reads}"}).status_code == 403


@pytest.mark.databases
def test_what_waits_what_is_driven_and_what_nobody_drives_any_more(arena, start, ask):
    queued, driven, silent, soon = (start(arena(max_turns=1)) for _ in range(4))
    for run in (driven, silent, soon):
        leases.claim(run.pk, lambda event: None)
    Run.objects.filter(pk=silent.pk).update(lease_until=timezone.now() - timedelta(minutes=1))
    Run.objects.filter(pk=soon.pk).update(lease_until=timezone.now() + timedelta(seconds=3))
    Run.objects.filter(pk=queued.pk).update(created=timezone.now() - timedelta(minutes=2))
    found = ask()

    assert found["leases"] == {"held": 2, "ending": 1, "ended": 1}
    assert row(found["runs"], workflow="arena")["queued"] == 1
    assert row(found["runs"], workflow="arena")["running"] == 3
    assert row(found["queues"], name="engine")["waits"] == 1
    assert 115 < found["oldest_queued_seconds"] < 600


@pytest.mark.databases
def test_what_failed_within_the_last_hour_and_what_it_cost_in_as_many_queries_as_without(
    admin, arena, start, drive, scripted, ask
):
    browser = signed_in(admin)

    def queries():
        caches["memory"].clear()
        with CaptureQueriesContext(connection) as asked:
            browser.get("/operator/")
        return len(asked)

    queries()
    few = queries()
    start(arena(scripted.model("scripted/fails", 401), max_turns=1))
    start(arena(max_turns=1))
    drive()
    found = ask()

    assert {"provider": "scripted", "kind": "bad_key", "count": 1} in found["failures"]
    assert found["hours"][-1]["failed"] + found["hours"][-2]["failed"] == 1
    assert found["spent_today"]["calls"] == sum(hour["calls"] for hour in found["hours"]) > 3
    assert found["disk"]["free"] > 0
    assert found["machines"]["database"] == {"sqlite": "SQLite", "postgresql": "PostgreSQL"}[connection.vendor]
    assert found["machines"]["database_size"] > 0
    assert found["machines"]["redis_memory"] > 0

    start(arena(max_turns=1))
    assert queries() == few
    Call.objects.update(sent=timezone.now() - timedelta(hours=25))
    found = ask()
    assert found["failures"] == []
    assert {hour["calls"] for hour in found["hours"]} == {0}


def test_what_is_asked_of_a_model_is_shown_beside_its_limits(admin, ask):
    lab = Provider.objects.create(name="lab", base_url="http://localhost/v1")
    use = {"id": "7", "provider": "lab", "model": "one", "held": 3, "waits": 0, "closed": 90_000}
    use |= {"limit": 10, "requests": 60, "tokens": 0, "booked": [[int(time.time()), 40, 9000]]}
    told = {"process": "a", "epoch": None, "leaves": False, "dead": [], "models": [use]}
    counting.connect().eval(TELL, 0, json.dumps(told))
    [found] = ask()["limits"]

    until = datetime.fromisoformat(found.pop("closed_until"))
    assert timedelta(seconds=60) < until - timezone.now() <= timedelta(seconds=90)
    of_minute = {"requests": 40, "requests_limit": 60, "tokens": None, "tokens_limit": None}
    assert found == {"provider": "lab", "model": "one", "used": 3, "limit": 10, "waiting": 0, **of_minute}
    for address in ("/operator/", lab.get_absolute_url()):
        page = signed_in(admin).get(address).content.decode()
        assert "<td>3 of 10</td>" in page
        assert "40 of 60" in page


@pytest.mark.system
def test_a_worker_is_seen_and_heard_of_in_the_middle_of_a_long_job(ask):
    """RQ's beat is minutes old by then."""
    with Worker() as worker:
        pid = worker.process.pid
        [found] = wait_until(
            lambda: [one for one in ask()["workers"] if one["pid"] == pid and one["runs"] is not None],
            "the worker to say how many runs it drives",
        )
        assert (found["queues"], found["runs"], found["is_silent"]) == (["engine"], 0, False)
        assert found["host"]
        [theirs] = [one for one in RqWorker.all(connection=django_rq.get_connection("engine")) if one.pid == pid]
        old_beat = (theirs.key, "last_heartbeat", "2020-01-01T00:00:00.000000Z")
        theirs.connection.hset(*old_beat)
        assert not row(ask()["workers"], pid=pid)["is_silent"]
    theirs.connection.hset(*old_beat)  # a job that began meanwhile has made a new one
    counting.connect().delete(*counting.connect().scan_iter(f"{counting.PROCESS}:*"))
    assert row(ask()["workers"], pid=pid)["is_silent"]


@pytest.fixture
def token(settings):
    settings.METRICS_TOKEN = "scrape-me-0123456789abcdef"
    return settings.METRICS_TOKEN


def asked(token="", scheme="Bearer"):
    return Client().get("/metrics", headers={"Authorization": f"{scheme} {token}"} if token else {})


def test_whoever_shows_the_token_reads_them_and_without_it_only_administrators(token, alice, admin, settings):
    answer = asked(token)
    assert b"arena_database_up 1.0" in answer.content
    assert answer["Content-Type"].startswith("text/plain")
    assert "no-store" in answer["Cache-Control"]

    for shown in ("", token[:-1], token + "x", "ünï", create_token(alice)):
        assert asked(shown).status_code == 404, shown
    assert asked(token, "Basic").status_code == 404
    assert signed_in(alice).get("/metrics").status_code == 404
    assert signed_in(admin).get("/metrics").status_code == 200
    assert signed_in(admin).post("/metrics").status_code == 405

    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 404


def test_without_redis_or_a_database_the_rest_is_told_as_a_figure_and_on_the_operators_page(token, admin, redis_server):
    browser = signed_in(admin)
    redis_server.stop()
    try:
        text, page = asked(token).content.decode(), browser.get("/operator/").content.decode()
    finally:
        redis_server.start()
    assert "arena_redis_up 0.0" in text
    assert "arena_database_up 1.0" in text
    assert "arena_runs{" in text
    assert "arena_calls_total{" not in text
    assert "Redis is not responding." in page
    assert "Unknown while Redis is away." in page
    assert "SQLite" in page or "PostgreSQL" in page

    caches["memory"].clear()
    with connection.execute_wrapper(Mock(side_effect=OperationalError("the database is away"))):
        answer = asked(token)
    assert answer.status_code == 200
    assert b"arena_database_up 0.0" in answer.content
    assert b"arena_redis_up 1.0" in answer.content
    assert b"arena_runs{" not in answer.content


def test_a_scrape_asks_the_database_little_and_not_again_at_once(token, django_assert_max_num_queries):
    for shown in (token, ""):
        with django_assert_max_num_queries(12):
            for _ in range(5):
                asked(shown)
