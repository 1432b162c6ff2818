"""What people are asked to judge, by what rubric, and who is asked; and what curators decided about runs and flags."""

from typing import Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import Project, User
from experiments.models.experiment import Experiment
from experiments.models.ids import new_id
from experiments.models.run import CURATORS, Run
from experiments.models.work import Message

MOST_PEOPLE = 5  # per item
LONGEST_LOCK = 24 * 60  # minutes


def role_of(user: User | AnonymousUser) -> str:
    """The role of somebody who is signed in and active; empty for everybody else."""
    return str(getattr(user, "role", "")) if user.is_active else ""


class RubricQuerySet(models.QuerySet["ReviewRubric"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Those that come with the platform, one's own, shared ones, and those of queues that one sees."""
        if not user.is_active:
            return self.none()
        used = Q(queues__in=ReviewQueue.objects.visible_to(user))
        found = self.model.objects.filter(Q(owner__isnull=True) | Q(owner_id=user.pk) | Q(shared=True) | used)
        return self.filter(pk__in=found.values("pk"))

    def newest(self) -> Self:
        """The newest version of each."""
        newer = ReviewRubric.objects.filter(family=OuterRef("family"), version__gt=OuterRef("version"))
        return self.filter(~Exists(newer))


class ReviewRubric(models.Model):
    """One version of a rubric; versions share a `family`, and are never changed: a change is another version.

    scales, labels: as `review.rubrics` reads them. owner: null for those that come with the platform.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    family = models.UUIDField(default=new_id, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="review_rubrics",
        verbose_name=_("owner"),
    )
    title = models.CharField(_("title"), max_length=120)
    description = models.TextField(_("description"), max_length=2000, blank=True)
    scales = models.JSONField(_("scales"), default=list, blank=True)
    labels = models.JSONField(_("labels"), default=list, blank=True)
    shared = models.BooleanField(_("shared with the lab"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = RubricQuerySet.as_manager()

    class Meta:
        ordering = ["title", "-version"]
        verbose_name = _("review rubric")
        verbose_name_plural = _("review rubrics")
        constraints = [models.UniqueConstraint(fields=["family", "version"], name="one_review_rubric_per_version")]

    def __str__(self) -> str:
        return f"{self.title} v{self.version}"

    def get_absolute_url(self) -> str:
        return reverse("review-rubric", args=[self.pk])


class QueueQuerySet(models.QuerySet["ReviewQueue"]):
    def manageable_by(self, user: User | AnonymousUser) -> Self:
        """Those that one made oneself, the lab's for curators and administrators, a project's for its leads. Who has
        left the project, or is no curator any more, has left its queues, too.
        """
        if not user.is_active:
            return self.none()
        led = Q(project__in=Project.objects.led_by(user).values("pk"))
        of_lab = Q(is_lab=True) if role_of(user) in CURATORS else Q(pk__in=[])
        still_there = Q(project__isnull=True) | Q(project__in=Project.objects.visible_to(user).values("pk"))
        return self.filter(Q(owner_id=user.pk, is_lab=False) & still_there | led | of_lab)

    def assigned_to(self, user: User | AnonymousUser) -> Self:
        """Those in which one reviews: as a member, and the lab's in the role of a reviewer."""
        if not user.is_active:
            return self.none()
        member = Q(pk__in=QueueMember.objects.filter(user_id=user.pk).values("queue"))
        of_lab = Q(is_lab=True) if role_of(user) == User.Role.REVIEWER else Q(pk__in=[])
        return self.filter(member | of_lab)

    def open_to(self, user: User | AnonymousUser) -> Self:
        return self.assigned_to(user).filter(state=QueueState.OPEN)

    def visible_to(self, user: User | AnonymousUser) -> Self:
        mine = self.model.objects
        return self.filter(
            Q(pk__in=mine.manageable_by(user).values("pk")) | Q(pk__in=mine.assigned_to(user).values("pk"))
        )


class QueueState(models.TextChoices):
    OPEN = "open", _("open")
    CLOSED = "closed", _("closed")


class ReviewQueue(models.Model):
    """What is to be reviewed, by whom and how. Its items are fixed when it is filled; filling again adds new ones.

    is_lab: every reviewer of the lab may take part. filters: what it is filled with, of `review.filling`. overlap:
    how many people review each item. is_blind: neither models nor judges' scores are shown before one has answered.
    version, scan, sample: of a queue that holds an instrument to people, which one, the experiment that judged with it,
    and what was drawn of that, as `review.instruments.sampling.Sample` reads it.
    """

    class Over(models.TextChoices):
        MESSAGES = "messages", _("single messages")
        TRANSCRIPTS = "transcripts", _("whole transcripts")
        JUDGMENTS = "judgments", _("judgments of models")
        UNITS = "units", _("what an instrument has judged")

    State = QueueState

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    name = models.CharField(_("name"), max_length=120)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="review_queues", verbose_name=_("owner")
    )
    project = models.ForeignKey(
        Project, models.PROTECT, null=True, blank=True, related_name="review_queues", verbose_name=_("project")
    )
    is_lab = models.BooleanField(_("for every reviewer of the lab"), default=False)
    over = models.CharField(_("over"), max_length=12, choices=Over, default=Over.MESSAGES)
    filters = models.JSONField(_("filters"), default=dict, blank=True)
    rubric = models.ForeignKey(ReviewRubric, models.PROTECT, related_name="queues", verbose_name=_("rubric"))
    overlap = models.PositiveSmallIntegerField(
        _("people per item"), default=1, validators=[MinValueValidator(1), MaxValueValidator(MOST_PEOPLE)]
    )
    is_blind = models.BooleanField(_("blind"), default=True)
    instructions = models.TextField(_("instructions"), blank=True)
    lock_minutes = models.PositiveIntegerField(
        _("minutes for which an item is held"),
        default=20,
        validators=[MinValueValidator(1), MaxValueValidator(LONGEST_LOCK)],
    )
    version = models.ForeignKey(
        "experiments.InstrumentVersion",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="queues",
        verbose_name=_("version of an instrument"),
    )
    scan = models.ForeignKey(
        Experiment, models.SET_NULL, null=True, blank=True, related_name="queues_of_scan", verbose_name=_("scan")
    )
    sample = models.JSONField(_("sample"), default=dict, db_default={}, blank=True)
    state = models.CharField(_("state"), max_length=8, choices=QueueState, default=QueueState.OPEN)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    filled = models.DateTimeField(_("last filled"), null=True, blank=True)

    objects = QueueQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("review queue")
        verbose_name_plural = _("review queues")
        constraints = [
            models.CheckConstraint(condition=Q(overlap__range=(1, MOST_PEOPLE)), name="review_people_per_item"),
            models.CheckConstraint(condition=Q(is_lab=False) | Q(project__isnull=True), name="review_lab_or_project"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("review-queue", args=[self.pk])

    @property
    def is_open(self) -> bool:
        return self.state == QueueState.OPEN


class MemberQuerySet(models.QuerySet["QueueMember"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(queue__in=ReviewQueue.objects.visible_to(user))


class QueueMember(models.Model):
    """Somebody who reviews in a queue: what is in it they may read there, and nowhere else by this."""

    queue = models.ForeignKey(ReviewQueue, models.CASCADE, related_name="members", verbose_name=_("queue"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="queue_memberships", verbose_name=_("person")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = MemberQuerySet.as_manager()

    class Meta:
        ordering = ["queue", "user__username"]
        verbose_name = _("member of a queue")
        verbose_name_plural = _("members of queues")
        constraints = [models.UniqueConstraint(fields=["queue", "user"], name="one_place_in_a_queue")]

    def __str__(self) -> str:
        return f"{self.user} · {self.queue}"


class FlagDeedQuerySet(models.QuerySet["FlagDeed"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(message__run__in=Run.objects.visible_to(user))


class FlagDeed(models.Model):
    """A flag was set on a message, or dismissed: what is in force stands in `Message.flags`, this is how it came.

    scanner: name and version of the program that did it; empty when a person did. A flag without a deed was set when
    the message was recorded.
    """

    class Kind(models.TextChoices):
        SET = "set", _("set")
        DISMISSED = "dismissed", _("dismissed")

    message = models.ForeignKey(Message, models.CASCADE, related_name="flag_deeds", verbose_name=_("message"))
    flag = models.CharField(_("flag"), max_length=40)
    kind = models.CharField(_("action"), max_length=12, choices=Kind)
    scanner = models.CharField(_("scanner"), max_length=40, blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("person")
    )
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    at = models.DateTimeField(_("time"), auto_now_add=True)

    objects = FlagDeedQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = _("flag set or dismissed")
        verbose_name_plural = _("flags set and dismissed")

    def __str__(self) -> str:
        return f"{self.flag} {self.kind}"


class RunReviewQuerySet(models.QuerySet["RunReview"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(run__in=Run.objects.visible_to(user))


class RunReview(models.Model):
    """Whether a curator has approved a run, and whether it counts in ladders.

    submitted: when its owner asked the curators to decide, until they do. returned: when a curator gave it back to its
    owner undecided, until it is submitted or approved. reason: why it is left out, or why it was returned.
    """

    run = models.OneToOneField(Run, models.CASCADE, primary_key=True, related_name="review", verbose_name=_("run"))
    submitted = models.DateTimeField(_("submitted"), null=True, blank=True)
    returned = models.DateTimeField(_("returned"), null=True, blank=True)
    approved = models.DateTimeField(_("approved"), null=True, blank=True)
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("approved by")
    )
    excluded = models.DateTimeField(_("left out of ratings"), null=True, blank=True)
    excluded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("left out by")
    )
    reason = models.CharField(_("why it is left out"), max_length=300, blank=True)
    changed = models.DateTimeField(_("changed"), auto_now=True)

    objects = RunReviewQuerySet.as_manager()

    class Meta:
        ordering = ["-changed"]
        verbose_name = _("curation of a run")
        verbose_name_plural = _("curation of runs")
        indexes = [models.Index(fields=["excluded"], name="run_review_excluded")]

    def __str__(self) -> str:
        return str(self.run_id)
