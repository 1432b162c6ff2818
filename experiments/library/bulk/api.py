"""The API of bulk exports: many runs in one file that a worker makes."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpResponseBase
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, viewsets
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.library.bulk import making, selecting
from experiments.library.bulk.formats import FORMATS
from experiments.models import BulkExport
from experiments.models.waiting import WorkState

BINARY = {(200, type_): OpenApiTypes.BINARY for type_ in sorted({one.content_type for one in FORMATS.values()})}


class ExportRequest(serializers.Serializer[Any]):
    """The runs, by one or several of: runs (ids), experiment, project, and the filters of the list of runs; by default
    all that you can see. language: of the few words around the record.
    """

    format = serializers.ChoiceField(list(FORMATS))
    runs = serializers.ListField(child=serializers.UUIDField(), required=False, max_length=selecting.MOST_RUNS)
    experiment = serializers.UUIDField(required=False)
    project = serializers.UUIDField(required=False)
    search = serializers.CharField(required=False, allow_blank=True, max_length=200)
    state = serializers.CharField(required=False, allow_blank=True, max_length=40)
    workflow = serializers.CharField(required=False, allow_blank=True, max_length=40)
    whose = serializers.ChoiceField(selecting.WHOSE, required=False)
    flag = serializers.CharField(required=False, allow_blank=True, max_length=40)
    model = serializers.CharField(required=False, allow_blank=True, max_length=200)
    by = serializers.CharField(required=False, allow_blank=True, max_length=150)
    tag = serializers.CharField(required=False, allow_blank=True, max_length=40)
    since = serializers.CharField(required=False, allow_blank=True, max_length=10)
    until = serializers.CharField(required=False, allow_blank=True, max_length=10)
    language = serializers.ChoiceField([code for code, _name in settings.LANGUAGES], required=False)


class BulkExportSerializer(serializers.ModelSerializer[BulkExport]):
    """state: queued, running, done, failed or cancelled. progress: 0 to 1; seconds_left: at the pace so far.
    left_out: runs that you could not see any more when the file was made. manifest: what is in the file, with counts
    and hashes. download: its address once it is done.
    """

    runs = serializers.IntegerField(source="run_count", read_only=True)
    seconds_left = serializers.IntegerField(read_only=True, allow_null=True)
    asked = serializers.DictField(read_only=True)
    manifest = serializers.DictField(read_only=True)
    download = serializers.SerializerMethodField()

    class Meta:
        model = BulkExport
        fields = [
            *("id", "format", "asked", "runs", "left_out", "language", "state", "progress", "seconds_left", "name"),
            *("size", "sha256", "manifest", "error", "created", "ended", "download"),
        ]

    @extend_schema_field({"type": ["string", "null"], "format": "uri"})
    def get_download(self, row: BulkExport) -> str | None:
        address: str = reverse("api-bulk-export-download", args=[row.pk], request=self.context.get("request"))
        return address if row.state == WorkState.DONE else None


class BulkExportViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[BulkExport]):
    """One's bulk exports."""

    scope = Scope.WRITE
    serializer_class = BulkExportSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[BulkExport]:
        rows = BulkExport.objects.defer("runs")
        return rows.none() if getattr(self, "swagger_fake_view", False) else rows.visible_to(person(self.request))

    @extend_schema(responses={200: BulkExportSerializer(many=True), **PROBLEMS}, operation_id="exports_list")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Your bulk exports, newest first."""
        return super().list(request, *args, **kwargs)

    @extend_schema(
        request=ExportRequest, responses={202: BulkExportSerializer, **PROBLEMS}, operation_id="exports_create"
    )
    def create(self, request: Request) -> Response:
        """Request an export of the runs that match now. The file is kept for a week."""
        asked = validated(ExportRequest, request)
        format_ = FORMATS[asked.pop("format")]
        language = asked.pop("language", None) or get_language() or settings.LANGUAGE_CODE
        if "runs" in asked:
            asked["runs"] = [str(pk) for pk in asked["runs"]]
        said = {name: value if name == "runs" else str(value) for name, value in asked.items()}
        row = making.ask(said, by=person(request), format_=format_, language=language)
        return Response(self.get_serializer(row).data, status=202)

    @extend_schema(responses={200: BulkExportSerializer, **PROBLEMS}, operation_id="exports_retrieve")
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The progress of an export."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(responses={204: None, **PROBLEMS, 409: ProblemSerializer}, operation_id="exports_destroy")
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Cancel an export."""
        if not making.cancel(self.get_object()):
            raise Conflict(_("This export has already ended."))
        return Response(status=204)

    @extend_schema(responses={**BINARY, **PROBLEMS, 409: ProblemSerializer}, operation_id="exports_download_retrieve")
    def download(self, request: Request, pk: UUID) -> HttpResponseBase:
        """The file itself, once it is done."""
        row = self.get_object()
        if row.state != WorkState.DONE:
            raise Conflict(_("The file is not ready. Its state shows the progress."))
        return making.response(request._request, row, by=person(request))
