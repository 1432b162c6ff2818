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
from experiments.sandbox.backends import docker
from experiments.sandbox.backends.registry import Backend, backend_named
from experiments.sandbox.errors import NotStarted
from experiments.sandbox.inside import allowed, kernel, seccomp
from experiments.sandbox.languages import PYTHON
from experiments.sandbox.request import Program
from experiments.sandbox.trial import tried
from tests.cases import each_case
from tests.experiments.sandbox.boxes import NAMESPACED, SAFE, first_of, needs, outcome
from tests.experiments.sandbox.filters import verdict

pytestmark = pytest.mark.system


ROOT = Path(__file__).parents[3]
LOOKING = """
import os, sys
def solve():
    return {
        "process": os.getpid(), "user": os.getuid(), "groups": os.getgroups(), "host": os.uname().nodename,
        "environment": sorted(set(os.environ) - {"PWD", "LC_CTYPE"}), "folder": os.getcwd(),
        "seen": [path for path in ("/proc", "/sys", "/home", "/etc/passwd", "/usr/bin/env", "/var", "/run") if os.path.exists(path)],
        "devices": [name for name in ("null", "urandom", "tty", "shm", "kmsg", "mem") if os.path.exists("/dev/" + name)],
        "packages": [path for path in sys.path if "packages" in path], "arguments": sys.argv,
    }
"""  # noqa: E501


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_a_program_finds_itself_alone(backend):
    found = outcome(LOOKING, backend=needs(backend)).value

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
        "arguments": ["solution.py"],
    }
    assert found["user"] != 0


REFUSED = {
    "a process": "os.fork()",
    "a program": "os.execv('/bin/true', ['true'])",
    "a socket": "socket.socket()",
    "a socket of datagrams": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "a signal to its parent": "os.kill(os.getppid(), 0)",
    "a signal to all": "os.kill(-1, 0)",
    "another user": "os.setuid(0)",
    "a session of its own": "os.setsid()",
    "another root": "os.chroot('/tmp')",
    "rights of a file": "os.chmod(sys.executable, 0o777)",
    "a link": "os.symlink('/etc', '/tmp/link')",
    "a file in memory": "os.memfd_create('x')",
    "a higher priority": "os.nice(-5)",
    "another tty": "fcntl.ioctl(0, termios.TIOCSTI, b'x')",
    "an interrupt for others": "fcntl.fcntl(0, fcntl.F_SETOWN, 1)",
    "a file in the interpreter": "open(os.path.dirname(os.__file__) + '/new.py', 'w')",
    "a file in the root": "open('/new', 'w')",
    "the root's list": "os.listdir('/')",
    "more memory": "resource.setrlimit(resource.RLIMIT_AS, (1 << 40, 1 << 40))",
}


@pytest.mark.parametrize("backend", first_of(SAFE))
@each_case("wish", REFUSED)
def test_it_is_refused(backend, wish):
    code = f"import os, sys, socket, fcntl, termios, resource\ndef solve():\n    {REFUSED[wish]}\n    return 42"
    result = outcome(code, backend=needs(backend))

    assert result.verdict == "error"
    assert result.error.startswith(("PermissionError", "OSError", "FileNotFoundError", "ValueError: not allowed")), (
        result
    )


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
@each_case("wish", ALLOWED)
def test_an_ordinary_program_gets(backend, wish):
    imports = "import asyncio, os, resource, signal\nfrom concurrent.futures import ThreadPoolExecutor\n"
    result = outcome(f"{imports}def solve():\n    {ALLOWED[wish]}\n    return 42", backend=needs(backend))

    assert result.verdict == "passed", result


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_installed_packages_are_not_there(backend):
    code = """
import os
def solve():
    home = os.path.dirname(os.__file__)
    folders = [home + "/site-packages", "/usr/lib/python3/dist-packages"]
    return [name for folder in folders if os.path.isdir(folder) for name in os.listdir(folder)]
"""
    result = outcome(code, backend=needs(backend))

    assert result.value == [] or "PermissionError" in result.error, result


