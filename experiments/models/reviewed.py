"""What is in a queue, who holds it at this moment, and what people said of it."""

from typing import Any, NoReturn, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.experiment import Visibility
from experiments.models.ids import new_id
from experiments.models.review import ReviewQueue
from experiments.models.run import Run
from experiments.models.work import Judgment, Message

WIDELY = (Visibility.LAB, Visibility.PUBLIC)


class NeverChanged(TypeError):
    """Somebody tried to change an answer: a correction is a version of its own."""


class ItemQuerySet(models.QuerySet["ReviewItem"]):
    def within_reach(self) -> Self:
        """Those whose run the queue may still show: of a project what it shares, of the lab what everybody in it may
        see, and otherwise its owner's own.
        """
        own = Q(run__experiment__owner=F("queue__owner"), queue__project__isnull=True)
        shared = Q(run__experiment__project=F("queue__project")) & ~Q(run__experiment__visibility=Visibility.PRIVATE)
        of_lab = Q(queue__is_lab=True, run__experiment__visibility__in=WIDELY)
        return self.filter(own | shared | of_lab)

    def visible_to(self, user: User | AnonymousUser) -> Self:
        """What somebody may read on the review page: items of open queues that they review in, and of those that they
        look after.
        """
        queues = ReviewQueue.objects
        mine = Q(queue__in=queues.open_to(user)) | Q(queue__in=queues.manageable_by(user))
        return self.within_reach().filter(mine)

    def open_to(self, user: User | AnonymousUser) -> Self:
        return self.within_reach().filter(queue__in=ReviewQueue.objects.open_to(user))


class ReviewItem(models.Model):
    """One thing to be reviewed. subject: what it is, as `kind:id`, so that a queue holds it once.

    message, judgment: null where the whole transcript is meant, or the `turn` of it that is given. seat: whose part of
    it, where not all of it is meant. number: its place in the queue, from 1. stratum, probability: of what was drawn
    from what an instrument has judged, by which value, and with which chance.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    queue = models.ForeignKey(ReviewQueue, models.CASCADE, related_name="items", verbose_name=_("queue"))
    number = models.PositiveIntegerField(_("number"))
    subject = models.CharField(_("subject"), max_length=120)
    run = models.ForeignKey(Run, models.CASCADE, related_name="review_items", verbose_name=_("run"))
    message = models.ForeignKey(Message, models.CASCADE, null=True, blank=True, related_name="review_items")
    judgment = models.ForeignKey(Judgment, models.CASCADE, null=True, blank=True, related_name="review_items")
    turn = models.PositiveIntegerField(_("turn"), null=True, blank=True)
    seat = models.CharField(_("participant"), max_length=40, blank=True, db_default="", default="")
    stratum = models.CharField(_("stratum"), max_length=60, blank=True, db_default="", default="")
    probability = models.FloatField(_("sampling probability"), null=True, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        ordering = ["queue", "number"]
        verbose_name = _("item under review")
        verbose_name_plural = _("items under review")
        constraints = [
            models.UniqueConstraint(fields=["queue", "subject"], name="once_in_a_queue"),
            models.UniqueConstraint(fields=["queue", "number"], name="one_item_per_number"),
        ]

    def __str__(self) -> str:
        return f"{self.queue.name} {self.number}"

    def get_absolute_url(self) -> str:
        return reverse("review-item", args=[self.pk])


class AnswerQuerySet(models.QuerySet["ReviewAnswer"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """One's own, and those of the queues that one looks after: nobody leans on what others said."""
        managed = ReviewQueue.objects.manageable_by(user)
        mine = Q(author_id=user.pk) if user.is_active else Q(pk__in=[])
        return self.filter(mine | Q(item__queue__in=managed))

    def update(self, **kwargs: Any) -> NoReturn:
        raise NeverChanged("An answer is never changed: a correction is a version of its own.")


