"""What is going on now, over HTTP, for administrators."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.api import ForAdmins
from experiments.lab.observing.report import report


class _Runs(serializers.Serializer[Any]):
    workflow = serializers.CharField()
    queued = serializers.IntegerField(allow_null=True)
    running = serializers.IntegerField(allow_null=True)
    waiting = serializers.IntegerField(allow_null=True)
    stopping = serializers.IntegerField(allow_null=True)


class _Leases(serializers.Serializer[Any]):
    """ending: with less than half of their time left. ended: nobody has taken the run yet."""

    held = serializers.IntegerField()
    ending = serializers.IntegerField()
    ended = serializers.IntegerField()


class _Queue(serializers.Serializer[Any]):
    """waits: pieces of work in the database; null for ratings, of which none waits. bells: unanswered ones in Redis."""

    name = serializers.CharField()
    waits = serializers.IntegerField(allow_null=True)
    bells = serializers.IntegerField(allow_null=True)
    workers = serializers.IntegerField(allow_null=True)


class _Worker(serializers.Serializer[Any]):
    """runs: that it drives, as it says itself; null where it drives none by its nature, or has not said so."""

    queues = serializers.ListField(child=serializers.CharField())
    host = serializers.CharField()
    pid = serializers.IntegerField(allow_null=True)
    beat = serializers.DateTimeField(allow_null=True)
    is_silent = serializers.BooleanField()
    runs = serializers.IntegerField(allow_null=True)


class _Calls(serializers.Serializer[Any]):
    provider = serializers.CharField()
    count = serializers.IntegerField()


class _Failures(serializers.Serializer[Any]):
    provider = serializers.CharField()
    kind = serializers.CharField()
    count = serializers.IntegerField()


class _Paused(serializers.Serializer[Any]):
    provider = serializers.CharField()
    models = serializers.IntegerField()


class _Spent(serializers.Serializer[Any]):
    """In US dollars, of today (UTC). unpriced: calls whose cost nobody knows."""

    cost = serializers.DecimalField(max_digits=20, decimal_places=10)
    calls = serializers.IntegerField()
    unpriced = serializers.IntegerField()


class _Hour(serializers.Serializer[Any]):
    began = serializers.DateTimeField()
    calls = serializers.IntegerField()
    failed = serializers.IntegerField()
    cost = serializers.DecimalField(max_digits=20, decimal_places=10)


class _Disk(serializers.Serializer[Any]):
    size = serializers.IntegerField(allow_null=True)
    free = serializers.IntegerField(allow_null=True)


class _Backup(serializers.Serializer[Any]):
    """size: in bytes. sha256: of its manifest, which names the hash of everything. verified: when `verify_backup` last
    found it whole; null if it has not.
    """

    at = serializers.DateTimeField()
    name = serializers.CharField()
    size = serializers.IntegerField()
    sha256 = serializers.CharField()
    verified = serializers.DateTimeField(allow_null=True)


class _Machines(serializers.Serializer[Any]):
    """Sizes in bytes."""

    database = serializers.CharField()
    database_version = serializers.CharField(allow_null=True)
    database_size = serializers.IntegerField(allow_null=True)
    redis_version = serializers.CharField(allow_null=True)
    redis_memory = serializers.IntegerField(allow_null=True)
    redis_limit = serializers.IntegerField(allow_null=True)
    platform_version = serializers.CharField()
    python_version = serializers.CharField()
    django_version = serializers.CharField()


class OperatorSerializer(serializers.Serializer[Any]):
    """What is not known, as something does not answer, is null. failures: calls of the last hour. last_backup: null,
    too, when there has been none.
    """

    at = serializers.DateTimeField()
    database_up = serializers.BooleanField()
    redis_up = serializers.BooleanField()
    runs = _Runs(many=True)
    oldest_queued_seconds = serializers.FloatField(allow_null=True)
    leases = _Leases(allow_null=True)
    queues = _Queue(many=True)
    workers = _Worker(many=True)
    calls = _Calls(many=True)
    failures = _Failures(many=True)
    paused = _Paused(many=True)
    viewers = serializers.IntegerField(allow_null=True)
    spent_today = _Spent(allow_null=True)
    hours = _Hour(many=True)
    disk = _Disk()
    last_backup = _Backup(allow_null=True)
    machines = _Machines()


class OperatorView(ForAdmins):
    @extend_schema(responses={200: OperatorSerializer})
    def get(self, request: Request) -> Response:
        """What is going on now, and what the last hours brought."""
        return Response(OperatorSerializer(report().as_json()).data)
