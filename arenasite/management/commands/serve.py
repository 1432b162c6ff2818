"""`manage.py serve`: the web server alone, as `manage.py up` starts it, for whoever starts each part as a service."""

import os
import sys
from argparse import ArgumentParser
from contextlib import suppress
from typing import Any, NoReturn

from django.conf import settings
from django.core.management.base import BaseCommand
from django.db import DatabaseError

from arenasite.demo import retire_people
from arenasite.preparation import compile_translations
from arenasite.supervisor.parts import web_arguments


class Command(BaseCommand):
    help = (
        "The web server alone: pages, API and WebSockets. Asked to end, it goes on for ARENA_WEB_DRAIN_SECONDS while "
        "/readyz says that it is not ready."
    )
    requires_system_checks = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="the address to listen on (default: this machine only)")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or "8000"))

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> NoReturn:
        if not settings.DEMO_MODE:
            with suppress(DatabaseError):  # where it is away nobody signs in, and the page says so
                retire_people()
        if os.access(settings.BASE_DIR / "locale", os.W_OK):
            compile_translations()
        os.chdir(settings.BASE_DIR)
        os.execv(sys.executable, [sys.executable, *web_arguments("-b", host, "-p", str(port))])  # noqa: S606
