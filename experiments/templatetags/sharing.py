"""Where an experiment belongs, beside the button that starts it."""

from typing import Any

from django import template

from experiments.models import Experiment
from experiments.sharing import projects_of

register = template.Library()


@register.inclusion_tag("sharing/_belongs.html", takes_context=True)
def belongs(context: dict[str, Any]) -> dict[str, Any]:
    """A choice among the reader's projects; the one chosen last stands there. Nothing for who has none."""
    request = context["request"]
    projects = projects_of(request.user)
    return {"projects": projects, "chosen": _chosen(request) if projects else ""}


def _chosen(request: Any) -> str:
    if request.method == "POST":
        return str(request.POST.get("project", ""))
    last = Experiment.objects.owned_by(request.user).order_by("-created").values_list("project", flat=True).first()
    return str(last or "")
