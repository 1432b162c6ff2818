"""Where an experiment belongs, beside the button that starts it."""

from typing import Any

from django import template

from experiments.runs.sharing.sharing import chosen_project, projects_of

register = template.Library()


@register.inclusion_tag("sharing/_belongs.html", takes_context=True)
def belongs(context: dict[str, Any]) -> dict[str, Any]:
    """A choice among the reader's projects; the one chosen last stands there. Nothing for who has none."""
    request = context["request"]
    projects = projects_of(request.user)
    return {"projects": projects, "chosen": chosen_project(request) if projects else ""}
