"""Whether the parts that a run needs answer."""

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

import django_rq
from django.conf import settings
from django.db import DatabaseError, connection
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from redis.exceptions import RedisError
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView
from rq import Worker
from rq.worker import BaseWorker

from experiments.engine.jobs import QUEUE
from experiments.models import Provider
from experiments.tasks import clock

STATUSES = ["ok", "down"]
KEPT_LONGER = 60  # seconds
CLOCK_WRONG_BY = 5.0  # seconds; second factors and signed links bear half a minute


class PartSerializer(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    detail = serializers.CharField()


class HealthSerializer(serializers.Serializer[Any]):
    status = serializers.ChoiceField(STATUSES)
    time = serializers.DateTimeField()
    services = serializers.DictField(child=PartSerializer())


def health() -> dict[str, object]:
    services = {
        "database": _database(),
        "redis": _redis(),
        "workers": _workers(),
        "providers": _providers(),
        "machine": _machine(),
    }
    if (missing := _missing_parts()) is not None:
        services["parts"] = _part(not missing, ". ".join(missing) or "all run")
    is_ok = all(service["ok"] for service in services.values())
    return {"status": "ok" if is_ok else "down", "time": timezone.now(), "services": services}


def _part(ok: bool, detail: str) -> dict[str, Any]:
    return {"ok": ok, "detail": detail}


def _database() -> dict[str, Any]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError as error:
        return _part(False, f"{connection.vendor} does not answer: {type(error).__name__}")
    return _part(True, connection.vendor)


def _redis() -> dict[str, Any]:
    try:
        django_rq.get_connection(QUEUE).ping()
    except (RedisError, OSError) as error:
        return _part(False, f"Redis does not answer: {type(error).__name__}. Runs go on; live text waits.")
    return _part(True, "answers")


def _workers() -> dict[str, Any]:
    try:
        alive = _alive(Worker.all(queue=django_rq.get_queue(QUEUE)))
    except (RedisError, OSError):
        return _part(False, "unknown while Redis is away")
    return _part(bool(alive), f"{alive} at work" if alive else "no worker: start one with `manage.py up`")


def living_workers() -> int:
    """Of all queues, on all machines; none is known of while Redis is away."""
    try:
        return _alive(Worker.all(connection=django_rq.get_connection(QUEUE)))
    except (RedisError, OSError):
        return 0


def _alive(workers: Iterable[BaseWorker]) -> int:
    return sum(map(is_heard_of, workers))


def is_heard_of(worker: BaseWorker) -> bool:
    """Whether it has beaten lately, as Redis counts the time: its own clock, and ours, may be wrong. RQ keeps what it
    knows of a worker for a minute longer than its beats may be apart.
    """
    return bool(worker.connection.ttl(worker.key) > KEPT_LONGER)


def _missing_parts() -> list[str] | None:
    """What `manage.py up` is restarting, each with the reason; None in a process that it did not start."""
    try:
        supervisor, *missing = settings.MISSING_PARTS_FILE.read_text().splitlines()
    except (OSError, ValueError):
        return None
    return missing if supervisor == str(os.getppid()) else None


def _machine() -> dict[str, Any]:
    """A clock that is wrong is told, and takes no machine out: it may be the database's."""
    try:
        off = (datetime.now(UTC) - clock.read()).total_seconds()
    except DatabaseError:
        return _part(False, "unknown while the database is away")
    if abs(off) < CLOCK_WRONG_BY:
        return _part(True, "has the time that the database has")
    said = _(
        "The clocks of this machine and of the database differ by %(seconds)s seconds. Times are shown wrong, "
        "and codes of second factors may be refused. Set both by NTP."
    )
    return _part(True, said % {"seconds": round(abs(off))})


def _providers() -> dict[str, Any]:
    try:
        active = list(Provider.objects.filter(is_active=True))
        keyless = set(Provider.objects.lacking_key())
    except DatabaseError:
        return _part(False, "unknown while the database is away")
    usable = [provider.name for provider in active if provider.pk not in keyless]
    return _part(bool(usable), ", ".join(usable) or "none: add one with `manage.py add_provider`")


class HealthView(APIView):
    """The state of the database, Redis, the workers and the providers; 503 when one of them is down."""

    permission_classes = [AllowAny]
    authentication_classes = []
    throttle_classes = []

    @extend_schema(responses={200: HealthSerializer, 503: HealthSerializer})
    def get(self, request: Request) -> Response:
        report = health()
        response = Response(report, status=200 if report["status"] == "ok" else 503)
        response._has_been_logged = True  # type: ignore[attr-defined]  # who asks for the state is told; the log is not
        return response
