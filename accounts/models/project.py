"""Projects: who works together, and who may look on."""

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models.person import User


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Those that a person belongs to. Of the others not even the name is known."""
        return self.filter(memberships__user_id=user.pk) if user.is_active else self.none()

    def open_to(self, user: "User | AnonymousUser") -> Self:
        """Those whose own page a person may open: an admin all, so that none is ever without somebody who can help.
        What is inside stays with those who belong to it.
        """
        return self if getattr(user, "is_admin", False) else self.visible_to(user)

    def with_share_of(self, user: "User | AnonymousUser") -> Self:
        """Those in which a person may begin, steer and change things."""
        return self._in_role(user, Membership.Role.LEAD, Membership.Role.MEMBER)

    def led_by(self, user: "User | AnonymousUser") -> Self:
        """Those whose members and budgets a person decides on."""
        return self._in_role(user, Membership.Role.LEAD)

    def _in_role(self, user: "User | AnonymousUser", *roles: "Membership.Role") -> Self:
        if not user.is_active:
            return self.none()
        return self.filter(memberships__in=Membership.objects.filter(user_id=user.pk, role__in=roles))


class Project(models.Model):
    """What some people of the lab work on together. Archived: everything in it is kept, nothing more begins."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    name = models.CharField(_("name"), max_length=100, unique=True)
    description = models.TextField(_("description"), max_length=2000, blank=True)
    archived = models.BooleanField(_("archived"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name = _("project")
        verbose_name_plural = _("projects")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("project", args=[self.pk])

    def is_led_by(self, user: "User | AnonymousUser") -> bool:
        """Whether a person decides on its members: its leads do, and admins."""
        return getattr(user, "is_admin", False) or Project.objects.led_by(user).filter(pk=self.pk).exists()


class Membership(models.Model):
    """Somebody's place in a project. A lead decides who belongs to it, a member begins and steers, a watcher looks."""

    class Role(models.TextChoices):
        LEAD = "lead", _("lead")
        MEMBER = "member", _("member")
        WATCHER = "watcher", _("watcher")

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships", verbose_name=_("project"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships", verbose_name=_("person")
    )
    role = models.CharField(_("role"), max_length=12, choices=Role, default=Role.MEMBER)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["project", "user__username"]
        verbose_name = _("member of a project")
        verbose_name_plural = _("members of projects")
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_place_in_a_project")]

    def __str__(self) -> str:
        return f"{self.user} · {self.project}"
