"""The API of webhooks. A secret comes out once: in the answer to the request that makes it."""

import json
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.models import Project
from accounts.permissions import GRAVE
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.lab.webhooks import hooks
from experiments.lab.webhooks.kinds import Kind
from experiments.models import Webhook, WebhookDelivery

CONFLICT = {**PROBLEMS, 409: ProblemSerializer}


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """project: null for one that is told of its owner's runs. paused: when the platform itself gave up on it;
    pause_reason says why.
    """

    owner = serializers.CharField(source="owner.username")
    project = serializers.UUIDField(source="project_id", allow_null=True)
    active = serializers.BooleanField(source="is_active")
    events = serializers.ListField(child=serializers.CharField())
    pause_reason = serializers.ChoiceField(choices=["", *Webhook.Pause.values])

    class Meta:
        model = Webhook
        fields = [
            *("id", "owner", "project", "name", "url", "events", "allow_private", "active", "failures"),
            *("failing_since", "paused", "pause_reason", "created"),
        ]


class NewWebhookSerializer(WebhookSerializer):
    """secret: what its deliveries are signed with. It is told here, and never again."""

    secret = serializers.SerializerMethodField()

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]

    def get_secret(self, hook: Webhook) -> str:
        return str(self.context["secret"])


class AddWebhook(serializers.Serializer[Any]):
    """project: the id of one that you lead; without it your own runs are told."""

    url = serializers.CharField(max_length=hooks.LONGEST_URL)
    events = serializers.ListField(child=serializers.ChoiceField(Kind.choices), allow_empty=False)
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=hooks.LONGEST_NAME)
    project = serializers.UUIDField(required=False, allow_null=True, default=None)
    allow_private = serializers.BooleanField(required=False, default=False)


class ChangeWebhook(serializers.Serializer[Any]):
    """What is left out stays as it is. active: false pauses it."""

    url = serializers.CharField(required=False, max_length=hooks.LONGEST_URL)
    events = serializers.ListField(child=serializers.ChoiceField(Kind.choices), allow_empty=False, required=False)
    name = serializers.CharField(required=False, allow_blank=True, max_length=hooks.LONGEST_NAME)
    allow_private = serializers.BooleanField(required=False)
    active = serializers.BooleanField(required=False)


class DeliverySerializer(serializers.ModelSerializer[WebhookDelivery]):
    """payload: what is sent. status, seconds, answer (how it begins), problem: what came of the last attempt."""

    webhook = serializers.UUIDField(source="webhook_id")
    run = serializers.UUIDField(source="run_id", allow_null=True)
    state = serializers.ChoiceField(choices=WebhookDelivery.State.values)
    problem = serializers.ChoiceField(choices=["", *WebhookDelivery.Problem.values])
    attempts = serializers.IntegerField(source="attempt")
    payload = serializers.SerializerMethodField()

    class Meta:
        model = WebhookDelivery
        fields = [
            *("id", "webhook", "type", "run", "state", "attempts", "next_at", "status", "seconds", "answer"),
            *("problem", "payload", "created", "ended"),
        ]

    @extend_schema_field(OpenApiTypes.OBJECT)
    def get_payload(self, delivery: WebhookDelivery) -> Any:
        return json.loads(delivery.body)


class WebhooksView(generics.GenericAPIView[Webhook]):
    """Webhooks that you look after: your own, and those of projects that you lead."""

    scope = Scope.ADMIN
    permission_classes = GRAVE
    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()
    cursor_ordering = ["-created", "id"]

    def get_queryset(self) -> QuerySet[Webhook]:
        return Webhook.objects.visible_to(self.request.user).select_related("owner")

    @extend_schema(responses={200: WebhookSerializer(many=True), **PROBLEMS})
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(WebhookSerializer(page, many=True).data)

    @extend_schema(request=AddWebhook, responses={201: NewWebhookSerializer, **PROBLEMS})
    def post(self, request: Request) -> Response:
        """Set up a webhook. The answer has its secret, which nothing else ever shows."""
        asked = validated(AddWebhook, request)
        asked["project"] = _project(request, asked["project"])
        made, secret = hooks.add(by=person(request), **asked)
        return _with_secret(made, secret, status=201)


