"""What the set-up page of StarChamber does beside what every set-up page does: its system contexts."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext as _

from experiments.library.builtin import CUSTOM, DEFAULT
from experiments.library.presets import chosen_context, presets_for
from experiments.models import ProviderModel
from experiments.setup.forms import DeclaredForm
from experiments.workflows.base.surface import Asked


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """The default context, or the preset that the address names (`?preset=`); that of what is set up again."""
    offered = {choice.id: choice.context for choice in presets_for(request.user)}
    if "context" in values:
        return {"preset": values["preset"] if values["preset"] in offered else CUSTOM}
    chosen = request.GET.get("preset", "")
    preset = chosen if chosen in offered else DEFAULT
    return {"preset": preset, "context": offered[preset]}


def asked(form: DeclaredForm, asked: Asked) -> Asked:
    """With the preset that the text in the form is."""
    chosen = chosen_context(form.reader, asked["config"]["preset"], asked["config"]["context"])
    return {**asked, "config": {**asked["config"], "preset": chosen.preset, "context": chosen.context}}


def context(request: HttpRequest) -> dict[str, object]:
    return {"contexts": presets_for(request.user)}


def remarks(form: DeclaredForm) -> Iterator[str]:
    yield _("One call for each answer.")
    if form["judge"].value():
        yield _("One more for the judge.")
    model = ProviderModel.objects.available().filter(slug=form["seat-model-model"].value() or "").first()
    if model and form["logprobs"].value() and not model.accepts.logprobs:
        yield _("This model is known to give no token probabilities.")
