"""What is done with webhooks. Those who may experiment have some for their own runs, leads some for their project's.

A secret is shown once, when it is made. The audit log has each change, without the secret and the path of the address.
"""

import socket
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import F
from django.db.models.functions import Now
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from accounts import audit, crypto
from accounts.crypto import NoSecret, Undecipherable, encrypt, is_newest
from accounts.errors import Conflict, Forbidden, Invalid
from accounts.models import Project, User
from experiments.engine.text import is_storable
from experiments.gateway.addresses import is_allowed
from experiments.lab.webhooks import outbox
from experiments.lab.webhooks.outbox import PERSONAL, TEST, Kind, wake
from experiments.lab.webhooks.sending import new_secret
from experiments.models import Webhook, WebhookDelivery
from experiments.tasks import clock

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

LONGEST_URL = int(Webhook.url.field.max_length or 0)
LONGEST_NAME = int(Webhook.name.field.max_length or 0)
MOST = 20  # of one person, and of one project
MOST_TESTS = 5  # that wait
OVERLAP = timedelta(days=1)  # for which an older secret signs beside the newer

State = WebhookDelivery.State


def may_have(user: "User | AnonymousUser", project: Project | None = None) -> bool:
    """Whether a person may make a webhook: of their own, or of a project."""
    if project is None:
        return bool(user.is_active and getattr(user, "may_experiment", False))
    return Project.objects.led_by(user).filter(pk=project.pk).exists()


@sensitive_variables("secret")
def add(
    *,
    by: User,
    url: str,
    events: Collection[str],
    name: str = "",
    project: Project | None = None,
    allow_private: bool = False,
) -> tuple[Webhook, str]:
    """An address that is told from now on, and its secret, of which this is the only copy that can be read. Raises
    Forbidden, and Invalid naming the fields at fault.
    """
    if not may_have(by, project):
        raise Forbidden(
            _("Only a project's leads can make webhooks for it.")
            if project
            else _("Your role does not allow experiments, so there would be nothing to send.")
        )
    fields = _checked(by, url, events, name, allow_private, project)
    secret = new_secret()
    made = Webhook(owner=by, project=project, secret=_encrypted(secret), **fields)
    with transaction.atomic():
        there = Webhook.objects.filter(project=project) if project else Webhook.objects.filter(owner=by, project=None)
        if there.count() >= MOST:
            raise Forbidden(_("There are already %(most)s webhooks. Delete one first.") % {"most": MOST})
        made.save(force_insert=True)
        audit.record(audit.Action.WEBHOOK_CREATED, by=by, of=made, events=made.events, **_whose(made))
    return made, secret


def change(
    hook: Webhook, *, by: User, url: str, events: Collection[str], name: str, allow_private: bool | None = None
) -> None:
    """allow_private: None leaves it; it was allowed for this host, not for others. What waits is sent to the new
    address. Raises as `add` does.
    """
    _require_keeper(hook, by)
    try:
        is_same_host = urlsplit(url.strip()).netloc == urlsplit(hook.url).netloc
    except ValueError:  # what is no address is refused below
        is_same_host = False
    was_private = hook.allow_private and (by.is_admin or is_same_host)
    wanted = was_private if allow_private is None else allow_private
    fields = _checked(by, url, events, name, wanted, hook.project, was_private=was_private)
    before = {field: getattr(hook, field) for field in fields}
    changed = sorted(field for field in fields if fields[field] != before[field])
    if not changed:
        return
    with transaction.atomic():
        Webhook.objects.filter(pk=hook.pk).update(**fields)
        for field, value in fields.items():
            setattr(hook, field, value)
        audit.record(audit.Action.WEBHOOK_CHANGED, by=by, of=hook, changed=changed, **_whose(hook))


@sensitive_variables("secret")
def rotate(hook: Webhook, *, by: User) -> str:
    """Another secret. For a day the one before signs too, so that a receiver can change over. Raises Forbidden."""
    _require_keeper(hook, by)
    secret = new_secret()
    fresh = {"secret": _encrypted(secret), "older_secret": F("secret"), "older_until": clock.ahead(OVERLAP)}
    with transaction.atomic():
        Webhook.objects.filter(pk=hook.pk).update(**fresh)
        audit.record(audit.Action.WEBHOOK_CHANGED, by=by, of=hook, changed=["secret"], **_whose(hook))
    hook.refresh_from_db()
    return secret


def set_active(hook: Webhook, *, by: User, is_active: bool) -> bool:
    """Tell it again, or for now nothing more; what waits is kept. Administrators may pause anybody's. False when it was
    so already. Raises Forbidden.
    """
    if is_active or not by.is_admin:
        _require_keeper(hook, by)
    fresh = {"is_active": is_active, "paused": None, "pause_reason": "", "failures": 0, "failing_since": None}
    with transaction.atomic():
        if not Webhook.objects.filter(pk=hook.pk, is_active=not is_active).update(**fresh):
            return False
        audit.record(audit.Action.WEBHOOK_CHANGED, by=by, of=hook, active=is_active, **_whose(hook))
        wake()
    hook.refresh_from_db()
    return True


def permit_private(hook: Webhook, *, by: User, allowed: bool) -> bool:
    """Whether it may go to private addresses is for administrators to say. False when it was so already. Raises
    Forbidden.
    """
    if not by.is_admin:
        raise Forbidden(_("Only administrators can allow private addresses. Ask one of them."))
    with transaction.atomic():
        if not Webhook.objects.filter(pk=hook.pk, allow_private=not allowed).update(allow_private=allowed):
            return False
        audit.record(audit.Action.WEBHOOK_CHANGED, by=by, of=hook, allow_private=allowed, **_whose(hook))
    return True


