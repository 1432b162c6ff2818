"""The ways to make a box: each says why it cannot be used here, and how one box is started and what it is made of."""

import os
import random
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from experiments.sandbox.inside.seccomp import BY_MACHINE
from experiments.sandbox.languages import Interpreter, Language
from experiments.sandbox.values import MIB, BackendName, Limits, Unavailable

DEVICES = ("/dev/null", "/dev/urandom")
TEMPORARY = "/tmp"  # noqa: S108 — the box's own, fresh and empty
# An unused one, drawn for each box: the kernel counts threads by user, and no box can signal another.
FIRST_USER, LAST_USER = 52_000, 60_000
COUNTED_APART = (5, 14)  # the version of Linux
INFO = "{info}"  # in a command, stands for the channel that `Box` describes
WALLS_OF_NAMESPACES = ("mount namespace", "pid namespace", "network namespace", "ipc namespace")


@dataclass(frozen=True, slots=True)
class Box:
    """`command` holds INFO where the number of the channel goes on which the launcher says which process is the
    box's first; without it that is the launched process itself. `request` is added to what the box is told, `layers`
    are those that the launcher puts up, `ending` is a command that ends a box which does not die with its launcher, and
    `prefix` goes to its stdin before the request: what makes the box, and may be sent long before. Without
    `has_own_files` it starts in a folder that is removed."""

    command: tuple[str, ...]
    request: dict[str, object]
    layers: tuple[str, ...] = ()
    ending: tuple[str, ...] = ()
    prefix: bytes = field(default=b"", repr=False)
    environment: tuple[tuple[str, str], ...] = ()
    has_own_files: bool = True


def ordinary_user() -> int | None:
    """Who the candidate is to be when root starts the box; None when an ordinary user does."""
    return random.randrange(FIRST_USER, LAST_USER) if os.geteuid() == 0 else None


def why_impossible() -> str:
    """Why no box of ours can be made on this machine; empty when one might."""
    if sys.platform != "linux":
        return "The walls are Linux's: elsewhere use the docker backend."
    machine = os.uname().machine
    return "" if machine in BY_MACHINE else f"The walls know no {machine} processors, only {' and '.join(BY_MACHINE)}."


def is_root() -> bool:
    return os.geteuid() == 0


def are_counted_apart() -> bool:
    """Whether the threads of a box are counted without those of other boxes: the kernel counts them by user, and root's
    programs are a user each; from Linux 5.14 on every user namespace has a count of its own.
    """
    version = tuple(int(part) for part in re.findall(r"\d+", os.uname().release)[:2])
    return is_root() or version >= COUNTED_APART


# --- bubblewrap: the namespaces are made by `bwrap`, a small program that every distribution packages ---

UNSHARED = ("--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try")
CAPABILITIES = [word for name in ("SETUID", "SETGID", "KILL") for word in ("--cap-add", f"CAP_{name}")]
OPEN_FOLDER = ("--perms", "0755", "--dir")  # left to itself, bubblewrap makes folders that the candidate cannot enter


def bubblewrap_missing() -> str:
    """Why it cannot be used; empty when it might."""
    return why_impossible() or ("" if shutil.which("bwrap") else "bubblewrap is not installed: apt install bubblewrap.")


