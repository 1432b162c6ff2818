"""People, invitations, projects, tokens and the audit log over HTTP."""

from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import Http404
from django.shortcuts import get_object_or_404
from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.validators import UniqueValidator
from rest_framework.views import APIView
from rest_framework.viewsets import GenericViewSet

from accounts import invitations, projects, roles, tokens
from accounts.api_requests import person, project_among, validated
from accounts.errors import Conflict
from accounts.factors import people_with_factors
from accounts.models import ApiToken, AuditEntry, Invitation, Membership, Project, User
from accounts.permissions import GRAVE, HasScope
from accounts.scopes import Scope

NO_STORE = {"Cache-Control": "no-store"}  # of answers with a secret that is shown once
router = SimpleRouter(use_regex_path=False)


class ForAdmins(APIView):
    """To everybody else there is no such address."""

    scope = read_scope = Scope.ADMIN
    permission_classes = GRAVE

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        if not getattr(request.user, "is_admin", False):
            raise Http404


# --- people ---


class PersonSerializer(serializers.ModelSerializer[User]):
    """has_factor: whether sign-in requires a second factor."""

    has_factor = serializers.BooleanField(read_only=True)

    class Meta:
        model = User
        fields = [
            *("id", "username", "email", "first_name", "last_name"),
            *("role", "is_active", "has_factor", "last_login", "date_joined"),
        ]


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
        return rows.filter(User.has_in_name(value))


class PersonViewSet(ForAdmins, mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[User]):
    """All people of the lab, including deactivated ones."""

    serializer_class = PersonSerializer
    filterset_class = PersonFilter
    cursor_ordering = ["username"]
    lookup_value_converter = "int"

    def get_queryset(self) -> QuerySet[User]:
        return people_with_factors()

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One person of the lab."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(request=ChangeRole, responses={200: PersonSerializer, 409: None})
    def partial_update(self, request: Request, pk: int) -> Response:
        """Change a person's role. 409 for the last administrator."""
        found, asked = self.get_object(), validated(ChangeRole, request)
        roles.change_role(found, asked["role"], by=person(request))
        return self.retrieve(request)

    @extend_schema(request=None, responses={200: PersonSerializer, 409: None})
    @action(methods=["POST"], detail=True)
    def deactivate(self, request: Request, pk: int) -> Response:
        """Deactivate a person: signs them out, revokes their tokens and refuses sign-ins. What they own stays."""
        roles.deactivate(self.get_object(), by=person(request))
        return self.retrieve(request)

    @extend_schema(request=None, responses={200: PersonSerializer})
    @action(methods=["POST"], detail=True)
    def reactivate(self, request: Request, pk: int) -> Response:
        """Reactivate a person. Revoked tokens stay revoked."""
        roles.reactivate(self.get_object(), by=person(request))
        return self.retrieve(request)

    @extend_schema(request=None, responses={200: PersonSerializer})
    @action(methods=["POST"], detail=True, url_path="factors/remove", url_name="factors")
    def remove_factors(self, request: Request, pk: int) -> Response:
        """Remove a person's second factors, and sign them out everywhere."""
        roles.remove_factors(self.get_object(), by=person(request))
        return self.retrieve(request)


router.register("people", PersonViewSet, basename="api-person")


# --- invitations ---


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


class InvitationViewSet(mixins.ListModelMixin, GenericViewSet[Invitation]):
    """Open invitations: your own and those to projects that you lead; all of them for administrators."""

    scope = read_scope = Scope.ADMIN
    queryset = Invitation.objects.none()
    serializer_class = InvitationSerializer
    lookup_value_converter = "int"

    def get_permissions(self) -> list[Any]:
        """A link that is out may be taken back at once."""
        return [one() for one in ([IsAuthenticated, HasScope] if self.action == "destroy" else GRAVE)]

    def get_queryset(self) -> QuerySet[Invitation]:
        return Invitation.objects.open().revocable_by(self.request.user).select_related("invited_by")

    @extend_schema(request=Invite, responses={201: NewInvitation})
    def create(self, request: Request) -> Response:
        """Invite a person: creates a link that works once. The link is shown only in this response."""
        asked = validated(Invite, request)
        project = project_among(Project.objects.open_to(person(request)), asked.pop("project"))
        sent = invitations.send(request._request, project=project, **asked)
        answer = {**self.get_serializer(sent.invitation).data, "address": sent.link, "was_mailed": sent.was_mailed}
        return Response(answer, status=201, headers=NO_STORE)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, pk: int) -> Response:
        """Revoke an invitation: its link stops working."""
        invitations.revoke(self.get_object(), by=person(request))
        return Response(status=204)


