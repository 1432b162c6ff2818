"""Projects: mine, a new one, and one with its members."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import Count, Prefetch
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from accounts import inviting, projects
from accounts.forms import InvitationForm, MemberForm, ProjectForm
from accounts.invitation_views import Sent, send
from accounts.models import Invitation, Membership, Project, User
from accounts.people import person, stepped_up
from accounts.refusing import back_to


@login_required
def mine(request: HttpRequest) -> HttpResponse:
    who = person(request)
    own = Membership.objects.filter(user=who)
    found = Project.objects.visible_to(who).annotate(people=Count("memberships")).order_by("archived", "name")
    # `visible_to` joins my own place; counted anew, or every project would have one member.
    sizes = dict(Project.objects.filter(pk__in=found).annotate(n=Count("memberships")).values_list("pk", "n"))
    places = {membership.project_id: membership for membership in own}
    rows = [{"project": project, "place": places[project.pk], "people": sizes[project.pk]} for project in found]
    return render(request, "accounts/projects.html", {"rows": rows})


@login_required
def new(request: HttpRequest) -> HttpResponse:
    form = ProjectForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        made = projects.create(by=person(request), **form.cleaned_data)
        messages.success(request, _("The project is there. You lead it."))
        return redirect(made)
    return render(request, "accounts/project_new.html", {"form": form})


@login_required
def project(request: HttpRequest, pk: Any) -> HttpResponse:
    return _page(request, _open(request, pk))


@login_required
@require_POST
def change(request: HttpRequest, pk: Any) -> HttpResponse:
    found = _led(request, pk)
    form = ProjectForm(request.POST, instance=Project.objects.get(pk=found.pk))
    if not form.is_valid():
        return _page(request, found, about=form)
    projects.change(found, by=person(request), **form.cleaned_data)
    return redirect(found)


@login_required
@require_POST
def archive(request: HttpRequest, pk: Any) -> HttpResponse:
    found = _open(request, pk)
    projects.archive(found, by=person(request), archived=request.POST.get("archived") == "1")
    return redirect(found)


@login_required
@require_POST
def add_member(request: HttpRequest, pk: Any) -> HttpResponse:
    found = _led(request, pk)
    form = MemberForm(request.POST)
    if not form.is_valid():
        return _page(request, found, adding=form)
    return _decide(request, found, form.cleaned_data["username"], form.cleaned_data["role"])


@login_required
@require_POST
def change_member(request: HttpRequest, pk: Any, user_pk: int) -> HttpResponse:
    """Another role, or with the role "" no place any more."""
    found = _open(request, pk)
    member = get_object_or_404(User, pk=user_pk, memberships__project=found)
    return _decide(request, found, member, request.POST.get("role", ""))


@login_required
@require_POST
@stepped_up
def invite(request: HttpRequest, pk: Any) -> HttpResponse:
    found = _led(request, pk)
    form = InvitationForm(request.POST, by=person(request), project=found)
    if not form.is_valid():
        return _page(request, found, inviting_=form)
    return _page(request, found, sent=send(request, project=found, **form.cleaned_data))


def _open(request: HttpRequest, pk: Any) -> Project:
    members = Membership.objects.select_related("user").order_by("role", "user__username")
    found = Project.objects.open_to(person(request)).prefetch_related(Prefetch("memberships", members))
    return get_object_or_404(found.distinct(), pk=pk)


def _led(request: HttpRequest, pk: Any) -> Project:
    """Whoever may not decide is told so before anything else."""
    found = _open(request, pk)
    projects.require_lead(found, person(request))
    return found


def _decide(request: HttpRequest, found: Project, member: User, role: str) -> HttpResponse:
    back_to(request, found)
    if role in Membership.Role.values:
        projects.set_member(found, member, role, by=person(request))
    else:
        projects.remove_member(found, member, by=person(request))
    still_there = Project.objects.open_to(person(request)).filter(pk=found.pk).exists()
    return redirect(found) if still_there else redirect("projects")


def _page(
    request: HttpRequest,
    found: Project,
    *,
    about: ProjectForm | None = None,
    adding: MemberForm | None = None,
    inviting_: InvitationForm | None = None,
    sent: Sent | None = None,
) -> HttpResponse:
    who = person(request)
    leads = found.is_led_by(who)
    context = {
        "project": found,
        "place": next((one for one in found.memberships.all() if one.user_id == who.pk), None),
        "leads": leads,
        "may_invite": not found.archived and inviting.may_invite(who, found),
        "about": about or ProjectForm(instance=found),
        "adding": adding or MemberForm(),
        "inviting": inviting_ or InvitationForm(by=who, project=found),
        "member_roles": Membership.Role.choices,
        "invitations": Invitation.objects.open().filter(project=found).select_related("invited_by") if leads else [],
        "sent": sent,
    }
    response = render(request, "accounts/project.html", context)
    response["Cache-Control"] = "no-store"
    return response
