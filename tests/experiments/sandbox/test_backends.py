"""What a box is made of, whoever makes it, and that what holds here is found out by attack: else nothing is run."""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.sandbox import Limits, Probe, Test, Unavailable, isolation, probe, run
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

    own = {"process": 2, "host": "box", "folder": "/tmp", "devices": ["null", "urandom"], "arguments": ["solution.py"]}
    nothing = {name: [] for name in ("environment", "seen", "packages", "installed")}
    groups = [] if os.geteuid() == 0 else found["groups"]
    assert found == {**own, **nothing, "user": found["user"], "groups": groups}
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


@pytest.fixture
def nothing_known(monkeypatch):
    monkeypatch.setattr(isolation, "known", {})


@pytest.mark.parametrize("backend", first_of(SAFE))
def test_every_attack_fails_on_a_sandbox_that_holds(backend):
    found = probe(backend)

    attacks = found.layers[-12:]
    assert [layer.name for layer in attacks if not layer.holds] == []
    names = {layer.name for layer in found.layers}
    assert names > {"landlock", "reads no file of this machine", "is stopped at its time"}
    assert all(layer.detail for layer in found.layers)
    assert (found.backend, found.is_sufficient, found.refusal) == (backend, True, "")


def test_the_unsafe_one_lets_attacks_through_says_so_and_is_used_when_asked_for_by_name():
    found = probe("unsafe")
    broken = {layer.name for layer in found.layers if not layer.holds}

    assert not found.is_sufficient
    assert found.refusal.startswith("unsafe keeps nothing in")
    assert broken >= {"reads no file of this machine", "reaches no TCP server", "starts no process", "landlock"}
    assert "is stopped at its memory" not in broken

    ran = run("def solve(): return 42", [Test("only", [], 42)], backend="unsafe")
    assert (ran.passed, ran.is_unsafe, ran.layers[:1]) == (1, True, ("limits",))


def test_what_was_found_out_is_known_until_it_is_asked_afresh_and_shared_by_threads_that_ask_at_once(nothing_known):
    first = probe()

    assert probe() is first
    assert probe(fresh=True) is not first

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(probe, ["unsafe"] * 4))
    assert len({id(one) for one in found}) == 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("backend", ["namespaces"])
def test_without_bubblewrap_the_namespaces_are_made_by_ourselves(backend, nothing_known, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")

    found = run("def solve(): return 42", [Test("only", [], 42)])

    assert (found.passed, found.backend) == (1, backend)
    assert probe("bubblewrap").refusal == "bubblewrap is not installed: apt install bubblewrap."


def test_a_sandbox_with_a_hole_is_refused_with_what_it_lets_through(nothing_known, monkeypatch):
    leaky = replace(backend_named("unsafe"), name="namespaces")
    monkeypatch.setattr(isolation, "AUTOMATIC", (leaky,))

    with pytest.raises(Unavailable) as refused:
        run("def solve(): return 42", [Test("only", [], 42)])

    said = str(refused.value)
    beginning = "No sandbox here keeps a program in. namespaces does not hide the files, cut off the network,"
    assert said.startswith(beginning)
    assert "pass the attack “reads no file of this machine”" in said
    assert "docker" in said
    assert probe() == Probe(None, probe().layers, False, said)


def test_a_sandbox_that_does_not_start_says_why(nothing_known):
    made, failing = backend_named("landlock"), ("/bin/sh", "-c", "echo no namespaces today >&2; exit 1")

    found = isolation.probed(replace(made, box=lambda *asked: replace(made.box(*asked), command=failing)))

    assert found == Probe("landlock", (), False, "landlock does not start: no namespaces today.")


def test_docker_without_a_daemon_and_a_backend_that_there_is_not_say_what_is_missing(monkeypatch, tmp_path):
    with pytest.raises(Unavailable, match="There is no sandbox 'chroot'; there are bubblewrap, namespaces"):
        run("def solve(): ...", [], backend="chroot")
    monkeypatch.setenv("PATH", str(tmp_path))
    missing = "The docker command is missing: apt install docker.io, or ask for another sandbox."
    assert probe("docker", fresh=True).refusal == missing
    (tmp_path / "docker").write_text("#!/bin/sh\necho Cannot connect >&2\nexit 1\n")
    (tmp_path / "docker").chmod(0o755)

    assert probe("docker", fresh=True).refusal == "The Docker daemon cannot be reached: Cannot connect"
    with pytest.raises(Unavailable, match="The Docker daemon cannot be reached"):
        run("def solve(): ...", [], Limits(), backend="docker")
