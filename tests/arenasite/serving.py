"""The platform's own web server, as a process of its own, with an application of the test's or ours."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from django.conf import settings

from tests.arenasite.platforms import free_port
from tests.fixtures import environment, wait_until

OURS = "arenasite.asgi:application"
DAPHNE = ("-m", "arenasite.server")


@contextmanager
def started(
    *arguments: str,
    program: tuple[str, ...] = DAPHNE,
    folder: Path | None = None,
    fd: int | None = None,
    **variables: str,
) -> Iterator["subprocess.Popen[bytes]"]:
    """folder: where it works and modules of the test lie. fd: of a socket that it is handed."""
    known = os.pathsep.join(str(one) for one in (settings.BASE_DIR, folder) if one)
    told = environment() | {"DJANGO_SETTINGS_MODULE": "arenasite.settings", "PYTHONPATH": known} | variables
    command = [sys.executable, *program, "-v", "0", *arguments]
    handed = () if fd is None else (fd,)
    process = subprocess.Popen(command, env=told, cwd=folder or settings.BASE_DIR, pass_fds=handed)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


@contextmanager
def served(application: str = OURS, *, folder: Path | None = None, path: str = "/", **variables: str) -> Iterator[str]:
    """Its address, once `path` is answered with 200."""
    port = free_port()
    address = f"http://127.0.0.1:{port}"
    with started("-p", str(port), application, folder=folder, **variables) as process:
        wait_until(lambda: is_answered(address + path) or process.poll() is not None, "the server")
        assert process.poll() is None, "it has ended; what it said stands above"
        yield address


def is_answered(address: str) -> bool:
    try:
        return httpx.get(address, timeout=60).status_code == 200
    except httpx.TransportError:
        return False


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
