"""What judges found."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.models.work import Call, Step


class Judgment(models.Model):
    """A judge's scores for one seat in one turn. A score that the judge did not give is absent, with the reason."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="judgments")
    step = models.ForeignKey(Step, models.CASCADE, related_name="judgments")
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+")
    turn = models.PositiveIntegerField(_("turn"))
    subject = models.CharField(_("subject"), max_length=40)
    judge = models.CharField(_("judge"), max_length=200)
    scores = models.JSONField(_("scores"), null=True)
    unscored_reason = models.CharField(_("why scores are missing"), max_length=500, blank=True)
    rationale = models.TextField(_("rationale"), blank=True)
    dynamics = models.TextField(_("how the sides influence each other"), blank=True)
    confidence = models.FloatField(_("confidence"), null=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["turn", "subject", "id"]
        verbose_name = _("judgment")
        verbose_name_plural = _("judgments")
        constraints = [models.UniqueConstraint(fields=["step", "subject"], name="one_judgment_per_subject")]

    def __str__(self) -> str:
        return f"{self.turn} {self.subject}"
