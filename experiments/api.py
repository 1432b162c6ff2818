"""The HTTP API. Each view fetches with the right to see, validates, calls one verb, answers."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_view
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ParseError, PermissionDenied, ValidationError
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from experiments import actions, branching, metrics, steering, unlisted
from experiments.casting import InvalidExperiment
from experiments.health import HealthSerializer, health
from experiments.models import Call, Event, Experiment, Judgment, Message, Provider, ProviderModel, Run
from experiments.problems import Conflict, ProblemSerializer
from experiments.refusals import NotAllowed, NotOffered, Rivalled
from experiments.serializers import (
    CallSerializer,
    EventSerializer,
    ExperimentSerializer,
    JudgmentSerializer,
    MessageSerializer,
    ProviderModelSerializer,
    RunSerializer,
)
from experiments.workflows import REGISTRY

PROBLEMS = {400: ProblemSerializer, 401: ProblemSerializer, 404: ProblemSerializer}
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key", str, OpenApiParameter.HEADER, description="A repetition with the same key starts nothing new."
)
AFTER = OpenApiParameter("after", int, description="Only events with a higher seq.")


class HealthView(APIView):
    """The state of the database, Redis, the workers and the providers; 503 when one of them is down."""

    permission_classes = [AllowAny]
    authentication_classes = []

    @extend_schema(responses={200: HealthSerializer, 503: HealthSerializer})
    def get(self, request: Request) -> Response:
        report = health()
        response = Response(report, status=200 if report["status"] == "ok" else 503)
        response._has_been_logged = True  # type: ignore[attr-defined]  # who asks for the state is told; the log is not
        return response


class ModelFilter(filters.FilterSet):  # type: ignore[misc]
    available = filters.BooleanFilter(method="filter_available", help_text="Only models that can be asked now.")

    class Meta:
        model = ProviderModel
        fields: list[str] = []

    def filter_available(self, models: QuerySet[ProviderModel], name: str, value: bool) -> QuerySet[ProviderModel]:
        keyless = [provider.pk for provider in Provider.objects.all() if provider.lacks_key]
        on = Q(is_active=True, provider__is_active=True) & ~Q(provider__in=keyless)
        return models.filter(on if value else ~on)


@extend_schema(responses={200: ProviderModelSerializer(many=True), **PROBLEMS})
class ModelList(generics.ListAPIView[ProviderModel]):
    """The provider models of the lab."""

    queryset = ProviderModel.objects.exclude(provider__name__in=unlisted.PROVIDERS).select_related("provider")
    serializer_class = ProviderModelSerializer
    filterset_class = ModelFilter
    cursor_ordering = ["slug"]


class CreateExperiment(serializers.Serializer[Any]):
    """config follows the workflow's schema; cast names a model per seat, the judge and the filter may be left out."""

    workflow = serializers.ChoiceField(list(REGISTRY))
    title = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)
    config = serializers.DictField()
    cast = serializers.DictField(child=serializers.DictField())


class StartRuns(serializers.Serializer[Any]):
    seed = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=0, max_value=2**53)
    repeats = serializers.IntegerField(required=False, default=1, min_value=1, max_value=actions.MOST_REPEATS)


class StartedRuns(serializers.Serializer[Any]):
    runs = RunSerializer(many=True)


