"""Beside the transcript of a run: tags and notes, and what a call sent and got, taken apart for the inspector."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django import template
from django.db.models import Exists
from django.template import Context

from experiments.engine import verification
from experiments.library.annotations import notes, tags
from experiments.models import Experiment, Favorite, Note, Run
from experiments.workflows import surface_of

register = template.Library()
register.filter("damage_sentence", verification.sentence)


@register.inclusion_tag("annotations/_annotations.html", takes_context=True)
def run_annotations(context: Context, run: Run) -> dict[str, object]:
    """The tags and notes of a run, for whoever is signed in."""
    user, may_tag = context["user"], context.get("may_control", False)
    if not user.is_authenticated:
        return {"user": user}
    words = tags.words_on(run)
    has_notes, is_favorite = Run.objects.values_list(
        Exists(Note.objects.filter(run=run)),
        Exists(Favorite.objects.filter(user=user, kind=Favorite.Kind.RUN, key=str(run.pk))),
    ).get(pk=run.pk)
    written = list(notes.notes_on(run, user)) if has_notes else []
    return {
        "user": user,
        "run": run,
        "csrf_token": context.get("csrf_token"),
        "may_tag": may_tag,
        "words": words,
        "notes": written,
        "is_favorite": is_favorite,
        "count": len(words) + len(written),
    }


@register.inclusion_tag("annotations/_tags.html", takes_context=True)
def experiment_tags(context: Context, experiment: Experiment) -> dict[str, object]:
    user, may_tag = context["user"], context.get("may_control", False)
    if not user.is_authenticated:
        return {"user": user}
    return {
        "user": user,
        "experiment": experiment,
        "csrf_token": context.get("csrf_token"),
        "may_tag": may_tag,
        "words": tags.words_on(experiment),
    }


@register.filter
def has_form(workflow: str) -> bool:
    """Whether it is set up on a page, so that one can start from it there."""
    return bool(surface_of(workflow).home)


TOKENS_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Sent:
    """messages: what the model was told; parameters: everything else of the request; raw: all of it as JSON."""

    messages: list[dict[str, str]]
    parameters: dict[str, str]
    raw: str


@dataclass(frozen=True, slots=True)
class Token:
    text: str
    logprob: float
    probability: float


@dataclass(frozen=True, slots=True)
class Tokens:
    """The first tokens of an answer, and how many more there are."""

    shown: list[Token]
    more: int


@register.simple_tag
def sent_parts(request: Mapping[str, Any]) -> Sent:
    messages = [
        {"role": str(m.get("role", "")), "content": _as_text(m.get("content"))} for m in request.get("messages", [])
    ]
    parameters = {name: _as_text(value) for name, value in request.items() if name != "messages"}
    return Sent(messages, parameters, json.dumps(request, ensure_ascii=False, indent=2))


@register.simple_tag
def confident_tokens(logprobs: Sequence[Mapping[str, Any]]) -> Tokens:
    shown = [Token(t["token"], t["logprob"], math.exp(min(t["logprob"], 0))) for t in logprobs[:TOKENS_SHOWN]]
    return Tokens(shown, len(logprobs) - len(shown))


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
