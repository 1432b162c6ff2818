"""What judges and reviewers found."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.models.work import Call, Step


class Judgment(models.Model):
    """A judge's scores for one seat in one turn. A score that the judge did not give is absent, with the reason.

    judge_seat: where those who judge have seats of their own. flags: what was noticed about the judgment. saw: what the
    judge was shown, `messages` (filtered, original or both) and `reasoning` (off, none or shown); empty where that is
    not known.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="judgments")
    step = models.ForeignKey(Step, models.CASCADE, related_name="judgments")
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+")
    turn = models.PositiveIntegerField(_("turn"))
    subject = models.CharField(_("subject"), max_length=40)
    judge = models.CharField(_("judge"), max_length=200)
    judge_seat = models.CharField(_("judge's seat"), max_length=40, blank=True)
    scores = models.JSONField(_("scores"), null=True)
    unscored_reason = models.CharField(_("why scores are missing"), max_length=500, blank=True)
    rationale = models.TextField(_("rationale"), blank=True)
    dynamics = models.TextField(_("how the sides influence each other"), blank=True)
    confidence = models.FloatField(_("confidence"), null=True)
    flags = models.JSONField(_("flags"), default=list, blank=True)
    saw = models.JSONField(
        _("what the judge saw"), default=dict, db_default=models.Value({}, models.JSONField()), blank=True
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["turn", "subject", "id"]
        verbose_name = _("judgment")
        verbose_name_plural = _("judgments")
        constraints = [models.UniqueConstraint(fields=["step", "subject"], name="one_judgment_per_subject")]

    def __str__(self) -> str:
        return f"{self.turn} {self.subject}"


class Ballot(models.Model):
    """How one reviewer orders the answers of a turn: `order` holds seats, best first, in groups of equals.

    labels: the names under which the reviewer saw the answers, to seats, in the order in which they were shown. order
    is None when nothing could be read; `abstained_reason` says why. flags: what was put right when it was read, of
    `workflows.ballots`. reading: "json", "text" or "repaired". count: 1, and one more each time that the answers of
    the turn are ranked anew; an earlier ballot of the same reviewer stays, superseded.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="ballots")
    step = models.OneToOneField(Step, models.CASCADE, related_name="ballot")
    call = models.ForeignKey(Call, models.PROTECT, null=True, related_name="+")
    turn = models.PositiveIntegerField(_("turn"))
    count = models.PositiveIntegerField(_("count"), default=1)
    reviewer = models.CharField(_("reviewer"), max_length=40)
    model = models.CharField(_("model"), max_length=200, blank=True)
    labels = models.JSONField(_("labels"))
    order = models.JSONField(_("order"), null=True)
    abstained_reason = models.CharField(_("why it abstained"), max_length=500, blank=True)
    flags = models.JSONField(_("flags"), default=list, blank=True)
    reading = models.CharField(_("reading"), max_length=12, blank=True)
    superseded = models.BooleanField(_("superseded"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["turn", "count", "reviewer", "id"]
        verbose_name = _("ballot")
        verbose_name_plural = _("ballots")

    def __str__(self) -> str:
        return f"{self.turn} {self.reviewer}"
