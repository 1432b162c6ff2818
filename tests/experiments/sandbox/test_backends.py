"""What a box is made of, whoever makes it."""

import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.sandbox import Limits, Test
from experiments.sandbox.backends import Backend, backend_named
from experiments.sandbox.languages import PYTHON
from experiments.sandbox.trial import Program, tried
from experiments.sandbox.values import NotStarted
from tests.experiments.sandbox.conftest import NAMESPACED, SAFE, first_of, outcome

pytestmark = pytest.mark.system


ROOT = Path(__file__).parents[3]
LOOKING = """
import os, sys
def solve():
    packages = [os.path.dirname(os.__file__) + "/site-packages", "/usr/lib/python3/dist-packages"]
    return {
        "process": os.getpid(), "user": os.getuid(), "groups": os.getgroups(), "host": os.uname().nodename,
        "environment": sorted(set(os.environ) - {"PWD", "LC_CTYPE"}), "folder": os.getcwd(),
        "seen": [path for path in ("/proc", "/sys", "/home", "/etc/passwd", "/usr/bin/env", "/var", "/run") if os.path.exists(path)],
        "devices": [name for name in ("null", "urandom", "tty", "shm", "kmsg", "mem") if os.path.exists("/dev/" + name)],
        "packages": [path for path in sys.path if "packages" in path], "arguments": sys.argv,
        "installed": [name for folder in packages if os.path.isdir(folder) for name in os.listdir(folder)],
    }
"""  # noqa: E501


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_a_program_finds_itself_alone(backend):
    found = outcome(LOOKING, backend=backend).value

    assert found == {
        "process": 2,
        "user": found["user"],
        "groups": [] if os.geteuid() == 0 else found["groups"],
        "host": "box",
        "environment": [],
        "folder": "/tmp",
        "seen": [],
        "devices": ["null", "urandom"],
        "packages": [],
        "installed": [],
        "arguments": ["solution.py"],
    }
    assert found["user"] != 0


WISHING = """
import asyncio, os, resource, signal
from concurrent.futures import ThreadPoolExecutor
def solve(wishes):
    found = {}
    for name, wish in wishes.items():
        try:
            exec(wish)
            found[name] = "granted"
        except Exception as error:
            found[name] = type(error).__name__
    return found
"""


ALLOWED = {
    "a lower limit": "resource.setrlimit(resource.RLIMIT_STACK, (1 << 20, -1 if 0 else resource.getrlimit(3)[1]))",
    "an alarm": "signal.alarm(50)",
    "a signal to itself": "signal.signal(10, signal.SIG_IGN); os.kill(os.getpid(), 10)",
    "the null device": "open('/dev/null', 'w').write('x'); open('/dev/null').read()",
    "random bytes": "os.urandom(8); open('/dev/urandom', 'rb').read(8)",
    "a time zone": "__import__('zoneinfo').ZoneInfo('UTC')",
    "an event loop": "asyncio.run(asyncio.wait_for(asyncio.sleep(0), 5))",
    "a pool of threads": "list(ThreadPoolExecutor(4).map(str, range(9)))",
    "big libraries": "import decimal, sqlite3, hashlib, zlib, unittest, ssl, ctypes",
}


@pytest.mark.parametrize("backend", first_of(SAFE))
def test_an_ordinary_program_gets_what_it_needs(backend):
    assert outcome(WISHING, ALLOWED, backend=backend).value == dict.fromkeys(ALLOWED, "granted")


def only_with(backend: str, *wanted: str) -> Backend:
    """The backend with these of the kernel's two walls only."""
    made = backend_named(backend)

    def box(language, limits):
        plain = made.box(language, limits)
        return replace(plain, request={**plain.request, "wanted": list(wanted), "readable": [*readable(), "/tmp"]})

    return replace(made, box=box)


def readable():
    return [path for path in ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", sys.base_prefix) if os.path.exists(path)]


def tried_with(backend: Backend, body: str, required: tuple[str, ...] = (), **limits: float):
    code = f"import os, socket\ndef solve():\n    {body}\n    return 42"
    program = Program(code, "solve", Limits(**limits), required)
    return tried(program, Test("only", [], 42), backend=backend, language=PYTHON, seconds=limits.get("seconds", 20))


def test_each_of_the_kernels_walls_holds_alone_and_a_box_that_lacks_one_runs_nothing():
    files, sockets = only_with("unsafe", "landlock"), only_with("unsafe", "seccomp")

    assert tried_with(files, "open('/etc/passwd')").result.error.startswith("PermissionError")
    assert tried_with(sockets, "socket.socket()").result.error.startswith("PermissionError")
    assert tried_with(files, "socket.socket()").result.verdict == "passed"
    assert tried_with(sockets, "open('/etc/passwd')").result.verdict == "passed"
    with pytest.raises(NotStarted, match="refused: no landlock"):
        tried_with(only_with("unsafe"), "pass", required=("limits", "landlock"))


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_the_namespaces_hold_without_them(backend):
    bare = only_with(backend)

    assert tried_with(bare, "open('/etc/passwd')").result.error.startswith("FileNotFoundError")
    assert tried_with(bare, "open('/new', 'w')").result.error.startswith(("PermissionError", "OSError"))
    assert tried_with(bare, "os.kill(3, 0)").result.error.startswith("ProcessLookupError")
    assert tried_with(bare, f"os.kill({os.getpid() + 100_000}, 0)").result.error.startswith("ProcessLookupError")
    assert tried_with(bare, "socket.create_connection(('192.0.2.1', 80), 5)").result.error.startswith("OSError")


def test_a_container_is_told_everything_on_its_stdin(tmp_path, monkeypatch):
    """By a `docker` that runs the command of the image on this machine: what is tested is what we tell it."""
    program = tmp_path / "docker"
    program.write_text('#!/bin/sh\nwhile [ "$1" != stand-in ]; do shift; done\nshift 2; exec /usr/bin/python3 "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    docker_here = backend_named("docker:stand-in")

    def outside(language, limits):
        box = docker_here.box(language, limits)
        return replace(box, request={**box.request, "wanted": []})

    backend = replace(docker_here, box=outside)

    assert tried_with(backend, "pass").result.verdict == "passed"
    assert tried_with(backend, "while True: pass", seconds=1).result.verdict == "timeout"


@pytest.mark.parametrize("backend", first_of(SAFE))
def test_an_ordinary_user_has_the_same_walls(backend):
    """With the sandbox where everybody can read it, which a checkout in somebody's home is not."""
    program = (
        "from experiments.sandbox import *\n"
        f"print(probe({backend!r}).is_sufficient, probe({backend!r}).refusal)\n"
        f"print(run('def solve(): return 42', [Test('only', [], 42)], backend={backend!r}).results[0].verdict)\n"
    )
    another_user = {"user": 1234, "group": 1234, "extra_groups": []} if os.geteuid() == 0 else {}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "experiments/sandbox", f"{folder}/experiments/sandbox")
        shutil.copy(ROOT / "experiments/__init__.py", f"{folder}/experiments")
        Path(folder).chmod(0o755)
        environment = {"PYTHONPATH": folder, "PATH": "/usr/bin:/bin"}
        command = ["/usr/bin/python3", "-B", "-c", program]
        done = subprocess.run(command, env=environment, cwd="/", capture_output=True, text=True, **another_user)
    assert done.stdout.splitlines() == ["True ", "passed"], done.stderr
