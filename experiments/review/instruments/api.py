"""The API of instruments held to people: the card of a version, and a sample that is sent to reviewers."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import GenericViewSet

from accounts.api_requests import project_among
from accounts.models import Project
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.shapes import shape
from experiments.models import Experiment, Instrument
from experiments.review import queues
from experiments.review.api import QueueViewSet
from experiments.review.instruments import card, services
from experiments.review.instruments.card import BetweenJudges, Card, Disagreement, OfScan, OnQuantity, WithPeople
from experiments.review.instruments.comparison import Agreement, Detection
from experiments.review.instruments.sampling import MOST_DRAWN
from experiments.review.serializers import AskedReviewers, CoefficientSerializer, QueueSerializer
from leaderboard.ratings.prevalence import Rate
from leaderboard.ratings.values import Undefined

VERSION = OpenApiParameter("version", int, description="Number of the version; the newest one by default.")


class RateSerializer(serializers.Serializer[Any]):
    """value null: there is no number, and `undefined` says why. low, high: its 95 % interval, null where there is none.
    units: how many labels it rests on, in so many runs.
    """

    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    units = serializers.IntegerField()
    runs = serializers.IntegerField()
    undefined = serializers.CharField(allow_null=True)

    def to_representation(self, rate: Rate) -> dict[str, object]:
        value, around = rate.value, rate.interval
        low, high = (None, None) if isinstance(around, Undefined) else around
        number, reason = (None, value.reason.value) if isinstance(value, Undefined) else (value, None)
        counts = {"units": rate.units, "runs": rate.clusters}
        return {"value": number, "low": low, "high": high, **counts, "undefined": reason}


AgreementSerializer = shape(
    "InstrumentAgreement",
    Agreement,
    percent=RateSerializer(),
    kappa=CoefficientSerializer(),
    alpha=CoefficientSerializer(),
    table=serializers.ListField(child=serializers.ListField(child=serializers.IntegerField())),
)


class CorrectedRate(serializers.Serializer[Any]):
    """A rate or a mean by one judge. name: of a dimension, or `dimension.choice`. raw: as the judge gives it.
    corrected: by people's labels, prediction-powered. rogan_gladen: by sensitivity and specificity, null for means.
    """

    name = serializers.CharField(source="figure.name")
    title = serializers.CharField(source="figure.title")
    judge = serializers.CharField()
    units = serializers.IntegerField()
    labels = serializers.IntegerField()
    raw = RateSerializer()
    corrected = RateSerializer(source="by_labels")
    rogan_gladen = RateSerializer(allow_null=True)


CardSerializer = shape(
    "InstrumentCard",
    Card,
    quantities=shape(
        "OnQuantity",
        OnQuantity,
        judges=shape(
            "WithPeople",
            WithPeople,
            agreement=AgreementSerializer(),
            detections=shape(
                "Detection",
                Detection,
                precision=RateSerializer(),
                recall=RateSerializer(),
                specificity=RateSerializer(),
            )(many=True),
        )(many=True),
        people=AgreementSerializer(),
        between=shape("BetweenJudges", BetweenJudges, agreement=AgreementSerializer())(many=True),
    )(many=True),
    scans=shape("ScanRates", OfScan, rates=CorrectedRate(many=True))(many=True),
    disagreements=shape("Disagreement", Disagreement)(many=True),
    missing=list[str],
)


class AskedSample(AskedReviewers):
    """scan: the experiment that judged with an instrument. dimension: of whose values equally many are drawn. judge:
    whose values; may be left out where there is one. project or is_lab: whose runs; neither for your own.
    """

    scan = serializers.UUIDField()
    dimension = serializers.CharField(max_length=40)
    size = serializers.IntegerField(min_value=1, max_value=MOST_DRAWN)
    judge = serializers.CharField(required=False, default="", allow_blank=True, max_length=200)
    seed = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**31 - 1)
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=queues.LONGEST_NAME)


class SampleViewSet(QueueViewSet):
    @extend_schema(request=AskedSample, responses={201: QueueSerializer, **PROBLEMS})
    def create(self, request: Request) -> Response:
        """Send a sample of what a scan has judged to reviewers, in a blind queue."""
        asked, user = validated(AskedSample, request), person(request)
        scan = get_object_or_404(Experiment.objects.visible_to(user), pk=asked.pop("scan"))
        project = project_among(Project.objects.visible_to(user), asked.pop("project"))
        version = services.version_of(scan, user)
        made = services.draw(by=user, version=version, scan=scan, project=project, **asked)
        return Response(QueueSerializer(self.get_queryset().get(pk=made.pk)).data, status=201)


class CardViewSet(GenericViewSet[Instrument]):
    serializer_class = CardSerializer

    @extend_schema(parameters=[VERSION], responses={200: CardSerializer, **PROBLEMS})
    def retrieve(self, request: Request, pk: UUID) -> Response:
        """How far an instrument agrees with people, and its scans' rates corrected by their labels."""
        instrument = get_object_or_404(Instrument.objects.visible_to(request.user), pk=pk)
        found = card.of(services.numbered(instrument, request.query_params.get("version", "")), request.user)
        fields = {name: getattr(found, name) for name in Card.__slots__}
        return Response(CardSerializer({**fields, "missing": card.missing(found)}).data)
