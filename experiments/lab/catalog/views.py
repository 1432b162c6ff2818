"""The pages of models: all that the lab knows, and, for administrators, one of them and the lab's defaults."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import DecimalField, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Cast
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST
from django.views.generic import FormView, ListView, UpdateView

from accounts.errors import Unavailable
from accounts.people import for_admins, person
from accounts.refusing import RefusingForm
from experiments.gateway import cost
from experiments.lab.catalog import defaults, models, unlisted
from experiments.lab.catalog.forms import DefaultsForm, ModelChangeForm, NewModelForm
from experiments.lab.catalog.menu import askable_models
from experiments.models import ModelPrice, Provider, ProviderModel
from experiments.models.money import MILLION, per_million

MODELS_PER_PAGE = 50
TRIAL_PROMPT = gettext_lazy("Say in one sentence what you are.")
CAPABILITIES = {
    "images": gettext_lazy("images"),
    "logprobs": gettext_lazy("probabilities"),
    "reasoning_effort": gettext_lazy("reasoning effort"),
    "seed": gettext_lazy("seed"),
}
USABLE = (
    ("yes", gettext_lazy("usable")),
    ("no", gettext_lazy("not usable")),
    ("all", gettext_lazy("all")),
)
PRICES = (
    ("0", gettext_lazy("free")),
    *((str(most), gettext_lazy("up to $%(most)s") % {"most": most}) for most in (1, 5, 20)),
)
SORTS = {"name": "label", "context": "context", "input": "input_now", "output": "output_now"}


class FindForm(forms.Form):
    """What of the models is looked for, and in which order. Whatever cannot be read is passed over."""

    search = forms.CharField(label=gettext_lazy("Name"), required=False)
    available = forms.ChoiceField(label=gettext_lazy("Models"), choices=USABLE, required=False)
    provider = forms.ChoiceField(label=gettext_lazy("Provider"), required=False)
    accepts = forms.ChoiceField(
        label=gettext_lazy("Accepts"), choices=[("", gettext_lazy("any")), *CAPABILITIES.items()], required=False
    )
    price = forms.ChoiceField(
        label=gettext_lazy("Output price"), choices=[("", gettext_lazy("any")), *PRICES], required=False
    )
    sort = forms.ChoiceField(choices=[(f"{sign}{name}", name) for name in SORTS for sign in ("", "-")], required=False)

    def __init__(self, data: Any) -> None:
        super().__init__(data)
        listed = Provider.objects.exclude(name__in=unlisted.PROVIDERS).values_list("name", flat=True)
        self.fields["provider"].choices = [("", _("all")), *((name, name) for name in listed)]  # type: ignore[attr-defined]  # a choice field, which Django types as any field
        self.is_valid()
        self.said: dict[str, str] = {name: str(self.cleaned_data.get(name) or "") for name in self.fields}
        self.said["available"] = self.said["available"] or "yes"

    @property
    def is_filtered(self) -> bool:
        return any(self.said[name] for name in ("search", "provider", "accepts", "price"))

    def found(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        said = self.said
        if words := said["search"]:
            rows = rows.filter(Q(label__icontains=words) | Q(slug__icontains=words))
        if said["provider"]:
            rows = rows.filter(provider__name=said["provider"])
        if name := said["accepts"]:
            is_stated = Q(**{f"capabilities__{name}": True})
            is_usual = getattr(ProviderModel().accepts, name)
            rows = rows.filter(is_stated | ~Q(capabilities__has_key=name) if is_usual else is_stated)
        if said["price"]:
            rows = rows.filter(output_now__lte=Decimal(said["price"]) / MILLION)
        return rows

    def ordered(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Those that can be asked first, then as asked for; what is not known comes last."""
        name = self.said["sort"].removeprefix("-") or "name"
        by = F(SORTS[name])
        order = by.desc(nulls_last=True) if self.said["sort"].startswith("-") else by.asc(nulls_last=True)
        return rows.order_by("-is_askable", order, "label", "slug")


def accepted_by(model: ProviderModel) -> list[Any]:
    """What it accepts, in words."""
    return [label for name, label in CAPABILITIES.items() if getattr(model.accepts, name)]


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
        return accepted_by(self.model)

    @property
    def context(self) -> int | None:
        return self.model.accepts.context_tokens

    @property
    def why_not(self) -> Any:
        """Why this person cannot ask it; "" when they can."""
        if not self.model.is_active:
            return _("It is switched off.")
        if not self.model.provider.is_active:
            return _("Its provider is switched off.")
        return _("It needs a key.") if self.lacks_key else ""


def with_prices(rows: QuerySet[ProviderModel]) -> QuerySet[Any]:
    """What they cost now, in dollars per token, and how much they read."""
    newest = ModelPrice.objects.filter(model=OuterRef("pk"), since__lte=timezone.now()).order_by("-since")
    amount = DecimalField(max_digits=20, decimal_places=14)
    return rows.annotate(
        price_now=Subquery(newest.values("pk")[:1]),
        input_now=Subquery(newest.values("input")[:1], output_field=amount),
        output_now=Subquery(newest.values("output")[:1], output_field=amount),
        context=Cast(KT("capabilities__context_tokens"), IntegerField()),
    )