@extend_schema_view(
    list=extend_schema(responses={200: ExperimentSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: ExperimentSerializer, **PROBLEMS}),
)
class ExperimentViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Experiment]):
    """Experiments of yours. They do not change once created: create another one instead."""

    queryset = Experiment.objects.none()
    serializer_class = ExperimentSerializer
    lookup_value_converter = "uuid"
    filterset_fields = ["workflow"]

    def get_queryset(self) -> QuerySet[Experiment]:
        return Experiment.objects.visible_to(self.request.user).prefetch_related("participants__model")

    @extend_schema(request=CreateExperiment, responses={201: ExperimentSerializer, 403: ProblemSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        asked = _validated(CreateExperiment, request)
        with _refusals():
            experiment = actions.create(owner=_person(request), **asked)
        return Response(ExperimentSerializer(experiment).data, status=201)

    @extend_schema(
        request=StartRuns,
        parameters=[IDEMPOTENCY_KEY],
        responses={201: StartedRuns, 403: ProblemSerializer, 409: ProblemSerializer, **PROBLEMS},
    )
    @action(detail=True, methods=["post"])
    def start(self, request: Request, pk: str) -> Response:
        experiment = self.get_object()
        asked = _validated(StartRuns, request)
        key = request.headers.get("Idempotency-Key", "")
        if len(key) > 200 or not key.isprintable():
            raise ValidationError({"Idempotency-Key": ["A key has at most 200 characters, all of them printable."]})
        with _refusals():
            runs = actions.start(experiment, by=_person(request), idempotency_key=key, **asked)
        rows = _runs().filter(pk__in=[run.pk for run in runs]).order_by("seed")
        return Response({"runs": RunSerializer(rows, many=True).data}, status=201)


class RunFilter(filters.FilterSet):  # type: ignore[misc]
    experiment = filters.UUIDFilter(field_name="experiment_id")
    workflow = filters.CharFilter(field_name="experiment__workflow")
    state = filters.ChoiceFilter(choices=Run.State.choices)
    search = filters.CharFilter(field_name="experiment__title", lookup_expr="icontains")

    class Meta:
        model = Run
        fields: list[str] = []


class RunDetail(RunSerializer):
    metrics = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "metrics"]

    def get_metrics(self, run: Run) -> dict[str, Any]:
        return metrics.run_metrics(run, REGISTRY[run.experiment.workflow].SUBJECTS)


class Saying(serializers.Serializer[Any]):
    """key names the pause that is answered: what was meant for another one is refused."""

    key = serializers.CharField(max_length=200)
    action = serializers.CharField(max_length=40)
    text = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)


class ModeChange(serializers.Serializer[Any]):
    mode = serializers.ChoiceField(Run.Mode.choices)


class Extension(serializers.Serializer[Any]):
    max_turns = serializers.IntegerField(allow_null=True, min_value=1, max_value=100)


class JudgeAgain(serializers.Serializer[Any]):
    """model: slug of the judge, the lab's when left out. rubric: text, the workflow's own when left out."""

    model = serializers.CharField(required=False, allow_null=True, default=None)
    rubric = serializers.CharField(required=False, allow_blank=True, default="")


class BranchFrom(serializers.Serializer[Any]):
    """text: what the message says instead; as it stands when left out."""

    text = serializers.CharField(required=False, allow_null=True, default=None, trim_whitespace=False)


@contextmanager
def _refusals() -> Iterator[None]:
    """What a verb refuses, as the problem that tells of it."""
    try:
        yield
    except NotOffered as error:
        raise ValidationError({"action": [str(error)]}) from error
    except InvalidExperiment as error:
        raise ValidationError(error.errors) from error
    except NotAllowed as error:
        raise PermissionDenied(str(error)) from error
    except (Rivalled, actions.KeyReused) as error:
        raise Conflict(str(error)) from error


