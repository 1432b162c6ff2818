"""Encryption of what must be kept and never be read, by the lab's secrets, the newest first (docs/administering.md)."""

import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

# Another purpose, or another way to derive, would be another text.
PURPOSE = b"arena-lab: provider keys, 2"
FORMER_PURPOSE = b"arena-lab: provider keys, 1"
MARK = "2."  # then the base64 of a nonce and of AES-256-GCM's answer; without the mark, it is Fernet's of former days
NONCE_BYTES = 12
KEY_BYTES = 32


class NoSecret(Exception):
    """There is nothing to encrypt with: the data directory cannot be written and no secret is configured."""


class Undecipherable(Exception):
    """None of the secrets decrypts this: it was made with one that is gone, or it was tampered with."""


@sensitive_variables()
def encrypt(text: str) -> str:
    """With the newest secret. Raises NoSecret."""
    nonce = os.urandom(NONCE_BYTES)
    sealed = _ciphers(*settings.KEY_SECRETS)[0].encrypt(nonce, text.encode(), MARK.encode())
    return MARK + urlsafe_b64encode(nonce + sealed).decode("ascii")


@sensitive_variables()
def decrypt(ciphertext: str) -> str:
    """With whichever secret fits. Raises Undecipherable."""
    try:
        return _opened(ciphertext, settings.KEY_SECRETS)
    except (InvalidTag, InvalidToken, NoSecret, ValueError) as error:
        raise Undecipherable(_("It can no longer be decrypted, because its secret is gone. Enter it again.")) from error


@sensitive_variables()
def rotate(ciphertext: str) -> str:
    """The same, encrypted with the newest secret. Raises Undecipherable or NoSecret."""
    return encrypt(decrypt(ciphertext))


@sensitive_variables()
def is_newest(ciphertext: str) -> bool:
    """Whether it is encrypted as we do today and the newest secret alone decrypts it, so that all others could go."""
    try:
        _opened(ciphertext, settings.KEY_SECRETS[:1])
    except (InvalidTag, InvalidToken, NoSecret, ValueError):
        return False
    return ciphertext.startswith(MARK)


@sensitive_variables()
def _opened(ciphertext: str, secrets: list[str]) -> str:
    """Raises InvalidTag, InvalidToken, NoSecret, or ValueError for what is no ciphertext."""
    if not ciphertext.startswith(MARK):
        return _fernet(*secrets).decrypt(ciphertext).decode()
    sealed = urlsafe_b64decode(ciphertext.removeprefix(MARK))
    for cipher in _ciphers(*secrets):
        try:
            return cipher.decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], MARK.encode()).decode()
        except InvalidTag:
            continue
    raise InvalidTag


@lru_cache(maxsize=8)
@sensitive_variables()
def _ciphers(*secrets: str) -> list[AESGCM]:
    return [AESGCM(key) for key in _derived(secrets, PURPOSE)]


@lru_cache(maxsize=8)
@sensitive_variables()
def _fernet(*secrets: str) -> MultiFernet:
    return MultiFernet([Fernet(urlsafe_b64encode(key)) for key in _derived(secrets, FORMER_PURPOSE)])


@sensitive_variables()
def _derived(secrets: tuple[str, ...], purpose: bytes) -> list[bytes]:
    """Of each secret 32 bytes, by HKDF-SHA256 (RFC 5869) without salt over its UTF-8. Raises NoSecret."""
    if not secrets:
        raise NoSecret(_("Keys cannot be stored here: set ARENA_KEY_SECRETS, or make the data directory writable."))
    return [
        HKDF(algorithm=SHA256(), length=KEY_BYTES, salt=None, info=purpose).derive(secret.encode())
        for secret in secrets
    ]
