"""Logs of battles that somebody has sent: kept until they are read, with the report of what became of them."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from experiments.models.dataset import Dataset
from experiments.models.ids import new_id

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class LogImportQuerySet(models.QuerySet["LogImport"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Whoever sent it, as long as they may see the dataset."""
        rows = self.filter(dataset__in=Dataset.objects.visible_to(user))
        return rows.filter(owner_id=user.pk) if user.is_active else rows.none()


class LogImport(models.Model):
    """A file with battles that were judged elsewhere, for a dataset. judge, subset: of logs that name none.

    attempt rises with every claim: a worker that was frozen writes nothing any more. report: `logs.records.Report`, as
    far as it is read. refused_reason: why it could not be read to its end.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting to be read")
        READING = "reading", _("being read")
        DONE = "done", _("read")
        REFUSED = "refused", _("refused")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="log_imports", verbose_name=_("dataset"))
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", verbose_name=_("owner"))
    name = models.CharField(_("file name"), max_length=300)
    size = models.PositiveBigIntegerField(_("size"))
    judge = models.CharField(_("judge"), max_length=200, blank=True)
    subset = models.CharField(_("subset"), max_length=100, blank=True)
    keep_partial = models.BooleanField(_("keep the other lines if some are refused"), default=False, db_default=False)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.WAITING)
    report = models.JSONField(_("report"), default=dict, blank=True)
    refused_reason = models.TextField(_("why it was refused"), blank=True)
    attempt = models.PositiveSmallIntegerField(default=0, editable=False)
    beat = models.DateTimeField(null=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    ended = models.DateTimeField(_("ended"), null=True)

    objects = LogImportQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("import of logs")
        verbose_name_plural = _("imports of logs")
        indexes = [models.Index(fields=["state", "beat"], name="log_import_claimable")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("log-import", args=[self.dataset.slug, self.pk])

    @property
    def folder(self) -> Path:
        return Path(settings.UPLOADS_DIR) / "logs" / str(self.pk)

    @property
    def path(self) -> Path:
        """Who sends a file may not choose where it lies."""
        return self.folder / "log"

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.DONE, self.State.REFUSED}

    def forget_file(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
