"""Calls that are handed over to callers: processes that hold the connections to providers."""

from typing import Self

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from experiments.models.work import Call


class Caller(models.Model):
    """One start of a process that makes calls.

    id: new for each start; also the name of its lock and of its spool. seen_until: by the database's clock; one that is
    silent for longer counts as dead. is_draining: it takes no more calls. died: proven by its lock.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    host = models.CharField(_("machine"), max_length=200)
    seen_until = models.DateTimeField(_("seen until"))
    is_draining = models.BooleanField(_("takes no more calls"), default=False, db_default=False)
    died = models.BooleanField(_("died"), default=False, db_default=False)
    started = models.DateTimeField(_("started"), db_default=Now())

    class Meta:
        ordering = ["-started", "-id"]
        verbose_name = _("caller")
        verbose_name_plural = _("callers")

    def __str__(self) -> str:
        return f"{self.host} {self.pk}"


class HandedCallQuerySet(models.QuerySet["HandedCall"]):
    def unclaimed(self) -> Self:
        """Nothing was sent: a caller can claim them, or their driver withdraw them."""
        return self.filter(caller__isnull=True, answered__isnull=True)

    def under_way(self) -> Self:
        return self.filter(caller__isnull=False, answered__isnull=True)


class HandedCall(models.Model):
    """What a call has beside other calls from its write-ahead until it is settled, when a caller makes it.

    order: all that the caller needs, as JSON, without any key. caller: None until one has claimed it; nothing is sent
    before. answer: what became of it, as JSON, stored once by its caller or out of that one's spool; then `answered`.
    """

    call = models.OneToOneField(Call, models.CASCADE, primary_key=True, related_name="handed", verbose_name=_("call"))
    order = models.TextField(_("order"))
    caller = models.ForeignKey(
        Caller, models.PROTECT, null=True, blank=True, related_name="calls", verbose_name=_("caller")
    )
    stop_requested = models.BooleanField(_("stop requested"), default=False, db_default=False)
    answer = models.TextField(_("answer"), blank=True, default="", db_default="")
    answered = models.DateTimeField(_("answered"), null=True, blank=True)

    objects = HandedCallQuerySet.as_manager()

    class Meta:
        verbose_name = _("call of a caller")
        verbose_name_plural = _("calls of callers")
        indexes = [
            models.Index(
                fields=["call"], condition=Q(caller__isnull=True, answered__isnull=True), name="handed_unclaimed"
            )
        ]

    def __str__(self) -> str:
        return str(self.call_id)
