"""`manage.py up` starts or says why it does not, restarts what dies, ends without a remainder, and is updated."""

import contextlib
import json
import os
import re
import signal
import sqlite3
import urllib.request
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import redis
from django.conf import settings

from experiments.lab.observing import counting
from experiments.models import Run
from experiments.runs import actions
from tests.arenasite.platforms import Platform, free_port, manage, with_tables
from tests.arenasite.serving import is_answered
from tests.fixtures import wait_until
from tests.parts.simulated import running

pytestmark = pytest.mark.system

WEB, WORKERS = 2, 2
PROCESSES = 9  # the supervisor, Redis, the provider, two web servers, two workers, those of reports and of the sandbox
BROKEN = """
import os, runpy, signal, sys

def breaking(run):
    def instead(what, **options):
        if any("ReportsWorker" in word for word in sys.argv):
            sys.exit("broken on purpose")
        if what == "arenasite.server" and os.path.exists(os.environ["FROZEN"]):
            os.kill(os.getpid(), signal.SIGSTOP)
        return run(what, **options)
    return instead

runpy.run_path, runpy.run_module = breaking(runpy.run_path), breaking(runpy.run_module)
"""


@pytest.fixture
def start(tmp_path) -> Iterator[Callable[..., Platform]]:
    """Starts platforms that are gone after the test, whatever happens in it."""
    started: list[Platform] = []

    def begin(*arguments: str, **options) -> Platform:
        started.append(Platform(options.pop("data", tmp_path / "data"), *arguments, **options))
        return started[-1]

    yield begin
    for platform in started:
        platform.process.kill()
        platform.process.wait()


@pytest.fixture(scope="module")
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    """Shared by the tests up to the one that ends it: each leaves it well."""
    started = Platform(tmp_path_factory.mktemp("platform") / "data", "--web", str(WEB), is_new=True)
    try:
        started.wait_until_ready()
        wait_until(lambda: len(started.all_pids()) == PROCESSES, "every process")
        yield started
    finally:
        started.process.kill()
        started.process.wait()


def freeze(platform, *parts):
    for part in parts:
        for pid in platform.pids(part):
            os.kill(pid, signal.SIGSTOP)


def test_it_serves_when_it_says_so_with_simulated_models_and_a_link_to_its_first_administrator(platform):
    with urllib.request.urlopen(f"http://localhost:{platform.port}/api/health/") as answer:
        assert answer.status == 200
    assert f"Data      {platform.data}\n" in platform.output
    assert f"Logs      {platform.data}/logs\n" in platform.output
    logs = {"web.log", "web-2.log", "worker-1.log", "redis.log", "simulated.log"}
    assert logs <= set(os.listdir(platform.data / "logs"))
    children = set(platform.all_pids()) - {platform.process.pid}
    assert all(os.getpgid(pid) != os.getpgid(platform.process.pid) for pid in children), "a terminal interrupts one"

    with sqlite3.connect(platform.data / "arena.sqlite3") as database:
        models = database.execute(
            "SELECT slug, is_tool FROM experiments_providermodel m JOIN experiments_provider p ON p.id = provider_id"
            " WHERE m.is_active AND p.is_active AND is_simulated AND EXISTS"
            " (SELECT 1 FROM experiments_modelprice WHERE model_id = m.id)"
        ).fetchall()
    assert {("sim/cooperative", 0), ("sim/judge", 1), ("sim/filter", 1)} <= set(models)
    assert "Models:   simulated provider (no real model is asked)\n" in platform.output
    [link] = re.findall(rf"http://localhost:{platform.port}/first-administrator/\S+", platform.output)
    with urllib.request.urlopen(link) as answer:
        assert answer.status == 200
    assert "password" not in platform.output

    client = redis.Redis(unix_socket_path=str(platform.data / "run" / "redis.sock"), decode_responses=True)

    def heard_of():
        told = client.mget(client.keys(f"{counting.PROCESS}:*"))
        return {json.loads(one)["pid"] for one in told if one}

    processes = set(platform.pids("worker") + platform.pids("reports"))
    assert len(processes) == WORKERS + 1
    wait_until(lambda: processes <= heard_of(), "the figures of each of them")


def test_a_database_that_cannot_be_used_or_is_damaged_is_said_with_what_to_do_about_it(tmp_path):
    away = f"postgres://x@/y?host={tmp_path}"
    ended = manage("up", "--port", str(free_port()), ARENA_DATA=str(tmp_path / "data"), DATABASE_URL=away)
    assert ended.returncode == 1
    assert ended.stderr.startswith("The database cannot be used:")
    assert "Traceback" not in ended.stderr

    (tmp_path / "arena.sqlite3").write_bytes(b"SQLite format 3\0" + b"\x07" * 5000)
    ended = manage("up", "--port", str(free_port()), ARENA_DATA=str(tmp_path))
    assert ended.returncode == 1
    assert str(tmp_path / "arena.sqlite3") in ended.stderr
    assert "manage.py restore" in ended.stderr


