"""What was said."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.models.work import Call, Step


class Message(models.Model):
    """One utterance: `raw_text` as produced, `text` as the others see it.

    seq is the number of the event that announced it, so that messages sort as they were said. operator: what a person
    did to it, {kind: "edited", by, original}; None for what a model or a person said as it stands. superseded: another
    answer was asked for in its place. flags: what looks wrong with it, of `workflows.flags`. parsed: what the workflow
    read out of a structured answer, {kind, …}; None where nothing was to be read.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="messages")
    step = models.OneToOneField(Step, models.CASCADE, related_name="message")
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+")
    seq = models.PositiveBigIntegerField()
    turn = models.PositiveIntegerField(_("turn"))
    seat = models.CharField(_("seat"), max_length=40)
    model = models.CharField(_("model"), max_length=200, blank=True)
    raw_text = models.TextField(_("text as produced"), blank=True)
    text = models.TextField(_("text as others see it"), blank=True)
    reasoning = models.TextField(_("reasoning"), blank=True)
    filter = models.JSONField(_("filter"), null=True)
    operator = models.JSONField(_("change by a person"), null=True, blank=True)
    flags = models.JSONField(_("flags"), default=list, blank=True)
    parsed = models.JSONField(_("what was read out of it"), null=True, blank=True)
    superseded = models.BooleanField(_("superseded"), default=False)
    finish_reason = models.CharField(_("finish reason"), max_length=40, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["seq"]
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="message_order")]

    def __str__(self) -> str:
        return f"{self.turn} {self.seat}"
