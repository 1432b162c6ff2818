"""What was done by whom: a record that only grows."""

from typing import Any, NoReturn

from django.db import models
from django.utils.translation import gettext_lazy as _


class AppendOnly(TypeError):
    """Somebody tried to change what is only ever added to."""


class AuditQuerySet(models.QuerySet["AuditEntry"]):
    def update(self, **kwargs: Any) -> NoReturn:
        raise AppendOnly("An entry of the audit record is never changed.")

    def delete(self) -> NoReturn:
        raise AppendOnly("An entry of the audit record is never deleted.")


class AuditEntry(models.Model):
    """One deed. Names are kept as they were then, so that it says who it was when the person is long gone.

    actor_id: the person's number, without a foreign key; null for nobody who is known. target: what it was done to,
    as `kind:id`. detail: what else tells the deed apart, such as a role before and after; never a secret.
    """

    class Action(models.TextChoices):
        SIGNED_IN = "signed_in", _("signed in")
        SIGN_IN_FAILED = "sign_in_failed", _("failed to sign in")
        SIGNED_OUT = "signed_out", _("signed out")
        SIGNED_UP = "signed_up", _("joined the lab")
        INVITED = "invited", _("invited somebody")
        INVITATION_REVOKED = "invitation_revoked", _("took an invitation back")
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
        PERSON_REACTIVATED = "person_reactivated", _("activated a person again")
        PROJECT_CREATED = "project_created", _("created a project")
        PROJECT_CHANGED = "project_changed", _("changed a project")
        MEMBER_CHANGED = "member_changed", _("changed the members of a project")
        SHARED = "shared", _("changed who sees something")
        LINK_CREATED = "link_created", _("created a link")
        LINK_REVOKED = "link_revoked", _("revoked a link")
        LINK_OPENED = "link_opened", _("opened a link")
        KEY_ADDED = "key_added", _("added a provider key")
        KEY_REPLACED = "key_replaced", _("replaced a provider key")
        KEY_TESTED = "key_tested", _("tested a provider key")
        KEY_USED = "key_used", _("used a provider key")
        KEY_REMOVED = "key_removed", _("removed a provider key")
        KEYS_ROTATED = "keys_rotated", _("encrypted all provider keys anew")
        BUDGET_CHANGED = "budget_changed", _("changed a budget")
        BUDGET_REACHED = "budget_reached", _("came to the end of a budget")
        WEBHOOK_CREATED = "webhook_created", _("made a webhook")
        WEBHOOK_CHANGED = "webhook_changed", _("changed a webhook")
        WEBHOOK_REMOVED = "webhook_removed", _("removed a webhook")
        EXPORTED = "exported", _("exported data")
        RUN_READ = "run_read", _("opened a run that is not shared with them")
        RUNS_SEARCHED = "runs_searched", _("searched the messages of all runs")
        VOIDED = "voided", _("voided something")
        RESTORED = "restored", _("restored something")
        APPROVED = "approved", _("approved something")
        DISAPPROVED = "disapproved", _("took an approval back")
        PUBLISHED = "published", _("published something")
        WITHDRAWN = "withdrawn", _("withdrew something")

    at = models.DateTimeField(_("time"), auto_now_add=True)
    action = models.CharField(_("deed"), max_length=32, choices=Action)
    actor_id = models.BigIntegerField(null=True)
    actor = models.CharField(_("person"), max_length=150, blank=True)
    target = models.CharField(_("what it was done to"), max_length=120, blank=True)
    name = models.CharField(_("its name then"), max_length=200, blank=True)
    detail = models.JSONField(_("details"), default=dict, blank=True)
    address = models.GenericIPAddressField(_("address"), null=True)

    objects = AuditQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = _("audit entry")
        verbose_name_plural = _("audit record")
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
            raise AppendOnly("An entry of the audit record is never changed.")
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly("An entry of the audit record is never deleted.")
