"""Where the platform is and who asks: said in the program, in the environment, or once by `arena login`."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path

from arena_lab.errors import NotSetUp


@dataclass(frozen=True, slots=True)
class Credentials:
    """url without a slash at its end. The token is not shown."""

    url: str
    token: str = field(repr=False)


def find(url: str | None = None, token: str | None = None) -> Credentials:
    """What is given, else ARENA_URL and ARENA_TOKEN, else what was stored. A stored token is used for its own address
    alone. Raises NotSetUp.
    """
    stored = _stored()
    url = _clean(url or os.environ.get("ARENA_URL") or (stored.url if stored else ""))
    if not url:
        raise NotSetUp("Where is the platform? Set ARENA_URL, or run `arena login` once.")
    token = token or os.environ.get("ARENA_TOKEN") or (stored.token if stored and stored.url == url else "")
    if not token:
        raise NotSetUp(f"There is no token for {url}. Set ARENA_TOKEN, or run `arena login` once.")
    return Credentials(url, token)


def store(credentials: Credentials) -> Path:
    """Readable by nobody else. Returns where."""
    path = path_of_store()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_suffix(".new")
    fresh.unlink(missing_ok=True)
    handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump({"url": _clean(credentials.url), "token": credentials.token}, file)
    fresh.replace(path)
    return path


def forget() -> bool:
    """False when nothing was stored."""
    path = path_of_store()
    was_there = path.exists()
    path.unlink(missing_ok=True)
    return was_there


def path_of_store() -> Path:
    base = os.environ.get("XDG_CONFIG_HOME") or os.environ.get("APPDATA") or Path.home() / ".config"
    return Path(base) / "arena-lab" / "credentials.json"


def _stored() -> Credentials | None:
    try:
        found = json.loads(path_of_store().read_text(encoding="utf-8"))
        return Credentials(str(found["url"]), str(found["token"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _clean(url: str) -> str:
    url = url.strip().rstrip("/")
    return url if not url or "://" in url else f"http://{url}"
