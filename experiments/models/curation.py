"""What people and scanners decided about what was played: flags of messages, and which runs count."""

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.run import Run
from experiments.models.transcript import Message

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class FlagDeedQuerySet(models.QuerySet["FlagDeed"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(message__run__in=Run.objects.visible_to(user))


class FlagDeed(models.Model):
    """A flag was set on a message, or dismissed: what is in force stands in `Message.flags`, this is how it came.

    scanner: name and version of the program that did it; empty when a person did. A flag without a deed was set when
    the message was recorded.
    """

    class Kind(models.TextChoices):
        SET = "set", _("set")
        DISMISSED = "dismissed", _("dismissed")

    message = models.ForeignKey(Message, models.CASCADE, related_name="flag_deeds", verbose_name=_("message"))
    flag = models.CharField(_("flag"), max_length=40)
    kind = models.CharField(_("deed"), max_length=12, choices=Kind)
    scanner = models.CharField(_("scanner"), max_length=40, blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("person")
    )
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    at = models.DateTimeField(_("time"), auto_now_add=True)

    objects = FlagDeedQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = _("flag set or dismissed")
        verbose_name_plural = _("flags set and dismissed")

    def __str__(self) -> str:
        return f"{self.flag} {self.kind}"


class RunReviewQuerySet(models.QuerySet["RunReview"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(run__in=Run.objects.visible_to(user))


class RunReview(models.Model):
    """Whether a curator has approved a run, and whether it counts in ladders."""

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="review", verbose_name=_("run"))
    approved = models.DateTimeField(_("approved"), null=True, blank=True)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("approved by")
    )
    excluded = models.DateTimeField(_("left out of ladders"), null=True, blank=True)
    excluded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("left out by")
    )
    reason = models.CharField(_("why it is left out"), max_length=300, blank=True)
    changed = models.DateTimeField(_("changed"), auto_now=True)

    objects = RunReviewQuerySet.as_manager()

    class Meta:
        ordering = ["-changed"]
        verbose_name = _("curation of a run")
        verbose_name_plural = _("curation of runs")
        indexes = [models.Index(fields=["excluded"], name="run_review_excluded")]

    def __str__(self) -> str:
        return str(self.run_id)
