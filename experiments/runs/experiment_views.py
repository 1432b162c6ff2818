"""Experiments with their repeats: the API, what their runs say together, and the page."""

import csv
from typing import Any, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.csv_cells import cell
from accounts.people import for_readers, person
from accounts.refusing import ShownIn, back_to, status_of
from accounts.scopes import Scope
from experiments.api.idempotency import KeyReused
from experiments.api.requests import PROBLEMS, RIVALLED, idempotency_key, runs_with_totals, spends, validated
from experiments.api.serializers import CastField, ExperimentSerializer, RunSerializer
from experiments.api.shapes import shape
from experiments.lab.budgets import views as budget_views
from experiments.models import Experiment, Participant, Run
from experiments.runs import actions, lineage, progress, removal
from experiments.runs.admission import may_change
from experiments.runs.statistics import rows
from experiments.runs.statistics.estimates import CONFIDENCE, Contrast, Estimate, Share
from experiments.runs.statistics.summary import COLUMNS, SWITCHES, TurnSummary, table
from experiments.runs.steering.repeating import MoreRuns, fresh_form, may_repeat
from experiments.workflows import REGISTRY, surface_of

RUNS_PER_PAGE = 25
FORMATS = ("json", "csv")
WITH = OpenApiParameter("with", str, many=True, enum=SWITCHES, description="Runs of this kind count too.")
FORMAT = OpenApiParameter("format", str, enum=FORMATS, description="csv: the values of each run, nothing else.")


class CreateExperiment(serializers.Serializer[Any]):
    """config follows the workflow's schema; cast names a model per seat, the judge and the filter may be left out."""

    workflow = serializers.ChoiceField(list(REGISTRY))
    title = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    config = serializers.DictField()
    cast = CastField()
    project = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The id of one you are a member of; its members see it."
    )


class StartRuns(serializers.Serializer[Any]):
    seed = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0, max_value=2**53)
    repeats = serializers.IntegerField(required=False, default=1, min_value=1, max_value=actions.MOST_REPEATS)


class Rename(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=actions.LONGEST_TITLE)


class Changed(serializers.Serializer[Any]):
    runs = serializers.IntegerField(help_text="How many runs that changed.")


class StartedRuns(serializers.Serializer[Any]):
    runs = RunSerializer(many=True)


