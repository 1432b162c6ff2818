"""The library over HTTP. Built-in entries are named by their slug, own and shared ones by their id."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_serializer
from rest_framework import serializers, viewsets
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.errors import NotFound
from accounts.scopes import Scope
from experiments.api.pagination import PAGE_PARAMETERS, page_of_rows
from experiments.api.problems import ProblemSerializer
from experiments.api.requests import PROBLEMS, person, runs_with_totals, validated
from experiments.api.serializers import RunSerializer
from experiments.library import presets, scenarios
from experiments.library.demonstrations import replay_demonstration
from experiments.models import Preset, Scenario
from experiments.workflows.starchamber import WORKFLOW as STARCHAMBER

REFUSED = {**PROBLEMS, 403: ProblemSerializer}
CONTESTED = {**REFUSED, 409: ProblemSerializer}
SEARCH = OpenApiParameter("search", str, description="Part of a title or description.")
KIND = OpenApiParameter("kind", str, enum=Scenario.Kind.values)


class ScenarioChoiceSerializer(serializers.Serializer[Any]):
    """id: the slug of a built-in scenario, the id of one version of another. owner null: built-in."""

    id = serializers.CharField(source="ref")
    title = serializers.CharField()
    description = serializers.CharField()
    kind = serializers.ChoiceField(Scenario.Kind.choices)
    version = serializers.IntegerField()
    config = serializers.DictField()
    owner = serializers.CharField(read_only=True, allow_null=True)
    builtin = serializers.BooleanField(source="is_builtin", read_only=True)
    shared = serializers.BooleanField()
    archived = serializers.BooleanField()


class VersionSerializer(serializers.Serializer[Any]):
    id = serializers.CharField(source="ref")
    version = serializers.IntegerField()
    title = serializers.CharField()


class ScenarioDetail(ScenarioChoiceSerializer):
    versions = VersionSerializer(many=True)


@extend_schema_serializer(many=False)  # a page, also where it is the answer of `list`
class ScenarioList(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = ScenarioChoiceSerializer(many=True)


class SaveScenario(serializers.Serializer[Any]):
    """config: fields of the arena's configuration."""

    title = serializers.CharField(allow_blank=True, trim_whitespace=False)
    description = serializers.CharField(required=False, default="", allow_blank=True, trim_whitespace=False)
    kind = serializers.ChoiceField(Scenario.Kind.choices, required=False, default="mixed")
    config = serializers.DictField()


class SaveNewScenario(SaveScenario):
    shared = serializers.BooleanField(required=False, default=False)


class Share(serializers.Serializer[Any]):
    shared = serializers.BooleanField(required=False, default=True)


class Archive(serializers.Serializer[Any]):
    archived = serializers.BooleanField(required=False, default=True)


class PresetChoiceSerializer(serializers.Serializer[Any]):
    """context "": no system message. owner null: built-in."""

    id = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    description = serializers.CharField()
    context = serializers.CharField(allow_blank=True)  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    builtin = serializers.BooleanField(source="is_builtin")
    owner = serializers.CharField(read_only=True, allow_null=True)
    shared = serializers.BooleanField()


@extend_schema_serializer(many=False)
class PresetList(serializers.Serializer[Any]):
    next = serializers.CharField(allow_null=True)
    previous = serializers.CharField(allow_null=True)
    results = PresetChoiceSerializer(many=True)


class ChangePreset(serializers.Serializer[Any]):
    name = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    description = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    context = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)  # type: ignore[assignment]  # a field that is called like an attribute of Serializer
    shared = serializers.BooleanField(required=False)


class SavePreset(ChangePreset):
    workflow = serializers.ChoiceField([STARCHAMBER.slug], required=False, default=STARCHAMBER.slug)
    name = serializers.CharField(allow_blank=True, trim_whitespace=False)
    context = serializers.CharField(allow_blank=True, trim_whitespace=False)


