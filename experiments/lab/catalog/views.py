"""The page of the registry: every model that the lab knows, what it can do, what it costs, and whether I can ask it."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from accounts.people import person
from experiments.lab.catalog import unlisted
from experiments.models import ModelPrice, Provider, ProviderModel

MODELS_PER_PAGE = 50
MILLION = 1_000_000
STATES = (("yes", _("that I can use")), ("no", _("that I cannot use")))
CAPABILITIES = (
    ("images", _("images")),
    ("logprobs", _("probabilities")),
    ("reasoning_effort", _("reasoning effort")),
    ("seed", _("seed")),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A model as the table shows it. price: the newest, None where none is known. lacks_key: its provider, for
    this person.
    """

    model: ProviderModel
    price: ModelPrice | None
    lacks_key: bool

    @property
    def can(self) -> list[Any]:
        return [label for name, label in CAPABILITIES if getattr(self.model.accepts, name)]

    @property
    def context(self) -> int | None:
        return self.model.accepts.context_tokens

    @property
    def input(self) -> str:
        """US dollars per million tokens; "" where no price is known."""
        return _per_million(self.price.input) if self.price else ""

    @property
    def output(self) -> str:
        return _per_million(self.price.output) if self.price else ""

    @property
    def why_not(self) -> Any:
        """Why this person cannot ask it; "" when they can."""
        if not self.model.is_active:
            return _("It is switched off.")
        if not self.model.provider.is_active:
            return _("Its provider is switched off.")
        return _("It needs a key.") if self.lacks_key else ""


@login_required
@require_GET
def models(request: HttpRequest) -> HttpResponse:
    """Found by name, provider and whether I can ask them; those that I can ask come first."""
    asked = {name: request.GET.get(name, "").strip() for name in ("search", "provider", "available")}
    keyless = set(Provider.objects.lacking_key(person(request)))
    rows = ProviderModel.objects.exclude(provider__name__in=unlisted.PROVIDERS).select_related("provider")
    if words := asked["search"]:
        rows = rows.filter(Q(label__icontains=words) | Q(slug__icontains=words))
    if provider := asked["provider"]:
        rows = rows.filter(provider__name=provider)
    askable = Q(is_active=True, provider__is_active=True) & ~Q(provider__in=keyless)
    if asked["available"] in dict(STATES):
        rows = rows.filter(askable if asked["available"] == "yes" else ~askable)
    newest = ModelPrice.objects.filter(model=OuterRef("pk"), since__lte=timezone.now()).order_by("-since")
    found = rows.annotate(price_now=Subquery(newest.values("pk")[:1]), is_askable=askable)
    found = found.order_by("-is_askable", "provider__name", "label", "slug")
    page = Paginator(found, MODELS_PER_PAGE).get_page(request.GET.get("page"))
    shown: list[Any] = list(page)
    prices = ModelPrice.objects.in_bulk([row.price_now for row in shown if row.price_now])
    listed = Provider.objects.exclude(name__in=unlisted.PROVIDERS).values_list("name", flat=True)
    context = {
        "page": page,
        "entries": [Entry(row, prices.get(row.price_now), row.provider_id in keyless) for row in shown],
        "providers": list(listed),
        "states": STATES,
        **asked,
    }
    return render(request, "models/models.html", context)


def _per_million(price: Decimal) -> str:
    """US dollars, with as many places as the price has."""
    return f"{(Decimal(price) * MILLION).normalize():f}"
