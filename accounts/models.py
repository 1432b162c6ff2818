"""The people of the lab, their tokens, their projects, invitations to them, and the record of what was done."""

import hashlib
from typing import Any, ClassVar, NoReturn, Self

from django.contrib.auth.models import AbstractUser, AnonymousUser, UserManager
from django.db import models
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from knox.models import AbstractAuthToken
from uuid_utils.compat import uuid7

from accounts.scopes import all_scopes


class People(UserManager["User"]):
    """Whoever is made an admin, by whatever command, is one everywhere: by role, and to Django."""

    def create_user(
        self, username: str, email: str | None = None, password: str | None = None, **fields: Any
    ) -> "User":
        fields |= {"is_staff": True, "is_superuser": True} if fields.get("role") == User.Role.ADMIN else {}
        return super().create_user(username, email, password, **fields)

    def create_superuser(
        self, username: str, email: str | None = None, password: str | None = None, **fields: Any
    ) -> "User":
        return super().create_superuser(username, email, password, **{"role": User.Role.ADMIN, **fields})


class User(AbstractUser):  # type: ignore[django-manager-missing]  # its manager is made from a query set
    class Role(models.TextChoices):
        RESEARCHER = "researcher", _("researcher")
        REVIEWER = "reviewer", _("reviewer")
        CURATOR = "curator", _("curator")
        ADMIN = "admin", _("admin")

    role = models.CharField(_("role"), max_length=16, choices=Role, default=Role.RESEARCHER)
    language = models.CharField(_("language"), max_length=16, blank=True)
    notifications_read = models.DateTimeField(_("notifications read"), null=True, blank=True, editable=False)

    objects: ClassVar[People] = People()

    class Meta:
        verbose_name = _("person")
        verbose_name_plural = _("people")

    @staticmethod
    def has_in_name(text: str) -> Q:
        """For a search: part of a name or e-mail address."""
        return Q(
            *((f"{field}__icontains", text) for field in ("username", "email", "first_name", "last_name")),
            _connector=Q.OR,
        )

    @property
    def is_admin(self) -> bool:
        """Whether this person decides on people and roles."""
        return self.is_active and self.role == self.Role.ADMIN

    @property
    def may_experiment(self) -> bool:
        """Whether this person may create and start experiments."""
        return self.role in {self.Role.RESEARCHER, self.Role.CURATOR, self.Role.ADMIN}


