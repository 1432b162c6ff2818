"""The API of studies: setting one up, locking its plan, running it, and looking at its results."""

from dataclasses import fields
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, QuerySet
from django.http import HttpResponseBase
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer

from accounts.attachments import streamed, to_be_saved
from accounts.errors import NotFound
from accounts.scopes import Scope
from experiments.api.requests import PROBLEMS, RIVALLED, person, spends, spent, validated
from experiments.api.serializers import InBatchesSerializer, shown_batches
from experiments.api.shapes import shape
from experiments.library.imports.api import DocumentParser
from experiments.models import Run, Study, StudyLook, StudyPlan
from experiments.runs.run_api import RunFilter
from experiments.runs.upstreams import MixedSerializer, upstreams_of_study
from experiments.studies import campaigns, comparison, importing, results, running, services
from experiments.studies.charts import Chart, chart
from experiments.studies.checking import checked_design, estimated, planned_sizes
from experiments.studies.design import MOST_REPEATS
from experiments.studies.folder import folder
from experiments.studies.sizes import USUAL, Asked

COMPARED = [
    OpenApiParameter("study", str, many=True, required=True, description="The ids of 2 to 6 studies."),
    OpenApiParameter("outcome", str, description="Its name; without it, the first that they share."),
]
FOUGHT = [
    OpenApiParameter("campaign", str, many=True, required=True, description="The ids of 2 to 6 campaigns."),
    OpenApiParameter("contestant", str, required=True, description="Its name."),
]


class CreateStudy(serializers.Serializer[Any]):
    """design and plan follow `docs/studies.md`. at_once: runs that are queued or under way at a time."""

    title = serializers.CharField(max_length=200)
    design = serializers.DictField()
    plan = serializers.DictField(required=False, allow_null=True, default=None)
    project = serializers.CharField(required=False, allow_blank=True, default="")
    at_once = serializers.IntegerField(required=False, default=10, min_value=1, max_value=services.MOST_AT_ONCE)
    cost_limit = serializers.DecimalField(
        required=False, allow_null=True, default=None, min_value=0, max_digits=12, decimal_places=4
    )


class ChangeStudy(serializers.Serializer[Any]):
    """design and plan can be changed until the plan is locked."""

    title = serializers.CharField(required=False, max_length=200)
    design = serializers.DictField(required=False)
    plan = serializers.DictField(required=False, allow_null=True)
    at_once = serializers.IntegerField(required=False, min_value=1, max_value=services.MOST_AT_ONCE)
    cost_limit = serializers.DecimalField(required=False, allow_null=True, min_value=0, max_digits=12, decimal_places=4)


class AmendPlan(serializers.Serializer[Any]):
    plan = serializers.DictField()
    reason = serializers.CharField(max_length=services.LONGEST_REASON)


class MoreRepeats(serializers.Serializer[Any]):
    repeats = serializers.IntegerField(min_value=1, max_value=MOST_REPEATS)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=services.LONGEST_REASON)


class StudyPlanSerializer(serializers.ModelSerializer[StudyPlan]):
    """number 1: as it was locked; further ones are amendments. digest: SHA-256 of plan and design."""

    by = serializers.CharField(source="by.username")
    content = serializers.DictField()

    class Meta:
        model = StudyPlan
        fields = ["number", "content", "digest", "reason", "runs_seen", "by", "created"]


class StudySerializer(serializers.ModelSerializer[Study]):
    """ended: planned runs whose run has ended. spent: US dollars, as far as costs are known."""

    owner = serializers.CharField(source="owner.username")
    design = serializers.DictField()
    plan = serializers.DictField(allow_null=True)
    plans = StudyPlanSerializer(many=True)
    planned = serializers.IntegerField()
    begun = serializers.IntegerField()
    ended = serializers.IntegerField(source="ended_runs")
    spent = serializers.DecimalField(source="spent_so_far", max_digits=20, decimal_places=10)

    class Meta:
        model = Study
        fields = [
            *("id", "title", "owner", "project", "state", "note", "design", "plan", "plans", "at_once", "cost_limit"),
            *("planned", "begun", "ended", "spent", "created", "started"),
        ]


