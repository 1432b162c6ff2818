"""A whole platform with simulated models that answer at once, and a server on loopback that answers as it is told."""

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from arena_lab import Arena, Patience
from arena_lab.cli import main
from tests.arenasite.platforms import Platform, manage

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "client" / "src"
SLOW = "sim/slow"  # says so much that there is time to interfere
MORE = {SLOW: "sim/cooperative:tps=60:words=120:first=0", "sim/failing": "sim/cooperative:fail=401"}
SETTING_UP = f"""
from accounts.models import User
from accounts.tokens import create_token
from experiments.models import Provider, ProviderModel
provider = Provider.objects.get(name="simulated")
for model in provider.models.all():
    model.upstream += ":tps=0:first=0"
    model.save(update_fields=["upstream"])
for slug, upstream in {MORE!r}.items():
    ProviderModel.objects.create(provider=provider, slug=slug, upstream=upstream, label=slug, is_active=True)
print(create_token(User.objects.create_user("ada", password="correct horse battery")))
"""
HURRIED = Patience(attempts=4, first=0.01)


class Lab:
    """A platform, and one person's token."""

    def __init__(self, platform: Platform, folder: Path) -> None:
        self.platform, self.folder = platform, folder
        self.url = f"http://localhost:{platform.port}"
        done = manage("shell", "--no-imports", "--command", SETTING_UP, ARENA_DATA=str(platform.data))
        assert done.returncode == 0, done.stderr
        self.token = done.stdout.split()[-1]

    def environment(self, **changes: str) -> dict[str, str]:
        """Of a program of that person's."""
        ours = {"ARENA_URL": self.url, "ARENA_TOKEN": self.token, "XDG_CONFIG_HOME": str(self.folder / "nobodys")}
        kept = {
            name: value for name, value in os.environ.items() if not name.startswith(("ARENA_", "FORCE_", "COLUMNS"))
        }
        return {**kept, "PYTHONPATH": str(SOURCE), "PYTHONUNBUFFERED": "1", **ours, **changes}


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


@pytest.fixture
def arena(lab: Lab) -> Iterator[Arena]:
    with Arena(lab.url, lab.token) as found:
        yield found


@pytest.fixture
def begin(arena: Arena) -> Callable[..., Any]:
    """Starts a run of the arena, without a filter and a judge unless they are wanted."""

    def start(a: str = "sim/cooperative", b: str = "sim/competitive", **config: Any) -> Any:
        asked = {"prompt": "Share seven panels.", "max_turns": 1, "gap_seconds": 0, "filter": False, "judge": False}
        experiment = arena.experiments.create("arena", {"A": a, "B": b}, {**asked, **config})
        [run] = arena.experiments.start(experiment, seed=7)
        return run

    return start


@pytest.fixture
def command(lab: Lab) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Runs the command `arena` in a process of its own, with its output in no terminal."""

    def call(*arguments: str, stdin: str = "", **changes: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            env=lab.environment(**changes),
            input=stdin,
            capture_output=True,
            text=True,
            timeout=240,
        )

    return call


@dataclass(frozen=True)
class Typed:
    """What a command ended with, and what it said."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def typed(lab: Lab, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., Typed]:
    """The same in this process, which begins sooner."""

    def call(*arguments: str, stdin: str = "", **changes: str) -> Typed:
        ours = {"ARENA_URL": lab.url, "ARENA_TOKEN": lab.token, "XDG_CONFIG_HOME": str(lab.folder / "nobodys")}
        for name, value in {**ours, **changes}.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(sys, "stdin", StringIO(stdin))
        try:
            code = main(arguments)
        except SystemExit as ended:
            code = int(str(ended.code))
        said = capsys.readouterr()
        return Typed(code, said.out, said.err)

    return call


COMMAND = [sys.executable, "-c", "import sys; from arena_lab.cli import main; sys.exit(main())"]


class Scripted:
    """Answers one request after another as it was told, the last answer for ever; None breaks the connection."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], bytes] | None] = []
        self.asked: list[tuple[str, str, dict[str, str]]] = []
        handler = type("Handler", (_Handler,), {"scripted": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def says(self, status: int, body: str = "{}", **headers: str) -> "Scripted":
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers.append((status, named, body.encode()))
        return self

    def breaks(self) -> "Scripted":
        self.answers.append(None)
        return self

    def next(self) -> tuple[int, dict[str, str], bytes] | None:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


class _Handler(BaseHTTPRequestHandler):
    scripted: Scripted

    def answer(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        self.scripted.asked.append((self.command, self.path, dict(self.headers)))
        said = self.scripted.next()
        if said is None:
            self.close_connection = True
            self.connection.close()
            return
        status, headers, body = said
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer  # noqa: N815  # the names that http.server looks for

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    found = Scripted()
    yield found
    found.server.shutdown()
    found.server.server_close()
