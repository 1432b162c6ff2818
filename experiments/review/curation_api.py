"""The API of what curators and owners decide: flags and curation of runs, datasets, contestants, battles, councils."""

from typing import Any
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts.scopes import Scope
from experiments.api.pagination import PAGE_PARAMETERS, page_of_rows
from experiments.api.requests import PROBLEMS, person, validated
from experiments.api.serializers import CastField
from experiments.library.datasets import contestants, making
from experiments.library.presets import delete_preset, save_setup
from experiments.models import Contestant, Dataset, Message, Preset, Run, RunReview
from experiments.review import curation, flagging
from experiments.setup import presets
from experiments.setup.casting import checked_cast, checked_config
from experiments.setup.forms import declared
from experiments.workflows.base.flags import REVIEWED
from experiments.workflows.battles.campaign import voiding
from experiments.workflows.battles.pages.api import BattleSerializer, battles_with_rows
from experiments.workflows.council import WORKFLOW as COUNCIL


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
    """`deed`: set, or dismiss with a reason."""

    message = serializers.UUIDField()
    flag = serializers.ChoiceField(REVIEWED)
    deed = serializers.ChoiceField(["set", "dismiss"], default="set")
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class CurationSerializer(serializers.Serializer[Any]):
    """submitted: since when it waits for a curator. returned: when a curator gave it back. reason: why it was returned
    or left out of ratings.
    """

    submitted = serializers.DateTimeField(allow_null=True)
    returned = serializers.DateTimeField(allow_null=True)
    approved = serializers.DateTimeField(allow_null=True)
    excluded = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    visibility = serializers.CharField(source="run.experiment.visibility")


class CurationAsked(serializers.Serializer[Any]):
    """`deed`: the action; excluding and returning require a reason. The owner of a run submits it or takes it back."""

    deed = serializers.ChoiceField(sorted(curation.ACTIONS | curation.OF_OWNERS))
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=300)


class Published(serializers.Serializer[Any]):
    visibility = serializers.ChoiceField(Dataset.Visibility.choices)


class BattleDeed(serializers.Serializer[Any]):
    """reason: shown with the battle; required to void."""

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
    cast = CastField()
    config = serializers.DictField(required=False, default=dict)
    shared = serializers.BooleanField(required=False, default=False)


class FlagsView(APIView):
    scope = Scope.REVIEW

    @extend_schema(responses={200: FlaggedSerializer(many=True), **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """Messages of a run that have or had a flag, each with its history."""
        return Response([_flags_of(message) for message in flagging.flagged(_run(request, pk))])

    @extend_schema(request=FlagAsked, responses={200: FlaggedSerializer, **PROBLEMS})
    def post(self, request: Request, pk: UUID) -> Response:
        """Set a flag, or dismiss one with a reason. Repeating the request changes nothing."""
        run, asked = _run(request, pk), validated(FlagAsked, request)
        message = get_object_or_404(Message.objects.select_related("run"), run=run, pk=asked["message"])
        verb = flagging.dismiss if asked["deed"] == "dismiss" else flagging.set_flag
        verb(message, asked["flag"], by=person(request), reason=asked["reason"])
        return Response(_flags_of(message))


class CurationView(APIView):
    scope = Scope.REVIEW

    @extend_schema(responses={200: CurationSerializer, **PROBLEMS})
    def get(self, request: Request, pk: UUID) -> Response:
        """Whether a run is approved, counts in ratings, and is public."""
        return _curation(_run(request, pk))

    @extend_schema(request=CurationAsked, responses={200: CurationSerializer, **PROBLEMS})
    def post(self, request: Request, pk: UUID) -> Response:
        """Submit, approve, return, exclude, include, publish or withdraw a run."""
        run, asked = _run(request, pk), validated(CurationAsked, request)
        curation.act(asked["deed"], run, by=person(request), reason=asked["reason"])
        return _curation(_run(request, pk))


def _run(request: Request, pk: UUID) -> Run:
    return get_object_or_404(Run.objects.visible_to(request.user).select_related("experiment"), pk=pk)


def _flags_of(message: Message) -> dict[str, Any]:
    about = {"message": message.pk, "turn": message.turn, "seat": message.seat, "flags": message.flags}
    return dict(FlaggedSerializer({**about, "history": flagging.history(message)}).data)


def _curation(run: Run) -> Response:
    review = RunReview.objects.filter(run=run).first() or RunReview(run=run)
    return Response(CurationSerializer(review).data)


class DatasetVisibilityView(APIView):
    scope = Scope.WRITE

    @extend_schema(request=Published, responses={200: Published, **PROBLEMS})
    def post(self, request: Request, slug: str) -> Response:
        """Change who can see a dataset of yours."""
        shown = get_object_or_404(Dataset.objects.visible_to(request.user), slug=slug)
        asked = validated(Published, request)
        making.publish(shown, by=person(request), **asked)
        return Response(asked)


class ContestantView(APIView):
    scope = Scope.REVIEW

    @extend_schema(request=ContestantDeed, responses={200: ContestantState, **PROBLEMS})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Change how a contestant is shown, exclude it from the ratings with a reason, or include it again."""
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
        """Exclude a battle from the ratings, or include it again. Repeating the request changes nothing."""
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

    @extend_schema(parameters=PAGE_PARAMETERS, responses={200: CouncilPresetList, **PROBLEMS})
    def get(self, request: Request) -> Response:
        """Saved councils: your own first, then those that others share."""
        rows = Preset.objects.visible_to(request.user).filter(workflow=COUNCIL.slug).select_related("owner")
        known = {str(row.pk): row for row in rows}
        shelf = [known[one.id] for one in presets.choices(request.user, COUNCIL.slug) if one.id in known]
        page = page_of_rows(request, shelf, lambda row: str(row.pk))
        return Response({**page, "results": CouncilPresetSerializer(page["results"], many=True).data})

    @extend_schema(request=SaveCouncil, responses={201: CouncilPresetSerializer, **PROBLEMS})
    def post(self, request: Request) -> Response:
        """Save a council under a name, without its question."""
        asked, by = validated(SaveCouncil, request), person(request)
        config, cast, kept_settings = asked["config"], asked["cast"], declared(COUNCIL.slug).of_preset
        if unknown := sorted(set(config) - set(kept_settings)):
            offered = ", ".join(kept_settings)
            raise ValidationError({"config": [f"{', '.join(unknown)}: only {offered} are kept."]})
        # What is kept could be played as soon as there is a question.
        checked_cast(COUNCIL.slug, checked_config(COUNCIL.slug, {**config, "question": "?"}), cast, owner=by)
        seats = {seat: {name: one[name] for name in ("model", "params") if name in one} for seat, one in cast.items()}
        content = {"cast": seats, "config": config}
        kept = save_setup(owner=by, workflow=COUNCIL.slug, name=asked["name"], content=content, shared=asked["shared"])
        return Response(CouncilPresetSerializer(kept).data, status=201)


class CouncilPresetView(APIView):
    scope = Scope.WRITE

    @extend_schema(responses={204: None, **PROBLEMS})
    def delete(self, request: Request, pk: UUID) -> Response:
        """Delete a saved council. Runs that were started from it are not affected."""
        rows = Preset.objects.visible_to(request.user).filter(workflow=COUNCIL.slug)
        delete_preset(get_object_or_404(rows.select_related("owner"), pk=pk), by=person(request))
        return Response(status=204)


def _battles(request: Request) -> Any:
    return battles_with_rows().visible_to(request.user).revealed()
