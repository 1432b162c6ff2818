"""What pages change about datasets, contestants, battles and presets, over the same verbs."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.api_requests import person, validated
from accounts.scopes import Scope
from experiments.api.pagination import SHELF, page_of_shelf
from experiments.api.requests import PROBLEMS
from experiments.library.datasets import contestants, making
from experiments.library.presets import delete_preset, save_setup
from experiments.models import Contestant, Dataset, Preset
from experiments.setup import presets
from experiments.setup.casting import checked_cast, checked_config
from experiments.setup.forms import declared
from experiments.workflows.battles.campaign import voiding
from experiments.workflows.battles.pages.api import BattleSerializer, battles_with_rows
from experiments.workflows.council import WORKFLOW as COUNCIL


class Published(serializers.Serializer[Any]):
    visibility = serializers.ChoiceField(Dataset.Visibility.choices)


class BattleDeed(serializers.Serializer[Any]):
    """reason: everybody who looks at the battle reads it; needed to void."""

    deed = serializers.ChoiceField(["void", "restore"])
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=voiding.LONGEST_REASON)


class ContestantDeed(BattleDeed):
    """label, link: how it is shown, to describe it."""

    deed = serializers.ChoiceField(["describe", "void", "restore"])
    label = serializers.CharField(required=False, allow_blank=True, default="", max_length=200)  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    link = serializers.URLField(required=False, allow_blank=True, default="", max_length=500)


class ContestantState(serializers.ModelSerializer[Contestant]):
    label = serializers.CharField(read_only=True)  # type: ignore[assignment]  # a field that is called like an attribute of Serializer

    class Meta:
        model = Contestant
        fields = ["id", "name", "label", "link", "void_reason"]


class CouncilPresetSerializer(serializers.ModelSerializer[Preset]):
    """config: the cast, and the settings that are kept with it."""

    owner = serializers.CharField(source="owner.username")
    config = serializers.DictField()

    class Meta:
        model = Preset
        fields = ["id", "name", "owner", "shared", "config"]


class CouncilPresetList(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = CouncilPresetSerializer(many=True)


class SaveCouncil(serializers.Serializer[Any]):
    """cast: a model for each seat, as for an experiment. config: settings of the council but for the question."""

    name = serializers.CharField(max_length=80)
    cast = serializers.DictField(child=serializers.DictField())
    config = serializers.DictField(required=False, default=dict)
    shared = serializers.BooleanField(required=False, default=False)


class DatasetVisibilityView(APIView):
    scope = Scope.WRITE

    @extend_schema(request=Published, responses={200: Published, **PROBLEMS})
    def post(self, request: Request, slug: str) -> Response:
        """Decide who sees a dataset of yours."""
        shown = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
        asked = validated(Published, request)
        making.publish(shown, by=person(request), **asked)
        return Response(asked)


class ContestantView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=ContestantDeed, responses={200: ContestantState, **PROBLEMS})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Change how a contestant is shown, leave it out of ratings with the reason, or take it in again."""
        rows = Contestant.objects.filter(dataset__in=Dataset.objects.visible_to(request.user), dataset__slug=slug)
        found = get_object_or_404(rows.select_related("dataset"), pk=pk)
        asked, by = validated(ContestantDeed, request), person(request)
        if asked["deed"] == "describe":
            contestants.describe(found, by=by, label=asked["label"], link=asked["link"])
        elif asked["deed"] == "void":
            contestants.void(found, by=by, reason=asked["reason"])
        else:
            contestants.restore(found, by=by)
        return Response(ContestantState(Contestant.objects.get(pk=found.pk)).data)


class BattleView(APIView):
    scope = Scope.REVIEW

    @extend_schema(responses={200: BattleSerializer, **PROBLEMS})
    def get(self, request: Request, pk: int) -> Response:
        """One battle with its verdicts."""
        return self._shown(request, pk)

    @extend_schema(request=BattleDeed, responses={200: BattleSerializer, **PROBLEMS})
    def post(self, request: Request, pk: int) -> Response:
        """Leave a battle out of the ratings, or take it in again. The same again changes nothing."""
        found, asked = get_object_or_404(_battles(request), pk=pk), validated(BattleDeed, request)
        if asked["deed"] == "void":
            voiding.void(found, by=person(request), reason=asked["reason"])
        else:
            voiding.restore(found, by=person(request))
        return self._shown(request, pk)

    def _shown(self, request: Request, pk: int) -> Response:
        return Response(BattleSerializer(get_object_or_404(_battles(request), pk=pk)).data)


class CouncilPresetsView(APIView):
    scope = Scope.WRITE

    @extend_schema(parameters=SHELF, responses={200: CouncilPresetList, **PROBLEMS})
    def get(self, request: Request) -> Response:
        """Councils that you or others have kept: one's own first."""
        rows = Preset.objects.visible_to(request.user).filter(workflow=COUNCIL.slug).select_related("owner")
        known = {str(row.pk): row for row in rows}
        shelf = [known[one.id] for one in presets.choices(request.user, COUNCIL.slug) if one.id in known]
        page = page_of_shelf(request, shelf, lambda row: str(row.pk))
        return Response({**page, "results": CouncilPresetSerializer(page["results"], many=True).data})

    @extend_schema(request=SaveCouncil, responses={201: CouncilPresetSerializer, **PROBLEMS})
    def post(self, request: Request) -> Response:
        """Keep a council under a name of your own, without its question."""
        asked, by = validated(SaveCouncil, request), person(request)
        content = _council(asked["cast"], asked["config"], by)
        kept = save_setup(owner=by, workflow=COUNCIL.slug, name=asked["name"], content=content, shared=asked["shared"])
        return Response(CouncilPresetSerializer(kept).data, status=201)


class CouncilPresetView(APIView):
    scope = Scope.WRITE

    @extend_schema(responses={204: None, **PROBLEMS})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Delete a council that you have kept. Runs go on as they were set up."""
        rows = Preset.objects.visible_to(request.user).filter(workflow=COUNCIL.slug)
        delete_preset(get_object_or_404(rows.select_related("owner"), pk=pk), by=person(request))
        return Response(status=204)


def _battles(request: Request) -> Any:
    return battles_with_rows().visible_to(request.user).revealed()


def _council(cast: dict[str, Any], config: dict[str, Any], by: Any) -> dict[str, Any]:
    """What could be played as soon as there is a question. Raises Invalid."""
    kept_settings = declared(COUNCIL.slug).of_preset
    if unknown := sorted(set(config) - set(kept_settings)):
        offered = ", ".join(kept_settings)
        raise ValidationError({"config": [f"{', '.join(unknown)}: only {offered} are kept."]})
    checked_cast(COUNCIL.slug, checked_config(COUNCIL.slug, {**config, "question": "?"}), cast, owner=by)
    kept = {seat: {name: one[name] for name in ("model", "params") if name in one} for seat, one in cast.items()}
    return {"cast": kept, "config": config}
