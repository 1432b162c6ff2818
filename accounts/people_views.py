"""Who is in the lab, and who may come: the pages of people, for admins, and of invitations."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.db.models import Prefetch, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views import View
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from accounts import audit, invitations, roles
from accounts.errors import Invalid
from accounts.factors import people_with_factors
from accounts.models import AuditEntry, Invitation, Membership, Project, User
from accounts.people import for_admins, person, stepped_up
from accounts.refusing import back_to

ON_A_PAGE = 50
LATEST_ENTRIES = 20


class InvitationForm(forms.ModelForm[Invitation]):
    """project: None lets an admin choose one, or none."""

    class Meta:
        model = Invitation
        fields = ["email", "role", "project", "project_role"]

    def __init__(self, *args: Any, by: User, project: Project | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        role = self.fields["role"]
        role.choices = [(role.value, role.label) for role in invitations.roles_to_give(by)]  # type: ignore[attr-defined]  # a choice field, which Django types as any field
        if project:
            del self.fields["project"]
        else:
            self.fields["project"].queryset = Project.objects.filter(archived=False)  # type: ignore[attr-defined]  # a model choice field, which Django types as any field
            self.fields["project"].empty_label = gettext_lazy("none")  # type: ignore[attr-defined]  # as above
            self.fields["project_role"].required = False

    def clean_project_role(self) -> str:
        return self.cleaned_data["project_role"] or Membership.Role.MEMBER


class RoleForm(forms.Form):
    role = forms.ChoiceField(label=gettext_lazy("Role"), choices=User.Role.choices)


@for_admins
@stepped_up
def people(request: HttpRequest) -> HttpResponse:
    """Everybody, the open invitations, and the form for another one, whose link is shown once."""
    form, sent = InvitationForm(request.POST or None, by=person(request)), None
    if request.method == "POST" and form.is_valid():
        sent = invitations.send(request, **form.cleaned_data)
        form = InvitationForm(by=person(request))
    search, role = request.GET.get("search", "").replace("\0", "").strip(), request.GET.get("role", "")
    found = people_with_factors().filter(User.has_in_name(search)).order_by("-is_active", "username")
    if role in User.Role.values:
        found = found.filter(role=role)
    found = found.prefetch_related(Prefetch("memberships", Membership.objects.select_related("project")))
    context = {
        "form": form,
        "sent": sent,
        "page": Paginator(found, ON_A_PAGE).get_page(request.GET.get("page")),
        "search": search,
        "role": role,
        "roles": User.Role.choices,
        "invitations": Invitation.objects.open().select_related("project", "invited_by"),
    }
    response = render(request, "accounts/people.html", context)
    response["Cache-Control"] = "no-store"
    return response


@for_admins
def one(request: HttpRequest, pk: int) -> HttpResponse:
    """One person: role, sign-in, projects, and what they did last."""
    found = get_object_or_404(people_with_factors(), pk=pk)
    about = audit.target_of(found)
    context = {
        "one": found,
        "form": RoleForm(initial={"role": found.role}),
        "deeds": AuditEntry.objects.filter(Q(actor_id=found.pk) | Q(target=about))[:LATEST_ENTRIES],
        "memberships": found.memberships.select_related("project"),
        "about": about,
    }
    return render(request, "accounts/one.html", context)


@method_decorator([for_admins, require_POST, stepped_up], name="dispatch")
class Decision(View):
    """What an admin decides on the page of a person. verb: of `accounts.roles`. done: what is said then."""

    verb: Callable[..., None]
    done: Any  # a lazy translation

    def post(self, request: HttpRequest, pk: int) -> HttpResponse:
        back_to(request, "person", pk)
        self.verb(get_object_or_404(User, pk=pk), by=person(request), **self.asked())
        messages.success(request, self.done)
        # Whoever has taken their own role away finds no such page any more.
        return redirect("person", pk) if User.objects.get(pk=person(request).pk).is_admin else redirect("account")

    def asked(self) -> dict[str, str]:
        """What the verb takes besides."""
        return {}


class ChangeRole(Decision):
    verb = staticmethod(roles.change_role)
    done = gettext_lazy("The role is changed.")

    def asked(self) -> dict[str, str]:
        form = RoleForm(self.request.POST)
        if not form.is_valid():
            raise Invalid(role=_("There is no such role. Choose one from the list."))
        return {"to": form.cleaned_data["role"]}


class Deactivate(Decision):
    verb = staticmethod(roles.deactivate)
    done = gettext_lazy("Deactivated: signed out everywhere, and all API tokens are revoked.")


class Reactivate(Decision):
    verb = staticmethod(roles.reactivate)
    done = gettext_lazy("Activated again.")


class RemoveFactors(Decision):
    verb = staticmethod(roles.remove_factors)
    done = gettext_lazy(
        "The second factors are removed. Sign-in needs the password only, until a new factor is set up."
    )


@never_cache
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """Looking uses nothing up: mail programs look too. A new person goes on to sign up; somebody of the lab can take
    the place in the project.
    """
    found = invitations.find(token)
    if not request.user.is_authenticated:
        invitations.hold(request, found)
        filled_in = {"email": found.email} if found.email else {}
        return redirect(reverse("account_signup", query=filled_in))
    if request.method == "POST":
        invitations.join_project(found, person(request))
        messages.success(request, _("You are a member of the project now."))
        return redirect(found.project or "projects")
    return render(request, "accounts/invitation.html", {"invitation": found})


@login_required
@require_POST
@stepped_up
def revoke_invitation(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Invitation.objects.revocable_by(person(request)), pk=pk)
    if invitations.revoke(found, by=person(request)):
        messages.success(request, _("The invitation is revoked. Its link no longer works."))
    else:
        messages.error(request, _("It had been used or had expired."))
    return redirect(found.project) if found.project and not person(request).is_admin else redirect("people")