def remove(hook: Webhook, *, by: User) -> None:
    """Forget it, with its log. Administrators may remove anybody's. Raises Forbidden."""
    if not by.is_admin:
        _require_keeper(hook, by)
    with transaction.atomic():
        audit.record(audit.Action.WEBHOOK_REMOVED, by=by, of=hook, owner=hook.owner.username, **_whose(hook))
        hook.delete()


def encrypt_all() -> tuple[int, int]:
    """Encrypt all secrets with the newest one of the lab (docs/administering.md). Returns how many were, and how many
    cannot be decrypted any more. Each is one statement: it may be killed and repeated.
    """
    done = lost = 0
    for hook in Webhook.objects.order_by("pk").iterator():
        for field in ("secret", "older_secret"):
            old = getattr(hook, field)
            if not old or is_newest(old):
                continue
            try:
                new = crypto.rotate(old)
            except Undecipherable:
                lost += 1
            else:
                done += Webhook.objects.filter(pk=hook.pk, **{field: old}).update(**{field: new})
    return done, lost


def test(hook: Webhook, *, by: User) -> WebhookDelivery:
    """Something harmless, to see whether it arrives. Raises Forbidden, and Conflict for a webhook that is paused."""
    _require_active(hook, by)
    with transaction.atomic():
        Webhook.objects.select_for_update().get(pk=hook.pk)
        if hook.deliveries.waiting().filter(type=TEST).count() >= MOST_TESTS:
            raise Conflict(_("Tests are already waiting to be sent. Check their results first."))
        return outbox.test(hook)


def send_again(delivery: WebhookDelivery, *, by: User) -> bool:
    """Once more, under the same id. False when it waits already. Raises Forbidden, and Conflict for one of a webhook
    that is paused.
    """
    _require_active(delivery.webhook, by)
    fresh = {"state": State.WAITING, "next_at": Now(), "tries": 0, "ended": None}
    with transaction.atomic():
        done = WebhookDelivery.objects.filter(pk=delivery.pk).exclude(state=State.WAITING).update(**fresh)
        if done:
            wake()
    return bool(done)


def _require_keeper(hook: Webhook, user: "User | AnonymousUser") -> None:
    if not Webhook.objects.visible_to(user).filter(pk=hook.pk).exists():
        raise Forbidden(_("Only the webhook's maker or its project's leads can change it."))


def _require_active(hook: Webhook, user: User) -> None:
    _require_keeper(hook, user)
    if not hook.is_active:
        raise Conflict(_("The webhook is paused, so nothing is sent. Switch it on first."))


def _checked(
    by: User,
    url: str,
    events: Collection[str],
    name: str,
    allow_private: bool,
    project: Project | None,
    was_private: bool = False,
) -> dict[str, object]:
    errors: dict[str, list[str]] = {}
    if allow_private and not was_private and not by.is_admin:
        errors["allow_private"] = [_("Only administrators can allow private addresses. Ask one of them.")]
    url, name = url.strip(), " ".join(name.split())[:LONGEST_NAME]
    if refusal := _refusal_of(url, allow_private=allow_private):
        errors["url"] = [refusal]
    offered = [kind.value for kind in offered_kinds(project)]
    chosen = [kind for kind in offered if kind in events]
    if unknown := sorted(set(events) - set(offered)):
        errors["events"] = [_("There is no such event: %(names)s.") % {"names": ", ".join(unknown)}]
    elif not chosen:
        errors["events"] = [_("Choose at least one event.")]
    if not is_storable(name):
        errors["name"] = [_("The name has characters that cannot be stored.")]
    if errors:
        raise Invalid(errors)
    return {"url": url, "events": chosen, "name": name, "allow_private": allow_private}


def offered_kinds(project: Project | None) -> list[Kind]:
    return [kind for kind in Kind if project is None or kind not in PERSONAL]


def _refusal_of(url: str, *, allow_private: bool) -> str:
    """What is wrong with an address, as far as it can be seen; names are looked up at each sending. "" for nothing."""
    try:
        parts = urlsplit(url)
        _port = parts.port
    except ValueError:
        return _("This is not an address. It has to begin with https://.")
    schemes = ("https", "http") if allow_private else ("https",)
    if len(url) > LONGEST_URL or not url.isascii() or not url.isprintable() or " " in url:
        return _("An address has at most %(most)s characters, without spaces or special characters.") % {
            "most": LONGEST_URL
        }
    if parts.scheme not in schemes or not parts.hostname:
        return _("The address has to begin with https://.")
    if parts.username or parts.password:
        return _("Leave the user name and password out of the address. Deliveries are signed instead.")
    host = parts.hostname.rstrip(".")
    if host == "localhost" or host.endswith(".localhost"):
        host = "127.0.0.1"
    try:  # also 127.1, 2130706433 and 0x7f000001, which connect as 127.0.0.1
        address = str(socket.getaddrinfo(host, None, flags=socket.AI_NUMERICHOST)[0][4][0])
    except (OSError, UnicodeError):
        return ""
    if is_allowed(address, allow_private=allow_private):
        return ""
    return _("This is a private or reserved address. Administrators can allow private ones.")


@sensitive_variables()
def _encrypted(secret: str) -> str:
    try:
        return encrypt(secret)
    except NoSecret as error:
        raise Forbidden(str(error)) from error


def _whose(hook: Webhook) -> dict[str, str]:
    return {"project": str(hook.project_id)} if hook.project_id else {}
