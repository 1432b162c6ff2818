"""What is done with provider keys: a person's own, and the lab's, which administrators look after.

A key is never shown after it was entered: it can be replaced, tested and removed. The audit log has each change,
without the key.
"""

from typing import TYPE_CHECKING

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts import audit
from accounts.crypto import NoSecret, encrypt
from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import User
from experiments.lab.catalog import unlisted
from experiments.lab.keys import testing as key_testing
from experiments.models import Provider, ProviderKey
from experiments.models.keys import HINT_CHARACTERS, LEAST_FOR_HINT

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

SHORTEST, LONGEST = 8, 500
LONGEST_NAME = int(ProviderKey.name.field.max_length or 0)


def is_keeper(person: "User | AnonymousUser") -> bool:
    """Whether a person looks after the lab's keys."""
    return person.is_active and getattr(person, "role", "") == User.Role.ADMIN


@sensitive_variables("key")
def add(*, by: User, provider: Provider, key: str, for_lab: bool = False, name: str = "") -> ProviderKey:
    """A key from now on: of the person, or of the lab. Raises Forbidden, Invalid for what is no key, and Conflict
    where there is one already.
    """
    if for_lab and not is_keeper(by):
        raise Forbidden(_("Only administrators manage the lab's keys. Ask one of them."))
    if not for_lab and not by.may_experiment:
        raise Forbidden(_("Your role does not allow experiments, so a key would not be used."))
    made = _made(by, provider, None if for_lab else by, key, name)
    with transaction.atomic():
        _put(made)
        audit.record(audit.Action.KEY_ADDED, by=by, of=made, of_lab=for_lab)
    return made


@sensitive_variables("key")
def replace(old: ProviderKey, *, by: User, key: str) -> ProviderKey:
    """Another key in the place of one: calls that begin from now on use it. Raises as `add` does."""
    _require_own(old, by)
    made = _made(by, old.provider, old.owner, key, old.name)
    with transaction.atomic():
        if not _retire(old):
            raise Conflict(_("This key is no longer in use: it was replaced or removed. Nothing was changed."))
        _put(made)
        audit.record(audit.Action.KEY_REPLACED, by=by, of=made, before=str(old.pk), of_lab=made.is_of_lab)
    return made


def remove(key: ProviderKey, *, by: User) -> bool:
    """Forget a key: calls that begin from now on do without it. An administrator may end the use of anybody's. False
    when it was not in use.
    """
    if not is_keeper(by):
        _require_own(key, by)
    with transaction.atomic():
        if not _retire(key):
            return False
        owner = key.owner.get_username() if key.owner else ""
        audit.record(audit.Action.KEY_REMOVED, by=by, of=key, of_lab=key.is_of_lab, owner=owner)
    return True


def test(key: ProviderKey, *, by: User) -> ProviderKey:
    """Ask the provider something small with the key, and keep what became of it. The call may cost a fraction of a
    cent, and takes up to 20 seconds, in which no transaction is open. Raises Conflict for a key that is not in use.
    """
    _require_own(key, by)
    if not key.is_active:
        raise Conflict(_("This key is no longer in use, so it cannot be tested."))
    result = key_testing.tried(key)
    told = {"tested": timezone.now(), "test_outcome": result.outcome.value, "test_words": result.words}
    with transaction.atomic():
        ProviderKey.objects.filter(pk=key.pk).update(**told)
        audit.record(audit.Action.KEY_TESTED, by=by, of=key, outcome=result.outcome.value, of_lab=key.is_of_lab)
    key.refresh_from_db(fields=list(told))
    return key


def _require_own(key: ProviderKey, by: User) -> None:
    """Another person's key is out of reach, for administrators too."""
    if not ProviderKey.objects.visible_to(by).filter(pk=key.pk).exists():
        raise Forbidden(_("This key belongs to another person."))


@sensitive_variables("key", "text")
def _made(by: User, provider: Provider, owner: User | None, key: str, name: str) -> ProviderKey:
    """A row that is not saved yet: encrypting takes its time, and needs no transaction."""
    if provider.name in unlisted.PROVIDERS:
        raise Invalid(key=_("This provider is for imported runs and cannot be asked."))
    text = checked(key)
    try:
        ciphertext = encrypt(text)
    except NoSecret as error:
        raise Forbidden(str(error)) from error
    hint = text[-HINT_CHARACTERS:] if len(text) >= LEAST_FOR_HINT else ""
    return ProviderKey(
        provider=provider,
        owner=owner,
        name=" ".join(name.split())[:LONGEST_NAME],
        ciphertext=ciphertext,
        hint=hint,
        created_by=by,
    )


@sensitive_variables("key", "text")
def checked(key: str) -> str:
    """The key as it is sent. Raises Invalid for what cannot be one; no message repeats any of it."""
    text = key.strip()
    if not SHORTEST <= len(text) <= LONGEST:
        words = _("A key has %(least)s to %(most)s characters. Paste the whole key and nothing else.")
        raise Invalid(key=words % {"least": SHORTEST, "most": LONGEST})
    if not (text.isascii() and text.isprintable() and " " not in text):
        raise Invalid(key=_("A key has no spaces or special characters. Copy it again from the provider's page."))
    return text


def _put(made: ProviderKey) -> None:
    """The database decides who was first."""
    try:
        with transaction.atomic():
            made.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(_("There is already a key for this provider. Replace it, or remove it first.")) from error


def _retire(key: ProviderKey) -> bool:
    """The row stays for the record; the key itself is gone."""
    return bool(ProviderKey.objects.active().filter(pk=key.pk).update(is_active=False, ciphertext="", hint=""))