def test_killed_parts_are_started_again_with_the_port_they_had_and_what_was_queued_in_redis(platform):
    port = platform.data / "run" / "simulated.port"
    before = port.read_text().strip()
    killed = {part: min(platform.pids(part)) for part in ("worker", "simulated")}

    for pid in killed.values():
        os.kill(pid, signal.SIGKILL)

    wait_until(lambda: all(is_replaced(platform, *one) for one in killed.items()), "other processes")
    for name in ("worker-1", "simulated"):
        assert f"{name} was killed by SIGKILL; it is restarted in 0.2 s." in platform.output
    wait_until(lambda: platform.health()["status"] == "ok", "the platform to be well")
    wait_until(lambda: is_answered(f"http://127.0.0.1:{before}/v1/models"), "the models at the port they had")
    assert port.read_text().strip() == before

    client = redis.Redis(unix_socket_path=str(platform.data / "run" / "redis.sock"))
    wait_until(lambda: is_registered(platform), "both workers to wait for work")
    workers, [killed_redis] = platform.pids("worker"), platform.pids("redis")
    client.rpush("rq:queue:elsewhere", *range(500))
    wait_until(lambda: client.info("persistence")["aof_buffer_length"] == 0, "a busy disk")

    os.kill(killed_redis, signal.SIGKILL)

    wait_until(lambda: is_replaced(platform, "redis", killed_redis) and answers(client), "another Redis")
    assert client.llen("rq:queue:elsewhere") == 500
    wait_until(lambda: platform.health()["status"] == "ok", "the platform to be well")
    assert platform.pids("worker") == workers, "they live on"


def is_replaced(platform, part, killed):
    pids = platform.pids(part)
    return killed not in pids and len(pids) == {"worker": WORKERS, "web": WEB}.get(part, 1)


def is_registered(platform):
    """Whether every worker has come as far as waiting for work."""
    client = redis.Redis(unix_socket_path=str(platform.data / "run" / "redis.sock"), decode_responses=True)
    names = [f"rq:worker:{key.rpartition(':')[2]}" for key in client.smembers("rq:workers")]
    known = {client.hget(name, "pid") for name in names if client.hget(name, "state") in ("idle", "busy")}
    return len(platform.pids("worker")) == WORKERS and {str(pid) for pid in platform.pids("worker")} <= known


def answers(client):
    try:
        return bool(client.ping())
    except (redis.ConnectionError, redis.BusyLoadingError):
        return False


@pytest.mark.django_db(transaction=True)
def test_a_run_completes_beside_broken_and_frozen_parts(start, tmp_path, arena, alice, woken_runs):
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    frozen = tmp_path / "frozen"
    frozen.touch()

    [run] = actions.start(arena(max_turns=1), by=alice)
    database = f"sqlite:///{settings.DATABASES['default']['NAME']}"

    broken = {"PYTHONPATH": str(tmp_path), "FROZEN": str(frozen)}
    platform = start(ARENA_START_SECONDS="5", DATABASE_URL=database, ARENA_DRAIN_SECONDS="1", **broken)
    wait_until(lambda: "web was killed by SIGKILL" in platform.output, "the five seconds of the web server")
    wait_until(lambda: Run.objects.get(pk=run.pk).state == Run.State.COMPLETED, "the run to complete")
    assert "Ready" not in platform.output
    frozen.unlink()
    for pid in platform.pids("web"):
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: "Ready" in platform.output, "the web server")
    wait_until(lambda: "reports ended" in platform.health()["services"]["parts"]["detail"], "it to be told")
    ended = re.compile(r"reports ended .* in ([0-9.]+) s\.")
    wait_until(lambda: len(ended.findall(platform.output)) > 5, "six of its ends")
    pauses = [float(pause) for pause in ended.findall(platform.output)]
    assert pauses == sorted(pauses)
    assert pauses[-1] > 10 * pauses[0]

    freeze(platform, "worker", "web")
    assert platform.end() == 0
    assert platform.all_pids() == []


def test_one_web_process_serves_while_the_other_is_away_and_visitors_wait_while_both_are(platform):
    wait_until(lambda: platform.health()["status"] == "ok", "the platform to be well")
    for one in platform.pids("web"):
        os.kill(one, signal.SIGKILL)
        answered = [httpx.get(f"http://127.0.0.1:{platform.port}/healthz", timeout=60).status_code for _ in range(20)]
        assert answered == [200] * 20
        wait_until(lambda one=one: is_replaced(platform, "web", one), "it to be started again")

    killed = platform.pids("web")
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not set(killed) & set(platform.pids("web")), "both to be gone")
    with ThreadPoolExecutor(8) as people:
        waited = people.map(lambda _: httpx.get(f"http://127.0.0.1:{platform.port}/healthz", timeout=120), range(8))
    assert [answer.status_code for answer in waited] == [200] * 8


