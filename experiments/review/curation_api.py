"""The API of flags and of curation."""

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
from experiments.models import Message, Run, RunReview
from experiments.review import curation, flagging
from experiments.review.curation_views import MOST_SHOWN, flagged
from experiments.workflows.base.flags import REVIEWED

REFUSED = {**PROBLEMS, 403: ProblemSerializer}


class FlagDeedSerializer(serializers.Serializer[Any]):
    """What became of a flag. by: empty for a scanner. at: null for what was noticed at the recording."""

    flag = serializers.CharField()
    is_set = serializers.BooleanField()
    by = serializers.CharField(allow_blank=True)
    scanner = serializers.CharField(allow_blank=True)
    reason = serializers.CharField(allow_blank=True)
    at = serializers.DateTimeField(allow_null=True)


class FlaggedSerializer(serializers.Serializer[Any]):
    message = serializers.UUIDField()
    turn = serializers.IntegerField()
    seat = serializers.CharField()
    flags = serializers.ListField(child=serializers.CharField())
    history = FlagDeedSerializer(many=True)


class FlagAsked(serializers.Serializer[Any]):
    """deed: set, or dismiss with the reason."""

    message = serializers.UUIDField()
    flag = serializers.ChoiceField(REVIEWED)
    deed = serializers.ChoiceField(["set", "dismiss"], default="set")
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class CurationSerializer(serializers.Serializer[Any]):
    approved = serializers.DateTimeField(allow_null=True)
    excluded = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    visibility = serializers.CharField()


class CurationAsked(serializers.Serializer[Any]):
    """deed: what is to be done; excluding needs the reason."""

    deed = serializers.ChoiceField(sorted(curation.DEEDS))
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class FlagsView(APIView):
    scope = Scope.REVIEW

    @extend_schema(responses={200: FlaggedSerializer(many=True), **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """The messages of a run that have a flag or had one, each with its history."""
        return Response(FlaggedSerializer(map(_flags_of, flagged(_run(request, pk))[:MOST_SHOWN]), many=True).data)

    @extend_schema(request=FlagAsked, responses={200: FlaggedSerializer, **REFUSED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Set a flag, or dismiss one with the reason. The same again changes nothing."""
        run, asked = _run(request, pk), validated(FlagAsked, request)
        message = get_object_or_404(Message.objects.select_related("run"), run=run, pk=asked["message"])
        verb = flagging.dismiss if asked["deed"] == "dismiss" else flagging.set_flag
        verb(message, asked["flag"], by=person(request), reason=asked["reason"])
        return Response(FlaggedSerializer(_flags_of(message)).data)


class CurationView(APIView):
    scope = Scope.REVIEW

    @extend_schema(responses={200: CurationSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """Whether a run is approved, whether it counts, and who sees it."""
        return Response(_curation(_run(request, pk)))

    @extend_schema(request=CurationAsked, responses={200: CurationSerializer, **REFUSED})
    def post(self, request: Request, pk: UUID) -> Response:
        """Approve, exclude, include, publish or withdraw a run; for curators and administrators."""
        run, asked = _run(request, pk), validated(CurationAsked, request)
        curation.act(asked["deed"], run, by=person(request), reason=asked["reason"])
        return Response(_curation(_run(request, pk)))


def _run(request: Request, pk: UUID) -> Run:
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)


def _flags_of(message: Message) -> dict[str, Any]:
    about = {"message": message.pk, "turn": message.turn, "seat": message.seat, "flags": message.flags}
    return {**about, "history": flagging.history(message)}


def _curation(run: Run) -> dict[str, Any]:
    review = RunReview.objects.filter(run=run).first() or RunReview(run=run)
    fields = {"approved": review.approved, "excluded": review.excluded, "reason": review.reason}
    return dict(CurationSerializer({**fields, "visibility": run.experiment.visibility}).data)
