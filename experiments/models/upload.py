"""Files that somebody has sent: kept until they are read, and for what a worker reads of them."""

import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.dataset import Dataset
from experiments.models.ids import new_id
from experiments.models.waiting import Claimable

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User


class UploadQuerySet(models.QuerySet["Upload"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()


class Upload(Claimable):
    """A file of samples, or of contestants' outputs for a dataset that is there.

    KEPT until its owner has said how it is to be read (`asked`). found: what was in it.
    """

    class Kind(models.TextChoices):
        SAMPLES = "samples", _("samples")
        OUTPUTS = "outputs", _("outputs")

    class State(models.TextChoices):
        KEPT = "kept", _("uploaded")
        WAITING = "waiting", _("waiting to be read")
        READING = "reading", _("being read")
        DONE = "done", _("read")
        REFUSED = "refused", _("refused")

    QUEUED = State.WAITING
    RUNNING = State.READING
    FAILED = State.REFUSED
    REASON = "refused_reason"
    LEASE = "DATASET_LEASE_SECONDS"

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="uploads", verbose_name=_("owner"))
    dataset = models.ForeignKey(Dataset, models.CASCADE, null=True, related_name="uploads", verbose_name=_("dataset"))
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    name = models.CharField(_("file name"), max_length=300)
    size = models.PositiveBigIntegerField(_("size"))
    asked = models.JSONField(default=dict, blank=True)
    found = models.JSONField(default=dict, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.KEPT)
    refused_reason = models.TextField(_("why it was refused"), blank=True)

    objects = UploadQuerySet.as_manager()

    class Meta(Claimable.Meta):
        verbose_name = _("upload")
        verbose_name_plural = _("uploads")
        indexes = [models.Index(fields=["state", "beat"], name="upload_claimable")]

    def __str__(self) -> str:
        return self.name

    @property
    def folder(self) -> Path:
        return Path(settings.UPLOADS_DIR) / str(self.pk)

    @property
    def path(self) -> Path:
        """Where the file is. Complaints about what is in it name it, so it keeps its name."""
        return self.folder / self.name

    @property
    def language(self) -> str:
        return self.owner.language or settings.LANGUAGE_CODE

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.DONE, self.State.REFUSED}

    def forget_file(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
