"""What can be asked: providers, the models they offer, and what those cost since when."""

import os
from datetime import datetime
from typing import Any, Self

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from experiments.gateway.types import Capabilities, Price


def http_address(value: str) -> None:
    """Accept http and https addresses, hosts without a dot included: a lab's Ollama has no domain."""
    URLValidator(schemes=["http", "https"])(value.replace("://localhost", "://127.0.0.1", 1))


class Provider(models.Model):
    """A server that speaks the OpenAI chat completions protocol. Entered by administrators only."""

    name = models.SlugField(_("name"), unique=True, max_length=40)
    base_url = models.CharField(_("base URL"), max_length=500, validators=[http_address])
    api_key_env = models.CharField(
        _("environment variable of the key"), max_length=100, blank=True, help_text=_("Empty when no key is needed.")
    )
    allow_private = models.BooleanField(
        _("allow private addresses"), default=False, help_text=_("Needed for a server in the lab's own network.")
    )
    routes = models.BooleanField(
        _("routes to other providers"), default=False, help_text=_("True for OpenRouter: fallbacks are switched off.")
    )
    concurrency = models.PositiveSmallIntegerField(
        _("calls at once per model"), default=100, help_text=_("The most; fewer are made while the provider limits us.")
    )
    is_simulated = models.BooleanField(_("simulated"), default=False)
    is_active = models.BooleanField(_("active"), default=True)

    class Meta:
        ordering = ["name"]
        verbose_name = _("provider")
        verbose_name_plural = _("providers")

    def __str__(self) -> str:
        return self.name

    @property
    def api_key(self) -> str:
        return os.environ.get(self.api_key_env, "") if self.api_key_env else ""

    @property
    def lacks_key(self) -> bool:
        return bool(self.api_key_env) and not self.api_key


class ProviderModelQuerySet(models.QuerySet["ProviderModel"]):
    def available(self) -> Self:
        return self.filter(is_active=True, provider__is_active=True).select_related("provider")

    def speaking(self) -> Self:
        """Those meant to take a seat in a talk; simulated judges and filters only know their own task."""
        return self.exclude(is_tool=True)


def check_capabilities(value: Any) -> None:
    try:
        Capabilities(**value)
    except TypeError as error:
        raise ValidationError(_("Unknown capability: %(error)s"), params={"error": error}) from error


class ProviderModel(models.Model):
    """A model as offered by a provider. `slug` is our name for it, `upstream` the provider's."""

    provider = models.ForeignKey(Provider, models.CASCADE, related_name="models", verbose_name=_("provider"))
    slug = models.CharField(_("slug"), max_length=200, unique=True)
    upstream = models.CharField(_("name at the provider"), max_length=200)
    label = models.CharField(_("label"), max_length=200)
    capabilities = models.JSONField(_("capabilities"), default=dict, blank=True, validators=[check_capabilities])
    is_active = models.BooleanField(_("active"), default=True)
    is_tool = models.BooleanField(_("judge or filter only"), default=False)
    is_default_judge = models.BooleanField(_("the lab's judge"), default=False)
    is_default_filter = models.BooleanField(_("the lab's filter"), default=False)

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
    def value(self) -> Price:
        return Price(self.input, self.output, self.cached_input, self.per_request)
