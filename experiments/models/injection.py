"""How often a judge was talked into something."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.catalog import ProviderModel


class InjectionRate(models.Model):
    """One measurement of one model in one way of judging; the newest one counts. corpus: the version of the strings.

    tried, won: wrong answers that told the judge what to say, and those that won by it. unread: of those tried, where
    no verdict could be read. alone_tried, alone_won: the same answers without a word to the judge.
    """

    model = models.ForeignKey(ProviderModel, models.CASCADE, related_name="+", verbose_name=_("model"))
    workflow = models.CharField(_("workflow"), max_length=20)
    corpus = models.CharField(_("version of the strings"), max_length=12)
    tried = models.PositiveIntegerField(_("tried"))
    won = models.PositiveIntegerField(_("won"))
    unread = models.PositiveIntegerField(_("not read"))
    alone_tried = models.PositiveIntegerField(_("tried without an injection"))
    alone_won = models.PositiveIntegerField(_("won without an injection"))
    measured = models.DateTimeField(_("measured"), auto_now_add=True)

    class Meta:
        ordering = ["-measured", "-id"]
        verbose_name = _("rate of injections")
        verbose_name_plural = _("rates of injections")
        indexes = [models.Index(fields=["model", "workflow", "-measured"], name="injections_newest")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(won__lte=models.F("tried"), alone_won__lte=models.F("alone_tried")),
                name="no_more_injections_won_than_tried",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model_id} {self.workflow} {self.won}/{self.tried}"
