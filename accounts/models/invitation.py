"""An invitation to the lab, or into a project of it."""

import hashlib
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models.person import User
from accounts.models.project import Membership, Project


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self) -> Self:
        """Those that still let somebody in."""
        return self.filter(accepted__isnull=True, revoked__isnull=True, expires__gt=timezone.now())

    def revocable_by(self, person: Any) -> Self:
        """Those that a person may take back: their own, those into projects that they lead, for administrators all."""
        if getattr(person, "is_admin", False):
            return self
        led = Project.objects.led_by(person).values("pk")
        return self.filter(Q(invited_by_id=person.pk) | Q(project__in=led))

    def by_token(self, token: str) -> Self:
        return self.filter(digest=Invitation.digest_of(token))


class Invitation(models.Model):
    """Lets one person in, once. Its link holds a token, of which only the hash is kept.

    email: whom it is for, if that was said. project: where the person gets a place, in project_role.
    """

    digest = models.CharField(max_length=64, unique=True, editable=False)
    email = models.EmailField(_("e-mail"), blank=True)
    role = models.CharField(_("role"), max_length=16, choices=User.Role, default=User.Role.RESEARCHER)
    project = models.ForeignKey(Project, models.CASCADE, null=True, blank=True, verbose_name=_("project"))
    project_role = models.CharField(
        _("role in the project"), max_length=12, choices=Membership.Role, default=Membership.Role.MEMBER
    )
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="invitations", verbose_name=_("invited by")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)
    expires = models.DateTimeField(_("expires"))
    accepted = models.DateTimeField(_("accepted"), null=True, blank=True)
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("accepted by"),
    )
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        verbose_name = _("invitation")
        verbose_name_plural = _("invitations")

    def __str__(self) -> str:
        return self.email or f"#{self.pk}"

    @property
    def is_open(self) -> bool:
        return self.accepted is None and self.revoked is None and self.expires > timezone.now()

    @staticmethod
    def digest_of(token: str) -> str:
        return hashlib.sha256(token.encode()).hexdigest()
