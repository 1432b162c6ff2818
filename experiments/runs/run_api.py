"""The API of runs: what they are, steering them while they are played, and what was recorded in them."""

import hashlib
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, get_args
from uuid import UUID

from django.db.models import QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils.http import parse_etags
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field, extend_schema_view
from rest_framework import generics, mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import BaseSerializer
from rest_framework.views import APIView

from accounts.errors import Conflict
from accounts.scopes import Scope
from experiments.api.requests import (
    PROBLEMS,
    RIVALLED,
    idempotency_key,
    person,
    runs_with_totals,
    spends,
    spent,
    validated,
)
from experiments.api.serializers import (
    BallotSerializer,
    CallSerializer,
    EventSerializer,
    InBatchesSerializer,
    JudgmentSerializer,
    MessageSerializer,
    RunSerializer,
    shown_batches,
)
from experiments.models import Ballot, Call, Event, Judgment, Message, Run
from experiments.models.run import LIVE_STATES
from experiments.runs import actions, lineage, metrics, removal, run_list
from experiments.runs.live.backlog import number_of
from experiments.runs.steering import branching, steering
from experiments.workflows import workflow_of
from experiments.workflows.base.events import JsonObject
from experiments.workflows.base.judge import Sees
from experiments.workflows.judging import services as judging
from experiments.workflows.shards import without_shards

AFTER = OpenApiParameter("after", int, description="Only events with a higher seq.")


class RunFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    experiment = filters.UUIDFilter(field_name="experiment_id")
    workflow = filters.CharFilter(field_name="experiment__workflow")
    state = filters.ChoiceFilter(choices=Run.State.choices)
    search = filters.CharFilter(
        method="narrow", help_text="Words of the title, the prompts or a model; the beginning of a word is enough."
    )
    model = filters.CharFilter(method="narrow", help_text="Slug or label of a model that is seated.")
    flag = filters.CharFilter(method="narrow", help_text="A flag that a message has.")
    by = filters.CharFilter(method="narrow", help_text="Username of the experiment's owner.")
    project = filters.UUIDFilter(method="narrow", help_text="Id of a project of yours.")
    since = filters.DateFilter(method="narrow", help_text="A day (UTC), as 2026-01-31.")
    until = filters.DateFilter(method="narrow", help_text="A day (UTC), as 2026-01-31.")
    archived = filters.BooleanFilter(field_name="archived", lookup_expr="isnull", exclude=True)

    class Meta:
        model = Run
        fields: list[str] = []

    def narrow(self, runs: QuerySet[Run], name: str, value: Any) -> QuerySet[Run]:
        return run_list.NARROWINGS[name](runs, str(value), person(self.request))


class RunDetail(RunSerializer):
    """in_batches: what it waits for at providers."""

    metrics = serializers.SerializerMethodField()
    in_batches = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "metrics", "archived", "in_batches"]

    @extend_schema_field(InBatchesSerializer(allow_null=True))
    def get_in_batches(self, run: Run) -> Any:
        return shown_batches(Run.objects.filter(pk=run.pk)) if run.experiment.uses_batches else None

    @extend_schema_field({"type": "object", "additionalProperties": {}})
    def get_metrics(self, run: Run) -> dict[str, JsonObject]:
        return metrics.shown(metrics.run_metrics(run, workflow_of(run.experiment.workflow).subjects))


class Saying(serializers.Serializer[Any]):
    """key names the pause that is answered: what was meant for another one is refused."""

    key = serializers.CharField(max_length=200)
    action = serializers.CharField(max_length=40)
    text = serializers.CharField(required=False, allow_blank=True, default="", trim_whitespace=False)


class ModeChange(serializers.Serializer[Any]):
    mode = serializers.ChoiceField(Run.Mode.choices)


class Extension(serializers.Serializer[Any]):
    max_turns = serializers.IntegerField(allow_null=True, min_value=1, max_value=100)


class Question(serializers.Serializer[Any]):
    """The next question to a council."""

    text = serializers.CharField(trim_whitespace=False)


class Draft(serializers.Serializer[Any]):
    """key names the pause at which the text is to be said."""

    key = serializers.CharField(max_length=200)
    text = serializers.CharField(allow_blank=True, trim_whitespace=False)


class Lift(serializers.Serializer[Any]):
    """limits: the new limits; an omitted one is removed. skip: continue without the answer that the limit prevented."""

    limits = serializers.DictField()
    skip = serializers.BooleanField(required=False, default=False)


