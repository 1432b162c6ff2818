"""The API of logs of battles: send them, and read what became of them."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.library.datasets.api import StreamedParser
from experiments.models import Dataset, LogImport
from experiments.workflows.battles.campaign.logs import queueing


class LogRequest(serializers.Serializer[Any]):
    """file: GenArena's pk_logs (a zip or one of its files), or a battle file as LMArena has them. keep_partial: store
    the other lines where some are refused; otherwise one refused line refuses the whole file.
    """

    file = serializers.FileField(allow_empty_file=True)
    judge = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    subset = serializers.CharField(required=False, allow_blank=True, max_length=100, default="")
    keep_partial = serializers.BooleanField(required=False, default=False)


class LogImportSerializer(serializers.ModelSerializer[LogImport]):
    """state: waiting, reading, done, or refused: then nothing of it is stored, and refused_reason says why. report:
    lines read; battles stored, completed, known before, told twice; lines refused, with their reasons.
    """

    dataset = serializers.SlugRelatedField[Dataset](slug_field="slug", read_only=True)

    class Meta:
        model = LogImport
        fields = [
            *("id", "dataset", "name", "size", "judge", "subset", "keep_partial", "state", "report", "refused_reason"),
            *("created", "ended"),
        ]


class BattleLogsView(APIView):
    """Battles that were judged elsewhere."""

    scope = Scope.WRITE
    parser_classes = [StreamedParser]

    @extend_schema(
        request={"multipart/form-data": LogRequest},
        responses={
            201: LogImportSerializer,
            202: LogImportSerializer,
            403: ProblemSerializer,
            413: ProblemSerializer,
            **PROBLEMS,
        },
        operation_id="datasets_battles_create",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Take battles over into a dataset: 201 with the report for a small file, 202 for one that a worker reads.

        Sent twice, the second time changes nothing.
        """
        dataset = get_object_or_404(Dataset.objects.visible_to(person(request)), slug=slug)
        asked = validated(LogRequest, request)
        how = {name: asked[name] for name in ("judge", "subset", "keep_partial")}
        row = queueing.keep(asked["file"], dataset=dataset, by=person(request), **how)
        return Response(LogImportSerializer(row).data, status=201 if row.is_over else 202)


class LogImportView(APIView):
    """What became of an import."""

    @extend_schema(responses={200: LogImportSerializer, **PROBLEMS}, operation_id="datasets_battles_import_retrieve")
    def get(self, request: Request, slug: str, pk: UUID) -> Response:
        rows = LogImport.objects.visible_to(person(request)).select_related("dataset")
        return Response(LogImportSerializer(get_object_or_404(rows, pk=pk, dataset__slug=slug)).data)
