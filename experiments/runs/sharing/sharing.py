"""Who sees an experiment: its visibility, its project, and links for people who do not sign in."""

import secrets
from datetime import timedelta
from typing import TYPE_CHECKING

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from accounts import audit
from accounts.errors import ActionUnavailable, Forbidden, Invalid
from accounts.models import Project, digest_of
from accounts.people import once
from experiments.models import Experiment, ShareLink

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser
    from django.http import HttpRequest

    from accounts.models import User
    from experiments.models.catalog import Person

DEFAULT_DAYS, MOST_DAYS = 14, 365
HINT = 6
SECRET_BYTES = 32
HOUR = 3600  # seconds
Visibility = Experiment.Visibility


def projects_of(person: "Person") -> "list[Project]":
    """Those in which a person may begin something."""
    return list(Project.objects.with_share_of(person).filter(archived=False)) if person else []


def own_projects() -> "list[Project]":
    """Those that the current person may begin something in, read once per request."""
    return once(projects_of)


def checked_project(pk: object, *, owner: "User") -> Project | None:
    """The project of this id, None for none. Raises Invalid where the owner may not begin anything."""
    if not pk:
        return None
    for project in projects_of(owner):
        if str(project.pk) == str(pk):
            return project
    raise Invalid(project=_("Choose a project that you are a member of and that is not archived."))


def chosen_project(request: "HttpRequest") -> str:
    """The id of the project that a set-up form is sent with, or shows at first: that of one's last experiment; "" for
    none.
    """
    wanted = request.POST.get("project", "") if request.method == "POST" else once(_latest_project)
    return wanted if wanted and any(str(one.pk) == wanted for one in own_projects()) else ""


def _latest_project(person: "Person") -> str:
    """The id of that of the person's last experiment; "" for none."""
    rows = Experiment.objects.owned_by(person) if person else Experiment.objects.none()
    return str(rows.order_by("-created").values_list("project", flat=True).first() or "")


def may_publish(person: "User | AnonymousUser") -> bool:
    """What everybody in the world may see stands for the lab: curators and administrators decide that."""
    return person.is_active and getattr(person, "role", "") in ("curator", "admin")


def share(experiment: Experiment, *, by: "User", visibility: str, project: Project | None = None) -> bool:
    """Change who can see an experiment and its runs. False when it was so already.

    Its owner decides; a curator or administrator who may see it decides whether everybody does, once its runs are
    approved. What is begun later is shown to visitors once it is approved itself. Raises Forbidden or Invalid.
    """
    with transaction.atomic():
        before = Experiment.objects.select_for_update(of=("self",)).select_related("project").get(pk=experiment.pk)
        if (before.visibility, before.project) == (visibility, project):
            return False
        _check_right(before, by, visibility, project)
        _check_choice(before, visibility, project)
        Experiment.objects.filter(pk=experiment.pk).update(visibility=visibility, project=project)
        detail = {"before": before.visibility, "after": visibility, "project": project.name if project else ""}
        action = audit.Action.WITHDRAWN if before.visibility == Visibility.PUBLIC else audit.Action.SHARED
        if visibility == Visibility.PUBLIC:
            action = audit.Action.PUBLISHED
        audit.record(action, by=by, of=experiment, **detail)
    experiment.visibility, experiment.project = visibility, project
    return True


def create_link(experiment: Experiment, *, by: "User", days: int = DEFAULT_DAYS) -> tuple[ShareLink, str]:
    """A link, and the secret in it: the only copy there is. days: 1 to 365. Raises Forbidden or Invalid."""
    _require_owner(experiment, by)
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(days=_("A link is valid for 1 to %(most)s days.") % {"most": MOST_DAYS})
    secret = secrets.token_urlsafe(SECRET_BYTES)
    with transaction.atomic():
        link = ShareLink.objects.create(
            experiment=experiment,
            digest=digest_of(secret),
            hint=secret[:HINT],
            created_by=by,
            expires=timezone.now() + timedelta(days=days),
        )
        audit.record(audit.Action.LINK_CREATED, by=by, of=experiment, link=str(link.pk), days=days)
    return link, secret


def note_opening(link: ShareLink) -> None:
    """In the audit log, with the address from which it was opened: once an hour, however often that is."""
    if cache.add(f"link-opened:{link.pk}", 1, HOUR):
        audit.record(audit.Action.LINK_OPENED, by=None, of=link.experiment, link=str(link.pk))


def revoke_link(link: ShareLink, *, by: "User") -> bool:
    """Whoever has it sees nothing from now on. False when it was revoked already."""
    with transaction.atomic():
        if not ShareLink.objects.filter(pk=link.pk, revoked__isnull=True).update(revoked=timezone.now()):
            return False
        audit.record(audit.Action.LINK_REVOKED, by=by, of=link.experiment, link=str(link.pk))
    return True


def opened(secret: str) -> ShareLink | None:
    """The link with this secret, if it holds and its owner still has an account."""
    links = ShareLink.objects.open().filter(created_by__is_active=True, experiment__owner__is_active=True)
    return links.select_related("experiment__owner").filter(digest=digest_of(secret)).first()


def _check_right(experiment: Experiment, by: "User", visibility: str, project: Project | None) -> None:
    is_publishing = Visibility.PUBLIC in (visibility, experiment.visibility) and visibility != experiment.visibility
    if is_publishing and not may_publish(by):
        raise Forbidden(_("Only curators and administrators can publish. Ask one of them."))
    if is_publishing and project == experiment.project:
        return
    _require_owner(experiment, by)
    if project and project != experiment.project:
        checked_project(project.pk, owner=by)


def _check_choice(experiment: Experiment, visibility: str, project: Project | None) -> None:
    if visibility == Visibility.PUBLIC and (rest := experiment.runs.filter(review__approved__isnull=True).count()):
        said = ngettext(
            "%(n)s run of this experiment is not approved yet and would become public. Approve it first.",
            "%(n)s runs of this experiment are not approved yet and would become public. Approve them first.",
            rest,
        )
        raise ActionUnavailable(said % {"n": rest})
    if visibility not in Visibility.values:
        raise Invalid(visibility=_("Choose who can see it."))
    if visibility == Visibility.PROJECT and project is None:
        raise Invalid(project=_("Choose the project whose members can see it."))


def _require_owner(experiment: Experiment, by: "User") -> None:
    if experiment.owner_id != by.pk:
        raise Forbidden(_("Only the owner of an experiment can change who sees it."))
