"""Multi-LLM Assistant: one role, one prompt, one answer. Each is a talk with one model that ends after it."""

import secrets
from typing import Any

from django.utils.translation import gettext as _
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from experiments.api.compatibility import talks
from experiments.api.compatibility.arena_requests import Text
from experiments.api.compatibility.naming import askable_slugs, slug_of
from experiments.api.compatibility.roles import LIMITS, ROLES, prompts_of, roles_of
from experiments.api.compatibility.shapes import slugs_of
from experiments.api.compatibility.views import ClientView, NotYet, ProviderFailed, TooManyRequests, described
from experiments.api.compatibility.waiting import wait
from experiments.api.requests import idempotency_key, person, validated
from experiments.models import Call, ClientTalk, Message, Run
from experiments.runs import actions
from experiments.workflows.starchamber import WORKFLOW as STARCHAMBER

ASSISTANT = ClientTalk.System.ASSISTANT
LONGEST_TITLE = 80


class RoleModels(serializers.Serializer[Any]):
    roles = serializers.ListField(child=serializers.CharField())
    availableModels = serializers.ListField(child=serializers.CharField())
    defaultRoleModels = serializers.DictField(child=serializers.CharField())
    effectiveRoleModels = serializers.DictField(child=serializers.CharField())


class RoleModelsAnswer(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    data = RoleModels()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer


class RoleRequest(serializers.Serializer[Any]):
    """systemPrompt: in place of the role's own. allowFallback is taken note of by nobody: no other model answers in
    the place of one that was asked for.
    """

    role = serializers.ChoiceField(ROLES, default="refiner")
    prompt = serializers.CharField()
    model = serializers.CharField(required=False, allow_blank=True, allow_null=True, max_length=200)
    roleModelMap = serializers.DictField(child=serializers.CharField(allow_null=True), required=False, allow_null=True)
    allowFallback = serializers.BooleanField(required=False, allow_null=True)
    systemPrompt = Text(allow_null=True)
    temperature = serializers.FloatField(required=False, allow_null=True, min_value=0, max_value=2)


class RoleAnswered(serializers.Serializer[Any]):
    role = serializers.CharField()
    model = serializers.CharField()
    content = serializers.CharField()
    runId = serializers.UUIDField()


class RoleAnswer(serializers.Serializer[Any]):
    ok = serializers.BooleanField()
    data = RoleAnswered()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer


class AssistantView(ClientView):
    def in_their_words(self, detail: str) -> dict[str, object]:
        return {"ok": False, "error": detail}


class ModelsView(AssistantView):
    """Which model answers for which role: those of your last debate, or the first that can be asked."""

    @described("compat_llm_models", None, RoleModelsAnswer)
    def get(self, request: Request) -> Response:
        slugs = askable_slugs(person(request))
        usual = roles_of(person(request), slugs)
        found = {"roles": ROLES, "availableModels": slugs, "defaultRoleModels": usual, "effectiveRoleModels": usual}
        return Response({"ok": True, "data": found})


class TestView(AssistantView):
    """Have a role answer a prompt."""

    @described("compat_llm_test", RoleRequest, RoleAnswer, spends=True)
    def post(self, request: Request) -> Response:
        asked = validated(RoleRequest, request)
        talk = _begun(request, asked)
        run = talk.run
        if run is None:
            raise LookupError("nobody was asked")
        answer = _answer(request, run)
        shown = {"role": asked["role"], "model": slugs_of(run)["model"], "content": answer.text, "runId": str(run.pk)}
        return Response({"ok": True, "data": shown})


def _begun(request: Request, asked: dict[str, Any]) -> ClientTalk:
    role, prompt = asked["role"], asked["prompt"]
    named = asked.get("model") or (asked.get("roleModelMap") or {}).get(role) or ""
    usual = roles_of(person(request), askable_slugs(person(request)))
    slug = slug_of(named.strip() or usual.get(role, ""), "model")
    params = {"max_tokens": LIMITS[role]}
    if asked.get("temperature") is not None:
        params["temperature"] = asked["temperature"]
    key = idempotency_key(request)
    system, words = prompts_of(role, prompt, asked["systemPrompt"] or "", token=_token(key))
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


def _token(key: str) -> str:
    """Of a fence that the prompt cannot know. A request that is repeated under a key reads the same."""
    return key.encode().hex()[:12] if key else secrets.token_hex(6)


def _answer(request: Request, run: Run) -> Message:
    said = run.messages.filter(seat="model").order_by("seq")

    def look() -> tuple[Message | None, Call | None] | None:
        fresh = Run.objects.get(pk=run.pk)
        answer, failed = said.first(), fresh.calls.filter(state=Call.State.FAILED).order_by("id").last()
        return (answer, failed) if answer or fresh.is_over or fresh.open_pauses else None

    found = wait(request, run.pk, look)
    if found is None:
        raise NotYet(_("The model is still answering. What it says will be found among your runs."))
    answer, failed = found
    if answer:
        return answer
    actions.stop(run, by=person(request))
    why = failed.error if failed else Run.objects.get(pk=run.pk).error or _("The model gave no answer.")
    raise (TooManyRequests if failed and failed.error_kind == "rate_limited" else ProviderFailed)(why)
