"""What the environment says: the variables of the public contract, read in one place."""

import hashlib
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

LEAST_SECRET = 32  # characters of a secret that keys are derived from; they are not passwords of people
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
    try:
        return _kept_secret(data / "secret_key")
    except OSError:
        return _new_secret()  # `up` says what is wrong with the directory; other commands need no stable key


def key_secrets(data: Path) -> list[str]:
    """What stored provider keys are encrypted with, newest first: `ARENA_KEY_SECRETS`, else a secret made once and
    kept in the data directory. Empty where that cannot be had: a key must not be lost with a secret nobody kept.
    """
    if given := words("ARENA_KEY_SECRETS"):
        if any(len(secret) < LEAST_SECRET for secret in given):
            raise ImproperlyConfigured(
                f"Each of ARENA_KEY_SECRETS must have {LEAST_SECRET} characters or more: "
                "make one with `openssl rand -base64 48`."
            )
        return given
    try:
        return [_kept_secret(data / "key_secret")]
    except OSError:
        return []


def _kept_secret(path: Path) -> str:
    """The secret in a file, made when there is none. It appears whole or not at all: two processes find the same."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, draft = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
        try:
            with os.fdopen(descriptor, "w") as file:
                file.write(_new_secret())
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileExistsError):
                os.link(draft, path)
        finally:
            os.unlink(draft)
    return path.read_text().strip()


def _new_secret() -> str:
    return secrets.token_urlsafe(50)
