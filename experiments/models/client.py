"""What programs begin here: clients of other systems, and requests that may be sent twice."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.ids import new_id
from experiments.models.run import Run


class ClientSystem(models.TextChoices):
    """Whose client it is. The names are those of the systems, in every language."""

    ARENA = "arena", "LLM Arena"
    STARCHAMBER = "starchamber", "StarChamber"
    COUNCIL = "council", "LLM Council"
    ASSISTANT = "assistant", "Multi-LLM Assistant"


class ClientTalkQuerySet(models.QuerySet["ClientTalk"]):
    def owned_by(self, user: User | AnonymousUser) -> Self:
        return self.filter(owner_id=user.pk) if user.is_active else self.none()


class ClientTalk(models.Model):
    """What the client knows by an id of its own, and the run that it is here. A council is opened before anything is
    asked: it has no run until then.
    """

    System = ClientSystem

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="client_talks", verbose_name=_("owner")
    )
    system = models.CharField(_("client of"), max_length=12, choices=ClientSystem)
    run = models.OneToOneField(
        Run, models.CASCADE, null=True, blank=True, related_name="client_talk", verbose_name=_("run")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ClientTalkQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("run of a client")
        verbose_name_plural = _("runs of clients")
        constraints = [
            models.CheckConstraint(condition=Q(system="council") | Q(run__isnull=False), name="only_a_council_waits")
        ]
        indexes = [models.Index(fields=["owner", "system", "-created"], name="client_talk_of_owner")]

    def __str__(self) -> str:
        return f"{self.get_system_display()} · {self.pk}"


class IdempotentRequest(models.Model):
    """What was asked under an `Idempotency-Key`, and the answer that a repetition gets again."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    answer = models.JSONField(default=dict)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["owner", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return self.key
