"""The API of voting: offers, votes, the pictures of an offer; the report on voters, and excluding one of them."""

import io
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.db.models import QuerySet
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema
from PIL import Image as Picture
from PIL import ImageOps
from rest_framework import generics, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.errors import Conflict, Invalid
from accounts.permissions import HasScope
from accounts.scopes import Scope
from experiments.api.compatibility.views import WhateverIsAccepted
from experiments.api.pagination import PAGE_PARAMETERS, page_of_rows
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.shapes import shape
from experiments.models import Battle, Dataset, Output, shared_files
from experiments.workflows.battles.campaign import voiding
from leaderboard.ratings.outliers import Mark, limits
from leaderboard.ratings.statistics import Share
from leaderboard.ratings.values import Undefined
from leaderboard.votes import totals, voter_report, voting
from leaderboard.votes.voters import person_voter, votable_datasets, voter_of

BOARD = OpenApiParameter("board", str, description="The board of votes; that of people who vote here if omitted.")
LONGEST_SIDE = 4096  # pixels; what is larger is shown smaller
REFUSED = {**PROBLEMS, 403: ProblemSerializer, 409: ProblemSerializer, 429: ProblemSerializer}


class ShownOutput(serializers.Serializer[Any]):
    """text, or where a picture is to be had; the other one is null."""

    text = serializers.CharField(allow_null=True)
    image = serializers.CharField(allow_null=True)


ProgressSerializer = shape("VotingProgress", totals.Progress, doc="votes: that you have cast; pairs: that there are.")
TallySerializer = shape("VoteTally", totals.Tally)


class OfferSerializer(serializers.Serializer[Any]):
    """battle: what the vote is cast on. progress: on this dataset. Nothing in it says whose the outputs are."""

    battle = serializers.IntegerField()
    dataset = serializers.CharField()
    instruction = serializers.CharField()
    category = serializers.CharField()
    images = serializers.ListField(child=serializers.CharField())
    first = ShownOutput()
    second = ShownOutput()
    choices = serializers.ListField(child=serializers.CharField())
    progress = ProgressSerializer()


class Choice(serializers.Serializer[Any]):
    choice = serializers.ChoiceField(voting.CHOICES)


class CastSerializer(serializers.Serializer[Any]):
    """first, second: the contestants' names as they were shown; winner: the name, null for a tie or both bad. others:
    the votes of others on the same two outputs.
    """

    battle = serializers.IntegerField()
    choice = serializers.CharField()
    first = serializers.CharField()
    second = serializers.CharField()
    winner = serializers.CharField(allow_null=True)
    board = serializers.CharField()
    others = TallySerializer()


class OwnVoteSerializer(serializers.ModelSerializer[Battle]):
    """first, second: the contestants' names as they were shown."""

    battle = serializers.IntegerField(source="pk")
    dataset = serializers.CharField(source="board.dataset.slug")
    board = serializers.CharField(source="board.slug")
    choice = serializers.SerializerMethodField()
    first = serializers.SerializerMethodField()
    second = serializers.SerializerMethodField()

    class Meta:
        model = Battle
        fields = ["battle", "dataset", "board", "choice", "first", "second", "judged", "void_reason"]

    def get_choice(self, battle: Battle) -> str:
        return voting.choice_of(battle)

    def get_first(self, battle: Battle) -> str:
        return (battle.left if battle.shown_left_first else battle.right).name

    def get_second(self, battle: Battle) -> str:
        return (battle.right if battle.shown_left_first else battle.left).name


class VoteShareSerializer(serializers.Serializer[Any]):
    """part of `of`. share, lower, upper: with Wilson's 95 % interval; null where `of` is 0."""

    part = serializers.IntegerField()
    of = serializers.IntegerField()
    share = serializers.FloatField(allow_null=True)
    lower = serializers.FloatField(allow_null=True)
    upper = serializers.FloatField(allow_null=True)

    def to_representation(self, share: Share) -> dict[str, object]:
        lower, upper = share.interval or (None, None)
        return {"part": share.part, "of": share.of, "share": share.value, "lower": lower, "upper": upper}


class DefinedField(serializers.FloatField):
    """Null for what is not defined."""

    def to_representation(self, value: Any) -> Any:
        return None if isinstance(value, Undefined) else super().to_representation(value)


