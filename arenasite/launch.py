"""The order in which the platform starts, and what it says when it serves."""

import gc
import logging
import os
import socket
import warnings
from collections.abc import Callable
from importlib import import_module

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connections
from redis import Redis
from redis.exceptions import RedisError

from accounts import first_admin
from accounts.errors import Forbidden, Invalid
from accounts.models import User
from arenasite import demo, environment, preparation, showcase
from arenasite.supervisor import CannotStart
from arenasite.supervisor.children import Backoff, Child
from arenasite.supervisor.parts import Parts, end_leftover_redis, redis_answers
from arenasite.supervisor.supervisor import Health, Supervisor
from experiments import receivers
from experiments.engine import verification
from experiments.gateway import GatewayError
from experiments.lab.catalog import syncing as catalog
from experiments.models import Run
from experiments.workflows.shards import is_sharded
from leaderboard.arena import opening

logger = logging.getLogger(__name__)

START_SECONDS = float(environment.whole("ARENA_START_SECONDS", 30))  # until a part has to answer
LONGEST_START_SECONDS = 20 * START_SECONDS
WELL_SECONDS = 10.0
REDIS_SECONDS = 10.0
MOST_NAMED = 20
# Written out: to reverse them needs all pages, one of which may be broken
RUN_PATH = "/runs/{}/"
CAMPAIGN_PATH = "/experiments/{}/"  # where what is shared out over many runs is watched
HERE = {"127.0.0.1", "0.0.0.0", "::", "::1"}  # noqa: S104 — names of addresses, none is listened on here