class ScenarioViewSet(viewsets.ViewSet):
    """Scenarios. ref: the slug of a built-in one, the id of one version of another."""

    scope = Scope.WRITE

    @extend_schema(
        operation_id="scenarios_list",
        parameters=[SEARCH, KIND, *PAGE_PARAMETERS],
        responses={200: ScenarioList, **PROBLEMS},
    )
    def list(self, request: Request) -> Response:
        """Built-in scenarios, your own, and those that others share: the newest version of each."""
        search, kind = request.query_params.get("search", ""), request.query_params.get("kind", "")
        if kind and kind not in Scenario.Kind.values:
            raise ValidationError({"kind": [_("Choose cooperation, competition or mixed.")]})
        found = scenarios.scenarios_for(person(request), search=search.replace("\x00", ""), kind=kind)
        return Response(_page(request, found, ScenarioChoiceSerializer))

    @extend_schema(request=SaveNewScenario, responses={201: ScenarioDetail, **REFUSED})
    def create(self, request: Request) -> Response:
        """Save a scenario of your own."""
        saved = scenarios.save_scenario(owner=person(request), **validated(SaveNewScenario, request))
        return _detail(request, str(saved.pk), 201)

    @extend_schema(operation_id="scenarios_retrieve", responses={200: ScenarioDetail, **PROBLEMS})
    def retrieve(self, request: Request, ref: str) -> Response:
        """One version of a scenario, with the ids of the others."""
        return _detail(request, ref)

    @extend_schema(request=SaveScenario, responses={201: ScenarioDetail, **CONTESTED})
    def revise(self, request: Request, ref: str) -> Response:
        """Save a new version of a scenario. 409 when a newer one exists: read that first."""
        row, asked = scenarios.own_scenario(person(request), ref), validated(SaveScenario, request)
        saved = scenarios.revise_scenario(row, by=person(request), **asked)
        return _detail(request, str(saved.pk), 201)

    @extend_schema(request=Share, responses={200: ScenarioDetail, **REFUSED})
    def share(self, request: Request, ref: str) -> Response:
        """Share every version of a scenario with the lab, or make it private."""
        row, asked = scenarios.own_scenario(person(request), ref), validated(Share, request)
        scenarios.share_scenario(row, by=person(request), **asked)
        return _detail(request, ref)

    @extend_schema(request=Archive, responses={200: ScenarioDetail, **REFUSED})
    def archive(self, request: Request, ref: str) -> Response:
        """Archive or restore a scenario. Nothing is deleted."""
        row, asked = scenarios.own_scenario(person(request), ref), validated(Archive, request)
        scenarios.archive_scenario(row, by=person(request), **asked)
        return _detail(request, ref)

    @extend_schema(request=None, responses={201: ScenarioDetail, **REFUSED})
    def copy(self, request: Request, ref: str) -> Response:
        """Copy a scenario into one of your own."""
        copy = scenarios.copy_scenario(scenarios.find_scenario(person(request), ref), by=person(request))
        return _detail(request, str(copy.pk), 201)

    @extend_schema(request=None, responses={200: RunSerializer, 201: RunSerializer, **CONTESTED})
    def demonstration(self, request: Request, ref: str) -> Response:
        """Create a run of the scripted transcript, marked as a demonstration. Repeating returns the same run (200)."""
        shown = scenarios.find_scenario(person(request), ref)
        run, is_new = replay_demonstration(shown.builtin, by=person(request))
        return Response(RunSerializer(runs_with_totals().get(pk=run.pk)).data, status=201 if is_new else 200)


class PresetViewSet(viewsets.ViewSet):
    """System contexts. ref: the slug of a built-in one, the id of another."""

    scope = Scope.WRITE

    @extend_schema(
        operation_id="presets_list",
        parameters=[
            OpenApiParameter("workflow", str, description=f"{STARCHAMBER.slug} unless given."),
            *PAGE_PARAMETERS,
        ],
        responses={200: PresetList, **PROBLEMS},
    )
    def list(self, request: Request) -> Response:
        """System contexts of a workflow: built-in ones, your own, and those that others share."""
        workflow = request.query_params.get("workflow", STARCHAMBER.slug).replace("\x00", "")
        return Response(_page(request, presets.presets_for(person(request), workflow), PresetChoiceSerializer))

    @extend_schema(request=SavePreset, responses={201: PresetChoiceSerializer, **REFUSED})
    def create(self, request: Request) -> Response:
        """Save a system context of your own."""
        saved = presets.save_preset(owner=person(request), **validated(SavePreset, request))
        return _preset(request, saved, 201)

    @extend_schema(operation_id="presets_retrieve", responses={200: PresetChoiceSerializer, **PROBLEMS})
    def retrieve(self, request: Request, ref: str) -> Response:
        """One preset: built-in by its slug, otherwise by its id."""
        if (shown := presets.find_preset(person(request), ref)) is None:
            raise NotFound
        return Response(PresetChoiceSerializer(shown).data)

    @extend_schema(request=ChangePreset, responses={200: PresetChoiceSerializer, **REFUSED})
    def partial_update(self, request: Request, ref: str) -> Response:
        """Change a preset of yours. Omitted fields stay unchanged; runs keep the text they were started with."""
        preset, asked = presets.own_preset(person(request), ref), validated(ChangePreset, request)
        owner, shared = person(request), asked.pop("shared", None)
        changed = presets.revise_preset(preset, by=owner, **asked) if asked else preset
        if shared is not None:
            presets.share_preset(changed, by=owner, shared=shared)
        return _preset(request, changed)

    @extend_schema(responses={200: PresetChoiceSerializer, **REFUSED})
    def destroy(self, request: Request, ref: str) -> Response:
        """Delete a preset of yours, and return it. Runs keep its text."""
        preset = presets.own_preset(person(request), ref)
        was = _preset(request, preset)
        presets.delete_preset(preset, by=person(request))
        return was


def _detail(request: Request, ref: str, status: int = 200) -> Response:
    shown = scenarios.find_scenario(person(request), ref)
    versions = VersionSerializer(scenarios.versions_of(shown, person(request)), many=True).data
    return Response({**ScenarioChoiceSerializer(shown).data, "versions": versions}, status=status)


def _preset(request: Request, row: Preset, status: int = 200) -> Response:
    shown = presets.PresetChoice.of_row(row, person(request))
    return Response(PresetChoiceSerializer(shown).data, status=status)


def _page(request: Request, rows: Any, serializer: Any) -> dict[str, Any]:
    page = page_of_rows(request, rows, lambda row: str(getattr(row, "ref", "") or row.id))
    return {**page, "results": serializer(page["results"], many=True).data}
