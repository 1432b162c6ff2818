"""The ledger: each step of a run happens once, each call that was paid for has its row."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.catalog import ModelPrice, ProviderModel
from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.workflows.base.events import OfferOpened, Pause, Said, WaitingForUser


class Step(models.Model):
    """A unit of recorded work. `unique(run, key)` is what makes it happen once.

    data: what a step without rows of its own found or stated; of a step that listens, what it offers and what was said.
    """

    class State(models.TextChoices):
        OPEN = "open", _("open")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    run = models.ForeignKey(Run, models.CASCADE, related_name="steps")
    key = models.CharField(_("key"), max_length=200)
    kind = models.CharField(_("kind"), max_length=12)
    purpose = models.CharField(_("purpose"), max_length=40)
    seat = models.CharField(_("seat"), max_length=40, blank=True)
    turn = models.PositiveIntegerField(_("turn"), null=True, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.OPEN)
    prompt_version = models.CharField(_("prompt version"), max_length=16, blank=True)
    data = models.JSONField(default=dict, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        ordering = ["id"]
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        constraints = [models.UniqueConstraint(fields=["run", "key"], name="each_step_once")]
        indexes = [models.Index(fields=["run", "purpose", "turn"], name="step_purpose")]

    def __str__(self) -> str:
        return self.key

    @property
    def is_open_pause(self) -> bool:
        return self.kind == "listen" and self.state == self.State.OPEN

    @property
    def is_open_offer(self) -> bool:
        return self.kind == "offer" and self.state == self.State.OPEN

    @property
    def pause(self) -> Pause:
        """What an open pause asks for, or an offer offers."""
        kind = OfferOpened if self.kind == "offer" else WaitingForUser
        return kind(
            key=self.key,
            reason=self.purpose,
            seat=self.seat,
            turn=self.turn,
            default=self.data["default"],
            actions=self.data["actions"],
            error=self.data["error"],
            can_continue=True,
        )

    @property
    def draft(self) -> str:
        """What somebody has begun to write at an open pause; the default when nobody has."""
        return str(self.data.get("draft", self.data.get("default", "")))

    @property
    def said(self) -> Said:
        """What was said at a pause that is over."""
        return Said(
            key=self.key,
            reason=self.purpose,
            seat=self.seat,
            turn=self.turn,
            action=self.data.get("action"),
            text=self.data.get("text"),
            edited=self.data.get("edited"),
            by=self.data.get("by"),
        )


class Call(models.Model):
    """One paid attempt at a provider, committed before the request leaves and settled with what came back.

    text and reasoning hold the partial answer while the call is under way. cost is null as long as it is unknown;
    `reserved` is the upper estimate that was set aside, `reserved_tokens` likewise of the tokens read and written.
    """

    class State(models.TextChoices):
        SENT = "sent", _("under way")
        COMPLETED = "completed", _("completed")
        FAILED = "failed", _("failed")
        LOST = "lost", _("lost")
        STOPPED = "stopped", _("stopped")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="calls")
    step = models.ForeignKey(Step, models.CASCADE, related_name="calls")
    attempt = models.PositiveSmallIntegerField(_("attempt"))
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.SENT)
    model = models.ForeignKey(ProviderModel, models.PROTECT, related_name="calls", verbose_name=_("model"))
    price = models.ForeignKey(ModelPrice, models.PROTECT, null=True, related_name="+", verbose_name=_("price"))
    request = models.JSONField(_("request"))
    reserved = models.DecimalField(_("reserved"), max_digits=20, decimal_places=10, null=True)
    reserved_tokens = models.PositiveIntegerField(_("reserved tokens"), null=True)

    text = models.TextField(_("text"), blank=True)
    reasoning = models.TextField(_("reasoning"), blank=True)
    logprobs = models.JSONField(_("logprobs"), null=True)
    finish_reason = models.CharField(_("finish reason"), max_length=40, blank=True)
    native_finish_reason = models.CharField(max_length=80, blank=True)
    served_model = models.CharField(_("served model"), max_length=200, blank=True)
    served_provider = models.CharField(_("served by"), max_length=200, blank=True)
    generation_id = models.CharField(max_length=200, blank=True)
    system_fingerprint = models.CharField(max_length=200, blank=True)
    warnings = models.JSONField(_("warnings"), default=list)
    error_kind = models.CharField(_("kind of error"), max_length=40, blank=True)
    error = models.TextField(_("error"), blank=True)

    input_tokens = models.PositiveIntegerField(_("input tokens"), null=True)
    output_tokens = models.PositiveIntegerField(_("output tokens"), null=True)
    reasoning_tokens = models.PositiveIntegerField(_("reasoning tokens"), null=True)
    cached_input_tokens = models.PositiveIntegerField(_("cached input tokens"), null=True)
    usage_is_estimated = models.BooleanField(default=False)
    cost = models.DecimalField(_("cost"), max_digits=20, decimal_places=10, null=True)
    cost_source = models.CharField(_("source of the cost"), max_length=12, blank=True)

    sent = models.DateTimeField(_("sent"), auto_now_add=True)
    first_byte_seconds = models.FloatField(null=True)
    seconds = models.FloatField(_("seconds"), null=True)

    class Meta:
        ordering = ["id"]
        verbose_name = _("call")
        verbose_name_plural = _("calls")
        constraints = [models.UniqueConstraint(fields=["step", "attempt"], name="each_attempt_once")]
        indexes = [
            models.Index(fields=["run", "state"], name="call_state"),
            models.Index(fields=["sent"], name="call_sent"),
        ]

    def __str__(self) -> str:
        return f"{self.step} #{self.attempt}"