def test_nothing_survives_a_kill_or_a_second_signal(platform, start):
    address = ("--base-url", "http://127.0.0.1:9/v1", "--allow-private", "--model", "m")
    added = manage("add_provider", "--name", "lab", *address, ARENA_DATA=str(platform.data))
    assert added.returncode == 0, added.stderr
    old = set(platform.all_pids())
    platform.end(signal.SIGKILL)

    again = start(data=platform.data, ARENA_DRAIN_SECONDS="600")
    wait_until(lambda: not old & set(again.all_pids()), "the old processes to be gone")
    again.wait_until_ready()
    assert "Models:   lab " in again.output
    assert again.pids("simulated") == []

    freeze(again, "worker")
    os.killpg(again.process.pid, signal.SIGINT)
    wait_until(lambda: "Stopping" in again.output, "it to end")
    assert again.end() == 0
    assert again.all_pids() == []


def test_a_signal_during_the_start_ends_everything(platform, start):
    begun = start(data=platform.data)
    wait_until(lambda: begun.pids("redis"), "its first part")

    assert begun.end(signal.SIGHUP) == 0
    assert begun.all_pids() == []
    assert "Ready" not in begun.output


RUNS, TURNS = 3, 2
MODEL = "sim/cooperative:first=0:tps=40:words=80"
PREPARE = """
from django.core.management import call_command
from accounts.models import User
User.objects.create_user("alice", password="correct horse battery", role="admin")
call_command("add_provider", name="lab", base_url=BASE, allow_private=True, model=[[MODEL]])
call_command("create_token", "alice")
"""
CONFIG = {"prompt": "Share seven panels.", "max_turns": TURNS, "gap_seconds": 0, "filter": False, "judge": False}
EXPERIMENT = {"workflow": "arena", "config": CONFIG, "cast": {seat: {"model": MODEL} for seat in "AB"}}
CALLS = "SELECT id, step_id, state, attempt FROM experiments_call"
SAID = "SELECT id, raw_text FROM experiments_message"
STATES = "SELECT state, lease_until IS NULL FROM experiments_run"


@pytest.fixture
def models():
    """It goes on while the platform is away."""
    with running() as models:
        yield models


def _speaking_platform(start, models, data, **changes):
    """A platform with runs of which each has said something."""
    prepare = PREPARE.replace("BASE", repr(models.base_url)).replace("MODEL", repr(MODEL))
    with_tables(data)
    told = manage("shell", "-v0", "-c", prepare, ARENA_DATA=str(data))
    assert told.returncode == 0, told.stderr
    started = start("--workers", "1", data=data, **changes).wait_until_ready()
    headers = {"Authorization": f"Bearer {told.stdout.split()[-1]}"}
    with httpx.Client(base_url=f"http://localhost:{started.port}/api/", headers=headers, timeout=120) as api:
        made = api.post("experiments/", json=EXPERIMENT)
        assert made.status_code == 201, made.text
        assert api.post(f"experiments/{made.json()['id']}/start/", json={"repeats": RUNS}).status_code == 201
    wait_until(lambda: _speaking(models) == RUNS, "all runs to speak")
    return started


def test_an_update_in_the_middle_of_answers_repeats_nothing_and_loses_nothing(start, models, tmp_path):
    started = _speaking_platform(start, models, tmp_path / "data", ARENA_DRAIN_SECONDS="120")

    code = started.end()

    assert code == 0
    assert started.all_pids() == []
    assert started.output.endswith("Stopping …\nStopped.\n")
    assert {row["outcome"] for row in models.ledger()} == {"finished"}, "what was under way is heard out"
    assert _rows(started, STATES) == [("queued", 1)] * RUNS
    said = _rows(started, SAID)
    assert len(said) == len(models.ledger())

    again = start("--workers", "1", data=started.data).wait_until_ready()
    wait_until(lambda: _rows(again, STATES) == [("completed", 1)] * RUNS, "all runs to complete")

    calls = _rows(again, CALLS)
    assert sorted(row["request_id"].replace("-", "") for row in models.ledger()) == sorted(one[0] for one in calls)
    assert len({step for _, step, *_ in calls}) == len(calls) == RUNS * TURNS * 2
    assert {tuple(outcome) for _, _, *outcome in calls} == {("completed", 1)}
    assert set(said) <= set(_rows(again, SAID))


def test_an_update_waits_for_no_answer_of_a_caller_and_breaks_none_off(start, models, tmp_path):
    callers = {"ARENA_CALLERS": "1", "ARENA_DRAIN_SECONDS": "0"}
    with models.held():
        started = _speaking_platform(start, models, tmp_path / "data", **callers)
        [old] = started.pids("caller")
        assert started.end() == 0
        assert started.all_pids() == [old]
        assert f"(process {old})." in started.output

        again = start("--workers", "1", data=started.data, **callers).wait_until_ready()
        assert _speaking(models) == RUNS == len(models.ledger())
    wait_until(lambda: _rows(again, STATES) == [("completed", 1)] * RUNS, "all runs to complete")
    assert {row["outcome"] for row in models.ledger()} == {"finished"}
    assert len(models.ledger()) == RUNS * TURNS * 2
    wait_until(lambda: old not in again.all_pids(), "the old caller to end")


def _speaking(models):
    return sum(row["outcome"] == "open" and row["tokens_sent"] > 3 for row in models.ledger())


def _rows(platform, query):
    with contextlib.closing(sqlite3.connect(platform.data / "arena.sqlite3", timeout=60)) as database:
        return database.execute(query).fetchall()
