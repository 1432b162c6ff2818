"""What the set-up page of the arena does beside what every set-up page does."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from experiments.library.forms import initial_of
from experiments.library.scenarios import find_scenario


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """A scenario (`?scenario=`), where the address names one that one may see."""
    ref = request.GET.get("scenario")
    if not ref:
        return {}
    scenario = find_scenario(request.user, ref)
    return {**initial_of(scenario.config), "title": scenario.title}


def main(filled: Mapping[str, Any]) -> str:
    """The first prompt that applies and is empty."""
    if filled.get("prompting") != "individual":
        return "prompt"
    return "prompts-B" if str(filled.get("prompts-A", "")).strip() else "prompts-A"
