"""`manage.py rotate_keys`: encrypts every stored provider key with the newest secret, so that older ones can go."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts import audit
from accounts.crypto import NoSecret, Undecipherable, is_newest, rotate
from experiments.models import ProviderKey


class Command(BaseCommand):
    help = "Encrypt every stored provider key with the newest of ARENA_KEY_SECRETS. May be killed and repeated."

    def handle(self, *args: Any, **options: Any) -> None:
        counts = {"encrypted anew": 0, "as it should be already": 0, "replaced meanwhile": 0}
        lost = []
        for key in ProviderKey.objects.active().select_related("provider", "owner").order_by("pk").iterator():
            try:
                counts[_rotated(key)] += 1
            except Undecipherable:
                lost.append(key)
            except NoSecret as error:
                raise CommandError(str(error)) from error
        with transaction.atomic():
            audit.record(audit.Action.KEYS_ROTATED, by=None, encrypted=counts["encrypted anew"], lost=len(lost))
        self.stdout.write(", ".join(f"{count} {what}" for what, count in counts.items()) + ".")
        for key in lost:
            owner = key.owner.get_username() if key.owner else "the lab"
            self.stderr.write(f"{key} of {owner} cannot be decrypted any more: its secret is gone. Enter it again.")
        if lost:
            raise CommandError(f"{len(lost)} could not be decrypted. Keep the older secrets if you still have them.")
        self.stdout.write("Secrets behind the first one of ARENA_KEY_SECRETS can be removed now.")


def _rotated(key: ProviderKey) -> str:
    """What became of it. One row, one statement: killed anywhere, each key is readable by the old secret or the new."""
    if is_newest(key.ciphertext):
        return "as it should be already"
    same = ProviderKey.objects.active().filter(pk=key.pk, ciphertext=key.ciphertext)
    return "encrypted anew" if same.update(ciphertext=rotate(key.ciphertext)) else "replaced meanwhile"
