"""`manage.py up`: the whole platform in one process tree."""

import os
import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import connections

from accounts.errors import Unavailable
from arenasite import demo
from arenasite.launch import Launch
from arenasite.supervisor import CannotStart, Stopped, places
from arenasite.supervisor.supervisor import Supervisor

USUAL_WEB = 4
MOST_WORKERS = MOST_WEB = 64


def _up_to(most: int, *, why: str, least: int = 0) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not text.isascii() or not text.isdigit() or not least <= int(text) <= most:
            raise ArgumentTypeError(f"{text!r} is no {why} from {least} to {most}")
        return int(text)

    return read


_port = _up_to(65535, why="port")
_workers = _up_to(MOST_WORKERS, why="number of workers")
_web = _up_to(MOST_WEB, why="number of web processes", least=1)


class Command(BaseCommand):
    help = (
        "Start the whole platform: Redis unless REDIS_URL is set, the web server, the workers and, where no provider "
        "is, the simulated one. Prints `Ready: http://…` when it serves; Ctrl+C stops everything."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        half = max(1, min(USUAL_WEB, (os.cpu_count() or 1) // 2))  # the rest is for workers, Redis and the database
        parser.add_argument("--port", type=_port, help="default: PORT, else 8000; 0 takes any free one")
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
        parser.add_argument("--data", type=Path, help="the data directory (default: ARENA_DATA, else var/)")
        parser.add_argument("--workers", type=_workers, default=2, help="processes that drive runs (default: 2)")
        parser.add_argument(
            "--web", type=_web, default=half, help="web processes (default: half of the cores, 4 at most)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["data"] and options["data"].resolve() != settings.DATA_DIR:
            _run_again_with(options["data"].resolve())
        supervisor = Supervisor(self._say, settings.MISSING_PARTS_FILE, before_start=connections.close_all)
        supervisor.listen()
        try:
            self._serve(supervisor, **options)
        except Stopped:
            pass
        except (CannotStart, demo.NameTaken, Unavailable) as error:
            supervisor.stop()
            self.stderr.write(str(error))
            sys.exit(1)
        finally:
            supervisor.stop()
        self._say("Stopped.")

    def _serve(
        self, supervisor: Supervisor, host: str, port: int | None, web: int, workers: int, **options: Any
    ) -> None:
        try:
            port = _port(os.environ.get("PORT") or "8000") if port is None else port
        except ArgumentTypeError as error:
            raise CannotStart(f"PORT: {error}.") from error
        with places.listen(host, port) as listener:
            places.prepare(settings.DATA_DIR)
            with places.lock(settings.DATA_DIR):
                places.prepare_private(settings.SOCKET_DIR)
                try:
                    Launch(supervisor, host=host, listener=listener, web=web, workers=workers, say=self._say).start()
                    supervisor.watch()
                    self._say("Stopping …")
                finally:
                    listener.close()  # the web processes have it while they listen: then visitors are refused, not held
                    supervisor.stop()  # before the directory is free for another one

    def _say(self, text: str) -> None:
        try:
            self.stdout.write(text)
            self.stdout.flush()
        except OSError:
            pass  # the terminal is gone; the platform goes on


def _run_again_with(data: Path) -> NoReturn:
    """Settings were read for another data directory: start over with this one."""
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], os.environ | {"ARENA_DATA": str(data)})  # noqa: S606 — this program again