class VoterSerializer(serializers.Serializer[Any]):
    """voter: what names them in this report. first: how often what was shown first was chosen, of the votes that chose
    a side; neither: ties, and both bad. pace: seconds from vote to vote in a sitting, the median. with_others: votes on
    what others have voted on, too; agreement: with what most of them said; chance: as much would agree by chance.
    weight: of all votes that count. left_out: votes that are left out together, with the reason.
    """

    voter = serializers.CharField(source="who.word")
    name = serializers.CharField(source="who.name")
    is_visitor = serializers.BooleanField(source="who.is_visitor")
    votes = serializers.IntegerField(source="found.votes")
    counted = serializers.IntegerField(source="found.counted")
    last_day = serializers.IntegerField()
    pace = DefinedField(source="found.pace", allow_null=True)
    pace_reason = serializers.CharField()
    first = VoteShareSerializer(source="found.first")
    neither = VoteShareSerializer(source="found.neither")
    with_others = VoteShareSerializer(source="found.with_others")
    agreement = VoteShareSerializer(source="found.agreement")
    agreement_reason = serializers.CharField()
    chance = DefinedField(source="found.chance", allow_null=True)
    weight = VoteShareSerializer(source="found.weight")
    marks = serializers.ListField(child=serializers.ChoiceField([mark.value for mark in Mark]))
    left_out = serializers.IntegerField()
    left_out_reason = serializers.CharField(source="reason")


class VotersSerializer(serializers.Serializer[Any]):
    """votes: those that were read, the newest; counted: those of them that count. effective: voters with equally many
    votes that would weigh as these do. widening: the factor by which intervals would be wider than on the board if
    all votes of a voter were one observation. bounds: beyond which a voter is marked. results: marked voters first.
    """

    votes = serializers.IntegerField()
    counted = serializers.IntegerField()
    is_whole = serializers.BooleanField()
    effective = serializers.FloatField(allow_null=True)
    widening = DefinedField(allow_null=True)
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
        required=False, allow_blank=True, default="", max_length=voiding.LONGEST_REASON - len(voter_report.WITH_VOTER)
    )


class VotesMoved(serializers.Serializer[Any]):
    """votes: how many were left out, or count again, by this request."""

    votes = serializers.IntegerField()


class OfferView(APIView):
    """A pair of outputs to compare blind. The same pair is returned until you vote on it."""

    @extend_schema(responses={200: OfferSerializer, 204: None, **REFUSED})
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
        if not votable_datasets(request.user).filter(pk=dataset.pk).exists():
            raise Conflict(_("Voting on this dataset is closed."))
        voter = person_voter(person(request))
        try:
            battle = voting.offer(dataset, voter=voter)
            shown = voting.shown_pair(battle) if battle else None
        except Output.DoesNotExist as error:
            raise Conflict(_("The outputs of this pair no longer exist. Ask again.")) from error
        if battle is None or shown is None:
            return Response(status=204)

        def output(side: voting.Side) -> dict[str, object]:
            one = shown.first if side == "first" else shown.second
            image = reverse("vote-picture", args=[shown.token, side]) if one.image_id else None
            return {"text": None if image else one.text, "image": image}

        offered = {
            "battle": battle.pk,
            "dataset": dataset.slug,
            "instruction": shown.sample.instruction,
            "category": shown.sample.category,
            "images": [reverse("dataset-image", args=[dataset.slug, sha]) for sha in shown.sample.images],
            "first": output("first"),
            "second": output("second"),
            "choices": list(voting.CHOICES),
            "progress": asdict(totals.progress_of(voter, battle.board)),
        }
        return Response(offered, headers={"Cache-Control": "no-store"})


class VoteView(APIView):
    """Vote on an offered pair of outputs. Repeating the same vote changes nothing; a different vote is refused."""

    scope = Scope.REVIEW

    @extend_schema(request=Choice, responses={200: CastSerializer, **REFUSED})
    def post(self, request: Request, pk: int) -> Response:
        voter = person_voter(person(request))
        battle = get_object_or_404(voting.of_voter(voter), pk=pk)
        get_object_or_404(Dataset.objects.visible_to(request.user), pk=battle.board.dataset_id)
        asked = validated(Choice, request)
        battle = voting.cast(battle, voter=voter, choice=asked["choice"])
        sides = (battle.left, battle.right) if battle.shown_left_first else (battle.right, battle.left)
        names, choice = {"first": sides[0].name, "second": sides[1].name}, voting.choice_of(battle)
        said = {"battle": battle.pk, "choice": choice, **names, "winner": names.get(choice), "board": battle.board.slug}
        return Response({**said, "others": asdict(totals.said_by_others(battle))})


