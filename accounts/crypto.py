"""Encryption of what must be kept and must not be read: by the secrets of the lab, the newest first (docs/keys.md)."""

from base64 import urlsafe_b64encode
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

PURPOSE = b"arena-lab: provider keys, 1"  # another purpose, or another way to derive, would be another text
FERNET_BYTES = 32


class NoSecret(Exception):
    """There is nothing to encrypt with: the data directory cannot be written and no secret is configured."""


class Undecipherable(Exception):
    """None of the secrets decrypts this: it was made with one that is gone, or it was tampered with."""


@sensitive_variables()
def encrypt(text: str) -> str:
    """With the newest secret. Raises NoSecret."""
    return _fernet().encrypt(text.encode()).decode("ascii")


@sensitive_variables()
def decrypt(ciphertext: str) -> str:
    """With whichever secret fits. Raises Undecipherable."""
    try:
        return _fernet().decrypt(ciphertext).decode()
    except (InvalidToken, NoSecret, UnicodeError) as error:
        raise Undecipherable(_("It cannot be decrypted any more: its secret is gone. Enter it again.")) from error


@sensitive_variables()
def rotate(ciphertext: str) -> str:
    """The same, encrypted with the newest secret. Raises Undecipherable or NoSecret."""
    return encrypt(decrypt(ciphertext))


@sensitive_variables()
def is_newest(ciphertext: str) -> bool:
    """Whether the newest secret alone decrypts it, so that all others could go."""
    try:
        _fernet_of(*settings.KEY_SECRETS[:1]).decrypt(ciphertext)
    except (InvalidToken, NoSecret):
        return False
    return True


def _fernet() -> MultiFernet:
    return _fernet_of(*settings.KEY_SECRETS)


@lru_cache(maxsize=8)
@sensitive_variables()
def _fernet_of(*secrets: str) -> MultiFernet:
    if not secrets:
        raise NoSecret(_("Keys cannot be stored here: set ARENA_KEY_SECRETS, or make the data directory writable."))
    return MultiFernet([Fernet(_derived(secret)) for secret in secrets])


@sensitive_variables()
def _derived(secret: str) -> bytes:
    """A Fernet key: HKDF-SHA256 (RFC 5869) without salt over the secret's UTF-8, 32 bytes, urlsafe base64."""
    derive = HKDF(algorithm=SHA256(), length=FERNET_BYTES, salt=None, info=PURPOSE)
    return urlsafe_b64encode(derive.derive(secret.encode()))