class StudyDetail(StudySerializer):
    """upstreams: models that several upstreams of their provider answered for. in_batches: what is waited for."""

    upstreams = serializers.SerializerMethodField()
    in_batches = serializers.SerializerMethodField()

    class Meta(StudySerializer.Meta):
        fields = [*StudySerializer.Meta.fields, "upstreams", "in_batches"]

    @extend_schema_field(InBatchesSerializer(allow_null=True))
    def get_in_batches(self, study: Study) -> Any:
        return shown_batches(Run.objects.filter(planned__study=study))

    @extend_schema_field(MixedSerializer(many=True))
    def get_upstreams(self, study: Study) -> Any:
        return MixedSerializer(upstreams_of_study(study), many=True).data


PlannedRunSerializer = shape(
    "PlannedRun",
    doc="number: its place in the random order. run, state: null until it is begun.",
    number=int,
    condition=int,
    levels=serializers.DictField(child=serializers.CharField()),
    repeat=int,
    seed=int,
    experiment=UUID,
    run=UUID | None,
    state=str | None,
)


def _planned_runs(study: Study) -> list[dict[str, Any]]:
    """In their order; a condition is read once, however many runs it has."""
    conditions = {one.pk: one for one in study.conditions.all()}
    fields = ("number", "condition", "repeat", "seed", "run", "run__state")
    return [
        {
            "number": number,
            "condition": conditions[condition].number,
            "levels": conditions[condition].levels,
            "repeat": repeat,
            "seed": seed,
            "experiment": conditions[condition].experiment_id,
            "run": run,
            "state": state,
        }
        for number, condition, repeat, seed, run, state in study.planned_runs.order_by("number").values_list(*fields)
    ]


class StudyLookSerializer(serializers.ModelSerializer[StudyLook]):
    """results: a result per contrast, and the shares of the planned runs that were seen at each look so far."""

    plan = serializers.IntegerField(source="plan.number")
    by = serializers.CharField(source="by.username")
    results = serializers.DictField()

    class Meta:
        model = StudyLook
        fields = ["number", "plan", "ended", "share", "results", "by", "created"]


class StudyRuns(serializers.Serializer[Any]):
    runs = PlannedRunSerializer(many=True)


class StudyLooks(serializers.Serializer[Any]):
    looks = StudyLookSerializer(many=True)


class AmountsSerializer(serializers.Serializer[Any]):
    calls = serializers.IntegerField()
    tokens = serializers.IntegerField()
    cost = serializers.DecimalField(max_digits=20, decimal_places=10, allow_null=True)
    seconds = serializers.IntegerField()


class StudyEstimate(serializers.Serializer[Any]):
    """Of all runs together; cost null where a price is not known. has_no_end: some runs have no last turn, and only
    their first is counted. is_batched: each answer of some models may take up to 24 hours, which is not in the seconds.
    """

    typical = AmountsSerializer()
    most = AmountsSerializer()
    has_no_end = serializers.BooleanField()
    is_batched = serializers.BooleanField()


class SizesQuery(serializers.Serializer[Any]):
    """rate: of one side, and of a time the share of its runs with the event; difference: of the other side. sd: a
    difference of scores or diversities in standard deviations. spread: the standard deviation of prompts in log-odds.
    """

    rate = serializers.FloatField(min_value=0, max_value=1, default=USUAL.rate)
    difference = serializers.FloatField(min_value=0.01, max_value=1, default=USUAL.difference)
    sd = serializers.FloatField(min_value=0.01, max_value=10, default=USUAL.sd)
    spread = serializers.FloatField(min_value=0, max_value=5, default=USUAL.spread)


class StudySizeSerializer(serializers.Serializer[Any]):
    """visible: by kind of contrast, the difference that so many repeats can see; null where there is none."""

    repeats = serializers.IntegerField()
    runs = serializers.IntegerField()
    per_side = serializers.IntegerField()
    visible = serializers.DictField(child=serializers.FloatField(allow_null=True))
    amounts = AmountsSerializer()


class StudySizesSerializer(serializers.Serializer[Any]):
    """kinds: of the plan's contrasts: rate, mixed, time, score or diversity. needed: repeats by kind; null for more
    than a study can have.
    """

    kinds = serializers.ListField(child=serializers.CharField())
    needed = serializers.DictField(child=serializers.IntegerField(allow_null=True))
    sizes = StudySizeSerializer(many=True)


