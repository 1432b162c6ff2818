"""Comparisons of outputs: the boards that keep comparable ones together, the battles, and what was said in them."""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db import models
from django.db.models.functions import Left, StrIndex
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.models.catalog import ProviderModel
from experiments.models.dataset import Contestant, Dataset, Sample
from experiments.models.experiment import Experiment
from experiments.models.run import Run
from experiments.models.work import Call


class BoardQuerySet(models.QuerySet["Board"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(dataset__in=Dataset.objects.visible_to(user))


class Board(models.Model):
    """Battles that can be compared: one dataset, one judge with its parameters, one version of one prompt.

    judge: a provider model's slug; of people who vote here "people", of those who voted elsewhere and of judges of
    elsewhere what an import calls them. changes: how often what it counts has changed; ratings that were computed at an
    earlier number are out of date.
    """

    class Kind(models.TextChoices):
        MODEL = "model", _("a model judges")
        PEOPLE = "people", _("people vote")
        IMPORTED = "imported", _("judged elsewhere")

    dataset = models.ForeignKey(Dataset, models.CASCADE, related_name="boards", verbose_name=_("dataset"))
    slug = models.SlugField(max_length=120, unique=True)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    judge = models.CharField(_("judge"), max_length=200)
    judge_model = models.ForeignKey(ProviderModel, models.PROTECT, null=True, blank=True, related_name="+")
    prompt = models.CharField(_("judge prompt"), max_length=80, blank=True)
    prompt_version = models.CharField(_("version of the prompt"), max_length=16, blank=True)
    params = models.JSONField(_("parameters"), default=dict, blank=True)
    params_hash = models.CharField(max_length=16, blank=True, editable=False)
    changes = models.PositiveBigIntegerField(default=0, editable=False)
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = BoardQuerySet.as_manager()

    class Meta:
        ordering = ["id"]
        verbose_name = _("board")
        verbose_name_plural = _("boards")
        constraints = [
            models.UniqueConstraint(
                fields=["dataset", "kind", "judge", "prompt", "prompt_version", "params_hash"], name="each_board_once"
            )
        ]

    def __str__(self) -> str:
        return self.slug


class Campaign(models.Model):
    """The plan of an experiment whose work is shared out over many runs: which are begun, until nothing is missing.

    wanted: how much there is to do in all, as far as it is planned. round: of an adaptive plan. state: OPEN when all
    was tried and some of it is left open (it is asked again on resume).
    plan: what is to be shared out in this pass, pair by pair; cursor: how far that is done, and what it has cost.
    edition rises with every change: of two that continue the campaign at the same time, one does.
    """

    class State(models.TextChoices):
        RUNNING = "running", _("running")
        STOPPED = "stopped", _("stopped")
        OPEN = "open", _("some left open")
        COMPLETED = "completed", _("completed")
        FAILED = "failed", _("failed")

    experiment = models.OneToOneField(Experiment, models.CASCADE, primary_key=True, related_name="campaign")
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.RUNNING)
    wanted = models.PositiveIntegerField(_("wanted"), default=0)
    round = models.PositiveIntegerField(_("round"), default=0)
    passes = models.PositiveIntegerField(default=0, editable=False)
    plan = models.JSONField(default=dict, editable=False)
    cursor = models.JSONField(default=dict, editable=False)
    edition = models.PositiveIntegerField(default=0, editable=False)
    seed = models.BigIntegerField(_("seed"), default=0)
    note = models.TextField(_("note"), blank=True)
    created = models.DateTimeField(_("created"), auto_now_add=True)
    resumed = models.DateTimeField(_("resumed"), null=True, blank=True)
    ended = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        verbose_name = _("campaign")
        verbose_name_plural = _("campaigns")

    def __str__(self) -> str:
        return str(self.experiment)


UNNAMED, UNNAMED_LENGTH = "log:", 40
OCCASION = "/"  # in a ballot: what follows tells several votes of one voter on the same outputs apart


def voter_key(ballot: str) -> str:
    """Whose vote it is: the same for all votes of a voter, as `by_voter` has it."""
    return ballot.partition(OCCASION)[0]


def is_unnamed(key: str) -> bool:
    """Whether it is that of one vote, whose log does not tell who cast it."""
    return key.startswith(UNNAMED) and len(key) == len(UNNAMED) + UNNAMED_LENGTH


class BattleQuerySet(models.QuerySet["Battle"]):
    def visible_to(self, user: User | AnonymousUser) -> Self:
        return self.filter(board__in=Board.objects.visible_to(user))

    def decided(self) -> Self:
        return self.exclude(winner="")

    def counted(self) -> Self:
        """What ratings are made of."""
        return self.decided().filter(void_reason="")

    def revealed(self) -> Self:
        """What may be shown with names: all but the votes that somebody is still to cast."""
        return self.exclude(shown_left_first__isnull=False, judged__isnull=True, winner="")

    def of_voter(self, key: str) -> Self:
        return self.filter(models.Q(ballot=key) | models.Q(ballot__startswith=f"{key}{OCCASION}"))

    def by_voter(self) -> Any:
        """With `cast_by`, the key of who cast each vote; empty for judges that are models."""
        several = models.When(
            ballot__contains=OCCASION,
            then=Left("ballot", StrIndex("ballot", models.Value(OCCASION)) - 1, output_field=models.CharField()),
        )
        return self.annotate(cast_by=models.Case(several, default="ballot", output_field=models.CharField()))


class Battle(models.Model):
    """Two contestants' outputs on one sample, compared. left is the contestant with the smaller key.

    winner: empty as long as it is open; open_reason says why. is_consistent: whether both orders were judged alike;
    None where there was one judgment. ballot: empty for judges that are models; for a vote the voter's key, and of
    several on the same outputs the occasion after a slash. shown_left_first: of a vote, or of an import that tells it.
    A vote here is open until it is cast, and its sides are drawn.
    """

    class Winner(models.TextChoices):
        LEFT = "left", _("left")
        RIGHT = "right", _("right")
        TIE = "tie", _("tie")
        BOTH_BAD = "both_bad", _("both bad")

    # What the left one gets of a battle that ratings and win rates are made of: one in which both are bad is none.
    SCORES: ClassVar[Mapping[str, float]] = {Winner.LEFT: 1.0, Winner.TIE: 0.5, Winner.RIGHT: 0.0}

    board = models.ForeignKey(Board, models.CASCADE, related_name="battles", verbose_name=_("board"))
    sample = models.ForeignKey(Sample, models.CASCADE, related_name="battles", verbose_name=_("sample"))
    left = models.ForeignKey(Contestant, models.CASCADE, related_name="+", verbose_name=_("left"), db_index=False)
    right = models.ForeignKey(Contestant, models.CASCADE, related_name="+", verbose_name=_("right"), db_index=False)
    winner = models.CharField(_("winner"), max_length=8, choices=Winner, blank=True)
    is_consistent = models.BooleanField(_("consistent"), null=True)
    open_reason = models.CharField(_("why it is open"), max_length=300, blank=True)
    experiment = models.ForeignKey(Experiment, models.SET_NULL, null=True, related_name="battles")
    run = models.ForeignKey(Run, models.SET_NULL, null=True, related_name="battles")
    ballot = models.CharField(max_length=72, blank=True)
    voter = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="votes")
    shown_left_first = models.BooleanField(null=True)
    judged = models.DateTimeField(_("judged"), null=True)
    void_reason = models.CharField(_("why it is void"), max_length=300, blank=True)
    voided = models.DateTimeField(_("voided"), null=True)
    voided_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    created = models.DateTimeField(_("created"), auto_now_add=True)

    objects = BattleQuerySet.as_manager()

    class Meta:
        ordering = ["-id"]
        verbose_name = _("battle")
        verbose_name_plural = _("battles")
        constraints = [
            models.UniqueConstraint(fields=["board", "left", "right", "sample", "ballot"], name="each_battle_once"),
            models.CheckConstraint(condition=models.Q(left__lt=models.F("right")), name="left_has_the_smaller_key"),
        ]
        indexes = [
            models.Index(fields=["board", "id"], name="battle_of_board"),
            models.Index(fields=["board", "right", "id"], name="battle_of_right"),
            models.Index(fields=["board", "left", "id"], name="battle_of_left"),
            models.Index(fields=["board", "sample", "id"], name="battle_of_sample"),
            models.Index(fields=["board", "judged"], name="battle_of_day"),
            models.Index(
                fields=["experiment", "judged", "winner", "is_consistent"], name="battle_of_experiment"
            ),  # progress
            models.Index(
                fields=["board", "winner", "is_consistent", "id"],
                condition=models.Q(voided__isnull=True),
                name="battle_of_outcome",
            ),
            models.Index(fields=["board", "id"], condition=models.Q(voided__isnull=False), name="battle_voided"),
            models.Index(
                fields=["ballot", "id"], condition=models.Q(shown_left_first__isnull=False), name="vote_of_ballot"
            ),
            models.Index(
                fields=["created"],
                condition=models.Q(shown_left_first__isnull=False, judged__isnull=True),
                name="vote_not_cast",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.left_id}–{self.right_id}/{self.sample_id}"


class Verdict(models.Model):
    """What one judgment of a battle says. order: "original" showed left first, "swapped" right first.

    winner: in terms of the battle, empty when none could be read (`unread_reason`). raw: what an import brought; of a
    judgment made here the text is the call's. scores: what the prompt asks for, by name; confidence 0 to 1.
    """

    class Order(models.TextChoices):
        ORIGINAL = "original", _("left first")
        SWAPPED = "swapped", _("right first")

    battle = models.ForeignKey(Battle, models.CASCADE, related_name="verdicts")
    order = models.CharField(max_length=8, choices=Order)
    call = models.ForeignKey(Call, models.SET_NULL, null=True, related_name="+")
    winner = models.CharField(max_length=8, choices=Battle.Winner, blank=True)
    scores = models.JSONField(null=True)
    confidence = models.FloatField(null=True)
    rationale = models.TextField(blank=True)
    unread_reason = models.CharField(max_length=300, blank=True)
    raw = models.TextField(blank=True)

    class Meta:
        ordering = ["battle", "order"]
        verbose_name = _("verdict")
        verbose_name_plural = _("verdicts")
        constraints = [models.UniqueConstraint(fields=["battle", "order"], name="each_order_once")]

    def __str__(self) -> str:
        return f"{self.battle_id} {self.order}"


class PairCount(models.Model):
    """How a pair has fared on one slice of a board: kept with every battle that counts, so that ratings never read all.

    The only counters that are stored; `battles.counting.recount` makes them anew from the battles.
    """

    board = models.ForeignKey(Board, models.CASCADE, related_name="pairs")
    left = models.ForeignKey(Contestant, models.CASCADE, related_name="+", db_index=False)
    right = models.ForeignKey(Contestant, models.CASCADE, related_name="+")
    subset = models.CharField(max_length=100, blank=True)
    category = models.CharField(max_length=100, blank=True)
    left_wins = models.IntegerField(default=0)
    right_wins = models.IntegerField(default=0)
    ties = models.IntegerField(default=0)
    both_bad = models.IntegerField(default=0)
    consistent = models.IntegerField(default=0)
    inconsistent = models.IntegerField(default=0)

    class Meta:
        verbose_name = _("count of a pair")
        verbose_name_plural = _("counts of pairs")
        constraints = [
            models.UniqueConstraint(fields=["board", "left", "right", "subset", "category"], name="each_pair_once")
        ]

    def __str__(self) -> str:
        return f"{self.left_id}–{self.right_id}"