router.register("invitations", InvitationViewSet, basename="api-invitation")


# --- projects ---


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


class ProjectViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[Project]):
    """The projects that you belong to."""

    scope = Scope.ADMIN
    serializer_class = ProjectSerializer
    cursor_ordering = ["name"]
    lookup_value_converter = "uuid"

    def get_queryset(self) -> QuerySet[Project]:
        """An admin may open the page of every project, and is listed in those that they belong to."""
        who = self.request.user
        return Project.objects.visible_to(who) if self.action == "list" else Project.objects.open_to(who).distinct()

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One project."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(request=MakeProject, responses={201: ProjectSerializer})
    def create(self, request: Request) -> Response:
        """Create a project and become its lead."""
        made = projects.create(by=person(request), **validated(MakeProject, request))
        return Response(self.get_serializer(made).data, status=201)

    @extend_schema(request=ChangeProject, responses={200: ProjectSerializer, 409: None})
    def partial_update(self, request: Request, pk: UUID) -> Response:
        """Change a project's name or description, or archive or restore it; for its leads."""
        found = self.get_object()
        projects.require_lead(found, person(request))
        asked = validated(ChangeProject, request)
        archived = asked.pop("archived", None)
        if Project.objects.filter(name=asked.get("name")).exclude(pk=found.pk).exists():
            raise Conflict("There is a project with this name. Choose another one.")
        if asked:
            given = {"name": found.name, "description": found.description, **asked}
            projects.change(found, by=person(request), **given)
        if archived is not None:
            projects.archive(found, by=person(request), archived=archived)
        return self.retrieve(request)


class MemberViewSet(mixins.ListModelMixin, GenericViewSet[Membership]):
    """The members of a project with their roles."""

    scope = Scope.ADMIN
    queryset = Membership.objects.none()
    serializer_class = MemberSerializer
    cursor_ordering = ["user__username"]
    lookup_field, lookup_url_kwarg, lookup_value_converter = "user_id", "user_pk", "int"

    def get_queryset(self) -> QuerySet[Membership]:
        return Membership.objects.filter(project=self._project()).select_related("user")

    @extend_schema(request=SetMember, responses={200: MemberSerializer, 409: None})
    def create(self, request: Request, pk: UUID) -> Response:
        """Add a person to a project, or change their role in it."""
        found = self._project(led=True)
        asked = validated(SetMember, request)
        member = User.objects.filter(username=asked["username"].strip(), is_active=True).first()
        if member is None:
            raise ValidationError({"username": ["Nobody of this name is in the lab."]})
        return self._set(found, member, asked["role"])

    @extend_schema(request=ChangeMember, responses={200: MemberSerializer, 409: None})
    def partial_update(self, request: Request, pk: UUID, user_pk: int) -> Response:
        """Change the role of a member. 409 for the last lead."""
        found = self._project(led=True)
        return self._set(found, self.get_object().user, validated(ChangeMember, request)["role"])

    @extend_schema(responses={204: None, 409: None})
    def destroy(self, request: Request, pk: UUID, user_pk: int) -> Response:
        """Remove a member; members can remove themselves. 409 for the last lead."""
        projects.remove_member(self._project(), self.get_object().user, by=person(request))
        return Response(status=204)

    def _project(self, *, led: bool = False) -> Project:
        who = person(self.request)
        found = get_object_or_404(Project.objects.open_to(who).distinct(), pk=self.kwargs["pk"])
        if led:
            projects.require_lead(found, who)
        return found

    def _set(self, found: Project, member: User, role: str) -> Response:
        projects.set_member(found, member, role, by=person(self.request))
        return Response(self.get_serializer(self.get_queryset().get(user=member)).data)


router.register("projects", ProjectViewSet, basename="api-project")
router.register("projects/<uuid:pk>/members", MemberViewSet, basename="api-project-member")


