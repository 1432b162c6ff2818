"""What the set-up page of the arena does beside what every set-up page does."""

from collections.abc import Mapping
from typing import Any

from django.http import HttpRequest

from accounts.errors import NotFound
from experiments.library.shelf import find_scenario, initial_for


def initial(request: HttpRequest, values: Mapping[str, Any]) -> dict[str, object]:
    """A scenario (`?scenario=`), where the address names one that one may see."""
    ref = request.GET.get("scenario")
    if not ref:
        return {}
    scenario = find_scenario(request.user, ref)
    if scenario is None:
        raise NotFound
    return {**initial_for(scenario), "title": scenario.title}


def main(filled: Mapping[str, Any]) -> str:
    """The first prompt that applies and is empty."""
    if filled.get("prompting") != "individual":
        return "prompt"
    return "prompts-B" if str(filled.get("prompts-A", "")).strip() else "prompts-A"