def bubblewrap_box(language: Language, limits: Limits) -> Box:
    """A box whose first process is our own; run by root it becomes another user, by others it has a user namespace.

    Our first process mounts the box's `/tmp`, and drops the right to: bubblewrap cannot limit how many files lie there.
    """
    uid = ordinary_user()
    runtime = language.runtime(True)
    identity = ["--unshare-user"] if uid is None else CAPABILITIES
    command = [str(shutil.which("bwrap")), *UNSHARED, "--cap-drop", "ALL", *identity]
    command += ["--as-pid-1", "--die-with-parent", "--new-session", "--clearenv", "--hostname", "box"]
    command += [word for path, target in runtime.links for word in ("--symlink", target, path)]
    above = {str(folder) for path in (*runtime.readable, *DEVICES) for folder in Path(path).parents} - {"/"}
    command += [word for path in sorted(above) for word in (*OPEN_FOLDER, path)]  # outer ones first
    command += [word for path in runtime.readable for word in ("--ro-bind", path, path)]
    command += [word for path in runtime.hidden for word in ("--tmpfs", path, "--remount-ro", path)]
    command += [word for device in DEVICES for word in ("--dev-bind", device, device)]
    command += ["--cap-add", "CAP_SYS_ADMIN", "--dir", TEMPORARY, "--remount-ro", "/"]
    command += ["--info-fd", INFO, "--", *language.command(runtime)]
    return box_with_walls(command, language, runtime, uid)


# --- namespaces made by ourselves, for machines without bubblewrap: the same walls, no program needed ---


def namespaces_box(language: Language, limits: Limits) -> Box:
    runtime = language.runtime(True)
    plan: dict[str, Any] = {
        "links": list(runtime.links),
        "readable": list(runtime.readable),
        "devices": list(DEVICES),
        "hidden": list(runtime.hidden),
    }
    command = [*language.command(runtime), INFO]
    return box_with_walls(command, language, runtime, ordinary_user(), plan)


def box_with_walls(
    command: list[str],
    language: Language,
    runtime: Interpreter,
    uid: int | None,
    plan: dict[str, Any] | None = None,
) -> Box:
    """One with a file system of its own, in which only `/tmp` can be written to. plan: of what is made in the box."""
    request: dict[str, object] = {
        "uid": uid,
        "has_temporary": True,
        "readable": [*runtime.readable, *DEVICES[1:]],
        "writable": [TEMPORARY, DEVICES[0]],
    }
    # What namespaces keep apart; root's boxes need no user namespace, as they run as another user.
    layers = WALLS_OF_NAMESPACES if os.geteuid() == 0 else ("user namespace", *WALLS_OF_NAMESPACES)
    sent = language.prefix(is_ours=runtime.is_ours, plan=plan)
    return Box(command=tuple(command), request=request, prefix=sent, layers=layers)


# --- no namespaces, for containers that allow none ---


def landlock_box(language: Language, limits: Limits) -> Box:
    """Landlock hides the files, seccomp the network and other processes. Weaker than the two others in one point: a
    program can find out whether a path exists. Nothing is writable.
    """
    runtime = language.runtime(False)
    return Box(
        command=tuple(language.command(runtime)),
        request={
            "uid": ordinary_user(),
            "readable": [*runtime.readable, *DEVICES[1:]],
            "writable": [DEVICES[0]],
        },
        prefix=language.prefix(is_ours=runtime.is_ours),
    )


# --- containers, for deployments that have a Docker daemon: each test is one `docker run` ---

