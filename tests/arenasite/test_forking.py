"""A command in a copy of a process that has loaded what it needs."""

import json
import os
import signal
import subprocess
import sys
from functools import partial

import pytest

from tests.fixtures import wait_until

pytestmark = pytest.mark.system

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


def test_a_copy_runs_a_command_as_a_new_interpreter_would(tmp_path):
    said, _ = parent(tmp_path, "a", "b").communicate(timeout=60)

    log = (tmp_path / "log").read_text().splitlines()
    code, _pid, handed = said.removeprefix("not twice ").split()
    assert code == "5"
    assert log[1:] == ["its thread", "at exit"]
    as_new = {"name": "__main__", "environment": {"ONLY": "this"}, "group": True, "term": True, "blocked": 0}
    own = {"argv": ["a", "b"], "lock": [int(handed)], "process": "worker-7"}
    assert json.loads(log[0]) == as_new | own


def test_a_copy_ends_when_it_is_asked_and_when_its_parent_is_killed(tmp_path):
    for is_asked in (True, False):
        started = parent(tmp_path, "wait")
        pid = int(started.stdout.readline().removeprefix("not twice "))
        if is_asked:
            os.kill(pid, signal.SIGTERM)
        else:
            started.kill()
        wait_until(partial(_has_ended, pid), "its end")
        started.kill()
        started.communicate()


def _has_ended(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True
