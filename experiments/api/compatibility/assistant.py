"""Multi-LLM Assistant: one role, one prompt, one answer. Each is a talk with one model that ends after it."""

import secrets
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import User
from experiments.api.compatibility import talks
from experiments.api.compatibility.messages import slugs_of
from experiments.api.compatibility.views import (
    ClientView,
    NotYet,
    ProviderFailed,
    Text,
    TooManyRequests,
    askable_slugs,
    described,
    slug_of,
)
from experiments.api.compatibility.waiting import wait
from experiments.api.requests import idempotency_key, person, validated
from experiments.api.shapes import shape
from experiments.models import Call, ClientTalk, Experiment, Message, Run
from experiments.runs import actions
from experiments.workflows.base.prompts import fenced, fill
from experiments.workflows.debate import WORKFLOW as DEBATE
from experiments.workflows.debate.answers import ACTIONS, BRIEF, POINTS
from experiments.workflows.debate.asking import VIEWS
from experiments.workflows.starchamber import WORKFLOW as STARCHAMBER

ASSISTANT = ClientTalk.System.ASSISTANT
LONGEST_TITLE = 80
SEATS = {"refiner": "refiner", "debater_a": "A", "debater_b": "B", "debater_c": "C", "summarizer": "summarizer"}
ROLES = list(SEATS)
LIMITS = {"refiner": 500, "debater_a": 800, "debater_b": 800, "debater_c": 800, "summarizer": 900}  # tokens
POINTS_ASKED = {"A": 3, "B": 3, "C": 3}
COUNTERPOINTS_ASKED = {"A": 0, "B": 2, "C": 2}


class RoleRequest(serializers.Serializer[Any]):
    """systemPrompt: replaces the role's own. allowFallback is ignored: no other model replaces the one that was
    requested.
    """

    role = serializers.ChoiceField(ROLES, default="refiner")
    prompt = serializers.CharField()
    model = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=200)
    roleModelMap = serializers.DictField(child=serializers.CharField(allow_null=True), required=False, allow_null=True)
    allowFallback = serializers.BooleanField(required=False, allow_null=True)
    systemPrompt = Text(allow_null=True)
    temperature = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=2)


RoleModels = shape(
    "RoleModels",
    roles=list[str],
    availableModels=list[str],
    defaultRoleModels=serializers.DictField(child=serializers.CharField()),
    effectiveRoleModels=serializers.DictField(child=serializers.CharField()),
)
RoleModelsAnswer = shape("RoleModelsAnswer", ok=bool, data=RoleModels())
RoleAnswered = shape("RoleAnswered", role=str, model=str, content=str, runId=UUID)
RoleAnswer = shape("RoleAnswer", ok=bool, data=RoleAnswered())


class AssistantView(ClientView):
    def in_their_words(self, detail: str) -> dict[str, object]:
        return {"ok": False, "error": detail}


class ModelsView(AssistantView):
    """The model of each role: those of your last debate, or the first available ones."""

    @described("compat_llm_models", None, RoleModelsAnswer)
    def get(self, request: Request) -> Response:
        slugs = askable_slugs(person(request))
        usual = _roles_of(person(request), slugs)
        found = {"roles": ROLES, "availableModels": slugs, "defaultRoleModels": usual, "effectiveRoleModels": usual}
        return Response({"ok": True, "data": found})


class TestView(AssistantView):
    """Send a prompt to the model of a role."""

    @described("compat_llm_test", RoleRequest, RoleAnswer, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(RoleRequest, request, allow_unknown=True)
        run = talks.run_of(_begun(request, asked))
        answer = _answer(request, run)
        shown = {"role": asked["role"], "model": slugs_of(run)["model"], "content": answer.text, "runId": str(run.pk)}
        return Response({"ok": True, "data": shown})


def _begun(request: Request, asked: dict[str, Any]) -> ClientTalk:
    role, prompt = asked["role"], asked["prompt"]
    named = asked.get("model") or (asked.get("roleModelMap") or {}).get(role) or ""
    usual = _roles_of(person(request), askable_slugs(person(request)))
    slug = slug_of(named.strip() or usual.get(role, ""), "model")
    params = {"max_tokens": LIMITS[role]}
    if asked.get("temperature") is not None:
        params["temperature"] = asked["temperature"]
    key = idempotency_key(request)
    token = key.encode().hex()[:12] if key else secrets.token_hex(6)  # of a fence that the prompt cannot know
    system, words = _prompts_of(role, prompt, asked["systemPrompt"] or "", token=token)
    config = {"context": system, "first_message": words, "judge": False, "logprobs": False, "max_turns": 1}
    return talks.begin(
        ASSISTANT,
        by=person(request),
        workflow=STARCHAMBER.slug,
        title=" ".join(prompt.split())[:LONGEST_TITLE],
        config=config,
        cast={"model": {"model": slug, "params": params}},
        key=key,
    )


def _answer(request: Request, run: Run) -> Message:
    said = run.messages.filter(seat="model").order_by("seq")

    def look() -> tuple[Message | None, Call | None] | None:
        fresh = Run.objects.get(pk=run.pk)
        answer, failed = said.first(), fresh.calls.filter(state=Call.State.FAILED).order_by("id").last()
        return (answer, failed) if answer or fresh.is_over or fresh.open_pauses else None

    found = wait(request, run.pk, look)
    if found is None:
        raise NotYet(_("The model is still answering. Its answer will be in your runs."))
    answer, failed = found
    if answer:
        return answer
    actions.stop(run, by=person(request))
    why = failed.error if failed else Run.objects.get(pk=run.pk).error or _("The model gave no answer.")
    raise (TooManyRequests if failed and failed.error_kind == "rate_limited" else ProviderFailed)(why)


def _roles_of(person: User, slugs: Sequence[str]) -> dict[str, str]:
    """Roles to models. slugs: those that can be asked, which stand in for models that cannot."""
    last = Experiment.objects.owned_by(person).filter(workflow=DEBATE.slug).order_by("-created").first()
    seated = dict(last.participants.values_list("seat", "model__slug")) if last else {}
    known = {role: seated.get(seat, "") for role, seat in SEATS.items()}
    return {role: slug if slug in slugs else slugs[0] for role, slug in known.items()} if slugs else {}


def _prompts_of(role: str, prompt: str, system: str, *, token: str) -> tuple[str, str]:
    """What a role is told, and what it is asked: as the client says, or by our own instructions, with the client's
    words between markers.
    """
    if system.strip():
        return system, prompt
    told, seat = {"language": fill("debate/language", named=""), "token": token}, SEATS[role]
    if role == "refiner":
        instructions = fill("debate/refiner", **told, form=BRIEF)
    elif role == "summarizer":
        instructions = fill("debate/summarizer", **told, form=ACTIONS)
    else:
        more = COUNTERPOINTS_ASKED[seat]
        counter = fill("debate/counter", counterpoints=more) if more else fill("debate/no_counter")
        part = {"seat": seat, "view": fill(VIEWS[seat]), "points": POINTS_ASKED[seat], "counter": counter}
        instructions = fill("debate/debater", **part, **told, form=POINTS % seat)
    return instructions, fenced("request", prompt, token)
