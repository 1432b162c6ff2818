"""The API of votes: what is offered, casting one, and the pictures of an offer."""

from typing import Any

from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.errors import Conflict
from accounts.permissions import HasScope
from accounts.scopes import Scope
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, validated
from experiments.models import Battle, Contestant, Dataset, Output
from experiments.workflows.battles.campaign import blind, votes
from experiments.workflows.battles.campaign.voters import person_voter, votable, voter_of

REFUSED = {**PROBLEMS, 403: ProblemSerializer, 409: ProblemSerializer, 429: ProblemSerializer}


class ShownOutput(serializers.Serializer[Any]):
    """text, or where a picture is to be had; the other one is null."""

    text = serializers.CharField(allow_null=True)
    image = serializers.CharField(allow_null=True)


class OfferSerializer(serializers.Serializer[Any]):
    """battle: what the vote is cast on. Nothing in it says whose the outputs are."""

    battle = serializers.IntegerField()
    dataset = serializers.CharField()
    instruction = serializers.CharField()
    category = serializers.CharField()
    images = serializers.ListField(child=serializers.CharField())
    first = ShownOutput()
    second = ShownOutput()
    choices = serializers.ListField(child=serializers.CharField())


class Choice(serializers.Serializer[Any]):
    choice = serializers.ChoiceField(votes.CHOICES)


class CastSerializer(serializers.Serializer[Any]):
    """first, second: the contestants' names as they were shown; winner: the name, null for a tie or both bad."""

    battle = serializers.IntegerField()
    choice = serializers.CharField()
    first = serializers.CharField()
    second = serializers.CharField()
    winner = serializers.CharField(allow_null=True)
    board = serializers.CharField()


class OfferView(APIView):
    """A pair of outputs to be compared, blind. The same pair again until it was voted on."""

    @extend_schema(responses={200: OfferSerializer, 204: None, **REFUSED})
    def get(self, request: Request, slug: str) -> Response:
        dataset = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
        if not votable(request.user).filter(pk=dataset.pk).exists():
            raise Conflict(_("No votes are taken on this dataset now."))
        try:
            battle = votes.offer(dataset, voter=person_voter(person(request)))
            shown = votes.shown(battle) if battle else None
        except Output.DoesNotExist as error:
            raise Conflict(_("The outputs of this pair have gone. Ask again.")) from error
        if battle is None or shown is None:
            return Response(status=204)
        return Response(_offered(dataset, battle, shown), headers={"Cache-Control": "no-store"})


class VoteView(APIView):
    """Say which output of an offered pair is better. The same again changes nothing; something else is refused."""

    scope = Scope.REVIEW

    @extend_schema(request=Choice, responses={200: CastSerializer, **REFUSED})
    def post(self, request: Request, pk: int) -> Response:
        voter = person_voter(person(request))
        battle = get_object_or_404(votes.of_voter(voter), pk=pk)
        get_object_or_404(Dataset.objects.visible_to(request.user), pk=battle.board.dataset_id)
        asked = validated(Choice, request)
        said = votes.cast(battle, voter=voter, choice=asked["choice"])
        return Response(_cast(said))


class _Anything(BaseContentNegotiation):
    """A picture is a picture, whatever the browser asks for."""

    def select_parser(self, request: Any, parsers: Any) -> Any:
        return parsers[0]

    def select_renderer(self, request: Any, renderers: Any, format_suffix: Any = None) -> Any:
        return renderers[0], renderers[0].media_type


@extend_schema(exclude=True)
class VotePicture(APIView):
    """A picture of the voter's own offer, drawn anew. Its address and its bytes are found nowhere else."""

    permission_classes = [HasScope]
    content_negotiation_class = _Anything

    def get(self, request: Request, token: str, side: str) -> HttpResponse:
        try:
            battle = votes.by_token(token, voter=voter_of(request))
            get_object_or_404(Dataset.objects.visible_to(request.user), pk=battle.board.dataset_id)
            shown = votes.shown(battle)
            image = {"first": shown.first, "second": shown.second}[side].image
            if image is None:
                raise Http404
            body = blind.png(image.path)
        except (Battle.DoesNotExist, Output.DoesNotExist, KeyError, OSError) as error:
            raise Http404 from error
        headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
        return HttpResponse(body, content_type="image/png", headers=headers)


def _offered(dataset: Dataset, battle: Battle, shown: votes.Shown) -> dict[str, Any]:
    return {
        "battle": battle.pk,
        "dataset": dataset.slug,
        "instruction": shown.sample.instruction,
        "category": shown.sample.category,
        "images": [reverse("dataset-image", args=[dataset.slug, sha]) for sha in shown.sample.images],
        "first": _output(shown, "first"),
        "second": _output(shown, "second"),
        "choices": list(votes.CHOICES),
    }


def _output(shown: votes.Shown, side: votes.Side) -> dict[str, Any]:
    output = shown.first if side == "first" else shown.second
    if output.image_id:
        return {"text": None, "image": reverse("vote-picture", args=[shown.token, side])}
    return {"text": output.text, "image": None}


def _cast(battle: Battle) -> dict[str, Any]:
    first, second = (battle.left, battle.right) if battle.shown_left_first else (battle.right, battle.left)
    choice = votes.choice_of(battle)
    winner: Contestant | None = {"first": first, "second": second}.get(choice)
    return {
        "battle": battle.pk,
        "choice": choice,
        "first": first.name,
        "second": second.name,
        "winner": winner.name if winner else None,
        "board": battle.board.slug,
    }
