"""Batches: calls that a provider answers together, within a day, at a part of the usual price."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Min, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from experiments.models.catalog import ProviderModel
from experiments.models.ids import new_id
from experiments.models.work import Call


class BatchState(models.TextChoices):
    NEW = "new", _("not sent yet")
    SENDING = "sending", _("being sent")
    SENT = "sent", _("sent")
    ENDED = "ended", _("ended")


class BatchQuerySet(models.QuerySet["Batch"]):
    def due(self) -> "BatchQuerySet":
        return self.exclude(state=BatchState.ENDED).filter(next_at__lte=Now())


class Batch(models.Model):
    """Calls of one model in the name of one owner, with whose key they are made. Written down before anything is sent;
    its id is in the metadata of the batch at the provider.

    remote_id: of that batch. done, total: lines, as the provider counts them. tries: how often a worker has claimed it;
    next_at: when the next one may. problem: what the last try came to.
    """

    State = BatchState

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    model = models.ForeignKey(ProviderModel, models.PROTECT, related_name="+", verbose_name=_("model"))
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", verbose_name=_("owner"))
    state = models.CharField(_("state"), max_length=8, choices=BatchState, default=BatchState.NEW)
    remote_id = models.CharField(_("id at the provider"), max_length=200, blank=True)
    done = models.PositiveIntegerField(_("done"), default=0)
    total = models.PositiveIntegerField(_("total"), default=0)
    tries = models.PositiveIntegerField(_("tries"), default=0)
    next_at = models.DateTimeField(_("next look"), db_default=Now())
    problem = models.CharField(_("problem"), max_length=400, blank=True)
    created = models.DateTimeField(_("created"), db_default=Now())
    sent = models.DateTimeField(_("sent"), null=True, blank=True)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)

    objects = BatchQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("batch")
        verbose_name_plural = _("batches")
        indexes = [models.Index(fields=["next_at"], condition=~Q(state="ended"), name="batch_due")]

    def __str__(self) -> str:
        return self.remote_id or str(self.pk)


class BatchedCall(models.Model):
    """What a call has beside other calls when it is made in a batch.

    batch: None until it is gathered. share: of the usual price, that its cost is computed by. warnings: of its request.
    answer: the line that came back, until the run has taken it in; where none did, error_kind and error say why.
    ended: when one of them was known, or the call was withdrawn.
    """

    call = models.OneToOneField(Call, models.CASCADE, primary_key=True, related_name="batched", verbose_name=_("call"))
    batch = models.ForeignKey(
        Batch, models.PROTECT, null=True, blank=True, related_name="lines", verbose_name=_("batch")
    )
    share = models.DecimalField(_("share of the price"), max_digits=4, decimal_places=3)
    warnings = models.JSONField(_("warnings"), default=list)
    answer = models.TextField(_("answer"), blank=True)
    error_kind = models.CharField(_("kind of error"), max_length=40, blank=True)
    error = models.TextField(_("error"), blank=True)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name = _("call in a batch")
        verbose_name_plural = _("calls in batches")
        indexes = [models.Index(fields=["batch"], condition=Q(ended__isnull=True), name="batched_open")]

    def __str__(self) -> str:
        return str(self.call_id)


@dataclass(frozen=True, slots=True)
class InBatches:
    """What is waited for: calls in batches that have no answer yet. unsent: those that are gathered still. sent: when
    the first of their batches was sent; None for none. done, total: lines of these batches, as the provider counts.
    """

    calls: int
    unsent: int
    sent: datetime | None
    done: int
    total: int


def in_batches(runs: Any) -> InBatches | None:
    """Of these runs (a query of them); None where they wait for no batch."""
    lines = BatchedCall.objects.filter(call__run__in=runs, call__state=Call.State.BATCHED, ended__isnull=True)
    found = lines.aggregate(
        calls=Count("pk"), unsent=Count("pk", filter=Q(batch__sent__isnull=True)), sent=Min("batch__sent")
    )
    if not found["calls"]:
        return None
    batches = Batch.objects.filter(pk__in=lines.values("batch"), sent__isnull=False)
    counted = batches.values_list("done", "total")
    return InBatches(**found, done=sum(done for done, _ in counted), total=sum(total for _, total in counted))
