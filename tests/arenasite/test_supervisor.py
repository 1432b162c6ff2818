"""The parts of `manage.py up`: directories, ports, logs, pauses, secrets of its children, copies of a process."""

import io
import json
import os
import signal
import socket
import subprocess
import sys
import time
from functools import partial

import pytest
from django.core.management import CommandError, call_command

from arenasite.supervisor import CannotStart, children, parts, places, supervisor
from arenasite.supervisor.children import Backoff, Child
from arenasite.supervisor.parts import Parts, without_secrets
from tests.experiments.sandbox.machines import has_ended
from tests.fixtures import wait_until

CANARY = "sk-canary-7f3a9c55e1d24b08"
SECRETS = ("OPENROUTER_API_KEY", "ARENA_KEY_SECRETS", "ARENA_SECRET_KEY", "DATABASE_URL", "A_TOKEN", "PGPASSWORD")


def test_a_private_directory_is_closed_to_others_and_a_lock_is_free_when_its_holder_is_done(tmp_path, monkeypatch):
    with places.lock(tmp_path), pytest.raises(CannotStart, match=f"process {os.getpid()}"):
        places.lock(tmp_path)
    places.lock(tmp_path).close()

    (tmp_path / "run").mkdir(mode=0o755)
    places.prepare_private(tmp_path / "run")
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700

    (tmp_path / "link").symlink_to(tmp_path / "run")
    with pytest.raises(CannotStart, match="belongs to somebody else"):
        places.prepare_private(tmp_path / "link")
    monkeypatch.setattr(places.os, "getuid", lambda: os.stat(tmp_path).st_uid + 1)
    with pytest.raises(CannotStart, match="belongs to somebody else"):
        places.prepare_private(tmp_path / "run")


@pytest.mark.system
def test_what_keeps_the_platform_from_starting_is_said_in_one_sentence(tmp_path, settings, monkeypatch, subtests):
    monkeypatch.setattr(supervisor.Supervisor, "listen", lambda self: None)
    (tmp_path / "file").write_text("not a directory")
    missing, here = tmp_path / "file" / "data", tmp_path / "data"
    (tmp_path / "held").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as other, places.lock(tmp_path / "held"):
        taken = str(other.getsockname()[1])
        with pytest.raises(CannotStart, match=r"Nobody can listen on 192\.0\.2\.1"):
            places.listen("192.0.2.1", 8000)
        with socket.create_server(("::1", 0), family=socket.AF_INET6) as of_ipv6:
            port = of_ipv6.getsockname()[1]  # at the other localhost, which counts as in use
            with pytest.raises(CannotStart, match=f"Port {port} is in use"):
                places.listen("127.0.0.1", port)
        cases = [
            ({"PORT": taken}, here, f"Port {taken} is in use by another program."),
            ({"PORT": "70000"}, here, "PORT: '70000' is no port from 0 to 65535.\n"),
            ({"PORT": "0"}, tmp_path / "held", f"The platform is running on {tmp_path}/held already (process "),
            ({"PORT": "0"}, missing, f"The data directory {missing} cannot be written: Not a directory."),
            ({"PORT": "0"}, here, "Redis does not answer at REDIS_URL"),
        ]
        for variables, data, said in cases:
            err = io.StringIO()
            with subtests.test(said), monkeypatch.context() as patch:
                settings.DATA_DIR, settings.SOCKET_DIR = data, data / "run"
                settings.REDIS_URL = f"unix://{tmp_path}/nobody"
                for name, value in variables.items():
                    patch.setenv(name, value)
                with pytest.raises(SystemExit) as ended:
                    call_command("up", stderr=err)
                assert ended.value.code == 1
                assert err.getvalue().startswith(said)


def test_a_log_that_is_written_to_is_cut_when_it_is_large(tmp_path):
    log = tmp_path / "web.log"
    with log.open("ab", buffering=0) as writer:
        writer.write(b"x" * children.LARGEST_LOG)
        children.cut(log)
        assert not (tmp_path / "web.log.1").exists()
        writer.write(b"\n2026 ERROR of yesterday\n")
        tail = children.Tail(log)
        writer.write(b"2026 INFO fine\n2026 ERROR before\nTraceback (most recent call last):\n2026 ERR")
        assert tail.alarms() == ["2026 ERROR before", "Traceback (most recent call last):"]
        writer.write(b"OR second half\n")
        assert tail.alarms() == ["2026 ERROR second half"]

        children.cut(log)
        writer.write(b"2026 ERROR after\n")

    assert log.read_bytes() == b"2026 ERROR after\n"
    assert (tmp_path / "web.log.1").read_bytes().endswith(b"2026 ERROR second half\n")
    assert tail.alarms() == ["2026 ERROR after"]


@pytest.mark.system
def test_a_part_that_cannot_be_started_for_now_is_tried_again(tmp_path):
    said = []
    overseer = supervisor.Supervisor(said.append, tmp_path / "missing")
    child = Child("part", [str(tmp_path / "nothing")], tmp_path / "part.log", {})

    overseer.start(child)
    child.due = 0.0
    overseer._look()

    assert len(said) == 2
    assert child.due > time.monotonic() - 60
    assert (tmp_path / "missing").read_text().splitlines() == [
        str(os.getpid()),
        "part could not be started (No such file or directory), 2 times in a row",
    ]


