"""What follows from battles and ballots: ladders, their standings, and the history of these."""

from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import Project
from experiments.models import Battle, Board, Contestant, Dataset, Experiment, Output, Run, Sample
from experiments.models.ids import new_id

if TYPE_CHECKING:
    from accounts.models import User


class LadderQuerySet(models.QuerySet["Ladder"]):
    def with_board(self) -> Self:
        """With all that titles need."""
        return self.select_related("board__dataset", "board__judge_model__provider")

    def beside(self, dataset: "Dataset") -> Self:
        """The ladders of a dataset that are shown."""
        return self.filter(board__dataset=dataset, withdrawn_reason="")

    def of_runs(self, workflow: str, title: str) -> "Ladder":
        """The ladder of a workflow's runs, made when it is new: public in a demonstration, elsewhere when an admin
        publishes it.
        """
        made = {"title": title, "workflow": workflow, "is_public": settings.DEMO_MODE}
        return self.select_related("standing").get_or_create(slug=workflow, defaults=made)[0]

    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """A board's ladder is visible to those who see its dataset; a ladder of runs to everyone once it is public."""
        of_boards = models.Q(board__dataset__in=Dataset.objects.visible_to(user))
        of_runs = models.Q(board__isnull=True) & (models.Q(is_public=True) | models.Q(pk__isnull=not user.is_active))
        return self.filter(of_boards | of_runs)


class Ladder(models.Model):
    """Contestants that can be compared, and so have ratings on one scale: those of a board, or the models of a
    workflow's runs (then without a board). withdrawn_reason: why it is not shown any more.
    """

    slug = models.SlugField(max_length=120, unique=True)
    title = models.CharField(_("title"), max_length=250)
    workflow = models.CharField(_("workflow"), max_length=20)
    board = models.OneToOneField(Board, models.CASCADE, null=True, blank=True, related_name="ladder")
    is_public = models.BooleanField(_("public"), default=False)
    withdrawn_reason = models.CharField(_("why it is withdrawn"), max_length=300, blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = LadderQuerySet.as_manager()

    class Meta:
        ordering = ["workflow", "title"]
        verbose_name = _("board of ratings")
        verbose_name_plural = _("boards of ratings")

    def __str__(self) -> str:
        return self.title

    def get_absolute_url(self) -> str:
        return reverse("ladder", args=[self.slug])

    @property
    def stored(self) -> "Standing | None":
        """What was computed last, if anything was."""
        return getattr(self, "standing", None)

    @property
    def is_published(self) -> bool:
        """Whether visitors see it."""
        return not self.withdrawn_reason and Ladder.objects.visible_to(AnonymousUser()).filter(pk=self.pk).exists()


class Standing(models.Model):
    """The standings of a ladder, replaced as a whole. changes: the board's number when it was computed.

    data: what pages and the API show, of `compute.Standings`.
    """

    ladder = models.OneToOneField(Ladder, models.CASCADE, primary_key=True, related_name="standing")
    changes = models.PositiveBigIntegerField(default=0)
    data = models.JSONField(default=dict)
    computed = models.DateTimeField(_("computed"))
    seconds = models.FloatField(_("seconds"), default=0)

    class Meta:
        verbose_name = _("state of a board")
        verbose_name_plural = _("states of boards")


class Style(models.Model):
    """What the text of an output looks like, measured once, since it never changes: see `ratings.style.Style`."""

    output = models.OneToOneField(Output, models.CASCADE, primary_key=True, related_name="style")
    length = models.PositiveIntegerField(_("characters"))
    headings = models.PositiveIntegerField(_("headings"))
    lists = models.PositiveIntegerField(_("list items"))
    bold = models.PositiveIntegerField(_("bold spans"))
    code = models.PositiveIntegerField(_("code blocks"))
    language = models.PositiveSmallIntegerField(_("in the script of the prompt"))

    class Meta:
        verbose_name = _("style of an output")
        verbose_name_plural = _("styles of outputs")


class RatingPoint(models.Model):
    """What a contestant was rated at some time: the ladder's history. lower, upper: the 95 % interval, in Elo."""

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="points")
    at = models.DateTimeField(_("at"))
    occasion = models.CharField(_("occasion"), max_length=120, blank=True)
    name = models.CharField(_("contestant"), max_length=200)
    rating = models.FloatField(_("rating"))
    lower = models.FloatField(null=True)
    upper = models.FloatField(null=True)
    battles = models.PositiveIntegerField(_("battles"))

    class Meta:
        ordering = ["at", "name"]
        verbose_name = _("point of the history")
        verbose_name_plural = _("points of the history")
        constraints = [models.UniqueConstraint(fields=["ladder", "at", "name"], name="one_point_at_a_time")]