IMAGE = "python:3.12-slim"
NOBODY = "65534:65534"
CONTAINER_OVERHEAD = 64 * MIB  # the interpreter, and the box's first process
DOCKER_VARIABLES = (
    "PATH",
    "HOME",
    "DOCKER_HOST",
    "DOCKER_CONTEXT",
    "DOCKER_CONFIG",
    "DOCKER_CERT_PATH",
    "DOCKER_TLS_VERIFY",
)
IMAGE_FILES = ("/usr/lib", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", DEVICES[1])
DOCKER_SECONDS = 20.0


def docker_missing() -> str:
    """Why it cannot be used; empty when it might."""
    if not shutil.which("docker"):
        return "The docker command is missing: apt install docker.io, or ask for another sandbox."
    try:
        asked = subprocess.run(["docker", "info"], capture_output=True, timeout=DOCKER_SECONDS, check=False)  # noqa: S607 — whichever docker the machine has
    except subprocess.TimeoutExpired:
        return "The Docker daemon does not answer; DOCKER_HOST says where it is."
    said = asked.stderr.decode(errors="replace").strip().splitlines()
    return f"The Docker daemon cannot be reached: {said[-1] if said else 'no reason given'}" if asked.returncode else ""


def docker_box(language: Language, limits: Limits, image: str = IMAGE) -> Box:
    """None of our files is mounted into it, so the daemon may be on another machine. The image needs Python 3.9."""
    name = f"box-{secrets.token_hex(8)}"
    return Box(
        command=("docker", "run", *docker_options(name, limits), image, language.name_in_images, *language.options),
        request={"uid": None, "readable": list(IMAGE_FILES), "writable": [TEMPORARY, DEVICES[0]]},
        prefix=language.prefix(is_ours=False),
        layers=("container", *WALLS_OF_NAMESPACES),
        ending=("docker", "rm", "--force", name),
        environment=tuple((key, os.environ[key]) for key in DOCKER_VARIABLES if key in os.environ),
    )


def docker_options(name: str, limits: Limits) -> list[str]:
    memory = str(limits.memory + limits.disk + CONTAINER_OVERHEAD)
    return [
        *("--rm", "--interactive", "--name", name, "--hostname", "box", "--log-driver", "none", "--workdir", TEMPORARY),
        *("--network", "none", "--ipc", "none", "--read-only", "--cap-drop", "ALL", "--user", NOBODY),
        *("--security-opt", "no-new-privileges", "--pids-limit", str(limits.processes + 2), "--cpus", "1"),
        *("--memory", memory, "--memory-swap", memory, "--ulimit", f"fsize={limits.file_size}", "--ulimit", "core=0"),
        *("--tmpfs", f"{TEMPORARY}:rw,nosuid,nodev,noexec,size={limits.disk},nr_inodes={limits.entries},mode=1777"),
    ]


# --- no isolation, for a machine whose owner trusts the programs: only when asked for by name ---


def unsafe_missing() -> str:
    """Why it cannot be used; empty when it might."""
    return "" if os.name == "posix" else "Programs can be run on Unix alone."


def unsafe_box(language: Language, limits: Limits) -> Box:
    """A child process with limits: it reads this machine's files, reaches its network and sees its processes. Every
    result says so.
    """
    runtime = language.runtime(True)
    return Box(
        command=tuple(language.command(runtime)),
        request={"uid": None, "wanted": [], "readable": [], "writable": []},
        prefix=language.prefix(is_ours=runtime.is_ours),
        has_own_files=False,
    )


# --- all of them by name, in the order in which they are tried ---


@dataclass(frozen=True, slots=True)
class Backend:
    """`missing` says what stands in its way before anything is tried; `is_automatic`: used without being asked for.
    `can_wait`: whether its boxes can be started ahead: they do not depend on what will run there, and do not count
    among the threads that a program may have."""

    name: BackendName
    missing: Callable[[], str]
    box: Callable[[Language, Limits], Box]
    is_automatic: bool = True
    can_wait: Callable[[], bool] = lambda: False


BACKENDS = (
    Backend("bubblewrap", bubblewrap_missing, bubblewrap_box, can_wait=are_counted_apart),
    Backend("namespaces", why_impossible, namespaces_box, can_wait=are_counted_apart),
    Backend("landlock", why_impossible, landlock_box, can_wait=is_root),
    Backend("docker", docker_missing, docker_box, is_automatic=False),
    Backend("unsafe", unsafe_missing, unsafe_box, is_automatic=False),
)
AUTOMATIC = tuple(backend for backend in BACKENDS if backend.is_automatic)


def backend_named(name: str) -> Backend:
    """`docker:IMAGE` is the docker backend with that image. Raises Unavailable for one that there is not."""
    kind, _, image = name.partition(":")
    for backend in BACKENDS:
        if backend.name == kind and image and kind == "docker":
            return replace(backend, box=partial(docker_box, image=image))
        if backend.name == name:
            return backend
    raise Unavailable(f"There is no sandbox {name!r}; there are {', '.join(backend.name for backend in BACKENDS)}.")