class StudyDifferenceSerializer(serializers.Serializer[Any]):
    """Of a figure its value and 95 % interval; of a rate as a share, -1 to 1."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class PooledStudiesSerializer(StudyDifferenceSerializer):
    """value, low, high: by Paule and Mandel, with the interval of Hartung, Knapp, Sidik and Jonkman. by_dl: by
    DerSimonian and Laird. tau2: the variance between studies; i2: 0 to 1. predicted: where a further study would lie.
    """

    studies = serializers.IntegerField()
    tau2 = serializers.FloatField()
    q = serializers.FloatField()
    i2 = serializers.FloatField()
    by_dl = StudyDifferenceSerializer()
    dl_tau2 = serializers.FloatField()
    predicted = serializers.ListField(child=serializers.FloatField(), allow_null=True)


class StudyContrastSerializer(serializers.Serializer[Any]):
    """levels, n: of the first and the second side. missing: why there is no difference."""

    study = serializers.UUIDField(source="study.pk")
    levels = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))
    n = serializers.ListField(child=serializers.IntegerField())
    difference = StudyDifferenceSerializer(allow_null=True)
    missing = serializers.CharField()


class ComparedContrastSerializer(serializers.Serializer[Any]):
    """not_pooled: why there is no summary: one_study, no_spread, scale, source, scope, provider or until."""

    contrast = serializers.CharField()
    estimates = StudyContrastSerializer(many=True)
    pooled = PooledStudiesSerializer(allow_null=True)
    not_pooled = serializers.CharField()


class TraitSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField(allow_blank=True))


class StudyComparisonSerializer(serializers.Serializer[Any]):
    """outcomes: those that two or more analyzed studies share. traits: what designs are, one value for each study.
    waiting: studies that are not analyzed yet.
    """

    outcome = serializers.CharField()
    outcomes = serializers.ListField(child=serializers.CharField())
    contrasts = ComparedContrastSerializer(many=True)
    traits = TraitSerializer(many=True)
    studies = serializers.ListField(child=serializers.UUIDField())
    waiting = serializers.ListField(child=serializers.UUIDField())


WinRateSerializer = shape(
    "CampaignWinRate",
    campaigns.WinRate,
    doc="""
    rate, low, high: the mean over prompts of the share of battles won, ties half, with its 95 % interval. against: the
    difference from the first campaign on the prompts that both have; null of the first.
    """,
    against=shape(
        "CampaignDifference",
        campaigns.Against,
        doc="p: by the signs of the prompts' differences; adjusted: among all campaigns. missing: why nothing is said.",
        difference=StudyDifferenceSerializer(allow_null=True),
    )(allow_null=True),
)
NamedSerializer = shape("Named", name=str, label=str)
ChartGroupSerializer = shape(
    "ChartGroup",
    doc="missing: runs without a value. low, high: the 95 % interval of the mean; null for fewer than two values.",
    label=str,
    n=int,
    missing=int,
    mean=float | None,
    low=float | None,
    high=float | None,
    values=shape("ChartedRun", run=UUID, value=float)(many=True),
)
RunChartSerializer = shape(
    "RunChart",
    doc="""
    measures, ways: what can be asked for. is_cut: there are more runs, and these are the newest. hidden: how many
    further groups there are.
    """,
    measure=str,
    group=str,
    measures=NamedSerializer(many=True),
    ways=NamedSerializer(many=True),
    groups=ChartGroupSerializer(many=True),
    runs=int,
    is_cut=bool,
    hidden=int,
)
CHARTED = [
    OpenApiParameter("measure", str, description="One of `measures`; `run:cost` by default."),
    OpenApiParameter("group", str, description="One of `ways`; `models` by default."),
]


class RunChartView(generics.GenericAPIView[Run]):
    """A measure of the newest 2,000 runs that fit the filters, by what they differ in."""

    queryset = Run.objects.none()
    filterset_class = RunFilter
    pagination_class = None

    def get_queryset(self) -> QuerySet[Run]:
        return Run.objects.visible_to(self.request.user)

    @extend_schema(parameters=CHARTED, responses={200: RunChartSerializer, **PROBLEMS})
    def get(self, request: Request) -> Response:
        measure, group = (request.query_params.get(name, "") for name in ("measure", "group"))
        rows = self.filter_queryset(self.get_queryset())
        found = chart(rows, measure=measure, by=group, reader=person(request))
        return Response(RunChartSerializer(_charted(found)).data)


def _charted(found: Chart) -> dict[str, Any]:
    groups = [
        {
            **{name: getattr(group.estimate, name) for name in ("n", "missing", "mean", "low", "high")},
            "label": group.label,
            "values": [{"run": run.pk, "value": value} for run, value in group.listed],
        }
        for group in found.groups
    ]
    return {
        **{name: getattr(found, name) for name in ("measures", "runs", "is_cut", "hidden")},
        "measure": found.measure.name,
        "group": found.by,
        "ways": [{"name": name, "label": label} for name, label in found.ways.items()],
        "groups": groups,
    }


class StudyViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Study]):
    """Studies that you can see."""

    scope = Scope.WRITE
    queryset = Study.objects.none()
    serializer_class = StudySerializer
    lookup_value_converter = "uuid"
    cursor_ordering = ["-created", "-id"]

    def get_serializer_class(self) -> type[BaseSerializer[Study]]:
        return StudyDetail if self.action == "retrieve" else StudySerializer

    def get_queryset(self) -> QuerySet[Study]:
        rows = Study.objects.visible_to(self.request.user).select_related("owner").prefetch_related("plans__by")
        return rows.with_counts().annotate(spent_so_far=running.spent_on(OuterRef("pk")))

    def _answer(self, pk: str, status: int = 200) -> Response:
        return Response(StudySerializer(self.get_queryset().get(pk=pk)).data, status=status)

    @extend_schema(request=CreateStudy, responses={201: StudySerializer, **RIVALLED})
    def create(self, request: Request) -> Response:
        """Set a study up. Every condition is checked; no model is called."""
        study = services.create(owner=person(request), **validated(CreateStudy, request))
        return self._answer(str(study.pk), 201)

    @extend_schema(
        request={"application/json": OpenApiTypes.OBJECT},
        responses={201: StudySerializer, 200: StudySerializer, **RIVALLED},
        operation_id="studies_import",
    )
    @action(detail=False, methods=["post"], url_path="import", parser_classes=[DocumentParser])
    def import_batch(self, request: Request) -> Response:
        """Import a stored batch of the original StarChamber, up to 20 MiB. A repetition returns the study (200)."""
        study, is_new = importing.store_batch(request.data, name="", by=person(request))
        return self._answer(str(study.pk), 201 if is_new else 200)

    @extend_schema(parameters=COMPARED, responses={200: StudyComparisonSerializer, **PROBLEMS})
    @action(detail=False)
    def compare(self, request: Request) -> Response:
        """Compare two to six studies by an outcome that they share: differences, their summary, and designs."""
        chosen = comparison.chosen(request.user, request.query_params.getlist("study"))
        found = comparison.of(chosen, request.user, request.query_params.get("outcome", ""))
        ids = {"studies": [one.pk for one in found.studies], "waiting": [one.pk for one in found.waiting]}
        return Response(
            StudyComparisonSerializer({**{one.name: getattr(found, one.name) for one in fields(found)}, **ids}).data
        )

    @extend_schema(parameters=FOUGHT, responses={200: WinRateSerializer(many=True), **PROBLEMS})
    @action(detail=False, pagination_class=None)
    def campaigns(self, request: Request) -> Response:
        """How often a contestant wins in two to six campaigns of battles, each beside the first, prompt by prompt."""
        asked = request.query_params
        contestant = asked.get("contestant", "").replace("\0", "")  # which no database takes
        found = campaigns.win_rates(person(request), asked.getlist("campaign"), contestant)
        return Response(WinRateSerializer(found, many=True).data)

    @extend_schema(request=ChangeStudy, responses={200: StudySerializer, **RIVALLED})
    def partial_update(self, request: Request, pk: str) -> Response:
        """Change a study; its design and plan until the plan is locked."""
        services.revise(self.get_object(), by=person(request), **validated(ChangeStudy, request))
        return self._answer(pk)

    @extend_schema(responses={204: None, **RIVALLED})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a study that has not begun."""
        services.remove(self.get_object(), by=person(request))
        return Response(status=204)

    @extend_schema(responses={200: StudyEstimate, **PROBLEMS})
    @action(detail=True)
    def estimate(self, request: Request, pk: str) -> Response:
        """Calls, tokens, cost and seconds of all runs together."""
        study = self.get_object()
        checked = checked_design(study.design, owner=study.owner)
        found = estimated(checked, by=person(request), at_once=study.at_once)
        return Response(StudyEstimate(found._asdict()).data)

    @extend_schema(parameters=[SizesQuery], responses={200: StudySizesSerializer, **PROBLEMS})
    @action(detail=True)
    def sizes(self, request: Request, pk: str) -> Response:
        """What more or fewer repeats could see with a power of 80 %, their costs, and how many a difference needs."""
        study, asked = self.get_object(), SizesQuery(data=request.query_params)
        asked.is_valid(raise_exception=True)
        found = planned_sizes(study, Asked(**asked.validated_data), by=person(request))
        return Response(StudySizesSerializer(found).data)

    @extend_schema(request=None, responses={201: StudyPlanSerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    def lock(self, request: Request, pk: str) -> Response:
        """Fix the plan, with its hash and the time."""
        return Response(StudyPlanSerializer(services.lock(self.get_object(), by=person(request))).data, status=201)

    @extend_schema(request=AmendPlan, responses={201: StudyPlanSerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    def amend(self, request: Request, pk: str) -> Response:
        """Add an amendment. Contrasts that the locked plan did not have are exploratory."""
        study = self.get_object()
        plan = services.amend(study, by=person(request), **validated(AmendPlan, request))
        return Response(StudyPlanSerializer(plan).data, status=201)

    @extend_schema(request=None, responses={200: StudySerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    @spends
    def start(self, request: Request, pk: str) -> Response:
        """Begin the runs, in random order, `at_once` at a time."""
        study = self.get_object()
        spent(request, lambda: str(services.start(study, by=person(request)).pk))
        return self._answer(pk)

    @extend_schema(request=None, responses={200: StudySerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Begin no further run; those under way come to their end."""
        services.pause(self.get_object(), by=person(request))
        return self._answer(pk)

    @extend_schema(request=None, responses={200: StudySerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    @spends
    def resume(self, request: Request, pk: str) -> Response:
        """Go on with a paused study."""
        study = self.get_object()
        spent(request, lambda: services.resume(study, by=person(request)))
        return self._answer(pk)

    @extend_schema(request=None, responses={200: StudySerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Begin no further run for good, and stop those under way."""
        services.stop(self.get_object(), by=person(request))
        return self._answer(pk)

    @extend_schema(request=MoreRepeats, responses={200: StudySerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    @spends
    def repeats(self, request: Request, pk: str) -> Response:
        """Plan further repeats of every condition, as an amendment, and go on. What looks have spent stays spent."""
        study, asked = self.get_object(), validated(MoreRepeats, request)
        spent(request, lambda: str(services.add_repeats(study, by=person(request), **asked).pk))
        return self._answer(pk)

    @extend_schema(responses={200: StudyRuns, **PROBLEMS})
    @action(detail=True)
    def runs(self, request: Request, pk: str) -> Response:
        """All planned runs in their order, with conditions and states."""
        return Response({"runs": _planned_runs(self.get_object())})

    @extend_schema(responses={200: StudyLooks, **PROBLEMS})
    @action(detail=True)
    def looks(self, request: Request, pk: str) -> Response:
        """All analyses so far, as they were seen."""
        return Response(
            StudyLooks({"looks": self.get_object().looks.select_related("plan", "by").defer("data", "labels")}).data
        )

    @extend_schema(request=None, responses={201: StudyLookSerializer, **RIVALLED})
    @action(detail=True, methods=["post"])
    def look(self, request: Request, pk: str) -> Response:
        """Analyze what has ended so far. Before all runs have ended this costs a part of alpha."""
        return Response(StudyLookSerializer(results.look(self.get_object(), by=person(request))).data, status=201)

    @extend_schema(responses={(200, "application/zip"): OpenApiTypes.BINARY, **PROBLEMS})
    @action(detail=True)
    def folder(self, request: Request, pk: str) -> HttpResponseBase:
        """The latest look as a folder that recomputes: data, plan, results and code."""
        study = self.get_object()
        look = study.looks.order_by("-number").first()
        if look is None:
            raise NotFound
        answer = streamed(request._request, folder(look))
        return to_be_saved(answer, "application/zip", f"study-{study.pk}.zip")
