"""Projects and their members over HTTP."""

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.validators import UniqueValidator
from rest_framework.views import APIView

from accounts import projects
from accounts.api_requests import person, validated
from accounts.errors import Conflict
from accounts.models import Membership, Project, User
from accounts.scopes import Scope


class ProjectSerializer(serializers.ModelSerializer[Project]):
    class Meta:
        model = Project
        fields = ["id", "name", "description", "archived", "created"]


class MakeProject(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, validators=[UniqueValidator(Project.objects.all())])
    description = serializers.CharField(required=False, allow_blank=True, default="", max_length=2000)


class ChangeProject(serializers.Serializer[Any]):
    """What is left out stays as it is."""

    name = serializers.CharField(required=False, max_length=100)
    description = serializers.CharField(required=False, allow_blank=True, max_length=2000)
    archived = serializers.BooleanField(required=False)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """id: the person's."""

    id = serializers.IntegerField(source="user_id")
    username = serializers.CharField(source="user.username")

    class Meta:
        model = Membership
        fields = ["id", "username", "role", "created"]


class SetMember(serializers.Serializer[Any]):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(Membership.Role.choices, required=False, default=Membership.Role.MEMBER)


class ChangeMember(serializers.Serializer[Any]):
    role = serializers.ChoiceField(Membership.Role.choices)


class ProjectsView(generics.ListAPIView[Project]):
    scope = Scope.ADMIN
    serializer_class = ProjectSerializer
    cursor_ordering = ["name"]

    def get_queryset(self) -> QuerySet[Project]:
        return Project.objects.visible_to(self.request.user)

    @extend_schema(responses={200: ProjectSerializer(many=True)})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """The projects that you belong to."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=MakeProject, responses={201: ProjectSerializer})
    def post(self, request: Request) -> Response:
        """Make a project, which you lead."""
        made = projects.create(by=person(request), **validated(MakeProject, request))
        return Response(ProjectSerializer(made).data, status=201)


class ProjectView(APIView):
    scope = Scope.ADMIN

    @extend_schema(responses={200: ProjectSerializer})
    def get(self, request: Request, pk: UUID) -> Response:
        """One project."""
        return Response(ProjectSerializer(_open(request, pk)).data)

    @extend_schema(request=ChangeProject, responses={200: ProjectSerializer, 409: None})
    def patch(self, request: Request, pk: UUID) -> Response:
        """Rename or describe a project, archive it or take it up again; for those who lead it."""
        found, asked = _led(request, pk), validated(ChangeProject, request)
        archived = asked.pop("archived", None)
        if Project.objects.filter(name=asked.get("name")).exclude(pk=found.pk).exists():
            raise Conflict("There is a project of this name already. Choose another one.")
        if asked:
            told = {"name": found.name, "description": found.description, **asked}
            projects.change(found, by=person(request), **told)
        if archived is not None:
            projects.archive(found, by=person(request), archived=archived)
        return Response(ProjectSerializer(_open(request, pk)).data)


class MembersView(generics.ListAPIView[Membership]):
    scope = Scope.ADMIN
    queryset = Membership.objects.none()
    serializer_class = MemberSerializer
    cursor_ordering = ["user__username"]

    def get_queryset(self) -> QuerySet[Membership]:
        return Membership.objects.filter(project=_open(self.request, self.kwargs["pk"])).select_related("user")

    @extend_schema(responses={200: MemberSerializer(many=True)})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Who belongs to a project, and in which role."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=SetMember, responses={200: MemberSerializer, 409: None})
    def post(self, request: Request, pk: UUID) -> Response:
        """Give somebody of the lab a place in a project, or another one."""
        found, asked = _led(request, pk), validated(SetMember, request)
        member = User.objects.filter(username=asked["username"].strip(), is_active=True).first()
        if member is None:
            raise ValidationError({"username": ["Nobody of this name is in the lab."]})
        return _placed(request, found, member, asked["role"])


class MemberView(APIView):
    scope = Scope.ADMIN

    @extend_schema(request=ChangeMember, responses={200: MemberSerializer, 409: None})
    def patch(self, request: Request, pk: UUID, user_pk: int) -> Response:
        """Change the role of a member. 409 for the last lead."""
        found = _led(request, pk)
        member = get_object_or_404(User, pk=user_pk, memberships__project=found)
        return _placed(request, found, member, validated(ChangeMember, request)["role"])

    @extend_schema(responses={204: None, 409: None})
    def delete(self, request: Request, pk: UUID, user_pk: int) -> Response:
        """Take a member's place away; everybody may leave. 409 for the last lead."""
        found = _open(request, pk)
        member = get_object_or_404(User, pk=user_pk, memberships__project=found)
        projects.remove_member(found, member, by=person(request))
        return Response(status=204)


def _open(request: Any, pk: UUID) -> Project:
    return get_object_or_404(Project.objects.open_to(person(request)).distinct(), pk=pk)


def _led(request: Request, pk: UUID) -> Project:
    found = _open(request, pk)
    projects.require_lead(found, person(request))
    return found


def _placed(request: Request, found: Project, member: User, role: str) -> Response:
    projects.set_member(found, member, role, by=person(request))
    return Response(MemberSerializer(Membership.objects.select_related("user").get(project=found, user=member)).data)