class Milestone(models.Model):
    """A ladder as it stood when it was published, never changed afterwards. ratings, covariance: of `contestants`, in
    their sequence; Elo and Elo². counts: the pairs' counts that it rests on.
    """

    ladder = models.ForeignKey(Ladder, models.CASCADE, related_name="milestones")
    name = models.CharField(_("name"), max_length=120)
    taken = models.DateTimeField(_("taken"), auto_now_add=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    contestants = models.JSONField(default=list)
    ratings = models.JSONField(default=list)
    covariance = models.JSONField(default=list)
    battles = models.PositiveBigIntegerField(_("battles"))
    note = models.TextField(_("note"), blank=True)

    class Meta:
        ordering = ["-taken"]
        verbose_name = _("milestone")
        verbose_name_plural = _("milestones")
        constraints = [models.UniqueConstraint(fields=["ladder", "name"], name="each_milestone_once")]

    @property
    def version(self) -> str:
        """The name without its date: "release" of "release_20260131"."""
        return self.name.rpartition("_")[0]

    @property
    def dated(self) -> str:
        """The date in its name, as 2026-01-31."""
        digits = self.name.rpartition("_")[2]
        return f"{digits[:4]}-{digits[4:6]}-{digits[6:]}"


class PublicArena(models.Model):
    """How the arena for visitors is set up: one row. experiment: the models that answer; each battle is a run of it.
    project: whose budget a day of battles uses. dataset: what everybody sees, without texts that nobody has published;
    prompts: private, with all of them and contestants of the same names.
    """

    is_open = models.BooleanField(_("open to visitors"), default=False)
    is_moderated = models.BooleanField(_("publish prompts only after review"), default=True)
    battles_per_hour = models.PositiveIntegerField(_("battles per address and hour"), default=20)
    longest_prompt = models.PositiveIntegerField(_("longest prompt, in characters"), default=4000)
    project = models.ForeignKey(Project, models.PROTECT, null=True, related_name="+")
    experiment = models.ForeignKey(Experiment, models.PROTECT, null=True, related_name="+")
    dataset = models.ForeignKey(Dataset, models.PROTECT, null=True, related_name="+")
    prompts = models.ForeignKey(Dataset, models.PROTECT, null=True, related_name="+")

    class Meta:
        verbose_name = _("public arena")
        verbose_name_plural = _("public arena")

    def __str__(self) -> str:
        return "public arena"

    @classmethod
    def load(cls) -> Self:
        """The row, or one with the defaults that is not saved yet."""
        rows = cls.objects.select_related("dataset", "prompts", "project", "experiment__owner", "experiment__project")
        return rows.filter(pk=1).first() or cls(pk=1)

    @property
    def takes_prompts(self) -> bool:
        return self.is_open and self.experiment is not None and self.experiment.deleted is None


class ArenaBattle(models.Model):
    """A visitor's prompt and what became of it. left, right: as in Battle, the smaller key first; shown_left_first:
    which one stands left on the page, drawn at random. choice: in terms of what was shown, empty until the vote;
    battle: the vote as it counts. may_publish: whether the visitor agreed; publication: what a reviewer decided.
    """

    class Publication(models.TextChoices):
        WAITING = "", _("waiting")
        APPROVED = "approved", _("approved")
        REFUSED = "refused", _("refused")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    board = models.ForeignKey(Board, models.CASCADE, related_name="+")
    run = models.OneToOneField(Run, models.CASCADE, related_name="+")
    sample = models.OneToOneField(Sample, models.CASCADE, related_name="+", verbose_name=_("prompt"))
    left = models.ForeignKey(Contestant, models.CASCADE, related_name="+")
    right = models.ForeignKey(Contestant, models.CASCADE, related_name="+")
    shown_left_first = models.BooleanField()
    ballot = models.CharField(max_length=72)
    choice = models.CharField(_("vote"), max_length=8, blank=True)
    battle = models.OneToOneField(Battle, models.SET_NULL, null=True, related_name="+", verbose_name=_("battle"))
    may_publish = models.BooleanField(_("may be published"), default=False)
    publication = models.CharField(_("publication"), max_length=8, choices=Publication, blank=True)
    decided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        ordering = ["-created"]
        verbose_name = _("battle of the public arena")
        verbose_name_plural = _("battles of the public arena")
        indexes = [models.Index(fields=["publication", "may_publish", "-created"], name="arena_battle_to_review")]

    def __str__(self) -> str:
        return str(self.pk)

    def get_absolute_url(self) -> str:
        return reverse("public-arena-battle", args=[self.pk])

    @property
    def shown(self) -> tuple[Contestant, Contestant]:
        """The contestants as they stand on the page, left and right. Not to be told before the vote."""
        return (self.left, self.right) if self.shown_left_first else (self.right, self.left)
