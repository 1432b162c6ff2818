"""Pages of projects: one's own, a new one, and one with its members."""

from typing import Any
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db.models import Count, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST
from django.views.generic import CreateView, ListView

from accounts import invitations, projects
from accounts.models import Invitation, Membership, Project, User
from accounts.people import person, stepped_up
from accounts.people_views import InvitationForm
from accounts.pickers import Picker, people
from accounts.refusing import back_to


class ProjectForm(forms.ModelForm[Project]):
    class Meta:
        model = Project
        fields = ["name", "description"]
        error_messages = {"name": {"unique": gettext_lazy("There is a project with this name. Choose another one.")}}


class MemberForm(forms.Form):
    username = forms.ModelChoiceField(
        label=gettext_lazy("Name"),
        queryset=people(),
        to_field_name="username",
        empty_label=gettext_lazy("none"),
        widget=Picker("find-people"),
        error_messages={
            "invalid_choice": gettext_lazy("No person in the lab has this name. Check it, or invite them below.")
        },
    )
    role = forms.ChoiceField(
        label=gettext_lazy("Role"), choices=Membership.Role.choices, initial=Membership.Role.MEMBER
    )


class ProjectList(LoginRequiredMixin, ListView[Membership]):
    """One's own places, each with its project and how many people belong to that."""

    template_name = "accounts/projects.html"
    context_object_name = "places"

    def get_queryset(self) -> QuerySet[Membership]:
        own = Membership.objects.filter(user=person(self.request)).select_related("project")
        return own.annotate(people=Count("project__memberships")).order_by("project__archived", "project__name")


class ProjectCreate(LoginRequiredMixin, CreateView[Project, ProjectForm]):
    template_name = "accounts/project_new.html"
    form_class = ProjectForm

    def form_valid(self, form: ProjectForm) -> HttpResponse:
        made = projects.create(by=person(self.request), **form.cleaned_data)
        messages.success(self.request, _("The project is created. You are its lead."))
        return redirect(made)


@login_required
def project(request: HttpRequest, pk: UUID) -> HttpResponse:
    return _page(request, _open(request, pk))


@login_required
@require_POST
def change(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = _led(request, pk)
    form = ProjectForm(request.POST, instance=Project.objects.get(pk=found.pk))
    if not form.is_valid():
        return _page(request, found, about=form)
    projects.change(found, by=person(request), **form.cleaned_data)
    return redirect(found)


@login_required
@require_POST
def archive(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = _open(request, pk)
    projects.archive(found, by=person(request), archived=request.POST.get("archived") == "1")
    return redirect(found)


@login_required
@require_POST
def add_member(request: HttpRequest, pk: UUID) -> HttpResponse:
    found, form = _led(request, pk), MemberForm(request.POST)
    if not form.is_valid():
        return _page(request, found, adding=form)
    return _set_role(request, found, form.cleaned_data["username"], form.cleaned_data["role"])


@login_required
@require_POST
def change_member(request: HttpRequest, pk: UUID, user_pk: int) -> HttpResponse:
    """Another role, or with the role "" no place any more."""
    found = _open(request, pk)
    member = get_object_or_404(User, pk=user_pk, memberships__project=found)
    return _set_role(request, found, member, request.POST.get("role", ""))


@login_required
@require_POST
@stepped_up
def invite(request: HttpRequest, pk: UUID) -> HttpResponse:
    found = _led(request, pk)
    form = InvitationForm(request.POST, by=person(request), project=found)
    if not form.is_valid():
        return _page(request, found, inviting=form)
    return _page(request, found, sent=invitations.send(request, project=found, **form.cleaned_data))


def _open(request: HttpRequest, pk: UUID) -> Project:
    members = Membership.objects.select_related("user").order_by("role", "user__username")
    found = Project.objects.open_to(person(request)).prefetch_related(Prefetch("memberships", members))
    return get_object_or_404(found.distinct(), pk=pk)


def _led(request: HttpRequest, pk: UUID) -> Project:
    """Whoever may not decide is told so before anything else."""
    found = _open(request, pk)
    projects.require_lead(found, person(request))
    return found


def _set_role(request: HttpRequest, found: Project, member: User, role: str) -> HttpResponse:
    back_to(request, found)
    if role in Membership.Role.values:
        projects.set_member(found, member, role, by=person(request))
    else:
        projects.remove_member(found, member, by=person(request))
    still_there = Project.objects.open_to(person(request)).filter(pk=found.pk).exists()
    return redirect(found) if still_there else redirect("projects")


def _page(request: HttpRequest, found: Project, **shown: Any) -> HttpResponse:
    """shown: forms that are not empty (about, adding, inviting), or an invitation just sent."""
    who = person(request)
    leads = found.is_led_by(who)
    context = {
        "project": found,
        "leads": leads,
        "may_invite": not found.archived and invitations.may_invite(who, found),
        "about": ProjectForm(instance=found),
        "adding": MemberForm(),
        "inviting": InvitationForm(by=who, project=found),
        "member_roles": Membership.Role.choices,
        "invitations": Invitation.objects.open().filter(project=found).select_related("invited_by") if leads else [],
        **shown,
    }
    response = render(request, "accounts/project.html", context)
    response["Cache-Control"] = "no-store"
    return response
