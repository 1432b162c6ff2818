"""Webhook secrets when the lab's own secret changes (docs/administering.md)."""

from accounts.crypto import Undecipherable, is_newest, rotate
from experiments.models import Webhook

FIELDS = ("secret", "older_secret")


def rotate_all() -> tuple[int, int]:
    """Encrypt them all with the newest secret of the lab: how many were, and how many cannot be decrypted any more.
    Each is one statement: it may be killed and repeated.
    """
    done = lost = 0
    for hook in Webhook.objects.order_by("pk").iterator():
        for field in FIELDS:
            old = getattr(hook, field)
            if not old or is_newest(old):
                continue
            try:
                new = rotate(old)
            except Undecipherable:
                lost += 1
                continue
            done += Webhook.objects.filter(pk=hook.pk, **{field: old}).update(**{field: new})
    return done, lost
