"""What the environment says: the variables of the public contract, read in one place."""

import hashlib
import os
import secrets
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf, nan
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlencode, urlsplit

from django.core.exceptions import ImproperlyConfigured

from experiments.tasks import durable

LEAST_SECRET = 32  # characters of a secret that keys are derived from; they are not passwords of people
LEAST_TOKEN = 16  # characters
SOCKET_PATH_LIMIT = 100  # the kernel takes 107 bytes; Redis adds a suffix while it starts
SIGNUPS = ("closed", "invite", "domain")  # the first is the default
ROLES = ("researcher", "reviewer", "curator", "admin")
MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtp+ssl": 465}


def flag(name: str, default: bool = False) -> bool:
    """A line that is there and empty says nothing."""
    return (os.environ.get(name, "").strip() or str(default)).lower() in {"1", "true", "yes", "on"}


def whole(name: str, default: int, least: int = 1) -> int:
    """A whole number from `least` on. Raises ImproperlyConfigured for anything else: half of "800abc" is no limit."""
    text = os.environ.get(name, "").strip() or str(default)
    if not text.isascii() or not text.isdigit() or int(text) < least:
        raise ImproperlyConfigured(f"{name} must be a whole number from {least} on, not {text!r}.")
    return int(text)


def seconds(name: str, default: float) -> float:
    """A time from 0 on, fractions too. Raises ImproperlyConfigured for anything else."""
    return amount(name, default, "seconds")


def amount(name: str, default: float, unit: str) -> float:
    """A number from 0 on, fractions too. Raises ImproperlyConfigured for anything else."""
    text = os.environ.get(name, "").strip() or str(default)
    try:
        value = float(text)
    except ValueError:
        value = nan
    if not 0 <= value < inf:
        raise ImproperlyConfigured(f"{name} must be a number of {unit} from 0 on, not {text!r}.")
    return value


def with_query(url: str, **more: Any) -> str:
    """The address with options of its client added."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(more)}"


def token(name: str) -> str:
    """What a program shows to be let in; "" if nothing is said. Raises ImproperlyConfigured for one that is guessed."""
    text = os.environ.get(name, "").strip()
    if text and len(text) < LEAST_TOKEN:
        raise ImproperlyConfigured(
            f"{name} must have {LEAST_TOKEN} characters or more: make one with `openssl rand -base64 32`."
        )
    return text


def words(name: str, default: str = "") -> list[str]:
    return [word.strip() for word in os.environ.get(name, default).split(",") if word.strip()]


def one_of(name: str, choices: Sequence[str]) -> str:
    """One of these words; the first if nothing is said. Raises ImproperlyConfigured for another one."""
    word = os.environ.get(name, "").strip().lower() or choices[0]
    if word not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {word!r}.")
    return word


def some_of(name: str, choices: Sequence[str]) -> list[str]:
    """Any of these words, separated by commas. Raises ImproperlyConfigured for another one."""
    found = [word.lower() for word in words(name)]
    if wrong := [word for word in found if word not in choices]:
        raise ImproperlyConfigured(f"{name} may name {', '.join(choices)}, not {', '.join(wrong)}.")
    return found


@dataclass(frozen=True, slots=True)
class Mail:
    """A mail server. starttls: the connection is encrypted after a greeting; tls: from its first byte on."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    starttls: bool
    tls: bool


def mail(name: str) -> Mail | None:
    """`smtp+tls://user:password@host:587`; None if nothing is said. Raises ImproperlyConfigured for another form.

    The message does not repeat the value: it has a password in it.
    """
    text = os.environ.get(name, "").strip()
    if text in {"", "console://", "console:"}:
        return None
    try:
        url = urlsplit(text)
        port = url.port or MAIL_PORTS[url.scheme]
    except (ValueError, KeyError) as error:
        raise ImproperlyConfigured(f"{name} must look like smtp+tls://user:password@host:587.") from error
    if not url.hostname:
        raise ImproperlyConfigured(f"{name} names no host: smtp+tls://user:password@host:587.")
    return Mail(
        host=url.hostname,
        port=port,
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        starttls=url.scheme == "smtp+tls",
        tls=url.scheme == "smtp+ssl",
    )


@dataclass(frozen=True, slots=True)
class SignInServer:
    """An OpenID Connect server that vouches for people."""

    ID = "lab"  # part of the address that the server sends people back to

    name: str
    issuer: str
    client_id: str
    client_secret: str = field(repr=False)

    def app(self) -> dict[str, object]:
        """As django-allauth wants to be told."""
        return {
            "provider_id": self.ID,
            "name": self.name,
            "client_id": self.client_id,
            "secret": self.client_secret,
            "settings": {"server_url": self.issuer, "oauth_pkce_enabled": True},
        }


def bucket() -> dict[str, object] | None:
    """Options of the storage of files; None where they are on a disk. Raises ImproperlyConfigured. Keys are read by
    boto3 itself, from its own variables or from the machine.
    """
    name = os.environ.get("ARENA_FILES_BUCKET", "").strip()
    if not name:
        return None
    if find_spec("storages") is None or find_spec("boto3") is None:
        raise ImproperlyConfigured("ARENA_FILES_BUCKET needs more packages: pip install 'django-storages[s3]'")
    from botocore.config import Config  # noqa: PLC0415 — seconds to load, and nobody else needs it

    return {
        "bucket_name": name,
        "endpoint_url": os.environ.get("ARENA_FILES_ENDPOINT") or None,
        "location": os.environ.get("ARENA_FILES_PREFIX", ""),
        "file_overwrite": True,  # names are ours, and a file that is written twice is the same
        "default_acl": None,
        "client_config": Config(connect_timeout=5, read_timeout=30, retries={"mode": "standard"}),
    }


def oidc() -> SignInServer | None:
    """None if no issuer is named. Raises ImproperlyConfigured for an issuer without a client."""
    issuer = os.environ.get("ARENA_OIDC_ISSUER", "").strip().rstrip("/")
    if not issuer:
        return None
    client, secret = os.environ.get("ARENA_OIDC_CLIENT_ID", ""), os.environ.get("ARENA_OIDC_CLIENT_SECRET", "")
    if not client or not issuer.startswith(("https://", "http://")):
        raise ImproperlyConfigured(
            "ARENA_OIDC_ISSUER must be an https:// address, and ARENA_OIDC_CLIENT_ID be set too."
        )
    name = os.environ.get("ARENA_OIDC_NAME") or urlsplit(issuer).hostname or issuer
    return SignInServer(name, issuer, client, secret)


def trace_exporter() -> str:
    """The class that sends traces; "" if none are asked for. Raises ImproperlyConfigured where packages are missing."""
    if one_of("ARENA_TRACES", ("off", "otlp")) == "off":
        return ""
    try:
        is_installed = all(map(find_spec, ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")))
    except ModuleNotFoundError:
        is_installed = False
    if not is_installed:
        raise ImproperlyConfigured(
            "ARENA_TRACES=otlp needs two packages more: "
            "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
        )
    return "experiments.lab.observing.otlp.OtlpExporter"


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
            durable.settle(Path(draft))
            with suppress(FileExistsError):
                os.link(draft, path)
                durable.settle(path)
        finally:
            os.unlink(draft)
    return path.read_text().strip()


def _new_secret() -> str:
    return secrets.token_urlsafe(50)