class ReviewAnswer(models.Model):
    """What one person said of one item, in one version. Versions are never changed.

    scores: numbers by scale; a scale without a number is absent. unsaid: why somebody could not say, by scale.
    labels: choices by label. is_informed: said after the models and the judge's scores were shown, in a blind queue;
    it does not count in agreement. seconds: from taking the item to sending the answer.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    item = models.ForeignKey(ReviewItem, models.CASCADE, related_name="answers", verbose_name=_("item"))
    author = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="review_answers", verbose_name=_("person")
    )
    version = models.PositiveIntegerField(_("version"), default=1)
    scores = models.JSONField(_("scores"), default=dict, blank=True)
    unsaid = models.JSONField(_("could not say, because"), default=dict, blank=True)
    labels = models.JSONField(_("labels"), default=dict, blank=True)
    note = models.TextField(_("note"), blank=True)
    flags = models.JSONField(_("flags"), default=list, blank=True)
    is_informed = models.BooleanField(_("said after seeing the judge's scores"), default=False)
    seconds = models.FloatField(_("seconds"), null=True, blank=True)
    fingerprint = models.CharField(max_length=64, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = AnswerQuerySet.as_manager()

    class Meta:
        ordering = ["item", "author", "version"]
        verbose_name = _("answer of a reviewer")
        verbose_name_plural = _("answers of reviewers")
        constraints = [
            models.UniqueConstraint(fields=["item", "author", "version"], name="one_review_answer_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.author} · {self.item_id} v{self.version}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise NeverChanged("An answer is never changed: a correction is a version of its own.")
        super().save(*args, **kwargs)


class SlotQuerySet(models.QuerySet["ReviewSlot"]):
    def free(self) -> Self:
        """Those that nobody has answered and nobody holds."""
        return self.filter(Q(holder__isnull=True) | Q(until__lt=Now()), answer__isnull=True)

    def held_by(self, user: User | AnonymousUser) -> Self:
        """Those that somebody holds and has not answered. An expired hold is theirs until somebody else takes it."""
        return self.filter(holder_id=user.pk, answer__isnull=True)

    def answered(self) -> Self:
        return self.filter(answer__isnull=False)

    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(item__in=ReviewItem.objects.visible_to(user))


class ReviewSlot(models.Model):
    """A place at an item: there are as many as people are to review it, so that there are never more answers.

    holder: who has it, or had it last. until: after that it may be taken by somebody else. answer: the version that
    stands. revealed: when its holder was shown the models and the judge's scores.
    """

    item = models.ForeignKey(ReviewItem, models.CASCADE, related_name="slots", verbose_name=_("item"))
    number = models.PositiveSmallIntegerField(_("number"))
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("person")
    )
    claimed = models.DateTimeField(_("taken"), null=True, blank=True)
    until = models.DateTimeField(_("held until"), null=True, blank=True)
    answer = models.OneToOneField(
        ReviewAnswer, models.SET_NULL, null=True, blank=True, related_name="slot", verbose_name=_("answer")
    )
    answered = models.DateTimeField(_("answered"), null=True, blank=True)
    revealed = models.DateTimeField(_("revealed"), null=True, blank=True)

    objects = SlotQuerySet.as_manager()

    class Meta:
        ordering = ["item", "number"]
        verbose_name = _("place at an item")
        verbose_name_plural = _("places at items")
        constraints = [
            models.UniqueConstraint(fields=["item", "number"], name="one_review_slot_per_number"),
            models.UniqueConstraint(fields=["item", "holder"], name="one_review_slot_per_person"),
        ]

    def __str__(self) -> str:
        return f"{self.item_id} {self.number}"


class OfAnswerQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(answer__in=ReviewAnswer.objects.visible_to(user))


class ReviewComment(models.Model):
    """A remark on some words of a message.

    start, end: characters of the text that it was written on, as `digest` tells; quote: the words themselves. In
    another text it is shown where they stand exactly once, or else beside it.
    """

    answer = models.ForeignKey(ReviewAnswer, models.CASCADE, related_name="comments", verbose_name=_("answer"))
    message = models.ForeignKey(Message, models.CASCADE, related_name="review_comments", verbose_name=_("message"))
    start = models.PositiveIntegerField(_("from character"))
    end = models.PositiveIntegerField(_("to character"))
    quote = models.TextField(_("quoted words"))
    digest = models.CharField(_("hash of the text"), max_length=64)
    text = models.TextField(_("comment"))

    objects = OfAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["answer", "message", "start", "id"]
        verbose_name = _("comment on words")
        verbose_name_plural = _("comments on words")
        constraints = [models.CheckConstraint(condition=Q(end__gt=F("start")), name="a_comment_has_words")]

    def __str__(self) -> str:
        return self.text[:60]


class ReviewCorrection(models.Model):
    """What a person thinks a judge's score should have been. The judge's own stays."""

    answer = models.ForeignKey(ReviewAnswer, models.CASCADE, related_name="corrections", verbose_name=_("answer"))
    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="corrections", verbose_name=_("judgment"))
    measure = models.CharField(_("measure"), max_length=60)
    score = models.FloatField(_("score"))
    reason = models.TextField(_("reason"))

    objects = OfAnswerQuerySet.as_manager()

    class Meta:
        ordering = ["answer", "judgment", "measure"]
        verbose_name = _("correction of a judge's score")
        verbose_name_plural = _("corrections of judges' scores")
        constraints = [
            models.UniqueConstraint(fields=["answer", "judgment", "measure"], name="one_correction_per_measure")
        ]

    def __str__(self) -> str:
        return f"{self.measure} {self.score:g}"


class OwnQuerySet(models.QuerySet[Any]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """One's own, and those of the queues that one looks after."""
        managed = ReviewQueue.objects.manageable_by(user)
        mine = Q(person_id=user.pk) if user.is_active else Q(pk__in=[])
        return self.filter(mine | Q(item__queue__in=managed))


class ReviewSkip(models.Model):
    """Somebody who passes an item over is not offered it again; others are."""

    item = models.ForeignKey(ReviewItem, models.CASCADE, related_name="skips", verbose_name=_("item"))
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="review_skips", verbose_name=_("person")
    )
    reason = models.CharField(_("reason"), max_length=300)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = OwnQuerySet.as_manager()

    class Meta:
        ordering = ["-created"]
        verbose_name = _("skipped item")
        verbose_name_plural = _("skipped items")
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="skipped_once")]

    def __str__(self) -> str:
        return self.reason


class ReviewDraft(models.Model):
    """What somebody has entered and not sent yet, as their form has it."""

    item = models.ForeignKey(ReviewItem, models.CASCADE, related_name="drafts", verbose_name=_("item"))
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="review_drafts", verbose_name=_("person")
    )
    fields = models.JSONField(_("fields"), default=dict)
    saved = models.DateTimeField(_("saved"), auto_now=True)

    objects = OwnQuerySet.as_manager()

    class Meta:
        ordering = ["-saved"]
        verbose_name = _("draft of an answer")
        verbose_name_plural = _("drafts of answers")
        constraints = [models.UniqueConstraint(fields=["item", "person"], name="one_review_draft")]

    def __str__(self) -> str:
        return f"{self.person} · {self.item_id}"
