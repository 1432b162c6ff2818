"""The audit record over HTTP, for administrators: to be read, and nothing else."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.audit_views import found_by
from accounts.forms import AuditForm
from accounts.models import AuditEntry
from experiments.api_requests import PROBLEMS, person

FILTERS = [
    OpenApiParameter("person", str, description="Part of a user name."),
    OpenApiParameter("deed", str, enum=AuditEntry.Action.values),
    OpenApiParameter("target", str, description="`kind:id`, or part of a name."),
    *(OpenApiParameter(name, str, description="A day (UTC), as 2026-02-28.") for name in ("since", "until")),
]


class AuditEntrySerializer(serializers.ModelSerializer[AuditEntry]):
    """actor_id: null for nobody who is known. target: what it was done to, as `kind:id`; name: what that was called."""

    action = serializers.ChoiceField(choices=AuditEntry.Action.values)
    detail = serializers.DictField()

    class Meta:
        model = AuditEntry
        fields = ["id", "at", "action", "actor_id", "actor", "target", "name", "detail", "address"]


class AuditView(generics.GenericAPIView[AuditEntry]):
    """What was done by whom, the newest first."""

    serializer_class = AuditEntrySerializer
    queryset = AuditEntry.objects.none()
    cursor_ordering = ["-id"]

    @extend_schema(parameters=FILTERS, responses={200: AuditEntrySerializer(many=True), **PROBLEMS})
    def get(self, request: Request) -> Response:
        if not person(request).is_admin:
            raise PermissionDenied("The audit record is for administrators.")
        page = self.paginate_queryset(self._asked(request))
        return self.get_paginated_response(AuditEntrySerializer(page, many=True).data)

    def _asked(self, request: Request) -> "QuerySet[AuditEntry]":
        asked: dict[str, Any] = {name: request.query_params.get(name, "") for name in AuditForm.base_fields}
        form = AuditForm({**asked, "before": ""})
        if not form.is_valid():
            raise ValidationError({name: [str(one) for one in said] for name, said in form.errors.items()})
        return found_by(form)
