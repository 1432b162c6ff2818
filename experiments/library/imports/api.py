"""The API of imports: a report that becomes a run at once, and files of all sources that are looked through first."""

from typing import IO, Any
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.parsers import BaseParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.errors import Conflict, TooLarge
from accounts.scopes import Scope
from experiments.api.problems import TOO_LARGE, ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.serializers import RunSerializer
from experiments.library.datasets.api import StreamedParser
from experiments.library.imports import queueing, storing
from experiments.models import Dataset, Run, RunImport
from experiments.models.imports import ImportSource
from experiments.models.waiting import WorkState
from experiments.runs.reports import json_values

REFUSED = {**PROBLEMS, 403: ProblemSerializer, 413: ProblemSerializer}


class DocumentParser(BaseParser):
    """A run's document, of up to 20 MiB: far more than other requests may hold."""

    media_type = "application/json"

    def parse(self, stream: IO[Any], media_type: str | None = None, parser_context: Any = None) -> Any:
        data = stream.read(json_values.MOST_BYTES + 1)
        if len(data) > json_values.MOST_BYTES:
            raise TooLarge(TOO_LARGE)
        return json_values.parse(data)


class RunFileRequest(serializers.Serializer[Any]):
    """file: exports of ours, logs of Inspect AI, or a file of one of the systems that this one succeeds. source: whose
    file it is; it is recognized when left out. preview: only look it through; `store` takes it over then.
    """

    file = serializers.FileField(allow_empty_file=True)
    source = serializers.ChoiceField(  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
        ImportSource.choices, required=False, allow_blank=True, default=""
    )
    preview = serializers.BooleanField(required=False, default=False)


class RunImportSerializer(serializers.ModelSerializer[RunImport]):
    """state: queued, running, ready (looked through, waiting for `store`), done, failed or cancelled. report: runs
    found, stored and known before, each with its place in the file; what was refused, and why; notes on what was not
    taken at its word. error: why nothing could be read. dataset: what battles of it became.
    """

    report = serializers.DictField(read_only=True)
    dataset = serializers.SlugRelatedField[Dataset](slug_field="slug", read_only=True, allow_null=True)

    class Meta:
        model = RunImport
        fields = [
            *("id", "name", "size", "sha256", "source", "state", "progress", "is_wanted", "error", "report"),
            *("dataset", "created", "ended"),
        ]


EITHER = PolymorphicProxySerializer("RunOrImport", [RunSerializer, RunImportSerializer], resource_type_field_name=None)


class ImportView(APIView):
    """Runs that were recorded elsewhere."""

    scope = Scope.WRITE
    parser_classes = [DocumentParser, StreamedParser]

    @extend_schema(
        request={"application/json": OpenApiTypes.OBJECT, "multipart/form-data": RunFileRequest},
        responses={201: EITHER, 200: RunSerializer, 202: RunImportSerializer, **REFUSED},
        operation_id="runs_import_create",
    )
    def post(self, request: Request) -> Response:
        """Import runs. As JSON: the body of `report/?format=json`, up to 20 MiB; it is stored as a whole or not at all,
        and a repetition returns the existing run (200). As a file: see `source`; a worker reads large files (202).
        """
        if not str(request.content_type or "").startswith("multipart/"):
            run, is_new = storing.store_report(request.data, name="", by=person(request))
            shown = Run.objects.with_totals().select_related("experiment").get(pk=run.pk)
            return Response(RunSerializer(shown).data, status=201 if is_new else 200)
        asked = validated(RunFileRequest, request)
        how = {"source": asked["source"], "is_wanted": not asked["preview"]}
        language = get_language() or settings.LANGUAGE_CODE
        row = queueing.keep(asked["file"], by=person(request), language=language, **how)
        return Response(RunImportSerializer(row).data, status=202 if row.is_under_way else 201)


class RunImportViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[RunImport]):
    """One's files with runs."""

    scope = Scope.WRITE
    serializer_class = RunImportSerializer
    cursor_ordering = ["-created", "-id"]

    def get_queryset(self) -> QuerySet[RunImport]:
        rows = RunImport.objects.select_related("dataset")
        return rows.none() if getattr(self, "swagger_fake_view", False) else rows.visible_to(person(self.request))

    @extend_schema(responses={200: RunImportSerializer(many=True), **PROBLEMS}, operation_id="runs_imported_list")
    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Your imported files, newest first."""
        return super().list(request, *args, **kwargs)

    @extend_schema(responses={200: RunImportSerializer, **PROBLEMS}, operation_id="runs_imported_retrieve")
    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The state and result of an import."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(responses={204: None, **PROBLEMS, 409: ProblemSerializer}, operation_id="runs_imported_destroy")
    def destroy(self, request: Request, pk: UUID) -> Response:
        """Cancel an import. Runs that were stored stay."""
        if not queueing.cancel(self.get_object()):
            raise Conflict(_("This import has already ended."))
        return Response(status=204)

    @extend_schema(
        request=None,
        responses={200: RunImportSerializer, 202: RunImportSerializer, **PROBLEMS, 409: ProblemSerializer},
        operation_id="runs_imported_store",
    )
    def store(self, request: Request, pk: UUID) -> Response:
        """Store a previewed import. Repeating the request changes nothing."""
        row = self.get_object()
        if row.state in (WorkState.FAILED, WorkState.CANCELLED):
            raise Conflict(_("Nothing in this file can be stored. Send it again."))
        row = queueing.confirm(row)
        return Response(RunImportSerializer(row).data, status=200 if row.is_over else 202)