class WebhookView(APIView):
    """One webhook: its settings, and whether it is on."""

    scope = Scope.ADMIN
    permission_classes = GRAVE

    @extend_schema(responses={200: WebhookSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(WebhookSerializer(_hook(request, pk)).data)

    @extend_schema(request=ChangeWebhook, responses={200: WebhookSerializer, **PROBLEMS})
    def patch(self, request: Request, pk: UUID) -> Response:
        """Change a webhook, pause it, or switch it on again."""
        hook, asked, by = _hook(request, pk), validated(ChangeWebhook, request), person(request)
        active = asked.pop("active", None)
        if asked:
            hooks.change(hook, by=by, **{name: getattr(hook, name) for name in ("url", "events", "name")} | asked)
        if active is not None:
            hooks.set_active(hook, by=by, is_active=active)
        return Response(WebhookSerializer(_hook(request, pk)).data)

    @extend_schema(request=None, responses={204: None, **PROBLEMS})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Remove a webhook. Nothing more is sent to it."""
        hooks.remove(_hook(request, pk), by=person(request))
        return Response(status=204)


class SecretView(APIView):
    """Another secret. For a day the one before signs beside it."""

    scope = Scope.ADMIN
    permission_classes = GRAVE

    @extend_schema(request=None, responses={200: NewWebhookSerializer, **PROBLEMS})
    def post(self, request: Request, pk: UUID) -> Response:
        hook = _hook(request, pk)
        secret = hooks.rotate(hook, by=person(request))
        return _with_secret(hook, secret)


class TestView(APIView):
    """Sends `webhook.test`. The delivery says in a moment what came of it."""

    scope = Scope.ADMIN

    @extend_schema(request=None, responses={202: DeliverySerializer, **CONFLICT})
    def post(self, request: Request, pk: UUID) -> Response:
        made = hooks.test(_hook(request, pk), by=person(request))
        return Response(DeliverySerializer(made).data, status=202)


class DeliveriesView(generics.GenericAPIView[WebhookDelivery]):
    """What a webhook was told, the newest first."""

    serializer_class = DeliverySerializer
    queryset = WebhookDelivery.objects.none()
    cursor_ordering = ["-id"]

    @extend_schema(
        responses={200: DeliverySerializer(many=True), **PROBLEMS},
        parameters=[OpenApiParameter("state", str, enum=WebhookDelivery.State.values)],
    )
    def get(self, request: Request, pk: UUID) -> Response:
        rows = _hook(request, pk).deliveries.all()
        if state := request.query_params.get("state", ""):
            if state not in WebhookDelivery.State.values:
                raise ValidationError({"state": ["There is no such state."]})
            rows = rows.filter(state=state)
        page = self.paginate_queryset(rows)
        return self.get_paginated_response(DeliverySerializer(page, many=True).data)


class DeliveryView(APIView):
    """What one address was told, and what came of it."""

    @extend_schema(responses={200: DeliverySerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(DeliverySerializer(_delivery(request, pk)).data)


class AgainView(APIView):
    """Sends it once more, under the same id."""

    scope = Scope.ADMIN

    @extend_schema(request=None, responses={202: DeliverySerializer, **CONFLICT})
    def post(self, request: Request, pk: UUID) -> Response:
        hooks.send_again(_delivery(request, pk), by=person(request))
        return Response(DeliverySerializer(_delivery(request, pk)).data, status=202)


def _with_secret(hook: Webhook, secret: str, status: int = 200) -> Response:
    answer = Response(NewWebhookSerializer(hook, context={"secret": secret}).data, status=status)
    answer["Cache-Control"] = "no-store"
    return answer


def _project(request: Request, pk: UUID | None) -> Project | None:
    """One that somebody belongs to; whether they lead it is the verb's affair."""
    if pk is None:
        return None
    found = Project.objects.visible_to(request.user).filter(pk=pk).first()
    if found is None:
        raise ValidationError({"project": ["There is no project of this id that you belong to."]})
    return found


def _hook(request: Request, pk: UUID) -> Webhook:
    return get_object_or_404(Webhook.objects.visible_to(request.user).select_related("owner", "project"), pk=pk)


def _delivery(request: Request, pk: UUID) -> WebhookDelivery:
    rows = WebhookDelivery.objects.visible_to(request.user).select_related("webhook__owner", "webhook__project")
    return get_object_or_404(rows, pk=pk)
