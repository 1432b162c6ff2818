"""What the platform stands on: room, sizes and versions. What cannot be found out is None."""

import platform
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError, InterfaceError, connection
from redis.exceptions import RedisError

from experiments.lab.observing import counting

SECONDS = 60


@dataclass(frozen=True, slots=True)
class Machines:
    """Sizes in bytes. redis_limit: None where Redis may take what it wants."""

    database: str
    database_version: str | None
    database_size: int | None
    redis_version: str | None
    redis_memory: int | None
    redis_limit: int | None
    platform_version: str
    python_version: str
    django_version: str


def machines() -> Machines:
    """As it is, or was a minute ago."""
    cache = caches["memory"]
    found = cache.get("machines")
    if found is None:
        found = _read()
        cache.set("machines", found, SECONDS if None not in (found.database_size, found.redis_memory) else 1)
    return found  # type: ignore[no-any-return]


def _read() -> Machines:
    version, size = _database()
    redis = _redis()
    return Machines(
        database="PostgreSQL" if connection.vendor == "postgresql" else "SQLite",
        database_version=version,
        database_size=size,
        redis_version=redis.get("valkey_version") or redis.get("redis_version"),
        redis_memory=redis.get("used_memory"),
        redis_limit=redis.get("maxmemory") or None,
        platform_version=str(settings.SPECTACULAR_SETTINGS["VERSION"]),
        python_version=platform.python_version(),
        django_version=django.get_version(),
    )


def _database() -> tuple[str | None, int | None]:
    try:
        with connection.cursor() as cursor:
            if connection.vendor == "postgresql":
                cursor.execute("SELECT current_setting('server_version'), pg_database_size(current_database())")
                version, size = cursor.fetchone()
                return str(version).split(" ")[0], int(size)
            cursor.execute("SELECT sqlite_version()")
            return str(cursor.fetchone()[0]), _size_of_files()
    except (DatabaseError, InterfaceError, OSError):
        return None, None


def _size_of_files() -> int:
    """With what is written ahead, which can be as long."""
    name = str(settings.DATABASES["default"]["NAME"])
    files = [Path(name), Path(f"{name}-wal")]
    return sum(file.stat().st_size for file in files if file.is_file())


def _redis() -> dict[str, Any]:
    try:
        return dict(counting.connect().info())
    except (RedisError, OSError):
        return {}
