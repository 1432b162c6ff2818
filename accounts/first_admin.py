"""The first administrator of a platform: created through a one-time link that `manage.py up` and
`manage.py first_admin_link` print while no administrator can sign in (docs/administering.md).
"""

import os
import secrets
from argparse import ArgumentParser
from datetime import timedelta

from allauth.socialaccount.models import SocialAccount
from django.conf import settings
from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import NotFound
from accounts.models import FirstAdminLink, User, digest_of
from accounts.roles import take_role

PATH = "/first-administrator/{}/"  # resolving it by name would load every page into `manage.py up`
HOURS = 24  # for which a link works


def is_needed() -> bool:
    """Whether no account can sign in as administrator: none is active, with a password or a lab sign-in."""
    has_password = ~Q(password="") & ~Q(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    can_sign_in = has_password
    if settings.OIDC:
        can_sign_in |= Q(Exists(SocialAccount.objects.filter(user=OuterRef("pk"))))
    return not User.objects.filter(can_sign_in, role=User.Role.ADMIN, is_active=True).exists()


def new_token() -> str | None:
    """The token of a new link, which replaces the one before; None when an administrator can sign in already. The text
    returned is the only copy there is.
    """
    if not is_needed():
        return None
    token = secrets.token_urlsafe(32)
    row = {"digest": digest_of(token), "expires": timezone.now() + timedelta(hours=HOURS)}
    FirstAdminLink.objects.update_or_create(pk=FirstAdminLink.ONLY, defaults=row)
    return token


def link(token: str, address: str) -> str:
    """The link with this token. address: as in `public_address`."""
    return public_address(address) + PATH.format(token)


def public_address(address: str) -> str:
    """Where browsers reach the platform: the first of ARENA_ORIGINS where those are set, and TLS where TLS is served.
    address: where this process serves.
    """
    public = [origin for origin in settings.CSRF_TRUSTED_ORIGINS if "*" not in origin]
    if settings.HTTPS:
        public += [f"https://{host}" for host in settings.ALLOWED_HOSTS if host[:1] not in {"*", "."}]
    return public[0] if public else address


def add_address(parser: ArgumentParser) -> None:
    """The option of a command that prints a link: where the platform is reached."""
    own = f"http://localhost:{os.environ.get('PORT') or 8000}"
    text = f"where the platform is reached, unless ARENA_ORIGINS says so (default: {own})"
    parser.add_argument("--address", default=own, help=text)


def is_valid(token: str) -> bool:
    return _valid(token).exists() and is_needed()


def create(person: User, token: str) -> None:
    """Save a new person, who has a password, as the first administrator. Raises NotFound when the link was used,
    was replaced or has expired, or an administrator can sign in: of two uses at once, one creates an account.
    """
    with transaction.atomic():
        is_used_now = _valid(token).update(digest="")  # a second use waits here for the first, and then changes no row
        if not is_used_now or not is_needed():
            raise NotFound(_("This link has been used or has expired."))
        take_role(person, User.Role.ADMIN)
        person.save(force_insert=True)
        audit.record(audit.Action.SIGNED_UP, by=person, of=person, role=person.role, first_admin_link=True)


def _valid(token: str) -> QuerySet[FirstAdminLink]:
    return FirstAdminLink.objects.filter(digest=digest_of(token), expires__gt=timezone.now())
