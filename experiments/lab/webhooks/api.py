"""The API of webhooks. A secret comes out once: in the answer to the request that makes it."""

import json
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.settings import api_settings

from accounts.models import Project
from accounts.permissions import GRAVE
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.lab.webhooks import hooks
from experiments.lab.webhooks.outbox import Kind
from experiments.models import Webhook, WebhookDelivery

CONFLICT = {**PROBLEMS, 409: ProblemSerializer}


class WebhookSerializer(serializers.ModelSerializer[Webhook]):
    """project: null for a webhook about its owner's runs. paused: when the platform stopped sending to it; pause_reason
    says why.
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
    """secret: signs the deliveries. It is shown only here."""

    secret = serializers.SerializerMethodField()

    class Meta(WebhookSerializer.Meta):
        fields = [*WebhookSerializer.Meta.fields, "secret"]

    def get_secret(self, hook: Webhook) -> str:
        return str(self.context["secret"])


class AddWebhook(serializers.Serializer[Any]):
    """project: the id of one that you lead; without it the webhook reports your own runs."""

    url = serializers.CharField(max_length=hooks.LONGEST_URL)
    events = serializers.ListField(child=serializers.ChoiceField(Kind.choices), allow_empty=False)
    name = serializers.CharField(required=False, allow_blank=True, default="", max_length=hooks.LONGEST_NAME)
    project = serializers.UUIDField(required=False, allow_null=True, default=None)
    allow_private = serializers.BooleanField(required=False, default=False)

    def validate_project(self, pk: UUID | None) -> Project | None:
        """One that the person belongs to; the verb says whether they lead it."""
        found = Project.objects.visible_to(self.context["request"].user).filter(pk=pk).first() if pk else None
        if pk and found is None:
            raise ValidationError("There is no project of this id that you belong to.")
        return found


class ChangeWebhook(serializers.Serializer[Any]):
    """What is left out stays as it is. active: false pauses it."""

    url = serializers.CharField(max_length=hooks.LONGEST_URL)
    events = serializers.ListField(child=serializers.ChoiceField(Kind.choices), allow_empty=False)
    name = serializers.CharField(allow_blank=True, max_length=hooks.LONGEST_NAME)
    allow_private = serializers.BooleanField()
    active = serializers.BooleanField()


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


@extend_schema_view(list=extend_schema(responses={200: WebhookSerializer(many=True), **PROBLEMS}))
class WebhookViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Webhook]):
    """Webhooks that you manage: your own and those of projects that you lead."""

    scope = Scope.ADMIN
    permission_classes = GRAVE
    serializer_class = WebhookSerializer
    queryset = Webhook.objects.none()
    cursor_ordering = ["-created", "id"]
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Webhook]:
        return Webhook.objects.visible_to(self.request.user).select_related("owner", "project")

    @extend_schema(responses={200: WebhookSerializer, **PROBLEMS})
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One webhook: its settings, and whether it is on."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(request=AddWebhook, responses={201: NewWebhookSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        """Create a webhook. The response has its secret, which is shown only here."""
        asked = validated(AddWebhook, request, context={"request": request})
        made, secret = hooks.add(by=person(request), **asked)
        return _with_secret(made, secret, status=201)

    @extend_schema(request=ChangeWebhook, responses={200: WebhookSerializer, **PROBLEMS})
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change a webhook, pause it, or switch it on again."""
        hook, asked, by = self.get_object(), validated(ChangeWebhook, request, partial=True), person(request)
        active = asked.pop("active", None)
        if asked:
            hooks.change(hook, by=by, **{name: getattr(hook, name) for name in ("url", "events", "name")} | asked)
        if active is not None:
            hooks.set_active(hook, by=by, is_active=active)
        return Response(WebhookSerializer(self.get_object()).data)

    @extend_schema(responses={204: None, **PROBLEMS})
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Delete a webhook. Nothing more is sent to it."""
        hooks.remove(self.get_object(), by=person(request))
        return Response(status=204)

    @extend_schema(request=None, responses={200: NewWebhookSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def secret(self, request: Request, pk: UUID) -> Response:
        """Create a new secret. For a day, deliveries are signed with both."""
        hook = self.get_object()
        return _with_secret(hook, hooks.rotate(hook, by=person(request)))

    @extend_schema(request=None, responses={202: DeliverySerializer, **CONFLICT})
    @action(detail=True, methods=["post"], permission_classes=api_settings.DEFAULT_PERMISSION_CLASSES)
    def test(self, request: Request, pk: UUID) -> Response:
        """Send a `webhook.test` delivery. Poll the delivery for the response."""
        return Response(DeliverySerializer(hooks.test(self.get_object(), by=person(request))).data, status=202)

    @extend_schema(
        responses={200: DeliverySerializer(many=True), **PROBLEMS},
        parameters=[OpenApiParameter("state", str, enum=WebhookDelivery.State.values)],
    )
    @action(detail=True, cursor_ordering=["-id"])
    def deliveries(self, request: Request, pk: UUID) -> Response:
        """Deliveries of a webhook, newest first."""
        rows = self.get_object().deliveries.all()
        if state := request.query_params.get("state", ""):
            if state not in WebhookDelivery.State.values:
                raise ValidationError({"state": ["There is no such state."]})
            rows = rows.filter(state=state)
        page: Any = self.paginate_queryset(rows)  # type: ignore[arg-type]  # not of the rows of this view
        return self.get_paginated_response(DeliverySerializer(page, many=True).data)


@extend_schema_view(retrieve=extend_schema(responses={200: DeliverySerializer, **PROBLEMS}))
class DeliveryViewSet(mixins.RetrieveModelMixin, viewsets.GenericViewSet[WebhookDelivery]):
    """One delivery: what was sent, and the response."""

    scope = Scope.ADMIN
    serializer_class = DeliverySerializer
    queryset = WebhookDelivery.objects.none()
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[WebhookDelivery]:
        rows = WebhookDelivery.objects.visible_to(self.request.user)
        return rows.select_related("webhook__owner", "webhook__project")

    @extend_schema(request=None, responses={202: DeliverySerializer, **CONFLICT})
    @action(detail=True, methods=["post"])
    def again(self, request: Request, pk: UUID) -> Response:
        """Send a delivery again, under the same id."""
        hooks.send_again(self.get_object(), by=person(request))
        return Response(DeliverySerializer(self.get_object()).data, status=202)


def _with_secret(hook: Webhook, secret: str, status: int = 200) -> Response:
    answer = Response(NewWebhookSerializer(hook, context={"secret": secret}).data, status=status)
    answer["Cache-Control"] = "no-store"
    return answer
