"""The API of reports and exports: a run as a file, at once or made by a worker."""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

from accounts.api_requests import validated
from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.models import Export
from experiments.runs.reports import jobs
from experiments.runs.reports.formats import (
    EXPORTS,
    FORMATS,
    REPORTS,
    Format,
    current_language,
    file_response,
    run_response,
    visible_run,
)

PROBLEMS = {400: ProblemSerializer, 401: ProblemSerializer, 404: ProblemSerializer}
JSON = "application/json"
REPORT = OpenApiParameter("format", str, enum=list(REPORTS), default="json")
EXPORT = OpenApiParameter("format", str, enum=list(EXPORTS), required=True)


def _files(formats: dict[str, Format]) -> dict[Any, Any]:
    types = sorted({format_.content_type.partition(";")[0] for format_ in formats.values()})
    bodies = {(200, type_): OpenApiTypes.OBJECT if type_ == JSON else OpenApiTypes.BINARY for type_ in types}
    return bodies | PROBLEMS


class ReportView(APIView):
    """A report of a run as HTML, PDF, Markdown or JSON. The JSON is complete and can be imported."""

    @extend_schema(parameters=[REPORT], responses=_files(REPORTS), operation_id="runs_report_retrieve")
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        return _answer(request, pk, REPORTS, default="json")


class ExportView(APIView):
    """Export a run: JSON lines, a CSV table of its messages, or an Inspect AI log."""

    @extend_schema(parameters=[EXPORT], responses=_files(EXPORTS), operation_id="runs_export_retrieve")
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        return _answer(request, pk, EXPORTS, default="")


class FileRequest(serializers.Serializer[Any]):
    """language: of the words around the record; yours by default."""

    format = serializers.ChoiceField(list(FORMATS))
    language = serializers.ChoiceField([code for code, _name in settings.LANGUAGES], required=False)


class FileSerializer(serializers.ModelSerializer[Export]):
    """A file of a run. progress: 0 to 1. download: its address once it is done."""

    download = serializers.SerializerMethodField()

    class Meta:
        model = Export
        fields = [
            *("id", "run", "format", "language", "state", "progress", "name", "size", "error", "last_seq"),
            *("created", "ended", "download"),
        ]

    @extend_schema_field({"type": ["string", "null"], "format": "uri"})
    def get_download(self, export: Export) -> str | None:
        address: str = reverse("api-file-download", args=[export.pk], request=self.context.get("request"))
        return address if export.state == Export.State.DONE else None


class RunFilesView(APIView):
    """Files that a worker makes of a run."""

    scope = Scope.WRITE

    @extend_schema(request=FileRequest, responses={202: FileSerializer, **PROBLEMS})
    def post(self, request: Request, pk: UUID) -> Response:
        """Request a file of a run. Requests for the same file of an unchanged run return the same file."""
        run = visible_run(request, pk)
        asked = validated(FileRequest, request)
        language = asked.get("language") or current_language()
        export = jobs.file_for(run, by=request.user, format_=FORMATS[asked["format"]], language=language)  # type: ignore[arg-type]  # signed in: the permission was asked before
        jobs.wake()
        return Response(FileSerializer(export, context={"request": request}).data, status=202)


class FileView(APIView):
    """The progress of a file."""

    @extend_schema(responses={200: FileSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        return Response(FileSerializer(_file(request, pk), context={"request": request}).data)


class FileDownloadView(APIView):
    """The file itself, once it is done."""

    @extend_schema(responses={**_files(FORMATS), 409: ProblemSerializer}, operation_id="files_download_retrieve")
    def get(self, request: Request, pk: UUID) -> HttpResponseBase:
        export = _file(request, pk)
        if export.state != Export.State.DONE:
            raise Conflict("The file is not ready. Its state shows the progress.")
        return file_response(request._request, export)


def _answer(request: Request, pk: UUID, formats: dict[str, Format], *, default: str) -> HttpResponseBase:
    run = visible_run(request, pk)
    format_ = formats.get(request.query_params.get("format", default))
    if format_ is None:
        offered = f"{', '.join(list(formats)[:-1])} or {list(formats)[-1]}"
        raise ValidationError({"format": [f"This format is not offered: ask for {offered}."]})
    return run_response(request._request, run, format_, current_language())


def _file(request: Request, pk: UUID) -> Export:
    export: Export = get_object_or_404(Export.objects.visible_to(request.user), pk=pk)
    return export
