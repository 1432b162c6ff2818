"""`/start/`: the first steps on a new platform, one after the other, for its administrators."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters

from accounts.people import confirmed_first, for_admins, person
from accounts.refusing import back_to
from experiments.lab.catalog import defaults
from experiments.lab.catalog.forms import DefaultsForm
from experiments.lab.catalog.menu import askable_models, general_models
from experiments.lab.catalog.provider_views import ProviderCreate
from experiments.lab.catalog.views import DefaultModels
from experiments.library.first_steps import TURNS, first_scenario, first_steps, start_first_run
from experiments.models import Provider

SHOWN_GROUPS = 2  # what all workflows share, and the first workflow


@for_admins
def start(request: HttpRequest) -> HttpResponse:
    """The first step that is left; when none is, where to go from here."""
    steps = first_steps()
    left = next((step for step in steps if not step.is_done), None)
    return redirect(left.address) if left else render(request, "start/done.html", {"steps": steps})


@method_decorator([never_cache, sensitive_post_parameters("key"), for_admins, confirmed_first], name="dispatch")
class StartProvider(ProviderCreate):
    template_name = "start/provider.html"

    def get_context_data(self, **context: Any) -> dict[str, object]:
        return super().get_context_data(steps=first_steps(), current="provider", **context)

    def next_page(self, made: Provider) -> str:
        """The provider's own page where its models were not listed: what to mend is there."""
        return reverse("start-models") if made.sync_outcome == Provider.Contact.LISTED else made.get_absolute_url()


class StartModels(DefaultModels):
    """The default models that a first run needs, with a suggestion for each."""

    template_name = "start/models.html"

    def get_form_kwargs(self) -> dict[str, object]:
        return {**super().get_form_kwargs(), "groups": defaults.all_roles()[:SHOWN_GROUPS]}

    def get_initial(self) -> dict[str, object]:
        """A model for each role that has none, or a simulated one."""
        general = [slug for slug in general_models() if slug in self.real]
        known = defaults.chosen()
        keys = [role.key for group in defaults.all_roles()[:SHOWN_GROUPS] for role in group.roles]
        open_ = [key for key in keys if key not in known or known[key].slug not in self.real]
        return {key: general[number % len(general)] for number, key in enumerate(open_)} if general else {}

    @property
    def real(self) -> set[str]:
        return {model.slug for model in askable_models() if not model.provider.is_simulated}

    def get_context_data(self, **context: Any) -> dict[str, object]:
        found = len(self.real)
        return super().get_context_data(steps=first_steps(), current="models", found=found, **context)

    def form_valid(self, form: DefaultsForm) -> HttpResponse:
        defaults.choose(form.wanted, by=person(self.request))
        return redirect("start-run")


@for_admins
def start_run(request: HttpRequest) -> HttpResponse:
    """What the first run is about, and the button that starts it."""
    if request.method == "POST":
        back_to(request, "start-run")
        run = start_first_run(by=person(request))
        messages.success(request, _("The first run has started. Its messages appear here as they are written."))
        return redirect(run)
    chosen = defaults.chosen()
    groups = defaults.all_roles()[:SHOWN_GROUPS]
    cast = [(role.label, chosen[role.key].label) for group in groups for role in group.roles if role.key in chosen]
    scenario = first_scenario(person(request))
    context = {"steps": first_steps(), "current": "run", "scenario": scenario, "turns": TURNS, "cast": cast}
    return render(request, "start/run.html", context)
