"""One attempt: the signed request, its limits, and what came of it. No row is read or written here.

Signatures follow Standard Webhooks (standardwebhooks.com, version 1, symmetric).
"""

import asyncio
import hashlib
import hmac
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import httpx
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from experiments.engine.text import storable
from experiments.gateway import ForbiddenAddress, guarded_transport
from experiments.gateway.redaction import redact, without_torn_end
from experiments.models.webhook import ANSWER_BYTES, WebhookDelivery

Problem = WebhookDelivery.Problem
GONE = 410
AGENT = "ArenaLab-Webhooks/1"
PREFIX = "whsec_"
SECRET_BYTES = 32


@dataclass(frozen=True, slots=True)
class Letter:
    """What is sent where. secrets: each signs once; none where they cannot be decrypted."""

    id: str
    url: str
    body: bytes
    allow_private: bool
    secrets: Sequence[str] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """status: None where there was no answer. text: how it begins, without secrets. problem: "" for an acceptance."""

    problem: str = ""
    status: int | None = None
    seconds: float | None = None
    text: str = ""


def client(*, allow_private: bool, at_once: int) -> httpx.AsyncClient:
    """To be shared by letters with the same permission. It keeps no connection and follows no redirect."""
    transport = guarded_transport(allow_private=allow_private, max_connections=at_once, keeps_connections=False)
    return httpx.AsyncClient(
        transport=transport, trust_env=False, follow_redirects=False, timeout=settings.WEBHOOK_SECONDS
    )


async def send(client: httpx.AsyncClient, letter: Letter, at: datetime) -> Answer:
    """Never raises for anything that a receiver does."""
    if not letter.secrets:
        return Answer(Problem.UNREADABLE)
    begun = time.monotonic()
    try:
        async with asyncio.timeout(settings.WEBHOOK_SECONDS):
            status, text = await _ask(client, letter, at)
    except ForbiddenAddress:
        return Answer(Problem.FORBIDDEN)
    except (TimeoutError, httpx.TimeoutException):
        return Answer(Problem.TIMEOUT, seconds=time.monotonic() - begun)
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError):
        return Answer(Problem.UNREACHABLE, seconds=time.monotonic() - begun)
    problem = "" if 200 <= status < 300 else Problem.REDIRECT if 300 <= status < 400 else Problem.REFUSED
    return Answer(problem, status, time.monotonic() - begun, text)


async def _ask(client: httpx.AsyncClient, letter: Letter, at: datetime) -> tuple[int, str]:
    """The status and the beginning of the answer: no more of it is read, and none of it is unpacked."""
    headers = {"content-type": "application/json", "user-agent": AGENT, "accept-encoding": "identity"}
    headers |= signing_headers(letter.id, at, letter.body, letter.secrets)
    async with client.stream("POST", letter.url, content=letter.body, headers=headers) as answer:
        begin = b""
        async for piece in answer.aiter_raw():
            begin += piece
            if len(begin) >= ANSWER_BYTES:
                break
        return answer.status_code, _clean(begin, letter, headers["webhook-signature"])


@sensitive_variables()
def _clean(begin: bytes, letter: Letter, signatures: str) -> str:
    """What a receiver repeats of our secrets and signatures is taken out, also where the cut goes through one."""
    text = begin.decode("utf-8", "replace")
    for secret in (*letter.secrets, *signatures.split()):
        for form in (secret, secret.removeprefix(PREFIX).removeprefix("v1,")):
            text = without_torn_end(redact(text, form), form)
    return storable(text[:ANSWER_BYTES])


def new_secret() -> str:
    """`whsec_` and 32 random bytes in base64."""
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


@sensitive_variables("by", "secret")
def signing_headers(id_: str, at: datetime, body: bytes, by: Sequence[str]) -> dict[str, str]:
    """The headers by which a receiver knows that a delivery is ours. by: secrets, each of which signs once."""
    seconds = str(int(at.timestamp()))
    return {
        "webhook-id": id_,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(signature(secret, id_, seconds, body) for secret in by),
    }


@sensitive_variables("secret", "key")
def signature(secret: str, id_: str, seconds: str, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA256 over `id.seconds.body`. The key: what the secret's base64 stands for."""
    key = b64decode(secret.removeprefix(PREFIX))
    digest = hmac.new(key, f"{id_}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{b64encode(digest).decode()}"