@extend_schema_view(
    list=extend_schema(responses={200: RunSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: RunDetail, **PROBLEMS}),
)
class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Run]):
    """Runs of yours, with what was said and found in them."""

    queryset = Run.objects.none()
    filterset_class = RunFilter
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Run]:
        rows: QuerySet[Run] = _runs().visible_to(self.request.user)
        return rows

    def get_serializer_class(self) -> type[BaseSerializer[Run]]:
        return RunSerializer if self.action == "list" else RunDetail

    @extend_schema(request=None, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stop a live run; stopping one that has ended changes nothing."""
        actions.stop(self.get_object(), by=_person(request))
        return self._now()

    @extend_schema(request=None, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str) -> Response:
        """Go on with a failed run from the step that failed, or with a paused one."""
        run = self.get_object()
        if not actions.resume(run, by=_person(request)):
            raise Conflict(_("Only a failed or a paused run can be resumed."))
        return self._now()

    @extend_schema(request=None, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Let the calls under way come to their end, and begin nothing more."""
        if not steering.pause(self.get_object(), by=_person(request)):
            raise Conflict(_("The run waits already, or is over."))
        return self._now()

    @extend_schema(request=Saying, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def say(self, request: Request, pk: str) -> Response:
        """Answer the pause that the run waits at. 409 when something else was said there first."""
        run, asked = self.get_object(), _validated(Saying, request)
        with _refusals():
            steering.say(run, by=_person(request), **asked)
        return self._now()

    @extend_schema(request=ModeChange, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def mode(self, request: Request, pk: str) -> Response:
        """Manual or automatic, from the next pause on."""
        run, asked = self.get_object(), _validated(ModeChange, request)
        with _refusals():
            steering.set_mode(run, by=_person(request), **asked)
        return self._now()

    @extend_schema(request=Extension, responses={200: RunDetail, 409: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def extend(self, request: Request, pk: str) -> Response:
        """Move the last turn of a live run; null for no last turn."""
        run, asked = self.get_object(), _validated(Extension, request)
        with _refusals():
            steering.extend(run, by=_person(request), **asked)
        return self._now()

    @extend_schema(request=JudgeAgain, responses={201: RunDetail, 403: ProblemSerializer, **PROBLEMS})
    @action(detail=True, methods=["post"])
    def judge(self, request: Request, pk: str) -> Response:
        """Have the transcript judged again, by another judge or rubric: a run of its own. The first scores are kept."""
        run, asked = self.get_object(), _validated(JudgeAgain, request)
        with _refusals():
            again = branching.judge_again(run, by=_person(request), **asked)
        return Response(RunDetail(_runs().get(pk=again.pk)).data, status=201)

    def _now(self) -> Response:
        return Response(RunDetail(self.get_object()).data)


class BranchView(APIView):
    """Go on differently from a message: a new run whose parent stays as it is."""

    @extend_schema(request=BranchFrom, responses={201: RunDetail, 403: ProblemSerializer, **PROBLEMS})
    def post(self, request: Request, pk: str) -> Response:
        messages = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
        message = get_object_or_404(messages.select_related("run__experiment", "step", "call"), pk=pk)
        asked = _validated(BranchFrom, request)
        with _refusals():
            run = branching.branch(message, by=_person(request), **asked)
        return Response(RunDetail(_runs().get(pk=run.pk)).data, status=201)


class OfRun(generics.ListAPIView[Any]):
    """Rows of one run that the asking person may see."""

    def of_run(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if getattr(self, "swagger_fake_view", False):
            return rows.none()
        if not Run.objects.visible_to(self.request.user).filter(pk=self.kwargs["pk"]).exists():
            raise Http404
        return rows.filter(run_id=self.kwargs["pk"])


@extend_schema(responses={200: MessageSerializer(many=True), **PROBLEMS})
class MessageList(OfRun):
    """What was said, in order."""

    serializer_class = MessageSerializer
    cursor_ordering = ["seq"]

    def get_queryset(self) -> QuerySet[Message]:
        return self.of_run(Message.objects.select_related("call"))


@extend_schema(responses={200: JudgmentSerializer(many=True), **PROBLEMS})
class JudgmentList(OfRun):
    """What the judge found, by turn and side. A score that was not given is absent, with the reason."""

    serializer_class = JudgmentSerializer
    cursor_ordering = ["turn", "id"]

    def get_queryset(self) -> QuerySet[Judgment]:
        return self.of_run(Judgment.objects.all())


@extend_schema(responses={200: CallSerializer(many=True), **PROBLEMS})
class CallList(OfRun):
    """Every attempt at a provider: what was sent, what came back, what it cost."""

    serializer_class = CallSerializer
    cursor_ordering = ["id"]

    def get_queryset(self) -> QuerySet[Call]:
        return self.of_run(Call.objects.select_related("step", "model__provider"))


@extend_schema(parameters=[AFTER], responses={200: EventSerializer(many=True), **PROBLEMS})
class EventList(OfRun):
    """The numbered facts of a run: the same envelopes that the WebSocket sends."""

    serializer_class = EventSerializer
    cursor_ordering = ["seq"]

    def get_queryset(self) -> QuerySet[Event]:
        after = self.request.query_params.get("after", "0")
        if not after.isascii() or not after.isdigit() or len(after) > 18:
            raise ValidationError({"after": ["A whole number is needed."]})
        return self.of_run(Event.objects.filter(seq__gt=int(after)))


def _runs() -> Any:
    return Run.objects.with_totals().with_pauses().select_related("experiment")


def _validated(serializer: type[serializers.Serializer[Any]], request: Request) -> dict[str, Any]:
    try:
        checked = serializer(data=request.data)
    except RecursionError as error:
        raise ParseError("The JSON is nested too deeply.") from error
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


def _person(request: Request | HttpRequest) -> Any:
    return request.user
