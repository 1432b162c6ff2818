"""What balancers and service managers ask: whether this process answers, and whether people may be sent to it.

Both stand before everything else (`ProbeMiddleware`): they are asked by address, over plain HTTP, by whoever knows no
host name of ours. They say what is missing, and nothing about where it should be.
"""

import threading

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from django.views.decorators.http import require_safe
from redis import Redis
from redis.exceptions import RedisError

ALIVE, READY = "/healthz", "/readyz"
REDIS_SECONDS = 2.0
_needed: set[tuple[str, str]] = set()
_draining = threading.Event()


def begin_draining() -> None:
    """From now on this process is not ready, and answers those who are there already."""
    _draining.set()


class ProbeMiddleware(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        view = {ALIVE: alive, READY: ready}.get(request.path_info)
        return view(request) if view else None


@require_safe
def alive(request: HttpRequest) -> HttpResponse:
    """This process answers. Nothing else is asked: a database that is away is no reason to end a process."""
    return _answer([])


@require_safe
def ready(request: HttpRequest) -> HttpResponse:
    """People may be sent here; 503 and why not."""
    drains = "This server is being stopped: it takes no new visitors." if _draining.is_set() else ""
    return _answer([why for why in (drains, _lacks_tables(), _lacks_redis()) if why])


def _answer(complaints: list[str]) -> HttpResponse:
    text = "\n".join(complaints) or "ok"
    response = HttpResponse(f"{text}\n", content_type="text/plain; charset=utf-8", status=503 if complaints else 200)
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    response._has_been_logged = True  # type: ignore[attr-defined]  # who asks is told; the log is not
    return response


def _lacks_tables() -> str:
    """A newer database than this code needs is well: it is how a rolling update looks from an older server."""
    try:
        if not _needed:  # the last migrations of each app in this code, read from the disk once
            _needed.update(MigrationLoader(None).graph.leaf_nodes())
        lacking = _needed - set(MigrationRecorder(connection).applied_migrations())
    except DatabaseError as error:
        return f"The database does not answer ({type(error).__name__})."
    return f"The database lacks {len(lacking)} migrations: run `manage.py migrate`." if lacking else ""


def _lacks_redis() -> str:
    client = Redis.from_url(settings.REDIS_URL, socket_connect_timeout=REDIS_SECONDS, socket_timeout=REDIS_SECONDS)
    try:
        client.ping()
    except (RedisError, OSError) as error:
        return f"Redis does not answer ({type(error).__name__})."
    finally:
        client.close()
    return ""
