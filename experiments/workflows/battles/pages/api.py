"""The API of campaigns, of the battles that were judged, and of logs of battles that were judged elsewhere."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import path
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, RIVALLED, person, spends, spent, validated
from experiments.library.datasets.api import StreamedParser
from experiments.models import Battle, Campaign, Dataset, Experiment, LogImport, Verdict
from experiments.runs.run_api import OfRun
from experiments.workflows.battles.campaign import campaigns
from experiments.workflows.battles.campaign.logs import queueing
from experiments.workflows.battles.campaign.logs.columns import Columns
from experiments.workflows.battles.campaign.progress import Progress, progress
from experiments.workflows.shards import SHARDED


class OpenReason(serializers.Serializer[Any]):
    reason = serializers.CharField()
    count = serializers.IntegerField()


class ProgressSerializer(serializers.Serializer[Any]):
    """A battle counts once for each judge. What cannot be known yet is null."""

    wanted = serializers.IntegerField()
    decided = serializers.IntegerField()
    open = serializers.IntegerField(help_text="Tried, and not decided: asked again on resume.")
    under_way = serializers.IntegerField()
    consistent_share = serializers.FloatField(allow_null=True, help_text="0 to 1, of those judged in both orders.")
    per_minute = serializers.FloatField(allow_null=True)
    eta_seconds = serializers.FloatField(allow_null=True)
    cost = serializers.DecimalField(max_digits=20, decimal_places=10)
    unpriced_calls = serializers.IntegerField()
    calls = serializers.IntegerField()
    failed_calls = serializers.IntegerField()
    input_tokens = serializers.IntegerField()
    output_tokens = serializers.IntegerField()
    runs = serializers.IntegerField()
    round = serializers.IntegerField(help_text="Of an adaptive plan.")
    open_reasons = serializers.SerializerMethodField()

    @extend_schema_field(OpenReason(many=True))
    def get_open_reasons(self, found: Progress) -> list[dict[str, object]]:
        return [{"reason": reason, "count": count} for reason, count in found.open_reasons]


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    """state: running, stopped, open (some could not be decided), completed or failed; note says why."""

    experiment = serializers.UUIDField(source="experiment_id")
    progress = serializers.SerializerMethodField()

    class Meta:
        model = Campaign
        fields = ["experiment", "state", "note", "seed", "passes", "created", "resumed", "ended", "progress"]

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, campaign: Campaign) -> dict[str, object]:
        return dict(ProgressSerializer(progress(campaign.experiment)).data)


class Resumption(serializers.Serializer[Any]):
    """limits: the new limits; when omitted, the previous ones apply."""

    limits = serializers.DictField(required=False, allow_null=True, default=None)


class VerdictSerializer(serializers.ModelSerializer[Verdict]):
    call = serializers.UUIDField(source="call_id", allow_null=True)

    class Meta:
        model = Verdict
        fields = ["order", "winner", "scores", "confidence", "rationale", "unread_reason", "call"]


class BattleSerializer(serializers.ModelSerializer[Battle]):
    """left, right: contestants' names. winner: left, right, tie or both_bad; empty while it is open."""

    board = serializers.CharField(source="board.slug")
    sample = serializers.IntegerField(source="sample_id")
    subset = serializers.CharField(source="sample.subset")
    index = serializers.IntegerField(source="sample.index")
    left = serializers.CharField(source="left.name")
    right = serializers.CharField(source="right.name")
    experiment = serializers.UUIDField(source="experiment_id", allow_null=True)
    run = serializers.UUIDField(source="run_id", allow_null=True)
    verdicts = VerdictSerializer(many=True)

    class Meta:
        model = Battle
        fields = [
            *("id", "board", "sample", "subset", "index", "left", "right", "winner", "is_consistent", "open_reason"),
            *("void_reason", "experiment", "run", "judged", "verdicts"),
        ]


def battles_with_rows() -> Any:
    return Battle.objects.select_related("board", "sample", "left", "right").prefetch_related("verdicts")


class CampaignView(APIView):
    """The progress of an experiment's campaign."""

    @extend_schema(responses={200: CampaignSerializer, **PROBLEMS})
    def get(self, request: Request, pk: str) -> Response:
        return _shown(_experiment(request, pk))


class StopView(APIView):
    """Stop all live runs of an experiment and start no more. Does nothing when none is live."""

    scope = Scope.WRITE

    @extend_schema(request=None, responses={200: CampaignSerializer, **PROBLEMS})
    def post(self, request: Request, pk: str) -> Response:
        experiment = _experiment(request, pk)
        campaigns.stop(experiment, by=person(request))
        return _shown(experiment)


class ResumeView(APIView):
    """Resume a stopped campaign, and retry what is open or missing, including contestants added since."""

    @extend_schema(request=Resumption, responses={200: CampaignSerializer, **RIVALLED})
    @spends
    def post(self, request: Request, pk: str) -> Response:
        experiment = _experiment(request, pk)
        limits = validated(Resumption, request)["limits"]
        if not spent(request, lambda: campaigns.resume(experiment, by=person(request), limits=limits), limits):
            raise Conflict(_("Nothing is open or missing, or it is already running."))
        return _shown(experiment)


def _experiment(request: Request, pk: str) -> Experiment:
    rows = Experiment.objects.visible_to(request.user).filter(workflow__in=SHARDED, campaign__isnull=False)
    return get_object_or_404(rows.select_related("owner"), pk=pk)


def _shown(experiment: Experiment) -> Response:
    return Response(CampaignSerializer(Campaign.objects.select_related("experiment").get(pk=experiment.pk)).data)


@extend_schema(responses={200: BattleSerializer(many=True), **PROBLEMS})
class BattlesOfRun(OfRun):
    """The battles that a run judged most recently."""

    queryset = battles_with_rows()
    serializer_class = BattleSerializer
    cursor_ordering = ["id"]


class BattleFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    """left, right: contestants' names in either place. state: decided, open or void."""

    board = filters.CharFilter(field_name="board__slug")
    experiment = filters.UUIDFilter(field_name="experiment_id")
    left = filters.CharFilter(field_name="left__name")
    right = filters.CharFilter(field_name="right__name")
    winner = filters.ChoiceFilter(choices=Battle.Winner.choices)
    state = filters.ChoiceFilter(
        choices=[("decided", "decided"), ("open", "open"), ("void", "void")], method="filter_state"
    )

    class Meta:
        model = Battle
        fields: list[str] = []

    def filter_state(self, rows: QuerySet[Battle], name: str, value: str) -> QuerySet[Battle]:
        if value == "open":
            return rows.filter(winner="")
        return rows.exclude(winner="").filter(voided__isnull=value == "decided")


@extend_schema(responses={200: BattleSerializer(many=True), **PROBLEMS})
class BattleList(generics.ListAPIView[Battle]):
    """Battles on boards that you can see, newest first. Votes that have not been cast are left out."""

    queryset = Battle.objects.none()
    serializer_class = BattleSerializer
    filterset_class = BattleFilter

    def get_queryset(self) -> QuerySet[Battle]:
        rows: QuerySet[Battle] = battles_with_rows().visible_to(self.request.user).revealed()
        return rows


class LogRequest(serializers.Serializer[Any]):
    """file: GenArena's pk_logs (a zip or one of its files), or a battle file as LMArena has them. voter: the column
    that says who voted; then every line is the vote of a person. columns: lines of PART=COLUMN, for what is called
    otherwise than in LMArena's files. keep_partial: store the other lines where some are refused; otherwise one refused
    line refuses the whole file. dry_run: report what would be stored, and store it when asked.
    """

    file = serializers.FileField(allow_empty_file=True)
    judge = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    subset = serializers.CharField(required=False, allow_blank=True, max_length=100, default="")
    voter = serializers.CharField(required=False, allow_blank=True, max_length=200, default="")
    columns = serializers.CharField(required=False, allow_blank=True, max_length=8000, default="")
    keep_partial = serializers.BooleanField(required=False, default=False)
    dry_run = serializers.BooleanField(required=False, default=False)


class LogImportSerializer(serializers.ModelSerializer[LogImport]):
    """state: waiting, reading, done, checked (a dry run: nothing is stored yet), or refused: then nothing of it is
    stored, and refused_reason says why. report: lines read; battles stored, completed, known before, repeated; votes,
    voters, and of how many votes order, time and language are known; the column that was read as each part; lines
    refused, with their reasons.
    """

    dataset = serializers.SlugRelatedField[Dataset](slug_field="slug", read_only=True)

    class Meta:
        model = LogImport
        fields = [
            *("id", "dataset", "name", "size", "judge", "subset", "columns", "keep_partial", "is_dry_run", "state"),
            *("report", "refused_reason", "created", "ended"),
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
        """Import battles into a dataset: 201 with the report for a small file, 202 for one that a worker reads.

        Sending the same file twice changes nothing.
        """
        dataset = get_object_or_404(Dataset.objects.visible_to(person(request)), slug=slug)
        asked = validated(LogRequest, request)
        how = {name: asked[name] for name in ("judge", "subset", "keep_partial")}
        how |= {"columns": Columns.read(asked["columns"], voter=asked["voter"]), "is_dry_run": asked["dry_run"]}
        row = queueing.keep(asked["file"], dataset=dataset, by=person(request), **how)
        return Response(LogImportSerializer(row).data, status=201 if row.is_over else 202)


class LogImportView(APIView):
    """The state and result of an import."""

    @extend_schema(responses={200: LogImportSerializer, **PROBLEMS}, operation_id="datasets_battles_import_retrieve")
    def get(self, request: Request, slug: str, pk: UUID) -> Response:
        return Response(LogImportSerializer(_log_import(request, slug, pk)).data)


class LogImportStoreView(APIView):
    """Store what a dry run has reported."""

    scope = Scope.WRITE

    @extend_schema(
        request=None,
        responses={200: LogImportSerializer, 202: LogImportSerializer, 409: ProblemSerializer, **PROBLEMS},
        operation_id="datasets_battles_import_store",
    )
    def post(self, request: Request, slug: str, pk: UUID) -> Response:
        row = _log_import(request, slug, pk)
        queueing.store(row)
        return Response(LogImportSerializer(row).data, status=200 if row.is_over else 202)


def _log_import(request: Request, slug: str, pk: UUID) -> LogImport:
    rows = LogImport.objects.visible_to(person(request)).select_related("dataset")
    return get_object_or_404(rows, pk=pk, dataset__slug=slug)


urlpatterns = [
    path("datasets/<slug:slug>/battles/", BattleLogsView.as_view(), name="api-dataset-battles"),
    path("datasets/<slug:slug>/battles/imports/<uuid:pk>/", LogImportView.as_view(), name="api-log-import"),
    path(
        "datasets/<slug:slug>/battles/imports/<uuid:pk>/store/",
        LogImportStoreView.as_view(),
        name="api-log-import-store",
    ),
    path("experiments/<uuid:pk>/campaign/", CampaignView.as_view(), name="api-campaign"),
    path("experiments/<uuid:pk>/stop/", StopView.as_view(), name="api-campaign-stop"),
    path("experiments/<uuid:pk>/resume/", ResumeView.as_view(), name="api-campaign-resume"),
    path("runs/<uuid:pk>/battles/", BattlesOfRun.as_view(), name="api-run-battles"),
    path("battles/", BattleList.as_view(), name="api-battles"),
]
