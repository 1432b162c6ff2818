"""What runs are made of: steps, calls, messages, what judges and reviewers found, and numbered events."""

from typing import TypedDict

from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.models.catalog import ModelPrice, ProviderModel
from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.workflows.base.events import JsonObject, OfferOpened, Pause, Said, WaitingForUser


class Step(models.Model):
    """A unit of recorded work. `unique(run, key)` is what makes it happen once.

    data: what a step without rows of its own found or stated; of a step that listens, what it offers and what was said.
    judged, attempts: its judgments and calls, where `projections.with_rows` and `timeline.from_rows` read them ahead.
    """

    judged: "list[Judgment]"
    attempts: "list[Call]"

    class State(models.TextChoices):
        OPEN = "open", _("open")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    run = models.ForeignKey(Run, models.CASCADE, related_name="steps")
    key = models.CharField(_("key"), max_length=200)
    kind = models.CharField(_("kind"), max_length=12)
    purpose = models.CharField(_("purpose"), max_length=40)
    seat = models.CharField(_("participant"), max_length=40, blank=True)
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

    text and reasoning hold the partial answer while the call is under way; `batched` has what a call in a batch has
    beside, `handed` what one has that a caller makes. cost is null as long as it is unknown;
    `reserved` is the upper estimate that was set aside, `reserved_tokens` likewise of the tokens read and written.
    digest: of all columns, once it is settled (`engine/digests.py`); empty for a call from elsewhere.
    """

    class State(models.TextChoices):
        SENT = "sent", _("under way")
        BATCHED = "batched", _("in a batch")
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
    digest = models.CharField(max_length=32, blank=True, default="", db_default="", editable=False)

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


CALLS_UNDER_WAY = (Call.State.SENT, Call.State.BATCHED)


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
    seat = models.CharField(_("participant"), max_length=40)
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
    judge_seat = models.CharField(_("judge's participant"), max_length=40, blank=True)
    scores = models.JSONField(_("scores"), null=True)
    unscored_reason = models.CharField(_("why scores are missing"), max_length=500, blank=True)
    rationale = models.TextField(_("rationale"), blank=True)
    dynamics = models.TextField(_("how the sides influence each other"), blank=True)
    confidence = models.FloatField(_("confidence"), null=True)
    flags = models.JSONField(_("flags"), default=list, blank=True)
    saw = models.JSONField(
        _("what the judge read"), default=dict, db_default=models.Value({}, models.JSONField()), blank=True
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


ENVELOPE_VERSION = 1


class Envelope(TypedDict):
    """An event as it travels. data: of the class of its type."""

    v: int
    run: str
    seq: int
    type: str
    data: JsonObject
    at: str


class Event(models.Model):
    """Written in the transaction that makes it true. seq starts at 1 and has no gap. digest: covers the event before it
    (`engine/digests.py`); empty where an earlier version wrote it.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    seq = models.PositiveBigIntegerField()
    type = models.CharField(_("type"), max_length=40)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(_("at"))
    digest = models.CharField(max_length=32, blank=True, default="", db_default="", editable=False)

    class Meta:
        ordering = ["seq"]
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [models.UniqueConstraint(fields=["run", "seq"], name="event_order")]

    def __str__(self) -> str:
        return f"{self.seq} {self.type}"

    @property
    def envelope(self) -> Envelope:
        return {
            "v": ENVELOPE_VERSION,
            "run": str(self.run_id),
            "seq": self.seq,
            "type": self.type,
            "data": self.data,
            "at": self.at.isoformat(),
        }