def test_the_redis_server_of_the_package_is_found_or_the_machine_is_told_what_to_install(monkeypatch):
    assert os.access(parts.find_redis(), os.X_OK)

    monkeypatch.setattr(parts, "_packaged_redis", lambda: None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotStart, match="apt install redis-server"):
        parts.find_redis()


def test_a_number_that_is_none_is_refused_and_pauses_grow_up_to_a_cap_and_start_anew_after_a_stable_period():
    for option in (["--web", "0"], ["--web", "65"], ["--workers", "two"], ["--port", "-1"]):
        with pytest.raises(CommandError, match=f"'{option[1]}' is no "):
            call_command("up", *option)
    for lasted, pauses in (
        ([0] * 5000, [1, 2, 4, 8] + [10] * 4996),  # doubled up to the cap
        ([0, 0, 59, 0], [1, 2, 4, 8]),
        ([0, 0, 60, 0], [1, 2, 1, 2]),  # after a stable period
    ):
        backoff = Backoff(first=1, longest=10, stable=60)
        assert [backoff.pause(seconds) for seconds in lasted] == pauses


def test_children_that_need_no_secrets_get_none_and_no_command_line_has_one(tmp_path, monkeypatch):
    for name in SECRETS:
        monkeypatch.setenv(name, CANARY)
    made = Parts(tmp_path, tmp_path, tmp_path, 1)

    for child in (made.redis(), made.simulated()):
        assert CANARY not in str(dict(child.environment))
        assert child.environment["PATH"]
    for child in (made.web(1, 3), made.worker(1), made.caller(1), made.reports(), made.sandbox()):
        assert CANARY not in " ".join(map(str, child.argv))
        assert child.environment["ARENA_KEY_SECRETS"] == CANARY
    assert without_secrets({"PATH": "/bin", "LANG": "C", "KEY_OF_THE_LAB": CANARY}) == {"PATH": "/bin", "LANG": "C"}


PARENT = """
import fcntl, json, os, pathlib, signal, sys
from arenasite.supervisor.children import Child

folder, command = pathlib.Path(sys.argv[1]), sys.argv[2:]
signal.signal(signal.SIGTERM, lambda *_: None)
lock = open(folder / "lock", "w")
fcntl.flock(lock, fcntl.LOCK_EX)
handed = os.open(folder / "lock", os.O_RDONLY)
sys.stdout.write("not twice ")
child = Child("worker-7", [sys.executable, *command], folder / "log", {"ONLY": "this"}, is_forked=True)
child.handed = (handed,)
child.start()
if "wait" in command:
    print(child.process.pid, flush=True)
    signal.pause()
print(child.process.wait(), child.process.pid, handed)
"""
COMMAND = """
import atexit, fcntl, json, os, pathlib, signal, sys, threading, time

if "wait" in sys.argv:
    time.sleep(60)
atexit.register(lambda: print("at exit"))
threading.Thread(target=lambda: (time.sleep(0.1), print("its thread"))).start()
open_still = [fd for fd in range(3, 30) if os.path.exists(f"/proc/self/fd/{fd}")]
lock = [fd for fd in open_still if os.readlink(f"/proc/self/fd/{fd}").endswith("/lock")]
print(json.dumps({
    "argv": sys.argv[1:], "name": __name__, "environment": dict(os.environ), "group": os.getpgid(0) == os.getpid(),
    "term": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL, "blocked": len(signal.pthread_sigmask(0, ())),
    "lock": lock, "process": pathlib.Path("/proc/self/comm").read_text().strip(),
}))
sys.exit(5)
"""


def parent(folder, *words):
    (folder / "command.py").write_text(COMMAND)
    command = [sys.executable, "-c", PARENT, folder, folder / "command.py", *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.system
def test_a_copy_runs_a_command_as_a_new_interpreter_would(tmp_path):
    said, _ = parent(tmp_path, "a", "b").communicate(timeout=60)

    log = (tmp_path / "log").read_text().splitlines()
    code, _pid, handed = said.removeprefix("not twice ").split()
    assert code == "5"
    assert log[1:] == ["its thread", "at exit"]
    as_new = {"name": "__main__", "environment": {"ONLY": "this"}, "group": True, "term": True, "blocked": 0}
    own = {"argv": ["a", "b"], "lock": [int(handed)], "process": "worker-7"}
    assert json.loads(log[0]) == as_new | own


@pytest.mark.system
def test_a_copy_ends_when_it_is_asked_and_when_its_parent_is_killed(tmp_path):
    for is_asked in (True, False):
        started = parent(tmp_path, "wait")
        pid = int(started.stdout.readline().removeprefix("not twice "))
        if is_asked:
            os.kill(pid, signal.SIGTERM)
        else:
            started.kill()
        wait_until(partial(has_ended, pid), "its end")
        started.kill()
        started.communicate()
