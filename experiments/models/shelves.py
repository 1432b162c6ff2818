"""How people find things again: tags, notes, and views of the list of runs under a name."""

import unicodedata
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import Project
from experiments.models.experiment import Experiment
from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.models.transcript import Message

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

LONGEST_TAG = 40
LONGEST_QUERY = 1_000


def folded(name: str) -> str:
    """Equal for words that differ in their case, their width or their spaces alone."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


class TagQuerySet(models.QuerySet["Tag"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """Those on what somebody may look at, their own, and their projects'."""
        if not user.is_active:
            return self.none()
        seen = Tagging.objects.visible_to(user).filter(tag=OuterRef("pk"))
        return self.filter(Q(owner_id=user.pk) | Q(project__in=Project.objects.visible_to(user)) | Exists(seen))


class Tag(models.Model):
    """A word of a project's, or of a person's for what is in no project. `folded` is what makes it the same word."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="tags", verbose_name=_("owner")
    )
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="tags", verbose_name=_("project")
    )
    name = models.CharField(_("tag"), max_length=LONGEST_TAG)
    folded = models.CharField(max_length=2 * LONGEST_TAG, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = TagQuerySet.as_manager()

    class Meta:
        ordering = ["folded", "id"]
        verbose_name = _("tag")
        verbose_name_plural = _("tags")
        constraints = [
            models.CheckConstraint(
                condition=Q(owner__isnull=True, project__isnull=False) | Q(owner__isnull=False, project__isnull=True),
                name="a_tag_has_one_place",
            ),
            models.UniqueConstraint(
                fields=["project", "folded"], condition=Q(project__isnull=False), name="one_tag_per_word_of_project"
            ),
            models.UniqueConstraint(
                fields=["owner", "folded"], condition=Q(owner__isnull=False), name="one_tag_per_word_of_person"
            ),
        ]
        indexes = [models.Index(fields=["folded"], name="tag_by_word")]

    def __str__(self) -> str:
        return self.name


class TaggingQuerySet(models.QuerySet["Tagging"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        return self.filter(experiment__in=Experiment.objects.visible_to(user)) if user.is_active else self.none()

    def of_run(self, run: Any, experiment: Any) -> Self:
        """Those of a run: its own, and those of its experiment."""
        return self.filter(Q(run=run) | Q(run__isnull=True), experiment=experiment)


class Tagging(models.Model):
    """A tag on a run, or on a whole experiment where no run is named."""

    tag = models.ForeignKey(Tag, models.CASCADE, related_name="taggings", verbose_name=_("tag"))
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="taggings", verbose_name=_("experiment"))
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="taggings", verbose_name=_("run"))
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+", verbose_name=_("person")
    )
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = TaggingQuerySet.as_manager()

    class Meta:
        ordering = ["tag__folded", "id"]
        verbose_name = _("tag on something")
        verbose_name_plural = _("tags on things")
        constraints = [
            models.UniqueConstraint(fields=["tag", "run"], condition=Q(run__isnull=False), name="a_run_tagged_once"),
            models.UniqueConstraint(
                fields=["tag", "experiment"], condition=Q(run__isnull=True), name="an_experiment_tagged_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.tag} · {self.run_id or self.experiment_id}"


class NoteQuerySet(models.QuerySet["Note"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """One's own, and those that others share, on what somebody who is signed in may look at."""
        if not user.is_active:
            return self.none()
        return self.filter(Q(author_id=user.pk) | Q(shared=True), run__in=Run.objects.visible_to(user))

    def written_by(self, user: "User | AnonymousUser") -> Self:
        """One's own, on what one may still look at."""
        return self.visible_to(user).filter(author_id=user.pk)


class Note(models.Model):
    """What somebody wrote about a run, or about one message of it, in Markdown. shared: with who may see the run."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="notes", verbose_name=_("run"))
    message = models.ForeignKey(
        Message, models.CASCADE, null=True, blank=True, related_name="notes", verbose_name=_("message")
    )
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notes", verbose_name=_("author"))
    text = models.TextField(_("note"))
    shared = models.BooleanField(_("shared"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    edited = models.DateTimeField(_("edited"), null=True, blank=True)

    objects = NoteQuerySet.as_manager()

    class Meta:
        ordering = ["created", "id"]
        verbose_name = _("note")
        verbose_name_plural = _("notes")
        indexes = [models.Index(fields=["run", "created"], name="note_of_run")]

    def __str__(self) -> str:
        return self.text[:60]


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def visible_to(self, user: "User | AnonymousUser") -> Self:
        """One's own, and those of one's projects."""
        if not user.is_active:
            return self.none()
        return self.filter(Q(owner_id=user.pk) | Q(project__in=Project.objects.visible_to(user)))


class SavedView(models.Model):
    """Filters of the list of runs under a name. query: as they stand in its address, without the page.

    project: whose members find it, too. is_default: what its owner's list shows when nothing is asked for.
    """

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views", verbose_name=_("owner")
    )
    project = models.ForeignKey(
        Project, models.CASCADE, null=True, blank=True, related_name="saved_views", verbose_name=_("project")
    )
    name = models.CharField(_("name"), max_length=60)
    query = models.CharField(_("filters"), max_length=LONGEST_QUERY, blank=True)
    is_default = models.BooleanField(_("shown first"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = SavedViewQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        verbose_name = _("saved view")
        verbose_name_plural = _("saved views")
        constraints = [
            models.UniqueConstraint(fields=["owner", "name"], name="one_view_per_name"),
            models.UniqueConstraint(fields=["owner"], condition=Q(is_default=True), name="one_view_shown_first"),
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return f"{reverse('runs')}?{self.query}"
