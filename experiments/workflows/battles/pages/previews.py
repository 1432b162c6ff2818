"""What battles or outputs may come to, as the form is filled in now: beside Start, before anything is started."""

from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from accounts.people import person
from experiments.budgets import notes as budget_notes
from experiments.budgets.notes import Most
from experiments.casting import InvalidExperiment, checked_config
from experiments.sharing.sharing import chosen_project
from experiments.workflows.battles.campaign import planning
from experiments.workflows.battles.pages.forms import CampaignForm


def of_form(form: CampaignForm, request: HttpRequest) -> dict[str, Any]:
    """preview: None while something is missing, and `missing` says what. tokens: read and written together."""
    if form.offer is None:
        return {"preview": None, "missing": ""}
    filled = form.filled()
    try:
        if not filled.is_valid():
            return {"preview": None, "missing": _missing(filled)}
        asked = filled.asked()
        config = checked_config(form.workflow, asked["config"])
        preview = planning.preview(config, asked["cast"], by=person(request))
    except InvalidExperiment as error:
        return {"preview": None, "missing": str(error)}
    tokens = preview.input_tokens + preview.output_tokens
    most = Most(preview.cost if preview.most_cost is None else preview.most_cost, tokens, preview.unpriced)
    notes = budget_notes.for_person(person(request), most, chosen_project(request) or None)
    return {"preview": preview, "tokens": tokens, "is_battles": form.workflow == "battles", "budget_notes": notes}


def _missing(form: CampaignForm) -> str:
    first = next(iter(form.errors.values()))[0]
    return _("What it comes to stands here when the form is complete. %(missing)s") % {"missing": first}