class ApiToken(AbstractAuthToken):  # type: ignore[misc]  # knox has no types
    """A bearer token of the API: stored as a hash, expiring, named by what it is for. last_used: to the minute."""

    name = models.CharField(_("name"), max_length=100, blank=True)
    scopes = models.JSONField(_("scopes"), default=all_scopes)
    last_used = models.DateTimeField(_("last used"), null=True, blank=True)
    last_address = models.GenericIPAddressField(_("from"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those that a person belongs to. Of the others not even the name is known."""
        return self.filter(memberships__user_id=user.pk) if user.is_active else self.none()

    def open_to(self, user: User | AnonymousUser) -> Self:
        """Those whose own page a person may open: an admin all, so that none is ever without somebody who can help.
        What is inside stays with those who belong to it.
        """
        return self if getattr(user, "is_admin", False) else self.visible_to(user)

    def with_share_of(self, user: User | AnonymousUser) -> Self:
        """Those in which a person may begin, steer and change things."""
        return self._in_role(user, Membership.Role.LEAD, Membership.Role.MEMBER)

    def led_by(self, user: User | AnonymousUser) -> Self:
        """Those whose members and budgets a person decides on."""
        return self._in_role(user, Membership.Role.LEAD)

    def _in_role(self, user: User | AnonymousUser, *roles: "Membership.Role") -> Self:
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

    def is_led_by(self, user: User | AnonymousUser) -> bool:
        """Whether a person decides on its members: its leads do, and admins."""
        return getattr(user, "is_admin", False) or Project.objects.led_by(user).filter(pk=self.pk).exists()


class Membership(models.Model):
    """Somebody's place in a project. A lead decides who belongs to it, a member begins and steers, a watcher looks."""

    class Role(models.TextChoices):
        LEAD = "lead", _("lead")
        MEMBER = "member", _("member")
        WATCHER = "watcher", _("watcher")

    project = models.ForeignKey(Project, models.CASCADE, related_name="memberships", verbose_name=_("project"))
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships", verbose_name=_("person"))
    role = models.CharField(_("role"), max_length=12, choices=Role, default=Role.MEMBER)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["project", "user__username"]
        verbose_name = _("member of a project")
        verbose_name_plural = _("members of projects")
        constraints = [models.UniqueConstraint(fields=["project", "user"], name="one_place_in_a_project")]

    def __str__(self) -> str:
        return f"{self.user} · {self.project}"


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
        return self.filter(digest=digest_of(token))


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
    invited_by = models.ForeignKey(User, models.CASCADE, related_name="invitations", verbose_name=_("invited by"))
    created = models.DateTimeField(_("created"), auto_now_add=True)
    expires = models.DateTimeField(_("expires"))
    accepted = models.DateTimeField(_("accepted"), null=True, blank=True)
    accepted_by = models.ForeignKey(
        User,
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


class FirstAdminLink(models.Model):
    """At most one row, with the primary key ONLY: a new link replaces the one before. digest: SHA-256 of the token in
    the link, "" once it was used; the token itself is never stored.
    """

    ONLY = 1

    digest = models.CharField(_("digest"), max_length=64, blank=True)
    expires = models.DateTimeField(_("expires"))

    class Meta:
        verbose_name = _("link for the first administrator")
        verbose_name_plural = _("link for the first administrator")
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_first_admin_link")]

    def __str__(self) -> str:
        return f"{self.expires:%Y-%m-%d %H:%M}"


class AppendOnly(TypeError):
    """Somebody tried to change what is only ever added to."""


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnly("An entry of the audit log is never changed.")

    def delete(self) -> NoReturn:
        raise AppendOnly("An entry of the audit log is never deleted.")


def audited_actions() -> list[tuple[str, Any]]:
    """What can stand in an entry of the audit log. Named by a function, so that a further action is no migration."""
    return AuditEntry.Action.choices


class AuditEntry(models.Model):
    """One action. Names are kept as they were then, so that it says who it was when the person is long gone.

    actor_id: the person's number, without a foreign key; null for nobody who is known. target: what it was done to,
    as `kind:id`. detail: what else describes the action, such as a role before and after; never a secret.
    """

    class Action(models.TextChoices):
        SIGNED_IN = "signed_in", _("signed in")
        SIGN_IN_FAILED = "sign_in_failed", _("failed to sign in")
        SIGNED_OUT = "signed_out", _("signed out")
        SIGNED_UP = "signed_up", _("joined the lab")
        INVITED = "invited", _("invited a person")
        INVITATION_REVOKED = "invitation_revoked", _("revoked an invitation")
        PASSWORD_CHANGED = "password_changed", _("changed a password")
        EMAIL_CHANGED = "email_changed", _("changed an e-mail address")
        FACTOR_ADDED = "factor_added", _("added a second factor")
        FACTOR_REMOVED = "factor_removed", _("removed a second factor")
        TOKEN_CREATED = "token_created", _("created an API token")
        TOKEN_USED = "token_used", _("used an API token for the first time")
        TOKEN_REVOKED = "token_revoked", _("revoked an API token")
        RIGHTS_REFUSED = "rights_refused", _("was refused")
        ROLE_CHANGED = "role_changed", _("changed a role")
        PERSON_DEACTIVATED = "person_deactivated", _("deactivated a person")
        PERSON_REACTIVATED = "person_reactivated", _("reactivated a person")
        PROJECT_CREATED = "project_created", _("created a project")
        PROJECT_CHANGED = "project_changed", _("changed a project")
        MEMBER_CHANGED = "member_changed", _("changed the members of a project")
        SHARED = "shared", _("changed who can see something")
        LINK_CREATED = "link_created", _("created a link")
        LINK_REVOKED = "link_revoked", _("revoked a link")
        LINK_OPENED = "link_opened", _("opened a link")
        KEY_ADDED = "key_added", _("added a provider key")
        KEY_REPLACED = "key_replaced", _("replaced a provider key")
        KEY_TESTED = "key_tested", _("tested a provider key")
        KEY_USED = "key_used", _("used a provider key")
        KEY_REMOVED = "key_removed", _("removed a provider key")
        KEYS_ROTATED = "keys_rotated", _("re-encrypted all provider keys")
        PROVIDER_ADDED = "provider_added", _("added a provider")
        PROVIDER_CHANGED = "provider_changed", _("changed a provider")
        PROVIDER_REMOVED = "provider_removed", _("deleted a provider")
        MODELS_SYNCED = "models_synced", _("synced the models of a provider")
        MODEL_CHANGED = "model_changed", _("changed a model")
        DEFAULTS_CHANGED = "defaults_changed", _("changed the default models")
        BUDGET_CHANGED = "budget_changed", _("changed a budget")
        BUDGET_REACHED = "budget_reached", _("reached a budget")
        WEBHOOK_CREATED = "webhook_created", _("created a webhook")
        WEBHOOK_CHANGED = "webhook_changed", _("changed a webhook")
        WEBHOOK_REMOVED = "webhook_removed", _("deleted a webhook")
        EXPORTED = "exported", _("exported data")
        SEAT_ANSWERED = "seat_answered", _("answered for a person in a run")
        RUN_READ = "run_read", _("opened a run that is not shared with them")
        RUNS_SEARCHED = "runs_searched", _("searched the messages of all runs")
        VOIDED = "voided", _("voided something")
        RESTORED = "restored", _("restored something")
        SUBMITTED = "submitted", _("submitted something to the curators")
        RETURNED = "returned", _("returned something to its owner")
        APPROVED = "approved", _("approved something")
        DISAPPROVED = "disapproved", _("withdrew an approval")
        PUBLISHED = "published", _("published something")
        WITHDRAWN = "withdrawn", _("unpublished something")
        RENAMED = "renamed", _("renamed something")
        CONTESTANT_CHANGED = "contestant_changed", _("changed what is known of a contestant")
        ARCHIVED = "archived", _("archived something")
        DELETED = "deleted", _("deleted something")

    at = models.DateTimeField(_("time"), auto_now_add=True)
    action = models.CharField(_("action"), max_length=32, choices=audited_actions)
    actor_id = models.BigIntegerField(null=True)
    actor = models.CharField(_("person"), max_length=150, blank=True)
    target = models.CharField(_("target"), max_length=120, blank=True)
    name = models.CharField(_("name at that time"), max_length=200, blank=True)
    detail = models.JSONField(_("details"), default=dict, blank=True)
    address = models.GenericIPAddressField(_("address"), null=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit log")
        indexes = [
            models.Index(fields=["action", "-id"], name="audit_by_action"),
            models.Index(fields=["actor_id", "-id"], name="audit_by_actor"),
            models.Index(fields=["target", "-id"], name="audit_by_target"),
            models.Index(fields=["at"], name="audit_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M:%S} {self.actor or '?'} {self.action} {self.name or self.target}".strip()

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly("An entry of the audit log is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("An entry of the audit log is never deleted.")


def digest_of(token: str) -> str:
    """What is stored of the token in a link."""
    return hashlib.sha256(token.encode()).hexdigest()