# --- tokens: one's own. A token gives no more than it has, and nothing that outlives it ---


class TokenSerializer(serializers.ModelSerializer[ApiToken]):
    """id: its first characters. last_used: to the minute; null for never. expires: null for never."""

    id = serializers.CharField(source="token_key", read_only=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices))
    expires = serializers.DateTimeField(source="expiry", allow_null=True)

    class Meta:
        model = ApiToken
        fields = ["id", "name", "scopes", "created", "expires", "last_used", "last_address"]


class NewTokenSerializer(TokenSerializer):
    """token: the only copy there is."""

    token = serializers.CharField()

    class Meta(TokenSerializer.Meta):
        fields = [*TokenSerializer.Meta.fields, "token"]


class CreateToken(serializers.Serializer[Any]):
    """name: its purpose."""

    name = serializers.CharField(max_length=tokens.LONGEST_NAME)
    days = serializers.IntegerField(
        required=False, default=tokens.DEFAULT_DAYS, min_value=1, max_value=tokens.MOST_DAYS
    )
    scopes = serializers.ListField(child=serializers.ChoiceField(Scope.choices), min_length=1, max_length=len(Scope))


class TokenViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, GenericViewSet[ApiToken]):
    """Your API tokens with their scopes and when each was last used."""

    scope = Scope.ADMIN
    permission_classes = GRAVE
    queryset = ApiToken.objects.none()
    serializer_class = TokenSerializer
    cursor_ordering = ["-created", "digest"]
    lookup_field = "token_key"

    def get_queryset(self) -> QuerySet[ApiToken]:
        found: QuerySet[ApiToken] = ApiToken.objects.filter(user_id=self.request.user.pk)
        return found

    def retrieve(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        """One of your tokens with its scopes and when it was last used."""
        return super().retrieve(request, *args, **kwargs)

    @extend_schema(request=CreateToken, responses={201: NewTokenSerializer})
    def create(self, request: Request) -> Response:
        """Create a token. When a token creates it, it gets no further scope and no later expiry than that one."""
        by = request.auth if isinstance(request.auth, ApiToken) else None
        row, text = tokens.new_token(person(request), by=by, **validated(CreateToken, request))
        return Response({**self.get_serializer(row).data, "token": text}, status=201, headers=NO_STORE)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, token_key: str) -> Response:
        """Revoke a token. Takes effect at once."""
        tokens.revoke_token(self.get_object(), by=person(request))
        return Response(status=204)


router.register("tokens", TokenViewSet, basename="api-token")


# --- the audit log ---


class EntrySerializer(serializers.ModelSerializer[AuditEntry]):
    """actor_id, actor: who did it; null and empty when unknown. target: `kind:id` of its object."""

    detail = serializers.DictField()

    class Meta:
        model = AuditEntry
        fields = ["id", "at", "action", "actor_id", "actor", "target", "name", "detail", "address"]


class EntryFilter(filters.FilterSet):  # type: ignore[misc]  # django-filter has no types
    person = filters.CharFilter(field_name="actor", lookup_expr="icontains", help_text="Part of who did it.")
    action = filters.ChoiceFilter(choices=AuditEntry.Action.choices)
    target = filters.CharFilter(method="filter_target", help_text="`kind:id`, or part of its name.")
    since = filters.DateFilter(field_name="at", lookup_expr="date__gte", help_text="A day (UTC), as 2026-02-28.")
    until = filters.DateFilter(field_name="at", lookup_expr="date__lte", help_text="A day (UTC), as 2026-02-28.")

    class Meta:
        model = AuditEntry
        fields: list[str] = []

    def filter_target(self, rows: QuerySet[AuditEntry], name: str, value: str) -> QuerySet[AuditEntry]:
        return rows.filter(Q(target=value) | Q(name__icontains=value))


class AuditViewSet(ForAdmins, mixins.ListModelMixin, GenericViewSet[AuditEntry]):
    """Actions of people, newest first."""

    queryset = AuditEntry.objects.all()
    serializer_class = EntrySerializer
    filterset_class = EntryFilter


router.register("audit", AuditViewSet, basename="api-audit")

urlpatterns = router.urls
