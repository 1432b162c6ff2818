"""One attempt: the request, its limits, and what came of it. No row is read or written here."""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import httpx
from django.conf import settings
from django.views.decorators.debug import sensitive_variables

from experiments.engine.text import storable
from experiments.gateway import ForbiddenAddress, guarded_transport
from experiments.gateway.redaction import redact, without_torn_end
from experiments.lab.webhooks import signing
from experiments.models.webhook import ANSWER_BYTES, WebhookDelivery

Problem = WebhookDelivery.Problem
GONE = 410
AGENT = "ArenaLab-Webhooks/1"


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
    transport = guarded_transport(allow_private=allow_private, max_connections=at_once, max_idle=0)
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
    return Answer(_problem(status), status, time.monotonic() - begun, text)


async def _ask(client: httpx.AsyncClient, letter: Letter, at: datetime) -> tuple[int, str]:
    """The status and the beginning of the answer: no more of it is read, and none of it is unpacked."""
    headers = {"content-type": "application/json", "user-agent": AGENT, "accept-encoding": "identity"}
    headers |= signing.headers(letter.id, at, letter.body, letter.secrets)
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
        for form in (secret, secret.removeprefix(signing.PREFIX).removeprefix("v1,")):
            text = without_torn_end(redact(text, form), form)
    return storable(text[:ANSWER_BYTES])


def _problem(status: int) -> str:
    if 200 <= status < 300:
        return ""
    return Problem.REDIRECT if 300 <= status < 400 else Problem.REFUSED
