"""Unlisted links: whoever has one may read an experiment, without signing in, until it expires or is revoked."""

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from experiments.models.experiment import Experiment
from experiments.models.ids import new_id

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class ShareLinkQuerySet(models.QuerySet["ShareLink"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Those of the experiments that a person may change. The text of a link is shown to nobody twice."""
        return self.filter(experiment__in=Experiment.objects.changeable_by(user))

    def open(self) -> Self:
        return self.filter(Q(revoked__isnull=True), expires__gt=Now())


class ShareLink(models.Model):
    """digest: SHA-256 of the secret in its address, which is stored nowhere. hint: how the secret begins."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="links", verbose_name=_("experiment"))
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(_("begins with"), max_length=6, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("made by")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)
    expires = models.DateTimeField(_("expires"))
    revoked = models.DateTimeField(_("revoked"), null=True, blank=True)

    objects = ShareLinkQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("link")
        verbose_name_plural = _("links")

    def __str__(self) -> str:
        return f"{self.hint}… · {self.experiment}"