class JudgeAgain(serializers.Serializer[Any]):
    """model: slug of the judge, the lab's when left out. rubric: text, the workflow's own when left out. judge_sees and
    judge_sees_reasoning: which text of the messages the judge reads, and whether it reads the reasoning; as the run's
    own judge when left out.
    """

    model = serializers.CharField(required=False, allow_null=True, default=None)
    rubric = serializers.CharField(required=False, allow_blank=True, default="")
    judge_sees = serializers.ChoiceField(get_args(Sees), required=False, allow_null=True, default=None)
    judge_sees_reasoning = serializers.BooleanField(required=False, allow_null=True, default=None)


class BranchFrom(serializers.Serializer[Any]):
    """text: replaces the message's text; unchanged when omitted."""

    text = serializers.CharField(required=False, allow_null=True, default=None, trim_whitespace=False)


STEERED = {200: RunDetail, **RIVALLED}


@extend_schema_view(
    list=extend_schema(responses={200: RunSerializer(many=True), **PROBLEMS}),
    retrieve=extend_schema(responses={200: RunDetail, **PROBLEMS}),
)
class RunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, viewsets.GenericViewSet[Run]):
    """Runs that you can see, with their messages and results."""

    scope = Scope.WRITE
    queryset = Run.objects.none()
    filterset_class = RunFilter
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Run]:
        rows: QuerySet[Run] = runs_with_totals().visible_to(self.request.user)
        is_chosen = {"workflow", "experiment"} & set(self.request.query_params)
        return rows if self.action != "list" or is_chosen else without_shards(rows)

    def get_serializer_class(self) -> type[BaseSerializer[Run]]:
        return RunSerializer if self.action == "list" else RunDetail

    @extend_schema(request=None, responses=STEERED)
    @action(detail=True, methods=["post"])
    def stop(self, request: Request, pk: str) -> Response:
        """Stop a live run. Stopping an ended run changes nothing."""
        actions.stop(self.get_object(), by=person(request))
        return self._now()

    @extend_schema(request=None, responses=STEERED)
    @action(detail=True, methods=["post"])
    @spends
    def resume(self, request: Request, pk: str) -> Response:
        """Resume a run that failed, was paused, or was stopped by a budget."""
        run = self.get_object()
        is_done = spent(request, lambda: actions.resume(run, by=person(request)))
        if not is_done:
            raise Conflict(_("Only a run that failed, was paused, or was stopped by a budget can be resumed."))
        return self._now()

    @extend_schema(request=None, responses=STEERED)
    @action(detail=True, methods=["post"])
    def pause(self, request: Request, pk: str) -> Response:
        """Pause a run: calls in progress end, and no new ones start."""
        if not steering.pause(self.get_object(), by=person(request)):
            raise Conflict(_("The run is already waiting, or has ended."))
        return self._now()

    @extend_schema(request=Saying, responses=STEERED)
    @action(detail=True, methods=["post"])
    @spends
    def say(self, request: Request, pk: str) -> Response:
        """Answer a pause. 409 when it was answered differently before."""
        run, asked = self.get_object(), validated(Saying, request)
        spent(request, lambda: steering.say(run, by=person(request), **asked), asked)
        return self._now()

    @extend_schema(request=ModeChange, responses=STEERED)
    @action(detail=True, methods=["post"])
    @spends
    def mode(self, request: Request, pk: str) -> Response:
        """Switch between manual and automatic mode. Takes effect at the next pause."""
        run, asked = self.get_object(), validated(ModeChange, request)
        spent(request, lambda: steering.set_mode(run, by=person(request), **asked), asked)
        return self._now()

    @extend_schema(request=Extension, responses=STEERED)
    @action(detail=True, methods=["post"])
    @spends
    def extend(self, request: Request, pk: str) -> Response:
        """Change the last turn of a live run; null for no last turn."""
        run, asked = self.get_object(), validated(Extension, request)
        spent(request, lambda: steering.extend(run, by=person(request), **asked), asked)
        return self._now()

    @extend_schema(request=Question, responses=STEERED)
    @action(detail=True, methods=["post"])
    @spends
    def ask(self, request: Request, pk: str) -> Response:
        """Ask a council another question. It waits until the question before it is answered."""
        run, asked = self.get_object(), validated(Question, request)
        steering.ask_further(run, by=person(request), idempotency_key=idempotency_key(request), **asked)
        return self._now()

    @extend_schema(request=Draft, responses={200: Draft, **RIVALLED})
    @action(detail=True, methods=["put"])
    def draft(self, request: Request, pk: str) -> Response:
        """Save a draft of a message at an open pause. Only `say` sends it."""
        run, asked = self.get_object(), validated(Draft, request)
        steering.draft(run, by=person(request), **asked)
        return Response(asked)

    @extend_schema(request=Lift, responses=STEERED)
    @action(detail=True, methods=["post"])
    @spends
    def lift(self, request: Request, pk: str) -> Response:
        """Continue a run that a limit has stopped, with new limits."""
        run, asked = self.get_object(), validated(Lift, request)
        spent(request, lambda: steering.lift(run, by=person(request), **asked), asked)
        return self._now()

    @extend_schema(request=JudgeAgain, responses={201: RunDetail, **PROBLEMS})
    @action(detail=True, methods=["post"])
    @spends
    def judge(self, request: Request, pk: str) -> Response:
        """Judge a run again, with another judge or rubric. This creates a new run; the first scores are kept."""
        run, asked = self.get_object(), validated(JudgeAgain, request)
        again = spent(request, lambda: str(judging.judge_again(run, by=person(request), **asked).pk), asked)
        return Response(RunDetail(runs_with_totals().get(pk=again)).data, status=201)

    @extend_schema(responses={204: None, **RIVALLED})
    def destroy(self, request: Request, pk: str) -> Response:
        """Delete a run that has ended, and its experiment if that has no other run. Its costs stay in usage."""
        removal.remove([self.get_object()], by=person(request))
        return Response(status=204)

    @extend_schema(request=None, responses=STEERED)
    @action(detail=True, methods=["post"])
    def archive(self, request: Request, pk: str) -> Response:
        """Leave a run that has ended out of the runs list."""
        actions.archive([self.get_object()], by=person(request))
        return self._now()

    @extend_schema(request=None, responses=STEERED)
    @action(detail=True, methods=["post"])
    def restore(self, request: Request, pk: str) -> Response:
        """List an archived run again."""
        actions.archive([self.get_object()], by=person(request), is_archived=False)
        return self._now()

    def _now(self) -> Response:
        return Response(RunDetail(self.get_object()).data)


