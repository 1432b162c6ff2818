"""Containers, for deployments that have a Docker daemon: each test is one `docker run`.

Our own files are not mounted into it, so the daemon may be on another machine. The image needs nothing but Python 3.9.
"""

import os
import secrets
import shutil
import subprocess

from experiments.sandbox.backends.box import DEVICES, TEMPORARY, Box
from experiments.sandbox.boxed import program
from experiments.sandbox.languages import Language
from experiments.sandbox.limits import MIB, Limits

IMAGE = "python:3.12-slim"
NOBODY = "65534:65534"
OVERHEAD = 64 * MIB  # the interpreter, and the box's first process
CLIENT = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY")
READABLE = ("/usr/lib", "/usr/local/lib", "/lib", "/lib64", "/etc/ld.so.cache", "/usr/share/zoneinfo", DEVICES[1])
NAMES = ("container", "mount namespace", "pid namespace", "network namespace", "ipc namespace")
SECONDS = 20.0


def missing() -> str:
    """Why it cannot be used; empty when it might."""
    if not shutil.which("docker"):
        return "The docker command is missing: apt install docker.io, or ask for another sandbox."
    try:
        asked = subprocess.run(["docker", "info"], capture_output=True, timeout=SECONDS, check=False)  # noqa: S607 — whichever docker the machine has
    except subprocess.TimeoutExpired:
        return "The Docker daemon does not answer; DOCKER_HOST says where it is."
    said = asked.stderr.decode(errors="replace").strip().splitlines()
    return f"The Docker daemon cannot be reached: {said[-1] if said else 'no reason given'}" if asked.returncode else ""


def box(language: Language, limits: Limits, image: str = IMAGE) -> Box:
    name = f"box-{secrets.token_hex(8)}"
    return Box(
        command=("docker", "run", *options(name, limits), image, language.name_in_images, *language.options),
        request={"uid": None, "readable": list(READABLE), "writable": [TEMPORARY, DEVICES[0]]},
        prefix=program(is_compiled=False),
        layers=NAMES,
        ending=("docker", "rm", "--force", name),
        environment=tuple((key, os.environ[key]) for key in CLIENT if key in os.environ),
    )


def options(name: str, limits: Limits) -> list[str]:
    memory = str(limits.memory + limits.disk + OVERHEAD)
    return [
        *("--rm", "--interactive", "--name", name, "--hostname", "box", "--log-driver", "none", "--workdir", TEMPORARY),
        *("--network", "none", "--ipc", "none", "--read-only", "--cap-drop", "ALL", "--user", NOBODY),
        *("--security-opt", "no-new-privileges", "--pids-limit", str(limits.processes + 2), "--cpus", "1"),
        *("--memory", memory, "--memory-swap", memory, "--ulimit", f"fsize={limits.file_size}", "--ulimit", "core=0"),
        *("--tmpfs", f"{TEMPORARY}:rw,nosuid,nodev,noexec,size={limits.disk},nr_inodes={limits.entries},mode=1777"),
    ]
