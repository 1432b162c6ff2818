"""Which runs count and which are shown to everybody: submitting, approving, returning, leaving out of ladders,
publishing, and back.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts import audit
from accounts.errors import ActionUnavailable, Forbidden, Invalid
from experiments.engine.text import storable
from experiments.models import Cycle, Experiment, Run, RunReview
from experiments.models.review import role_of
from experiments.models.run import CURATORS
from experiments.models.signals import run_curated
from experiments.runs.sharing import sharing
from experiments.tasks import clock
from experiments.workflows.battles.campaign import voiding as battle_voiding
from experiments.workflows.coding.pages import voiding as cycle_voiding

if TYPE_CHECKING:
    from django.contrib.auth.models import AnonymousUser

    from accounts.models import User

LONGEST_REASON = 300


def may_curate(user: "User | AnonymousUser") -> bool:
    return role_of(user) in CURATORS


def submit(run: Run, *, by: "User") -> bool:
    """Let the curators read a run and decide about it, also one that is private. Returns whether this call did it.
    Raises Forbidden for others than its owner, and Invalid for a run that is not over.
    """
    _require_owner(run, by)
    with transaction.atomic():
        _require_end(run, _("This run has not ended. It can be submitted when it has."))
        RunReview.objects.get_or_create(run=run)
        rows = RunReview.objects.filter(pk=run.pk, approved__isnull=True, submitted__isnull=True)
        if not rows.update(submitted=clock.now(), changed=clock.now()):
            return False
        _forget_return(run)
        audit.record(audit.Action.SUBMITTED, by=by, of=run, name=run.experiment.title)
    return True


def take_back(run: Run, *, by: "User") -> bool:
    """Submit it no more. Returns whether this call did it. Raises Forbidden."""
    _require_owner(run, by)
    with transaction.atomic():
        rows = RunReview.objects.filter(pk=run.pk, submitted__isnull=False)
        if not rows.update(submitted=None, changed=clock.now()):
            return False
        audit.record(audit.Action.SHARED, by=by, of=run, name=run.experiment.title, submitted=False)
    return True


def give_back(run: Run, *, by: "User", reason: str) -> bool:
    """Return a run to its owner undecided, with the reason. Returns whether this call did it. Raises Forbidden, and
    Invalid without a reason.
    """
    _require(by)
    said = _reason(reason, _("Give a reason. The owner of the run can read it."))
    with transaction.atomic():
        RunReview.objects.get_or_create(run=run)
        rows = RunReview.objects.filter(pk=run.pk, approved__isnull=True, excluded__isnull=True)
        same = {"submitted__isnull": True, "returned__isnull": False, "reason": said}
        if not rows.exclude(**same).update(submitted=None, returned=clock.now(), reason=said):
            return False
        audit.record(audit.Action.RETURNED, by=by, of=run, name=run.experiment.title, reason=said)
    return True


def approve(run: Run, *, by: "User", is_approved: bool = True) -> bool:
    """Say that the run is fit to be shown, or that it is not any more. Returns whether this call did it.

    Raises Forbidden for others than curators and administrators, Invalid for a run that is not over.
    """
    _require(by)
    fields = {"approved": timezone.now() if is_approved else None, "approved_by": by if is_approved else None}
    with transaction.atomic():
        if is_approved:
            _require_end(run, _("This run has not ended. It can be approved when it has."))
        RunReview.objects.get_or_create(run=run)
        rows = RunReview.objects.filter(pk=run.pk, approved__isnull=is_approved)
        if not rows.update(**fields, submitted=None, changed=clock.now()):
            return False
        _forget_return(run)
        action = audit.Action.APPROVED if is_approved else audit.Action.DISAPPROVED
        audit.record(action, by=by, of=run, name=run.experiment.title)
    return True


def exclude(run: Run, *, by: "User", reason: str) -> bool:
    """Leave a run out of every ladder: its battles, cycles and ballots count no more, and the reason is
    shown to those who may see the run.

    Returns whether this call did it. Raises Forbidden, and Invalid without a reason.
    """
    _require(by)
    said = _reason(reason, _("Give a reason. Everybody who sees the run can read it."))
    now = clock.now()
    with transaction.atomic():
        RunReview.objects.get_or_create(run=run)
        rows = RunReview.objects.filter(pk=run.pk, excluded__isnull=True)
        if not rows.update(excluded=now, excluded_by=by, returned=None, reason=said, changed=now):
            return False
        for battle in run.battles.filter(void_reason="").exclude(winner="").select_related("board__dataset"):
            battle_voiding.void(battle, by=by, reason=battle_voiding.WITH_RUN, as_part=True)
        for cycle in run.cycles.filter(state=Cycle.State.RATED, voided__isnull=True):
            cycle_voiding.void(cycle, by=by, reason=said, as_part=True)
        audit.record(audit.Action.VOIDED, by=by, of=run, name=run.experiment.title, reason=said)
        transaction.on_commit(partial(run_curated.send, sender=None, run_id=run.pk))
    return True


def include(run: Run, *, by: "User") -> bool:
    """Let it count again, and with it what was left out with it; what was void before stays so. Returns whether this
    call did it. Raises Forbidden.
    """
    _require(by)
    with transaction.atomic():
        review = RunReview.objects.select_for_update(of=("self",)).filter(pk=run.pk, excluded__isnull=False).first()
        if review is None:
            return False
        same = {"voided_by": review.excluded_by_id, "voided__gte": review.excluded}
        battles = run.battles.filter(**same, void_reason__in=(battle_voiding.WITH_RUN, review.reason))
        for battle in battles.select_related("board__dataset"):
            battle_voiding.restore(battle, by=by, as_part=True)
        for cycle in run.cycles.filter(**same, void_reason=review.reason):
            cycle_voiding.restore(cycle, by=by, as_part=True)
        rows = RunReview.objects.filter(pk=run.pk)
        rows.update(excluded=None, excluded_by=None, reason="", changed=clock.now())
        audit.record(audit.Action.RESTORED, by=by, of=run, name=run.experiment.title)
        transaction.on_commit(partial(run_curated.send, sender=None, run_id=run.pk))
    return True


def publish(run: Run, *, by: "User") -> bool:
    """Show the run's experiment to everybody, with all of its runs, so that each of them has to be approved.

    Returns whether this call did it. Raises Forbidden, and Invalid as long as something is not approved.
    """
    _require(by)
    if not Run.objects.filter(pk=run.pk, review__approved__isnull=False).exists():
        raise ActionUnavailable(_("Approve the run first. Public runs have to be reviewed by a curator."))
    return _shown(run, by, Experiment.Visibility.PUBLIC)


def approve_and_publish(run: Run, *, by: "User") -> bool:
    """Both, or neither. Returns whether this call did one of them. Raises what they raise."""
    with transaction.atomic():
        is_new = approve(run, by=by)
        return publish(run, by=by) or is_new


def withdraw(run: Run, *, by: "User") -> bool:
    """Show it to the lab alone again. Returns whether this call did it. Raises Forbidden."""
    _require(by)
    is_public = Experiment.objects.filter(pk=run.experiment_id, visibility=Experiment.Visibility.PUBLIC).exists()
    return is_public and _shown(run, by, Experiment.Visibility.LAB)


ACTIONS: "dict[str, Callable[..., bool]]" = {  # of curators
    "approve": approve,
    "approve_and_publish": approve_and_publish,
    "return": give_back,
    "disapprove": partial(approve, is_approved=False),
    "exclude": exclude,
    "include": include,
    "publish": publish,
    "withdraw": withdraw,
}
OF_OWNERS: "dict[str, Callable[..., bool]]" = {"submit": submit, "take_back": take_back}
REASONED = ("exclude", "return")


def act(action: str, run: Run, *, by: "User", reason: str = "") -> bool:
    """The action of this name. Raises Invalid for a name that is none, and what the action raises."""
    verb = ACTIONS.get(action) or OF_OWNERS.get(action)
    if verb is None:
        raise ActionUnavailable(_("There is no action with this name."))
    return verb(run, by=by, **({"reason": reason} if action in REASONED else {}))


def _shown(run: Run, by: "User", visibility: str) -> bool:
    experiment = Experiment.objects.select_related("project").get(pk=run.experiment_id)
    return sharing.share(experiment, by=by, visibility=visibility, project=experiment.project)


def _forget_return(run: Run) -> None:
    RunReview.objects.filter(pk=run.pk, returned__isnull=False).update(returned=None, reason="")


def _require(by: "User") -> None:
    if not may_curate(by):
        raise Forbidden(_("Only curators and administrators can decide this."))


def _require_owner(run: Run, by: "User") -> None:
    if run.experiment.owner_id != by.pk:
        raise Forbidden(_("Only the owner of an experiment can submit its runs to the curators."))


def _require_end(run: Run, otherwise: str) -> None:
    """Within a transaction: nobody goes on with the run meanwhile."""
    if not Run.objects.select_for_update(of=("self",)).get(pk=run.pk).is_over:
        raise ActionUnavailable(otherwise)


def _reason(text: str, otherwise: str) -> str:
    if not (said := storable(text).strip()[:LONGEST_REASON]):
        raise Invalid(reason=otherwise)
    return said
