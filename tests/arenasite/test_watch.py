"""`manage.py up` restarts what dies; what keeps dying or does not answer holds nothing else up."""

import json
import os
import re
import signal
import urllib.error
import urllib.request

import pytest
import redis
from django.conf import settings

from experiments import actions
from experiments.models import Run
from tests.arenasite.platforms import wait_until

pytestmark = pytest.mark.system


NAMES = {"web": "web", "worker": "worker-1", "reports": "reports", "simulated": "simulated", "redis": "redis"}
WORKERS = 2  # the second one is started when the first page can be served
BROKEN = """
import os, signal, sys
if any("ReportsWorker" in word for word in sys.orig_argv):
    sys.exit("broken on purpose")
if any("daphne" in word for word in sys.orig_argv) and os.path.exists(os.environ["FROZEN"]):
    os.kill(os.getpid(), signal.SIGSTOP)
"""


@pytest.mark.parametrize("part", ["web", "worker", "reports", "simulated", "redis"])
def test_a_killed_part_is_started_again(platform, part):
    killed = min(platform.pids(part))

    os.kill(killed, signal.SIGKILL)

    wait_until(lambda: is_replaced(platform, part, killed))
    assert f"{NAMES[part]} was killed by SIGKILL; it is restarted in 0.2 s." in platform.output
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


@pytest.mark.django_db(transaction=True)
def test_a_run_completes_while_a_part_keeps_dying_and_the_web_server_is_frozen(
    start, tmp_path, arena, alice, quiet_doorbell
):
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    frozen = tmp_path / "frozen"
    frozen.touch()

    [run] = actions.start(arena(max_turns=1), by=alice)
    database = f"sqlite:///{settings.DATABASES['default']['NAME']}"

    broken = {"PYTHONPATH": str(tmp_path), "FROZEN": str(frozen)}
    platform = start(ARENA_START_SECONDS="5", DATABASE_URL=database, **broken)
    wait_until(lambda: "web was killed by SIGKILL" in platform.output)  # it has had its five seconds
    wait_until(lambda: Run.objects.get(pk=run.pk).state == Run.State.COMPLETED, 120)
    assert "Ready" not in platform.output
    frozen.unlink()
    for pid in platform.pids("web"):
        os.kill(pid, signal.SIGCONT)
    wait_until(lambda: "Ready" in platform.output, 120)
    wait_until(lambda: "reports ended" in health(platform)["services"]["parts"]["detail"])
    pauses = [float(pause) for pause in re.findall(r"reports ended .* in ([0-9.]+) s\.", platform.output)]
    assert len(pauses) > 5
    assert pauses == sorted(pauses)
    assert pauses[-1] > 10 * pauses[0]


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
    return health(platform)["status"] == "ok"


def health(platform) -> dict:
    try:
        with urllib.request.urlopen(f"http://localhost:{platform.port}/api/health/", timeout=30) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as answer:
        return json.load(answer)
    except OSError:
        return {"status": "no answer"}


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