def only_with(backend: str, *wanted: str) -> Backend:
    """The backend with these of the kernel's two walls only."""
    made = backend_named(backend)

    def box(language, limits):
        plain = made.box(language, limits)
        return replace(plain, request={**plain.request, "wanted": list(wanted), "readable": [*readable(), "/tmp"]})

    return replace(made, box=box)


def readable():
    return [path for path in ("/usr", "/lib", "/lib64", "/etc/ld.so.cache", sys.base_prefix) if os.path.exists(path)]


def tried_with(backend: Backend, body: str, required: tuple[str, ...] = ()):
    code = f"import os, socket\ndef solve():\n    {body}\n    return 42"
    program = Program(code, "solve", Limits(), required)
    return tried(program, Test("only", [], 42), backend=backend, language=PYTHON, seconds=20)


def test_each_of_the_kernels_walls_holds_alone():
    files, sockets = only_with("unsafe", "landlock"), only_with("unsafe", "seccomp")

    assert tried_with(files, "open('/etc/passwd')").result.error.startswith("PermissionError")
    assert tried_with(sockets, "socket.socket()").result.error.startswith("PermissionError")
    assert tried_with(files, "socket.socket()").result.verdict == "passed"
    assert tried_with(sockets, "open('/etc/passwd')").result.verdict == "passed"


@pytest.mark.parametrize("backend", first_of(NAMESPACED))
def test_the_namespaces_hold_without_them(backend):
    bare = only_with(needs(backend))

    assert tried_with(bare, "open('/etc/passwd')").result.error.startswith("FileNotFoundError")
    assert tried_with(bare, "open('/new', 'w')").result.error.startswith(("PermissionError", "OSError"))
    assert tried_with(bare, "os.kill(3, 0)").result.error.startswith("ProcessLookupError")
    assert tried_with(bare, f"os.kill({os.getpid() + 100_000}, 0)").result.error.startswith("ProcessLookupError")
    assert tried_with(bare, "socket.create_connection(('192.0.2.1', 80), 5)").result.error.startswith("OSError")


def test_a_box_that_lacks_a_wall_runs_nothing():
    with pytest.raises(NotStarted, match="refused: no landlock"):
        tried_with(only_with("unsafe"), "pass", required=("limits", "landlock"))


A_THREAD = 0x3D0F00
WORDS = [  # a call with words that are granted, and others that are not
    ("clone", (A_THREAD,), (0x11,), (A_THREAD | 1 << 28,)),
    ("kill", (os.getpid(), 6), (1, 9), (2**32 - 1, 9)),
    ("socketpair", (1, 0x80801), (1, 2), (2, 1)),
    ("sendto", (3, 0, 0, 0, 0), (3, 0, 0, 0, 1 << 40)),
    ("prlimit64", (0, 9), (1, 9)),
    ("fcntl", (3, 1), (3, 8)),
    ("ioctl", (1, 0x5401), (0, 0x5412)),
]


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_the_filter_refuses_what_it_does_not_name_on_every_machine(machine, monkeypatch):
    monkeypatch.setattr(kernel, "ARCHITECTURE", machine)
    program, numbers, me = seccomp.program(), allowed.BY_MACHINE[machine], seccomp.MACHINES[machine]
    ask = {name: lambda *words, number=number: verdict(program, me, number, *words) for name, number in numbers.items()}

    picky = {"clone", "clone3", "ioctl", "kill", "prctl", "socketpair", "tgkill"}
    assert {name for name in ask if ask[name]() != "allowed"} == picky
    assert {verdict(program, me, number) for number in set(range(600)) - set(numbers.values())} == {"refused"}
    assert verdict(program, 0x40000003, 11) == "ended"
    assert ask["clone3"]() == "unknown"
    for name, granted, *denied in WORDS:
        assert ask[name](*granted) == "allowed"
        assert [ask[name](*words) for words in denied] == ["refused"] * len(denied)
    assert len(program) // 8 < 4096


