"""What is done to projects: made, renamed, archived, joined and left."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import Conflict, Forbidden
from accounts.models import Membership, Project, User

Role = Membership.Role


def create(*, by: User, name: str, description: str = "") -> Project:
    """A project that `by` leads. Raises Forbidden for reviewers."""
    if not by.may_experiment:
        raise Forbidden(_("Your role does not allow creating projects. Ask an administrator for another role."))
    with transaction.atomic():
        project = Project.objects.create(name=name, description=description)
        Membership.objects.create(project=project, user=by, role=Role.LEAD)
        audit.record(audit.Action.PROJECT_CREATED, by=by, of=project)
    return project


def change(project: Project, *, by: User, name: str, description: str) -> None:
    """Raises Forbidden."""
    require_lead(project, by)
    before = Project.objects.get(pk=project.pk)
    if (before.name, before.description) == (name, description):
        return
    with transaction.atomic():
        project.name, project.description = name, description
        project.save(update_fields=["name", "description"])
        audit.record(audit.Action.PROJECT_CHANGED, by=by, of=project, before=before.name)


def archive(project: Project, *, by: User, archived: bool = True) -> None:
    """Nothing more begins in it, or it goes on. Raises Forbidden."""
    require_lead(project, by)
    with transaction.atomic():
        if Project.objects.filter(pk=project.pk, archived=not archived).update(archived=archived):
            audit.record(audit.Action.PROJECT_CHANGED, by=by, of=project, archived=archived)


def set_member(project: Project, person: User, role: str, *, by: User) -> None:
    """Gives somebody a place in the project, or another one. Raises Forbidden, and Conflict for the last lead."""
    require_lead(project, by)
    if not person.is_active:
        raise Conflict(_("This person is deactivated. An administrator can change that."))
    with transaction.atomic():
        _lock(project)
        place(project, person, role, by=by)


def place(project: Project, person: User, role: str, *, by: User) -> None:
    """The same within a transaction, by whoever has asked for the right to do so before."""
    before = Membership.objects.filter(project=project, user=person).first()
    if before and before.role == role:
        return
    if before and before.role == Role.LEAD:
        _require_another_lead(project, person)
    Membership.objects.update_or_create(project=project, user=person, defaults={"role": role})
    detail: dict[str, Any] = {"before": before.role if before else None, "after": str(role)}
    audit.record(audit.Action.MEMBER_CHANGED, by=by, of=project, person=person.username, **detail)


def remove_member(project: Project, person: User, *, by: User) -> None:
    """Takes somebody's place away; everybody may leave. Raises Forbidden, and Conflict for the last lead."""
    if person != by:
        require_lead(project, by)
    with transaction.atomic():
        _lock(project)
        membership = Membership.objects.filter(project=project, user=person).first()
        if membership is None:
            return
        if membership.role == Role.LEAD:
            _require_another_lead(project, person)
        membership.delete()
        detail: dict[str, Any] = {"before": membership.role, "after": None}
        audit.record(audit.Action.MEMBER_CHANGED, by=by, of=project, person=person.username, **detail)


def require_lead(project: Project, by: User) -> None:
    """Raises Forbidden."""
    if not project.is_led_by(by):
        raise Forbidden(_("Only the project's leads can do this. Ask one of them."))


def _require_another_lead(project: Project, person: User) -> None:
    leads = Membership.objects.filter(project=project, role=Role.LEAD, user__is_active=True)
    if not leads.exclude(user=person).exists():
        raise Conflict(_("A project needs a lead. Make another member a lead first."))


def _lock(project: Project) -> None:
    """Two leads who leave at once leave one after the other."""
    Project.objects.select_for_update().get(pk=project.pk)
