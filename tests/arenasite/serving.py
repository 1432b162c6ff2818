"""The platform's own web server, as a process of its own, with an application of the test's or ours."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
from django.conf import settings

from arenasite.supervisor.ports import any_free
from tests.fixtures import environment, wait_until

OURS = "arenasite.asgi:application"


@contextmanager
def served(application: str = OURS, *, folder: Path | None = None, path: str = "/", **variables: str) -> Iterator[str]:
    """Its address, once `path` is answered with 200. folder: where modules of the test lie."""
    port = any_free("127.0.0.1")
    known = os.pathsep.join(str(one) for one in (settings.BASE_DIR, folder) if one)
    told = environment() | {"DJANGO_SETTINGS_MODULE": "arenasite.settings", "PYTHONPATH": known} | variables
    command = [sys.executable, "-m", "arenasite.bounded_daphne", "-p", str(port), "-v", "0", application]
    process = subprocess.Popen(command, env=told, cwd=settings.BASE_DIR)
    address = f"http://127.0.0.1:{port}"
    try:
        wait_until(lambda: is_answered(address + path) or process.poll() is not None, "the server")
        assert process.poll() is None, "it has ended; what it said stands above"
        yield address
    finally:
        process.kill()
        process.wait()


def is_answered(address: str) -> bool:
    try:
        return httpx.get(address, timeout=60).status_code == 200
    except httpx.TransportError:
        return False
