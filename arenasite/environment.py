"""What the environment says: the variables of the public contract, read in one place."""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

SOCKET_PATH_LIMIT = 100  # the kernel takes 107 bytes; Redis adds a suffix while it starts


def flag(name: str, default: bool = False) -> bool:
    return os.environ.get(name, str(default)).lower() in {"1", "true", "yes", "on"}


def whole(name: str, default: int) -> int:
    """A whole number from 1 on. Raises ImproperlyConfigured for anything else: half of "800abc" is no limit."""
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ImproperlyConfigured(f"{name} must be a whole number from 1 on, not {text!r}.")
    return int(text)


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def data_directory(base: Path) -> Path:
    return Path(os.environ.get("ARENA_DATA") or base / "var").resolve()


def socket_directory(data: Path) -> Path:
    """A private directory for sockets, short enough for the kernel's limit on socket paths."""
    inside = data / "run"
    if len(str(inside / "redis.sock")) <= SOCKET_PATH_LIMIT:
        return inside
    digest = hashlib.sha256(str(data).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"arena-{os.getuid()}-{digest}"


def secret_key(data: Path) -> str:
    """`ARENA_SECRET_KEY`, else a key made once and kept in the data directory, readable by its owner alone."""
    if key := os.environ.get("ARENA_SECRET_KEY"):
        return key
    path = data / "secret_key"
    try:
        data.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return path.read_text().strip()
    except OSError:
        return secrets.token_urlsafe(
            50
        )  # `up` says what is wrong with the directory; other commands need no stable key
    with os.fdopen(descriptor, "w") as file:
        file.write(secrets.token_urlsafe(50))
    return path.read_text().strip()
