"""What is found by its words: titles and prompts, messages, reasoning, notes."""

from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models import Q
from django.db.models.lookups import Lookup
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.library.search.backends import Content, backend_of
from experiments.library.search.query import Sought
from experiments.models.experiment import Experiment
from experiments.models.run import Run
from experiments.models.work import Message


class WordsField(models.Field[Content, str]):
    """Holds a Content, as the backend of its database stores it."""

    def db_type(self, connection: Any) -> str:
        return backend_of(connection.vendor).column_type

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return backend_of(connection.vendor).stored(value) if isinstance(value, Content) else value

    def get_placeholder(self, value: Any, compiler: Any, connection: Any) -> str:
        return backend_of(connection.vendor).placeholder


@WordsField.register_lookup
class Matches(Lookup[Any]):
    """words__matches=Sought(…)"""

    lookup_name = "matches"
    prepare_rhs = False
    rhs: Sought

    def as_sql(self, compiler: Any, connection: Any) -> tuple[str, tuple[str | int, ...]]:
        column, _params = self.process_lhs(compiler, connection)
        backend = backend_of(connection.vendor)
        return backend.condition(column, column.rpartition(".")[0]), (backend.query(self.rhs),)


class PassageKind(models.TextChoices):
    SETUP = "setup", _("Title and prompts")
    MESSAGE = "message", _("Message")
    REASONING = "reasoning", _("Reasoning")
    NOTE = "note", _("Note")


class PassageQuerySet(models.QuerySet["Passage"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        """Of what a person may look at; what is one reader's own is theirs alone."""
        return self.readable_by(user).filter(experiment__in=Experiment.objects.visible_to(user))

    def readable_by(self, user: User | AnonymousUser) -> Self:
        """Without what is another reader's own, and for visitors without runs that nobody approved; whether the
        experiment may be seen is another question.
        """
        everybody = Q(reader__isnull=True)
        if user.is_active:
            return self.filter(everybody | Q(reader=user.pk))
        return self.filter(everybody, Q(run__isnull=True) | Q(run__review__approved__isnull=False))


class Passage(models.Model):
    """A text that can be searched for. Ids rise as texts are recorded.

    source: the row whose text it is, an experiment, a message or a note; each has one passage of a kind. run and
    message: where it stands; the set-up of an experiment stands in no run. reader: whom alone it is shown to; None:
    everybody who sees the experiment.
    """

    Kind = PassageKind

    kind = models.CharField(_("kind"), max_length=10, choices=PassageKind)
    source = models.UUIDField(_("source"))
    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="+", db_index=False)
    run = models.ForeignKey(Run, models.CASCADE, null=True, blank=True, related_name="+")
    message = models.ForeignKey(Message, models.CASCADE, null=True, blank=True, related_name="+")
    reader = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, blank=True, related_name="+")
    created = models.DateTimeField(_("created"))
    words = WordsField(editable=False)

    objects = PassageQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = _("searchable text")
        verbose_name_plural = _("searchable texts")
        constraints = [models.UniqueConstraint(fields=["source", "kind"], name="one_passage_of_a_kind")]
        indexes = [models.Index(fields=["experiment", "id"], name="passage_of_experiment")]

    def __str__(self) -> str:
        return f"{self.kind} {self.source}"
