"""`manage.py up` starts again what dies, and gives up on what keeps dying."""

import os
import signal
import urllib.request

import pytest
import redis

from tests.arenasite.platforms import wait_until

pytestmark = pytest.mark.system


NAMES = {"web": "web", "worker": "worker-1", "reports": "reports", "simulated": "simulated", "redis": "redis"}
WORKERS = 2  # the second one is started when the first page can be served


@pytest.mark.parametrize("part", ["web", "worker", "reports", "simulated", "redis"])
def test_a_killed_part_is_started_again(platform, part):
    killed = min(platform.pids(part))

    os.kill(killed, signal.SIGKILL)

    wait_until(lambda: is_replaced(platform, part, killed))
    assert f"{NAMES[part]} was killed by SIGKILL; it is started again." in platform.output
    wait_until(lambda: is_well(platform))


def test_redis_keeps_what_is_queued_when_it_is_killed(platform):
    client = redis.Redis(unix_socket_path=str(platform.data / "run" / "redis.sock"))
    client.rpush("rq:queue:elsewhere", *range(500))
    wait_until(lambda: client.info("persistence")["aof_buffer_length"] == 0)  # a busy disk lets it wait
    [killed] = platform.pids("redis")

    os.kill(killed, signal.SIGKILL)

    wait_until(lambda: is_replaced(platform, "redis", killed) and answers(client))
    assert client.llen("rq:queue:elsewhere") == 500


def test_the_workers_live_through_a_restart_of_redis(platform):
    wait_until(lambda: len(platform.pids("worker")) == WORKERS and is_registered(platform))
    workers = platform.pids("worker")
    [killed] = platform.pids("redis")

    os.kill(killed, signal.SIGKILL)

    wait_until(lambda: is_replaced(platform, "redis", killed))
    wait_until(lambda: is_well(platform))
    assert platform.pids("worker") == workers


def test_the_simulated_provider_keeps_its_port(platform):
    port_file = platform.data / "run" / "simulated.port"
    before, [killed] = port_file.read_text(), platform.pids("simulated")

    os.kill(killed, signal.SIGKILL)

    wait_until(lambda: is_replaced(platform, "simulated", killed))
    wait_until(lambda: models_are_listed(int(before)))
    assert port_file.read_text() == before


@pytest.mark.parametrize(
    ("part", "mark"),
    [("worker-1", "engine"), ("reports", "ReportsWorker"), ("web", "daphne"), ("redis", "valkey-server")],
)
def test_a_part_that_keeps_dying_ends_everything_with_a_sentence(start, tmp_path, part, mark):
    (tmp_path / "sitecustomize.py").write_text(
        f"import sys\nif any({mark!r} in word for word in sys.orig_argv): sys.exit('broken on purpose')\n"
    )
    extra = {"PYTHONPATH": str(tmp_path)}
    if part == "redis":
        (tmp_path / "data" / "redis" / "appendonlydir").mkdir(parents=True)
        (tmp_path / "data" / "redis" / "appendonlydir" / "appendonly.aof.manifest").write_text("no manifest\n")

    platform = start(**extra)

    assert platform.process.wait(timeout=160) == 1
    assert f"{part} ended with exit code 1, the 5th time within 60 seconds." in platform.output
    assert f"{platform.data}/logs/{part}.log says why." in platform.output
    assert platform.all_pids() == []


def is_replaced(platform, part: str, killed: int) -> bool:
    pids = platform.pids(part)
    return killed not in pids and len(pids) == (WORKERS if part == "worker" else 1)


def is_registered(platform) -> bool:
    """Whether every worker has come as far as waiting for work."""
    client = redis.Redis(unix_socket_path=str(platform.data / "run" / "redis.sock"), decode_responses=True)
    names = [f"rq:worker:{key.rpartition(':')[2]}" for key in client.smembers("rq:workers")]
    known = {client.hget(name, "pid") for name in names if client.hget(name, "state") in ("idle", "busy")}
    return {str(pid) for pid in platform.pids("worker")} <= known


def is_well(platform) -> bool:
    try:
        with urllib.request.urlopen(f"http://localhost:{platform.port}/api/health/", timeout=30) as answer:
            return answer.status == 200
    except OSError:
        return False


def models_are_listed(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=30) as answer:
            return answer.status == 200
    except OSError:
        return False


def answers(client: "redis.Redis") -> bool:
    try:
        return bool(client.ping())
    except (redis.ConnectionError, redis.BusyLoadingError):
        return False
