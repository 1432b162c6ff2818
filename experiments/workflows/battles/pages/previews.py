"""What battles or outputs may come to, as the form is filled in now: beside Start, before anything is started."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.people import person
from experiments.budgets import notes as budget_notes
from experiments.casting import InvalidExperiment, checked_cast, checked_config
from experiments.setup.estimates import estimate
from experiments.workflows.battles.pages.forms import CampaignForm


def of_form(form: CampaignForm, request: HttpRequest) -> dict[str, Any]:
    """estimate: None while something is missing, and `missing` says what."""
    if form.offer is None:
        return {"estimate": None}
    filled, who = form.filled(), person(request)
    try:
        if not filled.is_valid():
            return {"estimate": None, "missing": _missing(filled)}
        asked = filled.asked()
        config = checked_config(form.workflow, asked["config"])
        seated = checked_cast(form.workflow, config, asked["cast"], owner=who)
        found = estimate(form.workflow, config, seated, by=who)
    except InvalidExperiment as error:
        return {"estimate": None, "missing": str(error)}
    return {"estimate": found, "budget_notes": budget_notes.beside(request, found)}


def _missing(form: CampaignForm) -> str:
    first = next(iter(form.errors.values()))[0]
    return _("What it comes to stands here when the form is complete. %(missing)s") % {"missing": first}
