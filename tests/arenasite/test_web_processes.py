"""Several web processes share one address, and whoever comes while one is away is not turned away."""

import os
import signal
import socket
import threading
from collections import Counter
from pathlib import Path

import httpx
import pytest

from tests.arenasite.platforms import Platform, wait_until

pytestmark = pytest.mark.system


VISITORS = 60
ESTABLISHED = "01"  # in /proc/net/tcp


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory):
    """A platform with two web processes."""
    platform = Platform(tmp_path_factory.mktemp("pair") / "data", "--web", "2")
    try:
        platform.wait_until_ready()
        wait_until(lambda: len(platform.pids("web")) == 2)
        yield platform
    finally:
        platform.end()


def test_both_take_visitors(pair):
    wait_until(lambda: set(visited(pair)) == set(pair.pids("web")))

    served = visited(pair)

    assert len(served) == 2
    assert sum(served.values()) >= VISITORS


def test_when_one_is_killed_the_other_goes_on_and_it_is_started_again(pair):
    killed = max(pair.pids("web"))

    os.kill(killed, signal.SIGKILL)

    answers = [httpx.get(f"http://127.0.0.1:{pair.port}/healthz", timeout=60).status_code for _ in range(20)]
    assert answers == [200] * 20
    wait_until(lambda: len(pair.pids("web")) == 2 and killed not in pair.pids("web"))
    assert "was killed by SIGKILL; it is restarted in" in pair.output
    assert {"web.log", "web-2.log"} <= {file.name for file in (pair.data / "logs").iterdir()}


def test_who_comes_while_the_only_one_is_away_waits_and_is_answered(platform):
    [killed] = platform.pids("web")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: killed not in platform.pids("web"))
    answers: Counter[int] = Counter()

    def come() -> None:
        answers[httpx.get(f"http://127.0.0.1:{platform.port}/healthz", timeout=120).status_code] += 1

    people = [threading.Thread(target=come) for _ in range(8)]
    for one in people:
        one.start()
    for one in people:
        one.join(180)

    assert answers == {200: 8}
    assert killed not in platform.pids("web")


def visited(platform: Platform) -> dict[int, int]:
    """How many of so many visitors at the same time each web process has; those that have none are left out."""
    lines = [socket.create_connection(("127.0.0.1", platform.port), timeout=60) for _ in range(VISITORS)]
    try:
        for line in lines:
            line.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert {line.recv(4096).split(b"\r\n")[0] for line in lines} == {b"HTTP/1.1 200 OK"}
        found = {pid: len(_sockets(pid, platform.port)) for pid in platform.pids("web")}
    finally:
        for line in lines:
            line.close()
    return {pid: count for pid, count in found.items() if count}


def _sockets(pid: int, port: int) -> list[str]:
    """The descriptors of a process that are connections to this port."""
    lines = [line.split() for line in Path("/proc", str(pid), "net/tcp").read_text().splitlines()[1:]]
    known = {line[9] for line in lines if line[1].endswith(f":{port:04X}") and line[3] == ESTABLISHED}
    links = [_target(file) for file in Path("/proc", str(pid), "fd").iterdir()]
    return [link for link in links if link.removeprefix("socket:[").removesuffix("]") in known]


def _target(file: Path) -> str:
    """Empty for a descriptor that has been closed meanwhile."""
    try:
        return os.readlink(file)
    except OSError:
        return ""
