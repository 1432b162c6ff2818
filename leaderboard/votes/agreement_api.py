"""The API of agreement: each two boards of a dataset, and the people of a board with each other."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.permissions import HasScope
from experiments.api.requests import PROBLEMS
from experiments.models import Board
from leaderboard.boards.listing import ladder_with_board
from leaderboard.ratings import Bias, Undefined
from leaderboard.votes.agreement import Agreement, Answered, current_report
from leaderboard.votes.api import DefinedField, VoteShareSerializer


class AgreementFigures(serializers.Serializer[Any]):
    """compared: pairs of answers. same_answer: ties included; same_side: of those in which both chose one. kappa:
    Cohen's, with its 95 % interval by items; kappa_reason: why there is none, else empty.
    """

    compared = serializers.IntegerField()
    same_answer = VoteShareSerializer(source="exact")
    same_side = VoteShareSerializer(source="decisive")
    kappa = DefinedField(allow_null=True)
    kappa_lower = serializers.SerializerMethodField()
    kappa_upper = serializers.SerializerMethodField()
    kappa_reason = serializers.SerializerMethodField()

    def get_kappa_lower(self, found: Agreement) -> float | None:
        return None if isinstance(found.interval, Undefined) else found.interval.low

    def get_kappa_upper(self, found: Agreement) -> float | None:
        return None if isinstance(found.interval, Undefined) else found.interval.high

    def get_kappa_reason(self, found: Agreement) -> str:
        return found.kappa.reason.value if isinstance(found.kappa, Undefined) else ""


class PairAgreement(serializers.Serializer[Any]):
    """first, second: the boards. ranks: Spearman's correlation of the ratings, of `rated` contestants."""

    first = serializers.CharField(source="first.slug")
    second = serializers.CharField(source="second.slug")
    answers = AgreementFigures()
    ranks = DefinedField(allow_null=True)
    rated = serializers.IntegerField()


class EffectSerializer(serializers.Serializer[Any]):
    """In Elo, with its 95 % interval."""

    effect = serializers.FloatField()
    lower = serializers.FloatField()
    upper = serializers.FloatField()


class OrderSerializer(serializers.Serializer[Any]):
    """first: how often what was shown first was chosen. position: what being shown first is worth; length: what one
    standard deviation of relative length is; null where it cannot be estimated. judgments: how many these rest on.
    """

    judgments = serializers.IntegerField()
    first = VoteShareSerializer()
    position = EffectSerializer(allow_null=True)
    length = EffectSerializer(allow_null=True)


class AnsweredBoard(serializers.Serializer[Any]):
    """kind: "model", "people" or "imported". is_whole: whether all judgments were read. voters, unnamed, among: of a
    board of people the voters, votes of unknown ones, and how far its people agree with each other; else null.
    """

    board = serializers.CharField()
    kind = serializers.CharField()
    judge = serializers.CharField()
    prompt = serializers.CharField()
    judgments = serializers.IntegerField()
    is_whole = serializers.BooleanField()
    voters = serializers.IntegerField(allow_null=True)
    unnamed = serializers.IntegerField(allow_null=True)
    among = AgreementFigures(allow_null=True)
    order = OrderSerializer()


class AgreementReport(serializers.Serializer[Any]):
    """left_out: boards beyond the largest, which are not compared."""

    dataset = serializers.CharField()
    boards = AnsweredBoard(many=True)
    pairs = PairAgreement(many=True)
    left_out = serializers.IntegerField()


class LadderAgreement(APIView):
    """How far the boards of this board's dataset agree, each two of them, and what order and length do to each."""

    permission_classes = [HasScope]

    @extend_schema(responses={200: AgreementReport, **PROBLEMS}, operation_id="ladders_agreement")
    def get(self, request: Request, slug: str) -> Response:
        _ladder, board = ladder_with_board(request.user, slug)
        found = current_report(board.dataset)
        told = {
            "dataset": board.dataset.slug,
            "boards": [_told(one) for one in found.boards],
            "pairs": found.pairs,
            "left_out": found.left_out,
        }
        return Response(AgreementReport(told).data)


def _told(one: Answered) -> dict[str, Any]:
    board, is_people = one.board, one.board.kind == Board.Kind.PEOPLE
    effects = {"position": one.order.position, "length": one.order.length}
    return {
        "board": board.slug,
        "kind": board.kind,
        "judge": board.judge,
        "prompt": board.prompt,
        "judgments": one.judgments,
        "is_whole": one.is_whole,
        "voters": one.voters if is_people else None,
        "unnamed": one.unnamed if is_people else None,
        "among": one.among,
        "order": {
            "judgments": one.order.judgments,
            "first": one.order.first,
            **{name: found if isinstance(found, Bias) else None for name, found in effects.items()},
        },
    }
