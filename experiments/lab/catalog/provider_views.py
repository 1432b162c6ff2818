"""The pages of providers, for administrators."""

from typing import Any

from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST
from django.views.generic import CreateView, ListView, UpdateView

from accounts.people import confirmed_first, for_admins, person
from accounts.refusing import RefusingForm, ShownIn, back_to
from experiments.lab.catalog import providers
from experiments.lab.catalog.forms import ProviderForm
from experiments.lab.catalog.servers import BY_SLUG, SERVERS
from experiments.lab.catalog.syncing import SIMULATED
from experiments.lab.observing.status import status
from experiments.models import Provider, ProviderKey


def with_counts(rows: QuerySet[Provider]) -> QuerySet[Provider]:
    enabled = Count("models", filter=Q(models__is_active=True))
    return rows.annotate(model_count=Count("models"), enabled_count=enabled)


@method_decorator(for_admins, name="dispatch")
class ProviderList(ListView[Provider]):
    template_name = "providers/list.html"
    context_object_name = "providers"

    def get_queryset(self) -> QuerySet[Provider]:
        return with_counts(providers.managed() | Provider.objects.filter(name=SIMULATED))

    def get_context_data(self, **context: Any) -> dict[str, object]:
        lacking = set(Provider.objects.lacking_key())
        return super().get_context_data(lacking=lacking, servers=SERVERS, **context)


@method_decorator([never_cache, sensitive_post_parameters("key"), for_admins, confirmed_first], name="dispatch")
class ProviderCreate(RefusingForm, CreateView[Provider, ProviderForm]):
    """A new provider, filled in for a known server. Its models are listed at once."""

    template_name = "providers/new.html"
    form_class = ProviderForm
    model = Provider

    @property
    def server(self) -> str:
        return self.request.GET.get("server", "")

    def get_initial(self) -> dict[str, object]:
        server = BY_SLUG.get(self.server)
        return dict(server.initial) if server else {}

    def get_context_data(self, **context: Any) -> dict[str, object]:
        return super().get_context_data(servers=SERVERS, chosen=BY_SLUG.get(self.server), **context)

    def form_valid(self, form: ProviderForm) -> HttpResponse:
        with ShownIn(form, "key"):
            made = providers.add(form.save(commit=False), by=person(self.request), key=form.cleaned_data["key"])
            sync_and_say(self.request, made)
            return redirect(self.next_page(made))
        return self.form_invalid(form)

    def next_page(self, made: Provider) -> str:
        return made.get_absolute_url()


@method_decorator([never_cache, for_admins], name="dispatch")
class ProviderPage(RefusingForm, UpdateView[Provider, ProviderForm]):
    """A provider's settings, its key, its models, and what came of the last sync."""

    template_name = "providers/provider.html"
    form_class = ProviderForm
    context_object_name = "provider"

    def get_queryset(self) -> QuerySet[Provider]:
        return with_counts(providers.managed())

    def get_context_data(self, **context: Any) -> dict[str, object]:
        key = ProviderKey.objects.active().of_lab().filter(provider=self.object).first()
        lacks_key, redis = self.object.lacks_key, status().redis
        limits = [one for one in redis.limits if one.provider == self.object.name] if redis else None
        return super().get_context_data(key=key, lacks_key=lacks_key, limits=limits, **context)

    def form_valid(self, form: ProviderForm) -> HttpResponse:
        providers.change(form.instance, by=person(self.request), changed=form.changed_data)
        messages.success(self.request, _("The provider is saved."))
        return redirect(form.instance)

    def form_invalid(self, form: ProviderForm) -> HttpResponse:
        self.object.refresh_from_db(fields=["name"])  # the heading shows what is saved
        return super().form_invalid(form)


@never_cache
@sensitive_post_parameters("key")
@for_admins
@require_POST
def test(request: HttpRequest, pk: int | None) -> HttpResponse:
    """Whether the provider answers with the settings that a form shows, as a part of its page. Nothing is saved."""
    form = ProviderForm(request.POST, instance=_managed(pk) if pk else None)
    context: dict[str, Any] = {"form": form}
    if form.is_valid():
        context["contacted"] = providers.contact(form.save(commit=False), form.cleaned_data.get("key", ""))
    return render(request, "providers/_contacted.html", context)


@for_admins
@require_POST
def sync(request: HttpRequest, pk: int) -> HttpResponse:
    found = _managed(pk)
    sync_and_say(request, found)
    return redirect(found)


@for_admins
@require_POST
def enable(request: HttpRequest, pk: int) -> HttpResponse:
    found, enabled = _managed(pk), "enabled" in request.POST
    providers.enable(found, by=person(request), enabled=enabled)
    words = (
        _("%(provider)s is enabled.") if enabled else _("%(provider)s is disabled. Its models are no longer offered.")
    )
    messages.success(request, words % {"provider": found.name})
    return redirect(found)


@for_admins
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    found = _managed(pk)
    back_to(request, found)
    providers.remove(found, by=person(request))
    messages.success(request, _("%(provider)s is deleted.") % {"provider": found.name})
    return redirect("providers")


def sync_and_say(request: HttpRequest, provider: Provider) -> None:
    """List the models now, and say in a message what came of it."""
    contacted, counts = providers.sync(provider, by=person(request))
    if contacted.is_well:
        words = _("%(provider)s lists %(listed)s models: %(added)s new, %(gone)s no longer listed.")
        told = {"provider": provider.name, "listed": counts.listed, "added": counts.added, "gone": counts.gone}
        messages.success(request, words % told)
    else:
        messages.error(request, f"{provider.name}: {contacted.sentence}")


def _managed(pk: int) -> Provider:
    return get_object_or_404(providers.managed(), pk=pk)
