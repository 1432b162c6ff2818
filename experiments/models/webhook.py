"""Webhooks: addresses that are told what happens, and each thing that they were told."""

from typing import Self
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from accounts.models import Membership, Project, User
from experiments.models.ids import new_id
from experiments.tasks import clock

ANSWER_BYTES = 2048  # of what a receiver answers


class WebhookQuerySet(models.QuerySet["Webhook"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those a person looks after: their own, and those of the projects that they lead."""
        if not (user.is_active and user.pk):
            return self.none()
        led = Project.objects.led_by(user).values("pk")
        return self.filter(Q(owner_id=user.pk, project__isnull=True) | Q(project__in=led))

    def entitled(self) -> Self:
        """Those whose maker is still here, and still leads the project that they tell of."""
        leads = Membership.objects.filter(
            project=OuterRef("project"), user=OuterRef("owner"), role=Membership.Role.LEAD
        )
        return self.filter(Q(project__isnull=True) | Exists(leads), owner__is_active=True)

    def listening(self) -> Self:
        return self.entitled().filter(is_active=True)

    def hearing(self, *, owner: int, project: UUID | None) -> Self:
        """Those that are told of something of this person's, which the members of this project see."""
        mine = Q(owner_id=owner, project__isnull=True)
        return self.filter(mine | Q(project_id=project) if project else mine)


class Webhook(models.Model):
    """One address. project: whose runs it is told of; null for those of its maker.

    events: the kinds that it is told of. secret, older_secret: what `accounts.crypto` made of them; the older one signs
    beside the newer until `older_until`. failures: attempts that failed since one succeeded, the first of them at
    `failing_since`. paused: when, and why, the platform itself gave up on it.
    """

    class Pause(models.TextChoices):
        FAILING = "failing", _("It failed for a day.")
        GONE = "gone", _("The receiver answered that it is gone (410).")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="webhooks", verbose_name=_("made by")
    )
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="webhooks", verbose_name=_("project")
    )
    name = models.CharField(_("name"), max_length=100, blank=True)
    url = models.CharField(_("address"), max_length=1000)
    events = models.JSONField(_("events"), default=list)
    allow_private = models.BooleanField(_("private addresses allowed"), default=False)
    secret = models.TextField(editable=False)
    older_secret = models.TextField(editable=False, blank=True)
    older_until = models.DateTimeField(null=True, editable=False)
    is_active = models.BooleanField(_("active"), default=True)
    failures = models.PositiveIntegerField(_("failures in a row"), default=0, editable=False)
    failing_since = models.DateTimeField(_("failing since"), null=True, editable=False)
    paused = models.DateTimeField(_("paused"), null=True, editable=False)
    pause_reason = models.CharField(_("why it was paused"), max_length=12, choices=Pause, blank=True, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = WebhookQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        constraints = [models.CheckConstraint(condition=~Q(secret=""), name="a_webhook_signs")]

    def __str__(self) -> str:
        """Words for records and logs. The path of an address may be a secret in itself."""
        return f"{self.name} · {self.host}" if self.name else self.host

    def get_absolute_url(self) -> str:
        return reverse("webhook", args=[self.pk])

    @property
    def host(self) -> str:
        return urlsplit(self.url).netloc

    @property
    def has_older_secret(self) -> bool:
        return bool(self.older_secret and self.older_until and self.older_until > clock.now())


class DeliveryQuerySet(models.QuerySet["WebhookDelivery"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(webhook__in=Webhook.objects.visible_to(user))

    def waiting(self) -> Self:
        return self.filter(state=WebhookDelivery.State.WAITING)

    def due(self) -> Self:
        """Those to be sent now; also those whose sender was killed before it could say what came of it."""
        return self.waiting().filter(next_at__lte=Now(), webhook__in=Webhook.objects.listening())


class WebhookDelivery(models.Model):
    """What an address is told, once for each `source`. Written in the transaction that makes it true.

    id: what the receiver knows it by; every attempt has the same. body: the very bytes that are signed and sent.
    attempt rises with every attempt: a sender that was frozen writes nothing any more. tries: those since it was
    written, or was to be sent again by a person. next_at: when to send it; for one under way, when its sender counts
    as dead. status, seconds, answer, problem: what came of the last attempt.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("given up")
        DROPPED = "dropped", _("not sent")

    class Problem(models.TextChoices):
        REFUSED = "refused", _("The receiver did not accept it.")
        REDIRECT = "redirect", _("The receiver redirects. Enter the final address; redirects are not followed.")
        UNREACHABLE = "unreachable", _("The receiver could not be reached.")
        TIMEOUT = "timeout", _("The receiver did not answer in time.")
        FORBIDDEN = "forbidden", _("The name leads to a private or reserved address, which is not allowed.")
        UNREADABLE = "unreadable", _("Its secret can no longer be decrypted. Rotate the secret.")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries", verbose_name=_("webhook"))
    type = models.CharField(_("event"), max_length=40)
    source = models.CharField(max_length=120, editable=False)
    run = models.ForeignKey(
        "experiments.Run", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("run")
    )
    body = models.TextField(_("what is sent"))
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.WAITING)
    attempt = models.PositiveIntegerField(_("attempts"), default=0)
    tries = models.PositiveSmallIntegerField(default=0, editable=False)
    next_at = models.DateTimeField(_("next attempt"), default=timezone.now)
    status = models.PositiveSmallIntegerField(_("status"), null=True)
    seconds = models.FloatField(_("seconds"), null=True)
    answer = models.TextField(_("answer"), blank=True)
    problem = models.CharField(_("problem"), max_length=12, choices=Problem, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    ended = models.DateTimeField(_("ended"), null=True)

    objects = DeliveryQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = _("delivery of a webhook")
        verbose_name_plural = _("deliveries of webhooks")
        constraints = [models.UniqueConstraint(fields=["webhook", "source"], name="told_once")]
        indexes = [
            models.Index(fields=["next_at"], condition=Q(state="waiting"), name="delivery_due"),
            models.Index(fields=["webhook", "-id"], name="delivery_of_webhook"),
            models.Index(fields=["created"], name="delivery_by_age"),
        ]

    def __str__(self) -> str:
        return f"{self.type} · {self.pk}"