@extend_schema_view(
    list=extend_schema(responses={200: ExperimentSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: ExperimentSerializer, **PROBLEMS}),
)
class ExperimentViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Experiment]):
    """Experiments that you can see. Only the title of one can be changed: create a new one instead."""

    scope = Scope.WRITE
    queryset = Experiment.objects.none()
    serializer_class = ExperimentSerializer
    lookup_value_converter = "uuid"
    filterset_fields = ["workflow"]

    def get_queryset(self) -> QuerySet[Experiment]:
        return (
            Experiment.objects.visible_to(self.request.user)
            .select_related("owner")
            .prefetch_related("participants__model", "people__person")
        )

    @extend_schema(request=CreateExperiment, responses={201: ExperimentSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        """Create an experiment. No model is called before it is started."""
        asked = validated(CreateExperiment, request)
        experiment = actions.create(owner=person(request), **asked)
        return Response(ExperimentSerializer(experiment).data, status=201)

    @extend_schema(request=StartRuns, responses={201: StartedRuns, **RIVALLED})
    @action(detail=True, methods=["post"])
    @spends
    def start(self, request: Request, pk: str) -> Response:
        """Start runs of an experiment, with successive seeds. One `Idempotency-Key` starts them once."""
        experiment = self.get_object()
        asked = validated(StartRuns, request)
        key = idempotency_key(request)
        runs = actions.start(experiment, by=person(request), idempotency_key=key, **asked)
        rows = runs_with_totals().filter(pk__in=[run.pk for run in runs]).order_by("seed")
        return Response({"runs": RunSerializer(rows, many=True).data}, status=201)

    @extend_schema(request=Rename, responses={200: ExperimentSerializer, **PROBLEMS})
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change the title of an experiment and its runs."""
        experiment = self.get_object()
        actions.rename(experiment, by=person(request), **validated(Rename, request))
        return Response(ExperimentSerializer(experiment).data)

    @extend_schema(responses={204: None, **RIVALLED})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete an experiment with all its runs. Its costs stay in usage and budgets."""
        removal.remove_experiment(self.get_object(), by=person(request))
        return Response(status=204)

    @extend_schema(request=None, responses={200: Changed, **RIVALLED})
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, pk: str) -> Response:
        """Leave all runs of an experiment out of the runs list. They must have ended."""
        return Response({"runs": actions.archive(_runs_of(self.get_object()), by=person(request))})

    @extend_schema(request=None, responses={200: Changed, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        """List all runs of an experiment again."""
        changed = actions.archive(_runs_of(self.get_object()), by=person(request), is_archived=False)
        return Response({"runs": changed})


def _runs_of(experiment: Experiment) -> list[Run]:
    return list(experiment.runs.select_related("experiment"))


NO_INTERVAL = ["", "no_value", "one_value"]
EstimateSerializer = shape(
    "Estimate",
    Estimate,
    doc="The mean of n values with its 95 % interval (Student's t). low and high are null when n is below 2.",
    missing=serializers.IntegerField(help_text="Runs without this value: left out, never replaced."),
    no_interval=serializers.ChoiceField(NO_INTERVAL),
)
ShareSerializer = shape("Share", Share, doc="count of n runs, as a share from 0 to 1 with its 95 % interval (Wilson).")
ContrastSerializer = shape(
    "Contrast",
    Contrast,
    doc="The mean of the runs that this subject begins, less that of the others, with its 95 % interval (Welch).",
    first=EstimateSerializer(),
    second=EstimateSerializer(),
    no_interval=serializers.ChoiceField(NO_INTERVAL),
)
TurnSerializer = shape(
    "Turn",
    TurnSummary,
    doc="One turn over all runs that reached it.",
    goal_deviation=EstimateSerializer(),
    cooperation=EstimateSerializer(),
)


class SubjectSerializer(serializers.Serializer[Any]):
    """deviated_in: the first turn above 20 %, of those runs alone that had one."""

    measures = serializers.DictField(child=EstimateSerializer())
    deviated = ShareSerializer()
    deviated_in = EstimateSerializer()
    turns = TurnSerializer(many=True)


class LeftOutSerializer(serializers.Serializer[Any]):
    run = serializers.UUIDField()
    reason = serializers.ChoiceField(["live", *SWITCHES])


class CorrectedSerializer(serializers.Serializer[Any]):
    """The same runs with the scores that people corrected in queues that are closed."""

    scores = serializers.IntegerField(help_text="How many scores were corrected.")
    people = serializers.IntegerField()
    subjects = serializers.DictField(child=SubjectSerializer())
    difference = serializers.DictField(child=EstimateSerializer(), allow_null=True)


class MeasuredSerializer(serializers.Serializer[Any]):
    """A rate from 0 to 1, or a mean, of one dimension and judge, with its 95 % interval, which counts each run as one
    cluster. choice: the category that a rate is of. value, low, high: null where there is none. missing: units without
    a value; unverified: findings whose quotation is not in the transcript.
    """

    dimension = serializers.CharField(source="dimension.name")
    title = serializers.CharField(source="dimension.title")
    judge = serializers.CharField()
    choice = serializers.CharField(allow_blank=True)
    is_rate = serializers.BooleanField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    missing = serializers.IntegerField()
    runs = serializers.IntegerField()
    unverified = serializers.IntegerField()


class StatisticsSerializer(serializers.Serializer[Any]):
    """Each of `values` has the names of the CSV's columns. Missing is null, never a neutral number."""

    experiment = serializers.UUIDField()
    confidence = serializers.FloatField()
    switched_on = serializers.ListField(child=serializers.ChoiceField(SWITCHES))
    counted = serializers.ListField(child=serializers.UUIDField())
    left_out = LeftOutSerializer(many=True)
    subjects = serializers.DictField(child=SubjectSerializer())
    difference = serializers.DictField(
        child=EstimateSerializer(), allow_null=True, help_text="First subject less second, paired by run."
    )
    beginning = serializers.DictField(
        child=serializers.DictField(child=ContrastSerializer()),
        allow_null=True,
        help_text="What beginning does, per subject; null unless who begins alternates.",
    )
    values = serializers.ListField(child=serializers.DictField())
    corrected = CorrectedSerializer(
        allow_null=True, help_text="Beside what the judges gave, never mixed with it; null where nothing was corrected."
    )
    measured = MeasuredSerializer(many=True, help_text="What an instrument found, where the runs were judged by one.")


class StatisticsView(APIView):
    """Statistics over the runs of an experiment: means with intervals, and the value of each run."""

    @extend_schema(
        parameters=[WITH, FORMAT],
        responses={
            (200, "application/json"): StatisticsSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            **PROBLEMS,
        },
    )
    def get(self, request: Request, pk: UUID) -> HttpResponse:
        experiment = get_object_or_404(Experiment.objects.visible_to(request.user), pk=pk)
        switches, format_ = request.query_params.getlist("with"), request.query_params.get("format", "json")
        if unknown := sorted(set(switches) - set(SWITCHES)):
            raise ValidationError({"with": [f"{name} is none of {', '.join(SWITCHES)}." for name in unknown]})
        if format_ not in FORMATS:
            raise ValidationError({"format": ["This format is not offered: ask for json or csv."]})
        found = rows.repeats(experiment, switches, reader=request.user)
        if format_ == "csv":
            return values_as_csv(found)
        return Response(StatisticsSerializer(_statistics_document(found)).data)


def _statistics_document(found: rows.Repeats) -> dict[str, Any]:
    statistics, corrected = found.statistics, found.corrected
    return {
        "experiment": found.experiment.pk,
        "confidence": CONFIDENCE,
        "switched_on": found.switched_on,
        "counted": [run.pk for run in found.counted],
        "left_out": [{"run": left.run.pk, "reason": left.reason} for left in found.left_out],
        "subjects": statistics.summaries,
        "difference": statistics.difference,
        "beginning": statistics.beginning,
        "values": [dict(zip(COLUMNS, cells, strict=True)) for cells in table(statistics)],
        "corrected": corrected
        and {
            "scores": found.corrections.count,
            "people": found.corrections.people,
            "subjects": corrected.summaries,
            "difference": corrected.difference,
        },
        "measured": found.measured,
    }


@for_readers
@require_GET
def experiment(request: HttpRequest, pk: UUID) -> HttpResponse:
    """An experiment: its set-up, its runs, what they say together, and what branched from them."""
    shown = _visible_experiment(request, pk)
    if page := surface_of(shown.workflow).page:
        return cast(HttpResponse, page(request, shown))
    return _page(request, shown, fresh_form(shown) if may_repeat(shown) else None)


@login_required
@require_POST
def experiment_start(request: HttpRequest, pk: UUID) -> HttpResponse:
    """Start more runs. The form carries a token: sent twice, it starts its runs once."""
    shown = _visible_experiment(request, pk)
    if not may_repeat(shown):
        raise Http404
    form = MoreRuns(request.POST)
    if not form.is_valid():
        return _page(request, shown, form, status=422)
    with ShownIn(form):
        try:
            started = actions.start(shown, by=person(request), **form.asked())
        except KeyReused as error:
            said = _("This form was sent before with other values. Check them and start again.")
            messages.warning(request, said)
            return _page(request, shown, fresh_form(shown), status=error.status)
        said = ngettext("%(n)s run started.", "%(n)s runs started.", len(started))
        messages.success(request, said % {"n": len(started)})
        return redirect("experiment", pk=shown.pk)
    return _page(request, shown, form, status=status_of(form))


@login_required
@require_POST
def experiment_rename(request: HttpRequest, pk: UUID) -> HttpResponse:
    shown = _visible_experiment(request, pk)
    back_to(request, "experiment", pk=shown.pk)
    if actions.rename(shown, by=person(request), title=request.POST.get("title", "")):
        messages.success(request, _("The title is changed."))
    return redirect("experiment", pk=shown.pk)


@for_readers
@require_GET
def experiment_values(request: HttpRequest, pk: UUID) -> HttpResponse:
    """The per-run values behind the statistics, as CSV."""
    found = rows.repeats(_visible_experiment(request, pk), request.GET.getlist("with"), reader=request.user)
    return values_as_csv(found)


def values_as_csv(found: rows.Repeats) -> HttpResponse:
    """A subject may have any name that somebody gave it: nothing in a cell is taken for a formula."""
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="experiment-{found.experiment.pk}.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    writer.writerows([cell(value) for value in row] for row in table(found.statistics))
    return response


def _page(request: HttpRequest, shown: Experiment, form: MoreRuns | None, status: int = 200) -> HttpResponse:
    found = rows.repeats(shown, request.GET.getlist("with"), reader=request.user)
    everything = [*found.counted, *(left.run for left in found.left_out)]
    everything.sort(key=lambda run: (run.created, run.seed), reverse=True)
    page = Paginator(everything, RUNS_PER_PAGE).get_page(request.GET.get("page"))
    first = rows.begins_in(shown)
    family = lineage.for_experiment(shown, request.user)
    context = {
        "experiment": shown,
        "participants": list(shown.participants.all()),
        "repeats": found,
        "reasons": {left.run.pk: left.reason for left in found.left_out},
        "begins": {run.pk: first(run.seed) for run in page.object_list} if first else {},
        "page": page,
        "items": [progress.of(run) for run in page.object_list],
        "form": form,
        "may_control": may_change(shown, request.user),
        "is_archived": bool(everything) and all(run.archived for run in everything),
        "lineage": family,
        **budget_views.of_experiment(shown, request),
    }
    return render(request, "experiments/experiment.html", context, status=status)


def _visible_experiment(request: HttpRequest, pk: UUID) -> Experiment:
    mine = Experiment.objects.visible_to(request.user).select_related("owner", "project")
    cast = Prefetch("participants", Participant.objects.select_related("model__provider"))
    return get_object_or_404(mine.prefetch_related(cast), pk=pk)