class Launch:
    """Starts every part under the supervisor. Raises CannotStart where nothing can work: no database, no Redis to
    start or to reach. A part that does not answer is reported and retried, and the others go on. Raises Stopped,
    NameTaken and database errors, too.
    """

    def __init__(
        self,
        supervisor: Supervisor,
        *,
        host: str,
        listener: socket.socket,
        web: int,
        workers: int,
        say: Callable[[str], None],
    ) -> None:
        """listener: at which the platform is reached, as `host`. web, workers: how many processes of each."""
        self._supervisor, self._say = supervisor, say
        self._host, self._port, self._listener = host, int(listener.getsockname()[1]), listener.fileno()
        self._web, self._workers = web, workers
        self._parts = Parts(settings.BASE_DIR, settings.DATA_DIR, settings.SOCKET_DIR, settings.DRAIN_SECONDS)
        self._runs: list[Run] = []
        self._first_admin: str | None = None  # the token of the link that creates the first administrator
        self._are_workers_complete = False

    def start(self) -> None:
        self._start_redis()
        self._prepare_database()
        self._check_records()
        simulated = self._start_simulated()
        health = Health(self._host, self._port, settings.ALLOWED_HOSTS)
        web = self._parts.web(1, self._listener)
        preload()
        self._supervisor.start(web)
        health.start()
        is_registered = simulated is None or self._register(simulated)
        self._prepare_people()
        if self._workers:
            callers = (self._parts.caller(number) for number in range(1, settings.CALLERS + 1))
            self._supervisor.start(*callers, self._parts.worker(1))
        self._wait_for_web(web, health)
        if self._workers:
            self._supervisor.wait_for(lambda: health.is_well, WELL_SECONDS)
        health.end()
        self._say(self._greeting(is_simulated=simulated is not None, is_well=health.is_well))
        self._supervisor.start(*(self._parts.web(number, self._listener) for number in range(2, self._web + 1)))
        self._complete_workers()
        pauses = Backoff(1.0, START_SECONDS, stable=START_SECONDS)
        while simulated and not is_registered:
            self._supervisor.wait_for(lambda: False, pauses.pause(0))
            is_registered = self._register(simulated)
        connections.close_all()

    def _start_redis(self) -> None:
        if not settings.REDIS_IS_EMBEDDED:
            try:
                Redis.from_url(settings.REDIS_URL, socket_connect_timeout=REDIS_SECONDS).ping()
            except (RedisError, OSError, ValueError) as error:
                raise CannotStart(
                    f"Redis does not answer at REDIS_URL ({type(error).__name__}). Start it, or unset REDIS_URL to use "
                    "the embedded one."
                ) from error
            return
        end_leftover_redis(settings.SOCKET_DIR)
        child = self._parts.redis()
        self._supervisor.start(child)
        if not self._supervisor.wait_for(lambda: redis_answers(settings.SOCKET_DIR), REDIS_SECONDS):
            self._say(f"The embedded Redis server does not answer yet; {child.log} says why. Runs wait for it.")

    def _check_records(self) -> None:
        """Of runs under way, and of those that this machine noted. Damaged ones are named; the others go on."""
        try:
            damaged = verification.older_than_noted()
            damaged |= dict(verification.verify(Run.objects.live().exclude(pk__in=damaged)))
        except DatabaseError as error:
            self._say(_unusable(error))
            return
        if damaged:
            self._say(f"The record of {len(damaged)} runs is damaged, or older than what was noted of it:")
            for key, damage in list(damaged.items())[:MOST_NAMED]:
                self._say(f"  {key}  {verification.sentence(damage)}")
            self._say(
                "They are not continued; all others are. `manage.py verify` checks all runs, `restore` takes a backup."
            )

    def _prepare_database(self) -> None:
        try:
            if preparation.is_outdated():
                self._say("Updating the database. The first time, this takes up to a minute.")
                preparation.migrate()
                self._say("The database is up to date.")
            receivers.store_builtin()  # of workflows, too, which may have been installed since
        except DatabaseError as error:
            raise CannotStart(_unusable(error)) from error
        preparation.compile_translations()

    def _start_simulated(self) -> Child | None:
        """OpenRouter's models are listed beside the start, the first time: that needs the network, and may take long.
        None where there is a real provider, and this is no demonstration.
        """
        if os.environ.get(catalog.OPENROUTER_KEY) and not catalog.ensure_openrouter().models.exists():
            self._say("OpenRouter's models are being listed (`manage.py sync_models` does it again).")
            self._supervisor.start(self._parts.once("sync_models"))
        if catalog.real_providers() and not settings.DEMO_MODE:
            catalog.retire_simulated()
            return None
        child = self._parts.simulated()
        self._supervisor.start(child)
        return child

    def _register(self, simulated: Child) -> bool:
        """False when it does not answer yet."""
        why = f"The simulated provider does not answer yet; {simulated.log} says why."
        if not self._supervisor.wait_for(lambda: self._parts.simulated_port() is not None, START_SECONDS):
            self._say(why)
            return False
        port = self._parts.simulated_port() or 0
        self._parts.pin_simulated(simulated, port)
        try:
            catalog.register_simulated(f"http://127.0.0.1:{port}/v1")
        except GatewayError as error:
            self._say(f"{why} ({error})")
            return False
        return True

    def _prepare_people(self) -> None:
        if not settings.DEMO_MODE:
            demo.retire_people()
            self._first_admin = first_admin.new_token()
            return
        demo.prepare_people()
        try:
            self._runs = showcase.start_all()
            showcase.prepare_review()
            opening.open_demonstration(User.objects.get(username=User.Role.ADMIN))
        except (Invalid, Forbidden) as error:
            self._say(f"The demonstration's runs could not be started: {error}")

    def _wait_for_web(self, web: Child, health: Health) -> None:
        """A web server that does not answer in time is restarted, and has longer each time. Runs go on meanwhile."""
        patience = Backoff(START_SECONDS, LONGEST_START_SECONDS, stable=LONGEST_START_SECONDS)
        while not self._supervisor.wait_for(lambda: health.is_serving, seconds := patience.pause(0)):
            self._complete_workers()
            self._say(
                f"The web server has not answered for {seconds:.0f} seconds; {web.log} says why. It is restarted, and "
                "runs go on."
            )
            web.kill()

    def _complete_workers(self) -> None:
        """All but the first worker come later: the first page is worth more than the second of anything."""
        if self._are_workers_complete or not self._workers:
            return
        self._are_workers_complete = True
        others = (self._parts.worker(number) for number in range(2, self._workers + 1))
        self._supervisor.start(*others, self._parts.sandbox(), self._parts.reports())

    def _greeting(self, *, is_simulated: bool, is_well: bool) -> str:
        host = "localhost" if self._host in HERE else f"[{self._host}]" if ":" in self._host else self._host
        address = f"http://{host}:{self._port}"
        models = ", ".join(catalog.real_providers())
        if not is_simulated:
            models += " (`manage.py sync_models` lists what they offer)"
        elif models:
            models += ", and the simulated provider"
        lines = ["", f"Ready: {address}", ""]
        if settings.DEMO_MODE:
            lines.append(f"  Sign in   {demo.SIGN_INS}")
        if self._first_admin:
            lines.append(f"  Set up    {first_admin.link(self._first_admin, address)}")
            lines.append(f"            creates the first administrator; works once, for {first_admin.HOURS} hours")
        for number, run in enumerate(self._runs):
            workflow = run.experiment.workflow
            path = CAMPAIGN_PATH.format(run.experiment_id) if is_sharded(workflow) else RUN_PATH.format(run.pk)
            lines.append(f"  {'' if number else 'Watch':<9} {address}{path}  {workflow}")
        lines += [
            f"  Models:   {models or 'simulated provider (no real model is asked)'}",
            f"  Data      {settings.DATA_DIR}",
            f"  Logs      {settings.DATA_DIR / 'logs'}",
            "  Stop      Ctrl+C",
        ]
        if not is_well:
            lines.append(f"  Not everything answers yet: {address}/api/health/ says what is missing.")
        return "\n".join([*lines, ""])


def preload() -> None:
    """Load what copies of this process begin with: web processes with the pages, workers with the transport of calls.
    A module that cannot be loaded is left to these processes: they say so in their log, and are restarted.
    """
    with warnings.catch_warnings(action="ignore"):  # that no files were collected, which need not be
        for name in ("arenasite.asgi", settings.ROOT_URLCONF, "experiments.gateway.transport"):
            try:
                import_module(name)
            except Exception as error:  # whatever stands in it
                logger.warning("%s could not be loaded: %s", name, type(error).__name__)
    gc.freeze()  # looked through by none of them, it stays shared


def _unusable(error: DatabaseError) -> str:
    """What is wrong with the database, and what to do about it."""
    said, database = f"The database cannot be used: {str(error).strip()}.", settings.DATABASES["default"]
    if connections["default"].vendor != "sqlite":
        return f"{said} Check DATABASE_URL, or unset it to use SQLite."
    return (
        f"{said} It is the file {database['NAME']}. If it is damaged, move it away together with its -wal and -shm "
        "files, and restore your latest backup: `manage.py restore FILE` (docs/operating.md, “A damaged database”)."
    )
