"""The page of the registry: every model that the lab knows, what it can do, what it costs, and whether I can ask it."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import OuterRef, Q, QuerySet, Subquery
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
STATES = (("yes", _("that I can ask")), ("no", _("that I cannot ask")))
CAPABILITIES = (
    ("images", _("images")),
    ("logprobs", _("probabilities")),
    ("reasoning_effort", _("reasoning effort")),
    ("seed", _("seed")),
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A model as the table shows it. input, output: US dollars per million tokens; "" where no price is known.
    why_not: why whoever asks cannot ask it; "" when they can.
    """

    model: ProviderModel
    can: tuple[Any, ...]
    context: int | None
    price: ModelPrice | None
    why_not: Any
    lacks_key: bool

    @property
    def input(self) -> str:
        return _per_million(self.price.input) if self.price else ""

    @property
    def output(self) -> str:
        return _per_million(self.price.output) if self.price else ""


@login_required
@require_GET
def models(request: HttpRequest) -> HttpResponse:
    """Found by name, provider and whether I can ask them; those that I can ask come first."""
    asked = {name: request.GET.get(name, "").strip() for name in ("search", "provider", "available")}
    keyless = set(Provider.objects.lacking_key(person(request)))
    found = _found(asked, keyless)
    page = Paginator(found, MODELS_PER_PAGE).get_page(request.GET.get("page"))
    listed = Provider.objects.exclude(name__in=unlisted.PROVIDERS).values_list("name", flat=True)
    context = {
        "page": page,
        "entries": list(_entries(page.object_list, keyless)),
        "providers": list(listed),
        "states": STATES,
        **asked,
    }
    return render(request, "models/models.html", context)


def _found(asked: dict[str, str], keyless: set[int]) -> QuerySet[ProviderModel]:
    rows = ProviderModel.objects.exclude(provider__name__in=unlisted.PROVIDERS).select_related("provider")
    if words := asked["search"]:
        rows = rows.filter(Q(label__icontains=words) | Q(slug__icontains=words))
    if provider := asked["provider"]:
        rows = rows.filter(provider__name=provider)
    askable = Q(is_active=True, provider__is_active=True) & ~Q(provider__in=keyless)
    if asked["available"] in dict(STATES):
        rows = rows.filter(askable if asked["available"] == "yes" else ~askable)
    newest = ModelPrice.objects.filter(model=OuterRef("pk"), since__lte=timezone.now()).order_by("-since")
    return rows.annotate(price_now=Subquery(newest.values("pk")[:1]), is_askable=askable).order_by(
        "-is_askable", "provider__name", "label", "slug"
    )


def _entries(rows: Iterable[Any], keyless: set[int]) -> Iterable[Entry]:
    shown = list(rows)
    prices = ModelPrice.objects.in_bulk([row.price_now for row in shown if row.price_now])
    for row in shown:
        accepts = row.accepts
        can = tuple(label for name, label in CAPABILITIES if getattr(accepts, name))
        why_not = _why_not(row, keyless)
        lacks = row.provider_id in keyless
        yield Entry(row, can, accepts.context_tokens, prices.get(row.price_now), why_not, lacks)


def _per_million(price: Decimal) -> str:
    """US dollars, with as many places as the price has."""
    return f"{(Decimal(price) * MILLION).normalize():f}"


def _why_not(model: ProviderModel, keyless: set[int]) -> Any:
    if not model.is_active:
        return _("It is switched off.")
    if not model.provider.is_active:
        return _("Its provider is switched off.")
    return _("It needs a key.") if model.provider_id in keyless else ""
