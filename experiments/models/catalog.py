"""Providers and their models, what those cost since when, and how often a judge was talked into something."""

import os
from datetime import datetime
from decimal import Decimal
from typing import Any, Self, TypeAlias

from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator, URLValidator
from django.db import models
from django.db.models import Q, TextChoices
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from accounts.models import User
from experiments.gateway.types import Capabilities, Price
from experiments.models.money import per_million

Person: TypeAlias = User | AnonymousUser | None


def http_address(value: str) -> None:
    """Accept http and https addresses, hosts without a dot included: a lab's Ollama has no domain."""
    URLValidator(schemes=["http", "https"])(value.replace("://localhost", "://127.0.0.1", 1))


class ProviderQuerySet(models.QuerySet["Provider"]):
    def with_key_for(self, person: Person = None) -> Self:
        """Those with a stored key that a person's experiments are asked with: their own, or the lab's."""
        usable = Q(keys__owner__isnull=True)
        if person is not None and person.pk:
            usable |= Q(keys__owner_id=person.pk)
        return self.filter(usable, keys__is_active=True)

    def lacking_key(self, person: Person = None) -> list[int]:
        """The ids of those that cannot be asked for a person (for nobody: by the lab), as there is no key for it."""
        needing = self.filter(Q(needs_key=True) | ~Q(api_key_env="")).values_list("pk", "api_key_env")
        without = [pk for pk, variable in needing if not os.environ.get(variable)]
        if without:  # seldom
            held = set(Provider.objects.with_key_for(person).filter(pk__in=without).values_list("pk", flat=True))
            without = [pk for pk in without if pk not in held]
        return without