class BranchView(APIView):
    """Branch from a message: creates a new run and leaves the parent unchanged."""

    @extend_schema(request=BranchFrom, responses={201: RunDetail, **PROBLEMS})
    @spends
    def post(self, request: Request, pk: str) -> Response:
        messages = Message.objects.filter(run__in=Run.objects.visible_to(request.user))
        message = get_object_or_404(messages.select_related("run__experiment", "step", "call"), pk=pk)
        asked = validated(BranchFrom, request)
        run = spent(request, lambda: str(branching.branch(message, by=person(request), **asked).pk), asked)
        return Response(RunDetail(runs_with_totals().get(pk=run)).data, status=201)


class OfRun(generics.ListAPIView[Any]):
    """Rows of one run that the asking person may see. is_settled: nothing changes them once the run has ended."""

    is_settled = False

    def get_queryset(self) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset()
        if getattr(self, "swagger_fake_view", False):
            return rows.none()
        self.visible_state  # noqa: B018 - 404 for who may not see the run, before any row is read
        return rows.filter(run_id=self.kwargs["pk"])

    @cached_property
    def visible_state(self) -> tuple[Any, ...]:
        """The run's state, last_seq and end, asked for once. Raises Http404 for who may not see it."""
        visible = Run.objects.visible_to(self.request.user).filter(pk=self.kwargs["pk"]).order_by()
        found: tuple[Any, ...] | None = visible.values_list("state", "last_seq", "ended").first()
        if found is None:
            raise Http404
        return found

    def list(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Of a run that has ended it is known without looking at its rows whether they are as they were. The names of
        the fields are part of the tag: another release may show other ones.
        """
        if not self.is_settled or self.visible_state[0] in LIVE_STATES:
            return super().list(request, *args, **kwargs)
        shown_by: Any = self.get_serializer_class()
        fields = _field_names(shown_by)
        parts = (*self.visible_state, request.get_full_path(), get_language(), *fields)
        tag = f'"{hashlib.sha256(repr(parts).encode()).hexdigest()[:32]}"'
        if tag in parse_etags(request.headers.get("If-None-Match", "")):
            return Response(status=304, headers={"ETag": tag})
        response = super().list(request, *args, **kwargs)
        response["ETag"] = tag
        return response


@cache
def _field_names(serializer: Callable[[], Any]) -> tuple[str, ...]:
    return tuple(getattr(serializer(), "fields", ()))


@extend_schema(responses={200: MessageSerializer(many=True), **PROBLEMS})
class MessageList(OfRun):
    """The messages of a run, in order."""

    queryset = Message.objects.select_related("call", "step")
    serializer_class = MessageSerializer
    cursor_ordering = ["seq"]


@extend_schema(responses={200: JudgmentSerializer(many=True), **PROBLEMS})
class JudgmentList(OfRun):
    """Judgments by turn and side. A missing score has its reason."""

    queryset = Judgment.objects.all()
    serializer_class = JudgmentSerializer
    cursor_ordering = ["turn", "id"]


@extend_schema(responses={200: BallotSerializer(many=True), **PROBLEMS})
class BallotList(OfRun):
    """The rankings by members of a council, by turn. An abstention has no order, and gives the reason."""

    is_settled = True
    queryset = Ballot.objects.all()
    serializer_class = BallotSerializer
    cursor_ordering = ["turn", "count", "id"]


@extend_schema(responses={200: CallSerializer(many=True), **PROBLEMS})
class CallList(OfRun):
    """Every call to a provider: the request, the response and the cost."""

    is_settled = True
    queryset = Call.objects.select_related("step", "model__provider")
    serializer_class = CallSerializer
    cursor_ordering = ["id"]


@extend_schema(parameters=[AFTER], responses={200: EventSerializer(many=True), **PROBLEMS})
class EventList(OfRun):
    """The numbered events of a run, as the WebSocket sends them."""

    is_settled = True
    queryset = Event.objects.all()
    serializer_class = EventSerializer
    cursor_ordering = ["seq"]

    def get_queryset(self) -> QuerySet[Event]:
        if (after := number_of(self.request.query_params.get("after", "0"))) is None:
            raise ValidationError({"after": ["A whole number is needed."]})
        return super().get_queryset().filter(seq__gt=after)


class NodeSerializer(serializers.Serializer[Any]):
    """A run in its family. branched_from, turn and seat: the message at which it left its parent."""

    run = serializers.UUIDField()
    parent = serializers.UUIDField(allow_null=True)  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    experiment = serializers.UUIDField()
    state = serializers.ChoiceField(Run.State.choices)
    origin = serializers.ChoiceField(Run.Origin.choices)
    seed = serializers.IntegerField()
    turns = serializers.IntegerField(help_text="Completed turns.")
    branched_from = serializers.UUIDField(allow_null=True)
    turn = serializers.IntegerField(allow_null=True)
    seat = serializers.CharField()
    edited = serializers.BooleanField(help_text="A person changed that message.")
    by = serializers.CharField(allow_null=True, help_text="Who branched.")
    judged_again = serializers.ListField(child=serializers.UUIDField(), help_text="Runs that judge this one again.")


class LineageSerializer(serializers.Serializer[Any]):
    """nodes: parents before children, the root first. complete: false when there are too many to list."""

    run = serializers.UUIDField()
    root = serializers.UUIDField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    complete = serializers.BooleanField()
    nodes = NodeSerializer(many=True)


class LineageView(APIView):
    """The runs that a run branched from, and its branches, as far as you can see them."""

    @extend_schema(responses={200: LineageSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        run = get_object_or_404(Run.objects.visible_to(request.user), pk=pk)
        found = lineage.of(run, request.user)
        nodes = [_node(row) for row in found.rows]
        said = {"run": run.pk, "root": nodes[0]["run"], "complete": not found.is_cut, "nodes": nodes}
        return Response(LineageSerializer(said).data)


def _node(row: lineage.Row) -> dict[str, Any]:
    run: Any = row.node.run
    branch = row.node.branch
    return {
        "run": run.pk,
        "parent": row.parent.run.pk if row.parent else None,
        "experiment": run.experiment_id,
        "state": run.state,
        "origin": run.origin,
        "seed": run.seed,
        "turns": run.turn or 0,
        "branched_from": branch.message if branch else None,
        "turn": row.node.turn,
        "seat": row.node.seat,
        "edited": row.node.edited,
        "by": branch.by if branch else None,
        "judged_again": [judging.pk for judging in row.node.judged_again],
    }
