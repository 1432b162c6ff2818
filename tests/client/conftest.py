"""The application in this process, answers as a test tells them, and a whole platform with simulated models."""

import asyncio
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import httpx
import pytest
from django.test import Client

from accounts.tokens import create_token
from arena_lab import Arena, AsyncArena, Patience
from arena_lab.cli import main
from tests.arenasite.platforms import Platform, manage
from tests.fixtures import add_model
from tests.making import maker
from tests.parts.stepped_engine import driving
from tests.parts.virtual_time import VirtualLoop

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "client" / "src"
COMMAND = [sys.executable, "-c", "import sys; from arena_lab.cli import main; sys.exit(main())"]
IN_PROCESS = "http://testserver"
SLOW = "sim/slow"  # says so much that there is time to interfere
MODELS = {"sim/failing": "sim/cooperative:fail=401", SLOW: "sim/cooperative:tps=60:words=120:first=0"}
Ended = subprocess.CompletedProcess[str]
NEUTRAL = {f"sim/{name}": f"sim/{name}:first=0" for name in ("cooperative", "competitive", "neutral", "sceptical")}
SETTING_UP = f"""
from accounts.models import User
from accounts.tokens import create_token
from experiments.models import Provider, ProviderModel
provider = Provider.objects.get(name="simulated")
for model in provider.models.all():
    model.upstream += ":tps=0:first=0"
    model.save(update_fields=["upstream"])
for slug, upstream in {MODELS!r}.items():
    ProviderModel.objects.create(provider=provider, slug=slug, upstream=upstream, label=slug, is_active=True)
print(create_token(User.objects.create_user("ada", password="correct horse battery")))
"""


class Scripted(httpx.BaseTransport, httpx.AsyncBaseTransport):
    """Answers one request after another as it was told, the last answer for ever."""

    url = "http://platform.test"

    def __init__(self) -> None:
        self.answers: list[httpx.Response | type[httpx.TransportError]] = []
        self.asked: list[httpx.Request] = []

    def says(self, status: int, document: Any = None, **headers: str) -> "Scripted":
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        body = document if isinstance(document, str) else json.dumps(document or {})
        self.answers.append(httpx.Response(status, headers=named, text=body))
        return self

    def breaks(self, error: type[httpx.TransportError] = httpx.ReadError) -> "Scripted":
        self.answers.append(error)
        return self

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        said = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if not isinstance(said, httpx.Response):
            raise said("broken", request=request)
        return httpx.Response(said.status_code, headers=said.headers, content=said.content)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        return self.handle_request(request)

    def arena(self, face: type[Arena | AsyncArena] = Arena) -> Any:
        return face(self.url, "a-token", patience=Patience(attempts=4), transport=self)


def run_awaiting(coroutine: Any) -> Any:
    return VirtualLoop().run_until_complete(coroutine)


def answer(_transport: Any, request: httpx.Request) -> httpx.Response:
    path, headers = request.url.raw_path.decode(), dict(request.headers)
    said = Client().generic(request.method, path, request.read(), headers.get("content-type", ""), headers=headers)
    return httpx.Response(said.status_code, headers=list(said.items()), content=said.getvalue())


async def answer_awaiting(_transport: Any, request: httpx.Request) -> httpx.Response:
    """On the thread and the connection of the test, as if no loop were running."""
    loop = asyncio.get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return answer(_transport, request)
    finally:
        asyncio._set_running_loop(loop)


def no_library(name: str) -> None:
    raise ImportError(name)


@pytest.fixture
def token(provider: Any, django_user_model: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A person's token. Every client reaches the application, by HTTP alone; the engine works while it waits."""
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", answer)
    monkeypatch.setattr(httpx.AsyncHTTPTransport, "handle_async_request", answer_awaiting)
    monkeypatch.setattr("arena_lab.following.import_module", no_library)
    for slug, upstream in {**NEUTRAL, **MODELS}.items():
        add_model(slug, upstream=upstream)
    with driving(threading.Event()):
        yield create_token(django_user_model.objects.create_user("ada"))


@pytest.fixture
def arena(token: str, woken_runs: Any) -> Iterator[Arena]:
    with Arena(IN_PROCESS, token) as found:
        yield found


def begun(arena: Arena, a: str = "sim/cooperative", b: str = "sim/competitive", **config: Any) -> Any:
    """A run that was started, without a filter and a judge unless they are wanted."""
    asked = {"prompt": "Share seven panels.", "max_turns": 1, "gap_seconds": 0, "filter": False, "judge": False}
    experiment = arena.experiments.create("arena", {"A": a, "B": b}, {**asked, **config})
    [run] = arena.experiments.start(experiment, seed=7)
    return run


@maker
def typed(
    token: str,
    woken_runs: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
    /,
    *arguments: str,
    stdin: str = "",
    **changes: str,
) -> Ended:
    ours = {"ARENA_URL": IN_PROCESS, "ARENA_TOKEN": token, "XDG_CONFIG_HOME": str(tmp_path / "nobodys")}
    for name, value in {**ours, **changes}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "stdin", StringIO(stdin))
    try:
        code = main(arguments)
    except SystemExit as ended:
        code = int(str(ended.code))
    said = capsysbinary.readouterr()
    return Ended(arguments, code, said.out.decode(), said.err.decode())


class Lab:
    def __init__(self, platform: Platform, folder: Path) -> None:
        self.platform, self.folder = platform, folder
        self.url = f"http://localhost:{platform.port}"
        done = manage("shell", "--no-imports", "--command", SETTING_UP, ARENA_DATA=str(platform.data))
        assert done.returncode == 0, done.stderr
        self.token = done.stdout.split()[-1]

    def environment(self, **changes: str) -> dict[str, str]:
        """Of a program of that person's."""
        ours = {"ARENA_URL": self.url, "ARENA_TOKEN": self.token, "XDG_CONFIG_HOME": str(self.folder / "nobodys")}
        others = ("ARENA_", "FORCE_", "COLUMNS")
        kept = {name: value for name, value in os.environ.items() if not name.startswith(others)}
        return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1", **ours, **changes}

    def run(self, *command: str, **options: Any) -> Ended:
        return subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=240, **options)


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    folder = tmp_path_factory.mktemp("lab")
    platform = Platform(folder / "data", "--workers", "1")
    try:
        platform.wait_until_ready()
        yield Lab(platform, folder)
    finally:
        platform.process.terminate()
        platform.process.wait(80)