class MyVotes(generics.ListAPIView[Battle]):
    """Your own votes, newest first; votes on a dataset that was closed to you since are left out."""

    serializer_class = OwnVoteSerializer
    queryset = Battle.objects.none()

    def get_queryset(self) -> QuerySet[Battle]:
        visible = Dataset.objects.visible_to(self.request.user)
        cast = voting.of_voter(person_voter(person(self.request))).exclude(winner="")
        return cast.filter(board__dataset__in=visible)

    @extend_schema(responses={200: OwnVoteSerializer(many=True), **PROBLEMS}, operation_id="votes_list")
    def get(self, request: Request) -> Response:
        return self.list(request)


@extend_schema(exclude=True)
class VotePicture(APIView):
    """A picture of the voter's own offer, drawn anew. Its address and its bytes are found nowhere else."""

    permission_classes = [HasScope]
    content_negotiation_class = WhateverIsAccepted

    def get(self, request: Request, token: str, side: str) -> HttpResponse:
        try:
            battle = voting.by_token(token, voter=voter_of(request))
            get_object_or_404(Dataset.objects.visible_to(request.user), pk=battle.board.dataset_id)
            shown = voting.shown_pair(battle)
            image = {"first": shown.first, "second": shown.second}[side].image
            if image is None:
                raise Http404
            body = anonymous_png(shared_files.here(image.path))
        except (Battle.DoesNotExist, Output.DoesNotExist, KeyError, OSError) as error:
            raise Http404 from error
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return HttpResponse(body, content_type="image/png", headers=headers)


class DatasetVotersView(APIView):
    scope = Scope.REVIEW

    @extend_schema(
        parameters=[*PAGE_PARAMETERS, BOARD],
        responses={200: VotersSerializer, **PROBLEMS},
        operation_id="datasets_voters",
    )
    def get(self, request: Request, slug: str) -> Response:
        """The voters on a dataset, and which of them show signs of not comparing the outputs."""
        dataset, asked = _dataset(request, slug), request.query_params.get("board")
        boards = voter_report.boards_of_votes(dataset)
        if asked and asked not in {one.slug for one in boards}:
            raise Invalid(board=_("This dataset has no such board of votes."))
        chosen = next((one for one in boards if one.slug == asked), None)
        report = voter_report.report(dataset, by=person(request), board=chosen)
        page = page_of_rows(request, report.lines, lambda line: line.who.word)
        names = ("votes", "counted", "is_whole", "effective", "widening", "widening_reason")
        head = {name: getattr(report, name) for name in names}
        return Response(VotersSerializer({**head, "bounds": limits(), **page}).data)

    @extend_schema(request=VoterDeed, responses={200: VotesMoved, **PROBLEMS}, operation_id="datasets_voters_change")
    def post(self, request: Request, slug: str) -> Response:
        """Exclude all votes of a voter from the ratings, or include them again. Repeating changes nothing."""
        dataset, by = _dataset(request, slug), person(request)
        voiding.refuse_others(dataset, by)
        asked = validated(VoterDeed, request)
        if asked["deed"] == "leave_out":
            votes = voter_report.exclude_voter(dataset, asked["voter"], by=by, reason=asked["reason"])
        else:
            votes = voter_report.restore_voter(dataset, asked["voter"], by=by)
        return Response({"votes": votes})


def _dataset(request: Request, slug: str) -> Dataset:
    return get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)


def anonymous_png(path: Path) -> bytes:
    """The picture alone as PNG: turned as it says of itself, without its metadata.

    Raises OSError for a file that is missing or cannot be read.
    """
    with Picture.open(path) as opened:
        picture = ImageOps.exif_transpose(opened)
        picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        has_alpha = picture.has_transparency_data
        plain = picture.convert("RGBA" if has_alpha else "RGB")
    written = io.BytesIO()
    Picture.frombytes(plain.mode, plain.size, plain.tobytes()).save(written, "PNG", compress_level=1)
    return written.getvalue()