def test_the_other_tongue_of_an_x86_machine_is_refused(monkeypatch):
    monkeypatch.setattr(kernel, "ARCHITECTURE", "x86_64")

    assert verdict(seccomp.program(), seccomp.MACHINES["x86_64"], 0x40000000 | 59) == "ended"


def test_no_table_allows_what_a_box_must_not_do():
    forbidden = (
        "execve execveat fork vfork socket connect bind ptrace mount umount2 unshare setns pivot_root chroot bpf"
    )
    forbidden += " keyctl perf_event_open userfaultfd io_uring_setup memfd_create process_vm_readv pidfd_getfd chmod"

    assert not set(forbidden.split()) & {*allowed.X86_64, *allowed.AARCH64}
    assert set(allowed.AARCH64) < set(allowed.X86_64)


def test_a_container_is_started_with_the_same_limits():
    box = docker.box(PYTHON, Limits(), "lab/python:3.13")
    command = " ".join(box.command)

    for part in (
        "docker run --rm --interactive",
        "--network none --ipc none --read-only --cap-drop ALL --user 65534:65534",
        "--security-opt no-new-privileges --pids-limit 34",
        "--memory 352321536 --memory-swap 352321536",
        "--tmpfs /tmp:rw,nosuid,nodev,noexec,size=16777216,nr_inodes=4000,mode=1777",
        "lab/python:3.13 python3 -I -S -B -X utf8 -c",
    ):
        assert part in command
    assert box.ending == ("docker", "rm", "--force", box.command[box.command.index("--name") + 1])
    assert not set(dict(box.environment)) - set(docker.CLIENT)


def test_the_image_of_a_container_may_be_chosen():
    assert "lab/python:3.13" in backend_named("docker:lab/python:3.13").box(PYTHON, Limits()).command


@pytest.fixture
def stand_in_for_docker(tmp_path, monkeypatch):
    """A `docker` that runs the command of the image on this machine: what is tested is what we tell it."""
    program = tmp_path / "docker"
    program.write_text(
        '#!/bin/sh\nwhile [ "$1" != stand-in ]; do shift; done; shift; shift\nexec /usr/bin/python3 "$@"\n'
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")


@pytest.mark.usefixtures("stand_in_for_docker")
def test_a_container_is_told_everything_on_its_stdin():
    docker_here = backend_named("docker:stand-in")
    backend = replace(docker_here, box=lambda language, limits: outside(docker_here.box(language, limits)))

    assert tried_with(backend, "pass").result.verdict == "passed"
    assert tried_with(backend, "while True: pass").result.verdict == "timeout"


def outside(box):
    return replace(box, request={**box.request, "wanted": []})


@pytest.fixture
def readable_copy():
    """The sandbox where everybody can read it, which a checkout in somebody's home is not."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "experiments/sandbox", f"{folder}/experiments/sandbox")
        shutil.copy(ROOT / "experiments/__init__.py", f"{folder}/experiments")
        Path(folder).chmod(0o755)
        yield folder


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user; everybody else is one already")
def test_an_ordinary_user_has_the_same_walls(readable_copy):
    program = (
        "from experiments.sandbox import *\n"
        "for name in ('bubblewrap', 'namespaces', 'landlock'):\n"
        "    print(name, probe(name).is_sufficient, probe(name).refusal)\n"
        "    print(run('def solve(): return 42', [Test('only', [], 42)], backend=name).results[0].verdict)\n"
    )
    done = subprocess.run(
        ["/usr/bin/python3", "-B", "-c", program],
        env={"PYTHONPATH": readable_copy, "PATH": "/usr/bin:/bin"},
        cwd="/",
        user=1234,
        group=1234,
        extra_groups=[],
        capture_output=True,
        text=True,
    )
    expected = [line for name in SAFE for line in (f"{name} True ", "passed")]
    assert done.stdout.splitlines() == expected, done.stderr
