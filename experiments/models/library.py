"""What people keep for later: presets and scenarios, tags, notes, and views of the list of runs."""

import unicodedata
import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Exists, OuterRef, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from accounts.models import Project, User
from experiments.models.experiment import Experiment
from experiments.models.ids import new_id
from experiments.models.run import Run
from experiments.models.work import Message


class PresetQuerySet(models.QuerySet["Preset"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(Q(owner_id=user.pk) | Q(shared=True)) if user.is_active else self.none()


class Preset(models.Model):
    """Part of a configuration under a name, such as a system context. The built-in ones are files, not rows."""

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="presets", verbose_name=_("owner"))
    workflow = models.CharField(_("workflow"), max_length=20)
    name = models.CharField(_("name"), max_length=80)
    config = models.JSONField(_("configuration"), default=dict)
    shared = models.BooleanField(_("shared with the lab"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = PresetQuerySet.as_manager()

    class Meta:
        ordering = ["name", "id"]
        verbose_name = _("preset")
        verbose_name_plural = _("presets")
        constraints = [models.UniqueConstraint(fields=["owner", "workflow", "name"], name="one_preset_per_name")]

    def __str__(self) -> str:
        return self.name


class ScenarioQuerySet(models.QuerySet["Scenario"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(Q(owner_id=user.pk) | Q(shared=True)) if user.is_active else self.none()

    def newest(self) -> Self:
        """The newest version of each that is not archived."""
        newer = Scenario.objects.filter(family=OuterRef("family"), version__gt=OuterRef("version"))
        return self.filter(~Exists(newer), archived=False)


class Scenario(models.Model):
    """One version of a saved arena set-up: versions of one scenario share a `family`, and are never changed."""

    class Kind(models.TextChoices):
        COOPERATION = "cooperation", pgettext_lazy("kind of scenario", "cooperation")
        COMPETITION = "competition", _("competition")
        MIXED = "mixed", _("mixed")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="scenarios", verbose_name=_("owner")
    )
    family = models.UUIDField(default=uuid.uuid4, editable=False)
    version = models.PositiveIntegerField(_("version"), default=1)
    title = models.CharField(_("title"), max_length=120)
    description = models.TextField(_("description"), blank=True)
    kind = models.CharField(_("kind"), max_length=12, choices=Kind, default=Kind.MIXED)
    config = models.JSONField(_("configuration"))
    shared = models.BooleanField(_("shared with the lab"), default=False)
    archived = models.BooleanField(_("archived"), default=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = ScenarioQuerySet.as_manager()

    class Meta:
        ordering = ["title", "-version"]
        verbose_name = _("scenario")
        verbose_name_plural = _("scenarios")
        constraints = [models.UniqueConstraint(fields=["family", "version"], name="scenario_version_once")]

    def __str__(self) -> str:
        return f"{self.title} {self.version}"


LONGEST_TAG = 40
LONGEST_QUERY = 1_000
LONGEST_KEY = 200  # of a favorite


def folded(name: str) -> str:
    """Equal for words that differ in their case, their width or their spaces alone."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())


class TagQuerySet(models.QuerySet["Tag"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
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
    def visible_to(self, user: User | AnonymousUser) -> Self:
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
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """One's own, and those that others share, on what somebody who is signed in may look at."""
        if not user.is_active:
            return self.none()
        return self.filter(Q(author_id=user.pk) | Q(shared=True), run__in=Run.objects.visible_to(user))

    def written_by(self, user: User | AnonymousUser) -> Self:
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


class FavoriteQuerySet(models.QuerySet["Favorite"]):
    def of(self, user: User | AnonymousUser) -> Self:
        return self.filter(user_id=user.pk) if user.is_active else self.none()


class Favorite(models.Model):
    """A run, a board or a contestant that a user marked, for that user alone. key: the id of the run, the slug of the
    board, or the contestant's name, which is the same on all boards. It gives no right to see anything.
    """

    class Kind(models.TextChoices):
        RUN = "run", _("run")
        BOARD = "board", _("board")
        CONTESTANT = "contestant", _("contestant")

    id = models.UUIDField(primary_key=True, default=new_id, editable=False)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="favorites", verbose_name=_("person")
    )
    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    key = models.CharField(_("what"), max_length=LONGEST_KEY)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = FavoriteQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        verbose_name = _("favorite")
        verbose_name_plural = _("favorites")
        constraints = [models.UniqueConstraint(fields=["user", "kind", "key"], name="one_favorite_of_each")]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class SavedViewQuerySet(models.QuerySet["SavedView"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
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


class RunListColumns(models.Model):
    """The columns that a person has hidden in the list of runs."""

    owner = models.OneToOneField(
        settings.AUTH_USER_MODEL, models.CASCADE, primary_key=True, related_name="+", verbose_name=_("owner")
    )
    hidden = models.JSONField(_("hidden columns"), default=list)

    class Meta:
        verbose_name = _("columns of the runs list")
        verbose_name_plural = _("columns of the runs list")

    def __str__(self) -> str:
        return ", ".join(self.hidden)
