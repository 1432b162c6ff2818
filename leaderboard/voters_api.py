"""The report on a dataset's voters by the API, and all votes of one left out or taken in again."""

from typing import Any

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_requests import person, validated
from accounts.scopes import Scope
from experiments.api.pagination import SHELF, page_of_shelf
from experiments.api.requests import PROBLEMS
from experiments.models import Dataset
from experiments.workflows.battles.campaign import leaving_out, outliers, voiding
from leaderboard.ratings.outliers import Mark, limits
from leaderboard.ratings.statistics import Share
from leaderboard.ratings.values import Undefined
from leaderboard.voters_words import no_agreement, no_pace, no_widening


class VoteShareSerializer(serializers.Serializer[Any]):
    """part of `of`. share, lower, upper: with Wilson's 95 % interval; null where `of` is 0."""

    part = serializers.IntegerField()
    of = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    lower = serializers.FloatField(allow_null=True)
    upper = serializers.FloatField(allow_null=True)


class VoterSerializer(serializers.Serializer[Any]):
    """voter: what names them in this report. first: how often what was shown first was chosen, of the votes that chose
    a side; neither: ties, and both bad. pace: seconds from vote to vote in a sitting, the median. with_others: votes on
    what others have voted on, too; agreement: with what most of them said; chance: as much would agree by chance.
    weight: of all votes that count. left_out: votes that are left out together, with the reason.
    """

    voter = serializers.CharField()
    name = serializers.CharField()
    is_visitor = serializers.BooleanField()
    votes = serializers.IntegerField()
    counted = serializers.IntegerField()
    last_day = serializers.IntegerField()
    pace = serializers.FloatField(allow_null=True)
    pace_reason = serializers.CharField()
    first = VoteShareSerializer()
    neither = VoteShareSerializer()
    with_others = VoteShareSerializer()
    agreement = VoteShareSerializer()
    agreement_reason = serializers.CharField()
    chance = serializers.FloatField(allow_null=True)
    weight = VoteShareSerializer()
    marks = serializers.ListField(child=serializers.ChoiceField([mark.value for mark in Mark]))
    left_out = serializers.IntegerField()
    left_out_reason = serializers.CharField()


class VotersSerializer(serializers.Serializer[Any]):
    """votes: those that were read, the newest; counted: those of them that count. effective: voters with equally many
    votes that would weigh as these do. widening: by how much intervals would be wider than on the ladder if all votes
    of a voter were one observation. bounds: beyond which somebody is marked. results: who is marked first.
    """

    votes = serializers.IntegerField()
    counted = serializers.IntegerField()
    is_whole = serializers.BooleanField()
    effective = serializers.FloatField(allow_null=True)
    widening = serializers.FloatField(allow_null=True)
    widening_reason = serializers.CharField()
    bounds = serializers.DictField(child=serializers.FloatField())
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = VoterSerializer(many=True)


class VoterDeed(serializers.Serializer[Any]):
    """voter: as the report names them. reason: read by everybody who looks at one of the votes; needed to leave out."""

    voter = serializers.CharField(max_length=64)
    deed = serializers.ChoiceField(["leave_out", "restore"])
    reason = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=voiding.LONGEST_REASON - len(voiding.WITH_VOTER)
    )


class VotesMoved(serializers.Serializer[Any]):
    """votes: how many were left out, or count again, by this request."""

    votes = serializers.IntegerField()


class DatasetVotersView(APIView):
    scope = Scope.REVIEW

    @extend_schema(parameters=SHELF, responses={200: VotersSerializer, **PROBLEMS}, operation_id="datasets_voters")
    def get(self, request: Request, slug: str) -> Response:
        """Who has voted on a dataset, and whose votes look unlike those of somebody who compares."""
        report = outliers.report(_dataset(request, slug), by=person(request))
        page = page_of_shelf(request, report.lines, lambda line: line.who.word)
        head = {name: getattr(report, name) for name in ("votes", "counted", "is_whole", "effective")}
        wider = report.widening
        head |= {"widening": _number(wider), "widening_reason": no_widening(wider)}
        results = [_line(line) for line in page["results"]]
        return Response(VotersSerializer({**head, "bounds": limits(), **page, "results": results}).data)

    @extend_schema(request=VoterDeed, responses={200: VotesMoved, **PROBLEMS}, operation_id="datasets_voters_change")
    def post(self, request: Request, slug: str) -> Response:
        """Leave all votes of somebody out of the ratings, or take those in again. The same again changes nothing."""
        dataset, by = _dataset(request, slug), person(request)
        voiding.refuse_others(dataset, by)
        asked = validated(VoterDeed, request)
        if asked["deed"] == "leave_out":
            votes = leaving_out.leave_out(dataset, asked["voter"], by=by, reason=asked["reason"])
        else:
            votes = leaving_out.restore(dataset, asked["voter"], by=by)
        return Response({"votes": votes})


def _dataset(request: Request, slug: str) -> Dataset:
    return get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)


def _line(line: outliers.Line) -> dict[str, Any]:
    found = line.found
    shares = {name: _share(getattr(found, name)) for name in ("first", "neither", "with_others", "agreement", "weight")}
    return {
        "voter": line.who.word,
        "name": line.who.name,
        "is_visitor": not line.who.is_person,
        "votes": found.votes,
        "counted": found.counted,
        "last_day": line.last_day,
        "pace": _number(found.pace),
        "pace_reason": no_pace() if isinstance(found.pace, Undefined) else "",
        "agreement_reason": no_agreement(found),
        "chance": _number(found.chance),
        **shares,
        "marks": [mark.value for mark in line.marks],
        "left_out": line.left_out,
        "left_out_reason": line.reason,
    }


def _share(share: Share) -> dict[str, Any]:
    lower, upper = share.interval or (None, None)
    return {"part": share.part, "of": share.of, "share": share.value, "lower": lower, "upper": upper}


def _number(value: float | Undefined) -> float | None:
    return None if isinstance(value, Undefined) else value
