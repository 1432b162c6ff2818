"""People over HTTP, for administrators: who is in the lab, in which role, and who is invited."""

from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from accounts import inviting, roles
from accounts.api_requests import person, validated
from accounts.factors import with_factor
from accounts.invitation_views import send
from accounts.models import Invitation, Membership, Project, User
from accounts.permissions import GRAVE, HasScope
from accounts.scopes import Scope

NAMES = ("username", "email", "first_name", "last_name")


class PersonSerializer(serializers.ModelSerializer[User]):
    """has_factor: whether a second factor is asked for at sign-in."""

    has_factor = serializers.BooleanField(read_only=True)

    class Meta:
        model = User
        fields = ["id", *NAMES, "role", "is_active", "has_factor", "last_login", "date_joined"]


class ChangeRole(serializers.Serializer[Any]):
    role = serializers.ChoiceField(User.Role.choices)


class PersonFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    search = filters.CharFilter(method="filter_search", help_text="Part of a name or e-mail address.")
    role = filters.ChoiceFilter(choices=User.Role.choices)
    is_active = filters.BooleanFilter()

    class Meta:
        model = User
        fields: list[str] = []

    def filter_search(self, rows: QuerySet[User], name: str, value: str) -> QuerySet[User]:
        fits = Q()
        for field in NAMES:
            fits |= Q(**{f"{field}__icontains": value})
        return rows.filter(fits)


class ForAdmins(APIView):
    """To everybody else there is no such address."""

    scope = read_scope = Scope.ADMIN
    permission_classes = GRAVE

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not getattr(request.user, "is_admin", False):
            raise Http404


@extend_schema(responses={200: PersonSerializer(many=True)})
class PeopleView(ForAdmins, generics.ListAPIView[User]):
    """Everybody of the lab, also those who have left."""

    serializer_class = PersonSerializer
    filterset_class = PersonFilter
    cursor_ordering = ["username"]

    def get_queryset(self) -> QuerySet[User]:
        return User.objects.annotate(has_factor=with_factor())


class PersonView(ForAdmins):
    @extend_schema(responses={200: PersonSerializer})
    def get(self, request: Request, pk: int) -> Response:
        """One person of the lab."""
        return _told(pk)

    @extend_schema(request=ChangeRole, responses={200: PersonSerializer, 409: None})
    def patch(self, request: Request, pk: int) -> Response:
        """Change somebody's role. 409 for the last administrator."""
        found, asked = get_object_or_404(User, pk=pk), validated(ChangeRole, request)
        roles.change_role(found, asked["role"], by=person(request))
        return _told(pk)


class DeactivateView(ForAdmins):
    @extend_schema(request=None, responses={200: PersonSerializer, 409: None})
    def post(self, request: Request, pk: int) -> Response:
        """Sign somebody out everywhere, void their tokens, and let them in no more. What they own stays."""
        roles.deactivate(get_object_or_404(User, pk=pk), by=person(request))
        return _told(pk)


class ReactivateView(ForAdmins):
    @extend_schema(request=None, responses={200: PersonSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Let somebody sign in again. Tokens have to be made anew."""
        roles.reactivate(get_object_or_404(User, pk=pk), by=person(request))
        return _told(pk)


class RemoveFactorsView(ForAdmins):
    @extend_schema(request=None, responses={200: PersonSerializer})
    def post(self, request: Request, pk: int) -> Response:
        """Remove the second factors of somebody who is locked out, and end their sign-ins."""
        roles.remove_factors(get_object_or_404(User, pk=pk), by=person(request))
        return _told(pk)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    project = serializers.UUIDField(source="project_id", allow_null=True)
    invited_by = serializers.CharField(source="invited_by.username")

    class Meta:
        model = Invitation
        fields = ["id", "email", "role", "project", "project_role", "invited_by", "created", "expires"]


class NewInvitation(InvitationSerializer):
    """address: the only copy there is. was_mailed: whether it was sent by mail, too."""

    address = serializers.CharField()
    was_mailed = serializers.BooleanField()

    class Meta(InvitationSerializer.Meta):
        fields = [*InvitationSerializer.Meta.fields, "address", "was_mailed"]


class Invite(serializers.Serializer[Any]):
    """project: the id of one that you lead, or for administrators of any; null for none."""

    email = serializers.EmailField(required=False, allow_blank=True, default="")
    role = serializers.ChoiceField(User.Role.choices, required=False, default=User.Role.RESEARCHER)
    project = serializers.UUIDField(required=False, allow_null=True, default=None)
    project_role = serializers.ChoiceField(Membership.Role.choices, required=False, default=Membership.Role.MEMBER)


class InvitationsView(generics.ListAPIView[Invitation]):
    scope = read_scope = Scope.ADMIN
    permission_classes = GRAVE
    queryset = Invitation.objects.none()
    serializer_class = InvitationSerializer

    def get_queryset(self) -> QuerySet[Invitation]:
        return _invitations(self.request)

    @extend_schema(responses={200: InvitationSerializer(many=True)})
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """Open invitations: your own, those into projects that you lead, and for administrators all."""
        return super().get(request, *args, **kwargs)

    @extend_schema(request=Invite, responses={201: NewInvitation})
    def post(self, request: Request) -> Response:
        """Invite somebody: a link that lets one person in, once. It is shown this one time."""
        asked = validated(Invite, request)
        wanted = asked.pop("project")
        project = Project.objects.open_to(person(request)).filter(pk=wanted).first() if wanted else None
        if wanted and project is None:
            raise ValidationError({"project": ["There is no such project."]})
        sent = send(request._request, project=project, **asked)
        told = {"address": sent.link, "was_mailed": sent.was_mailed}
        headers = {"Cache-Control": "no-store"}
        return Response({**InvitationSerializer(sent.invitation).data, **told}, status=201, headers=headers)


class InvitationView(APIView):
    scope = Scope.ADMIN
    permission_classes = [IsAuthenticated, HasScope]

    @extend_schema(responses={204: None})
    def delete(self, request: Request, pk: int) -> Response:
        """Take an invitation back: its link lets nobody in any more."""
        inviting.revoke(get_object_or_404(_invitations(request), pk=pk), by=person(request))
        return Response(status=204)


def _invitations(request: Any) -> QuerySet[Invitation]:
    return Invitation.objects.open().revocable_by(request.user).select_related("invited_by")


def _told(pk: int) -> Response:
    return Response(PersonSerializer(User.objects.annotate(has_factor=with_factor()).get(pk=pk)).data)