class ModelList(LoginRequiredMixin, ListView[ProviderModel]):
    """Found by name, provider, capability, price and whether I can ask them; at first those that I can ask."""

    template_name = "models/models.html"
    paginate_by = MODELS_PER_PAGE
    http_method_names = ["get", "head"]

    def get_queryset(self) -> QuerySet[ProviderModel]:
        self.form = FindForm(self.request.GET)
        self.keyless = set(Provider.objects.lacking_key(person(self.request)))
        askable = Q(is_active=True, provider__is_active=True) & ~Q(provider__in=self.keyless)
        listed = ProviderModel.objects.exclude(provider__name__in=unlisted.PROVIDERS).select_related("provider")
        self.every = self.form.found(with_prices(listed).annotate(is_askable=askable))
        available = self.form.said["available"]
        return self.form.ordered(self.every if available == "all" else self.every.filter(is_askable=available == "yes"))

    def paginate_queryset(self, rows: Any, page_size: int) -> Any:
        paginator = self.get_paginator(rows, page_size)
        page = paginator.get_page(self.request.GET.get("page"))
        return paginator, page, page.object_list, page.has_other_pages()

    def get_context_data(self, **context: Any) -> dict[str, object]:
        context = super().get_context_data(**context)
        shown: list[Any] = list(context["page_obj"])
        prices = ModelPrice.objects.in_bulk([row.price_now for row in shown if row.price_now])
        entries = [Entry(row, prices.get(row.price_now), row.provider_id in self.keyless) for row in shown]
        return {
            **context,
            "form": self.form,
            "entries": entries,
            "heads": [self._head(*column) for column in HEADS],
            "others": 0 if entries else self.every.count(),
            "query": self._query(page=None),
            "all_of_them": self._query(page=None, available="all"),
        }

    def _head(self, name: str, label: Any) -> dict[str, object]:
        """The head of a column by which one can sort; a second click turns the order around."""
        now = self.form.said["sort"] or "name"
        is_down = now == name
        query = self._query(page=None, sort=f"-{name}" if is_down else name)
        order = "" if now.removeprefix("-") != name else "ascending" if is_down else "descending"
        return {"name": name, "label": label, "query": query, "order": order}

    def _query(self, **changed: str | None) -> str:
        query = self.request.GET.copy()
        for name, value in changed.items():
            query.pop(name, None)
            if value:
                query[name] = value
        return query.urlencode()


HEADS = (
    ("name", gettext_lazy("Model")),
    ("context", gettext_lazy("Context, tokens")),
    ("input", gettext_lazy("In, $ per million")),
    ("output", gettext_lazy("Out, $ per million")),
)


@login_required
@require_GET
def model_menu(request: HttpRequest) -> JsonResponse:
    """What the pickers of models say of each that I can ask, beside its name."""
    priced = with_prices(ProviderModel.objects.filter(pk__in=[model.pk for model in askable_models()]))
    costs = {pk: amounts for pk, *amounts in priced.values_list("pk", "input_now", "output_now")}
    answer = {
        model.slug: {
            "provider": model.provider.name,
            "price": None if None in costs[model.pk] else list(map(per_million, costs[model.pk])),
            "context": model.accepts.context_tokens,
            "accepts": list(map(str, accepted_by(model))),
        }
        for model in askable_models()
    }
    return JsonResponse(answer, headers={"Cache-Control": "private, max-age=60"})


@method_decorator(for_admins, name="dispatch")
class ModelCreate(RefusingForm, FormView[NewModelForm]):
    template_name = "models/new.html"
    form_class = NewModelForm

    def get_initial(self) -> dict[str, object]:
        return {"provider": self.request.GET.get("provider", "")}

    def form_valid(self, form: NewModelForm) -> HttpResponse:
        made = models.add(form.cleaned_data["provider"], form.cleaned_data["upstream"], by=person(self.request))
        messages.success(self.request, _("The model is added. Check what it accepts and costs."))
        return redirect("model", made.pk)


@method_decorator(for_admins, name="dispatch")
class ModelPage(RefusingForm, UpdateView[ProviderModel, ModelChangeForm]):
    """What is known of a model, and what it costs."""

    template_name = "models/model.html"
    form_class = ModelChangeForm
    context_object_name = "model"
    queryset = ProviderModel.objects.exclude(provider__name__in=unlisted.PROVIDERS).select_related("provider")

    def get_context_data(self, **context: Any) -> dict[str, object]:
        prices = self.object.prices.order_by("-since")
        return super().get_context_data(prices=prices, trial_prompt=TRIAL_PROMPT, **context)

    def form_valid(self, form: ModelChangeForm) -> HttpResponse:
        changed = [name for name in form.changed_data if name in {"label", "is_active", "is_tool"}]
        if (capabilities := form.capabilities) != form.instance.capabilities:
            form.instance.capabilities = capabilities
            changed.append("capabilities")
        models.change(form.instance, by=person(self.request), changed=changed, price=form.new_price)
        messages.success(self.request, _("The model is saved."))
        return redirect("model", form.instance.pk)


@for_admins
@require_POST
def try_model(request: HttpRequest, pk: int) -> HttpResponse:
    """Ask it something short, and show the answer as a part of its page."""
    model = get_object_or_404(ModelPage.queryset.all(), pk=pk)
    context: dict[str, Any] = {"model": model}
    try:
        answer = models.try_out(model, request.POST.get("prompt", "").strip() or str(TRIAL_PROMPT))
        price = model.price_at(timezone.now())
        spent = cost(answer.usage, price.value if price else None)[0] if answer.usage else None
        context |= {"answer": answer, "spent": spent}
    except Unavailable as error:
        context["problem"] = str(error)
    return render(request, "models/_tried.html", context)


@method_decorator([never_cache, for_admins], name="dispatch")
class DefaultModels(RefusingForm, FormView[DefaultsForm]):
    """Which model the lab puts into which seat at first."""

    template_name = "models/defaults.html"
    form_class = DefaultsForm

    def get_form_kwargs(self) -> dict[str, object]:
        return {**super().get_form_kwargs(), "groups": defaults.all_roles()}

    def form_valid(self, form: DefaultsForm) -> HttpResponse:
        defaults.choose(form.wanted, by=person(self.request))
        messages.success(self.request, _("The default models are saved."))
        return redirect("model-defaults")