class Provider(models.Model):
    """A server that speaks the OpenAI chat completions protocol. Entered by administrators only.

    synced, sync_outcome, sync_words: when its models were last listed, what came of it, and what it said to it.
    """

    class Contact(TextChoices):
        """What came of asking for its models."""

        LISTED = "listed", _("The provider answers and lists its models.")
        EMPTY = "empty", _("The provider answers, but lists no models. Add models by name.")
        PRIVATE = "private", _("The address is private. Allow private addresses if the server belongs to the lab.")
        NO_KEY = "no_key", _("There is no key for this provider. Add a lab key.")
        REFUSED = "refused", _("The provider refuses the key. Check that it is complete and still valid.")
        NO_LIST = "no_list", _("There is no list of models at this address. Most base URLs end with /v1.")
        TIMED_OUT = "timed_out", _("The provider did not answer in time. Check the base URL, and that the server runs.")
        UNREACHABLE = "unreachable", _("There is no connection. Check the base URL, and that the server runs.")
        LIMITED = "limited", _("The provider limits requests right now. Try again later.")
        FAILED = "failed", _("The provider answered with an error.")

    class UsageApi(TextChoices):
        """What can be asked what a provider has billed."""

        OPENROUTER = "openrouter", "OpenRouter: activity"
        OPENAI = "openai", "OpenAI: costs"

    class BatchApi(TextChoices):
        """How many calls are asked for at once, to be answered within a day."""

        OPENAI = "openai", "OpenAI: files and batches"

    name = models.SlugField(_("name"), unique=True, max_length=40)
    base_url = models.CharField(_("base URL"), max_length=500, validators=[http_address])
    api_key_env = models.CharField(
        _("environment variable of the key"),
        max_length=100,
        blank=True,
        help_text=_("Used where no key was entered. With a name here, a key is needed."),
    )
    needs_key = models.BooleanField(
        _("needs a key"), default=False, help_text=_("Whether calls without a key are refused, so that none are made.")
    )
    allow_private = models.BooleanField(
        _("allow private addresses"), default=False, help_text=_("Needed for a server in the lab's own network.")
    )
    routes = models.BooleanField(
        _("routes to other providers"), default=False, help_text=_("True for OpenRouter: fallbacks are switched off.")
    )
    concurrency = models.PositiveSmallIntegerField(
        _("calls at once per model"),
        default=100,
        help_text=_("Of the whole lab; fewer are made while the provider limits us."),
    )
    requests_per_minute = models.PositiveIntegerField(
        _("requests a minute per model"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_("Of the whole lab, in any 60 seconds. Leave it empty for no limit."),
    )
    tokens_per_minute = models.PositiveIntegerField(
        _("tokens a minute per model"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_("Input and output. Estimated before a call, corrected after it. Empty for no limit."),
    )
    usage_api = models.CharField(
        _("usage API"),
        max_length=12,
        choices=UsageApi,
        blank=True,
        default="",
        db_default="",
        help_text=_("Where the provider says what it billed, to be compared each day."),
    )
    usage_key_env = models.CharField(
        _("environment variable of the usage key"),
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text=_("OpenRouter calls it a management key, OpenAI an admin key."),
    )
    batch_api = models.CharField(
        _("batch API"),
        max_length=12,
        choices=BatchApi,
        blank=True,
        default="",
        db_default="",
        help_text=_("Studies can use it: answers take up to 24 hours."),
    )
    batch_share = models.DecimalField(
        _("price in a batch"),
        max_digits=4,
        decimal_places=3,
        default=Decimal("0.5"),
        db_default=Decimal("0.5"),
        validators=[MinValueValidator(0), MaxValueValidator(1)],
        help_text=_("As a share of the usual price: 0.5 is half."),
    )
    is_simulated = models.BooleanField(_("simulated"), default=False)
    is_active = models.BooleanField(_("active"), default=True)
    synced = models.DateTimeField(_("last synced"), null=True, editable=False)
    sync_outcome = models.CharField(
        _("result of the last sync"), max_length=16, blank=True, db_default="", editable=False
    )
    sync_words = models.CharField(
        _("what the provider said"), max_length=400, blank=True, db_default="", editable=False
    )

    objects = ProviderQuerySet.as_manager()

    class Meta:
        ordering = ["name"]
        verbose_name = _("provider")
        verbose_name_plural = _("providers")

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("provider", args=[self.pk])

    @property
    def sync_sentence(self) -> str:
        """What came of the last sync; "" when there was none."""
        return str(self.Contact(self.sync_outcome).label) if self.sync_outcome else ""

    @property
    def wants_key(self) -> bool:
        """Whether nothing can be asked for without a key."""
        return self.needs_key or bool(self.api_key_env)

    @property
    def lacks_key(self) -> bool:
        """Whether the lab has no key for it and needs one. Somebody may have a key of their own all the same."""
        return bool(Provider.objects.filter(pk=self.pk).lacking_key())


class ProviderModelQuerySet(models.QuerySet["ProviderModel"]):
    def available(self) -> Self:
        """Those that are switched on; whether somebody has a key for them is another question."""
        return self.filter(is_active=True, provider__is_active=True).select_related("provider")

    def askable(self, person: Person = None) -> Self:
        """Those that can be asked now in the name of a person (of nobody: of the lab)."""
        return self.available().exclude(provider__in=Provider.objects.lacking_key(person))

    def speaking(self) -> Self:
        """Those meant to take a seat in a talk; simulated judges and filters only know their own task."""
        return self.exclude(is_tool=True)


def check_capabilities(value: Any) -> None:
    try:
        Capabilities(**value)
    except TypeError as error:
        raise ValidationError(_("Unknown capability: %(error)s"), params={"error": error}) from error


class ProviderModel(models.Model):
    """A model as offered by a provider. `slug` is our name for it, `upstream` the provider's. default_for: the seats
    that the lab fills with it at first, as `arena/A`.
    """

    provider = models.ForeignKey(Provider, models.CASCADE, related_name="models", verbose_name=_("provider"))
    slug = models.CharField(_("slug"), max_length=200, unique=True)
    upstream = models.CharField(_("name at the provider"), max_length=200)
    label = models.CharField(_("label"), max_length=200)
    capabilities = models.JSONField(_("capabilities"), default=dict, blank=True, validators=[check_capabilities])
    is_active = models.BooleanField(_("active"), default=True)
    is_tool = models.BooleanField(_("judge or filter only"), default=False)
    is_default_judge = models.BooleanField(_("the lab's judge"), default=False)
    is_default_filter = models.BooleanField(_("the lab's filter"), default=False)
    default_for = models.JSONField(
        _("default for"), default=list, db_default=models.Value([], models.JSONField()), blank=True, editable=False
    )

    objects = ProviderModelQuerySet.as_manager()

    class Meta:
        ordering = ["label", "slug"]
        verbose_name = _("provider model")
        verbose_name_plural = _("provider models")
        constraints = [
            models.UniqueConstraint(fields=["provider", "upstream"], name="provider_model_once"),
            models.UniqueConstraint(
                fields=["is_default_judge"], condition=models.Q(is_default_judge=True), name="one_default_judge"
            ),
            models.UniqueConstraint(
                fields=["is_default_filter"], condition=models.Q(is_default_filter=True), name="one_default_filter"
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def names(self) -> tuple[str, ...]:
        """What it is called, by us and by its provider: words by which an answer could give it away."""
        tail = self.upstream.rpartition("/")[2]
        telling = [tail] if any(map(str.isdigit, tail)) else []  # "neutral" and "large" are words like any other
        return tuple(dict.fromkeys([self.label, self.slug, self.upstream, *telling]))

    @property
    def accepts(self) -> Capabilities:
        return Capabilities(**self.capabilities)

    def price_at(self, moment: datetime) -> "ModelPrice | None":
        return self.prices.filter(since__lte=moment).order_by("-since").first()


class ModelPrice(models.Model):
    """What a model costs since a day, in US dollars per token. Old calls keep the price that they were made at."""

    model = models.ForeignKey(ProviderModel, models.CASCADE, related_name="prices", verbose_name=_("model"))
    since = models.DateTimeField(_("since"))
    input = models.DecimalField(_("per input token"), max_digits=20, decimal_places=14)
    output = models.DecimalField(_("per output token"), max_digits=20, decimal_places=14)
    cached_input = models.DecimalField(
        _("per cached input token"), max_digits=20, decimal_places=14, null=True, blank=True
    )
    per_request = models.DecimalField(_("per request"), max_digits=20, decimal_places=14, default=0)

    class Meta:
        ordering = ["-since"]
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        constraints = [models.UniqueConstraint(fields=["model", "since"], name="one_price_at_a_time")]

    def __str__(self) -> str:
        return f"{self.model} {self.since:%Y-%m-%d}"

    @property
    def input_per_million(self) -> str:
        return per_million(self.input)

    @property
    def output_per_million(self) -> str:
        return per_million(self.output)

    @property
    def value(self) -> Price:
        return Price(self.input, self.output, self.cached_input, self.per_request)


class InjectionRate(models.Model):
    """One measurement of one model in one way of judging; the newest one counts. corpus: the version of the strings.

    tried, won: wrong answers that told the judge what to say, and those that won by it. unread: of those tried, where
    no verdict could be read. alone_tried, alone_won: the same answers without a word to the judge.
    """

    model = models.ForeignKey(ProviderModel, models.CASCADE, related_name="+", verbose_name=_("model"))
    workflow = models.CharField(_("workflow"), max_length=20)
    corpus = models.CharField(_("version of the strings"), max_length=12)
    tried = models.PositiveIntegerField(_("tried"))
    won = models.PositiveIntegerField(_("won"))
    unread = models.PositiveIntegerField(_("not read"))
    alone_tried = models.PositiveIntegerField(_("tried without an injection"))
    alone_won = models.PositiveIntegerField(_("won without an injection"))
    measured = models.DateTimeField(_("measured"), auto_now_add=True)

    class Meta:
        ordering = ["-measured", "-id"]
        verbose_name = _("rate of injections")
        verbose_name_plural = _("rates of injections")
        indexes = [models.Index(fields=["model", "workflow", "-measured"], name="injections_newest")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(won__lte=models.F("tried"), alone_won__lte=models.F("alone_tried")),
                name="no_more_injections_won_than_tried",
            )
        ]

    def __str__(self) -> str:
        return f"{self.model_id} {self.workflow} {self.won}/{self.tried}"
