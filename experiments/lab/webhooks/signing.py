"""Signatures of the Standard Webhooks manner (standardwebhooks.com, version 1, symmetric): plain functions."""

import hashlib
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import datetime

from django.views.decorators.debug import sensitive_variables

PREFIX = "whsec_"
SECRET_BYTES = 32


def new_secret() -> str:
    """`whsec_` and 32 random bytes in base64."""
    return PREFIX + b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


@sensitive_variables("them", "secret")
def headers(id_: str, at: datetime, body: bytes, them: Sequence[str]) -> dict[str, str]:
    """What tells the receiver that it comes from here. them: secrets, each of which signs once."""
    seconds = str(int(at.timestamp()))
    return {
        "webhook-id": id_,
        "webhook-timestamp": seconds,
        "webhook-signature": " ".join(signature(secret, id_, seconds, body) for secret in them),
    }


@sensitive_variables("secret", "key")
def signature(secret: str, id_: str, seconds: str, body: bytes) -> str:
    """`v1,` and the base64 of HMAC-SHA256 over `id.seconds.body`. The key: what the secret's base64 stands for."""
    key = b64decode(secret.removeprefix(PREFIX))
    digest = hmac.new(key, f"{id_}.{seconds}.".encode() + body, hashlib.sha256).digest()
    return f"v1,{b64encode(digest).decode()}"
