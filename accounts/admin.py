"""People in the Django admin: changed by the same verbs as on their page; what was done can be read there."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group
from django.db import transaction
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _

from accounts import audit, roles, sessions
from accounts.errors import Refusal
from accounts.models import AuditEntry, Invitation, Membership, Project, User
from accounts.people import person, stepped_up_for_secrets

# Secrets of second factors and sign-in servers are not for reading; servers come from the environment, rights from
# roles. What a person has of these is on the person's own page.
for model in (Authenticator, SocialApp, SocialToken, SocialAccount, UserSession, EmailAddress, Group):
    if admin.site.is_registered(model):
        admin.site.unregister(model)


@admin.register(User)
class PersonAdmin(UserAdmin[User]):
    list_display = ["username", "role", "email", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    filter_horizontal = []
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["username", "password"]}),
        (_("Personal info"), {"fields": ["first_name", "last_name", "email"]}),
        (_("Rights in the lab"), {"fields": ["role", "is_active", "language"]}),
        (_("Important dates"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [
        (
            None,
            {"classes": ["wide"], "fields": ["username", "email", "role", "usable_password", "password1", "password2"]},
        )
    ]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # whoever leaves is deactivated: what they did keeps its name

    @transaction.atomic
    def save_model(self, request: HttpRequest, obj: User, form: ModelForm[User], change: bool) -> None:
        """The verbs do what they do for a page; a last admin stays one, and it is said."""
        role, is_active, by = obj.role, obj.is_active, person(request)
        if not change:
            roles.take_role(obj, role)
            obj.save()
            audit.record(audit.Action.SIGNED_UP, by=by, of=obj, role=role)
            return
        before = User.objects.get(pk=obj.pk)
        obj.role, obj.is_active = before.role, before.is_active
        obj.save(update_fields=["username", "first_name", "last_name", "email", "language"])
        try:
            roles.change_role(before, role, by=by)
            if is_active != before.is_active:
                (roles.reactivate if is_active else roles.deactivate)(before, by=by)
        except Refusal as refusal:
            self.message_user(request, str(refusal), messages.ERROR)
        obj.refresh_from_db()

    @method_decorator(stepped_up_for_secrets)
    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        """As on the pages of people: rights change hands only where the person was confirmed a moment ago."""
        return super().changeform_view(request, *args, **kwargs)

    @method_decorator(stepped_up_for_secrets)
    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        response = super().user_change_password(request, id, form_url)
        if request.method == "POST" and response.status_code == 302:
            changed = User.objects.get(pk=id)
            with transaction.atomic():
                sessions.end_sessions(changed, keep=request.session.session_key)
                audit.record(audit.Action.PASSWORD_CHANGED, by=person(request), of=changed)
        return response


class ReadOnly(admin.options.BaseModelAdmin[Any]):
    """Changed by the verbs alone, or never."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnly, admin.ModelAdmin[AuditEntry]):
    list_display = ["at", "actor", "action", "name", "target", "address"]
    list_filter = ["action"]
    search_fields = ["actor", "name", "target"]
    show_full_result_count = False


class MembershipInline(ReadOnly, admin.TabularInline[Membership, Project]):
    model = Membership
    extra = 0


@admin.register(Project)
class ProjectAdmin(ReadOnly, admin.ModelAdmin[Project]):
    list_display = ["name", "archived", "created"]
    list_filter = ["archived"]
    search_fields = ["name"]
    inlines = [MembershipInline]


@admin.register(Invitation)
class InvitationAdmin(ReadOnly, admin.ModelAdmin[Invitation]):
    list_display = ["email", "role", "project", "invited_by", "created", "expires", "accepted", "revoked"]
    list_filter = ["role"]
    search_fields = ["email"]
