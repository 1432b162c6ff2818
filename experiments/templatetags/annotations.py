"""Tags and notes on pages."""

from typing import Any

from django import template

from experiments.library.annotations import notes, tags
from experiments.models import Experiment, Run
from experiments.workflows import surface_of

register = template.Library()


@register.inclusion_tag("annotations/_annotations.html", takes_context=True)
def shelf(context: dict[str, Any], run: Run) -> dict[str, Any]:
    """The tags and notes of a run, for whoever is signed in."""
    user, may_tag = context["user"], context.get("may_control", False)
    if not user.is_authenticated:
        return {"user": user}
    return {
        "user": user,
        "run": run,
        "csrf_token": context.get("csrf_token"),
        "may_tag": may_tag,
        "words": tags.words_on(run),
        "vocabulary": tags.vocabulary(user) if may_tag else [],
        "notes": list(notes.notes_on(run, user)),
    }


@register.inclusion_tag("annotations/_tags.html", takes_context=True)
def experiment_tags(context: dict[str, Any], experiment: Experiment) -> dict[str, Any]:
    user, may_tag = context["user"], context.get("may_control", False)
    if not user.is_authenticated:
        return {"user": user}
    return {
        "user": user,
        "experiment": experiment,
        "csrf_token": context.get("csrf_token"),
        "may_tag": may_tag,
        "words": tags.words_on(experiment),
        "vocabulary": tags.vocabulary(user) if may_tag else [],
    }


@register.filter
def has_form(workflow: str) -> bool:
    """Whether it is set up on a page, so that one can start from it there."""
    return bool(surface_of(workflow).home)
