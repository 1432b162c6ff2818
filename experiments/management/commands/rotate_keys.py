"""`manage.py rotate_keys`: encrypts all that is kept secret with the newest secret of the lab, so that older can go."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from accounts import audit
from accounts.crypto import NoSecret, Undecipherable, is_newest, rotate
from accounts.factors import rotate_secrets
from experiments.lab.webhooks import hooks
from experiments.models import ProviderKey


class Command(BaseCommand):
    help = "Encrypt stored provider keys, second factors and webhook secrets with the newest secret. Repeatable."

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
        rotated, unreadable = rotate_secrets()
        self.stdout.write(f"{rotated} second factors encrypted anew.")
        if unreadable:
            self.stderr.write(f"{unreadable} second factors cannot be decrypted any more: their owners add them again.")
        signing, unsigned = hooks.encrypt_all()
        self.stdout.write(f"{signing} webhook secrets encrypted anew.")
        if unsigned:
            self.stderr.write(f"{unsigned} webhook secrets cannot be decrypted any more: rotate them on their pages.")
        for key in lost:
            owner = key.owner.get_username() if key.owner else "the lab"
            self.stderr.write(f"{key} of {owner} cannot be decrypted any more: its secret is gone. Enter it again.")
        if lost or unreadable or unsigned:
            raise CommandError(
                f"{len(lost) + unreadable + unsigned} could not be decrypted. "
                "Keep the older secrets if you still have them."
            )
        self.stdout.write("Secrets behind the first one of ARENA_KEY_SECRETS can be removed now.")


def _rotated(key: ProviderKey) -> str:
    """What became of it. One row, one statement: killed anywhere, each key is readable by the old secret or the new."""
    if is_newest(key.ciphertext):
        return "as it should be already"
    same = ProviderKey.objects.active().filter(pk=key.pk, ciphertext=key.ciphertext)
    return "encrypted anew" if same.update(ciphertext=rotate(key.ciphertext)) else "replaced meanwhile"
