"""What changes a study: setting it up, locking and amending its plan, starting, pausing and stopping it."""

from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from accounts.errors import Conflict, Forbidden, Invalid
from experiments.engine.text import is_storable
from experiments.models import Experiment, Run, Study, StudyCondition, StudyPlan, StudyRun
from experiments.runs import actions, admission
from experiments.runs.admission import require_role
from experiments.runs.sharing.sharing import checked_project
from experiments.studies import running
from experiments.studies.checking import checked_design, checked_plan
from experiments.studies.design import MOST_RUNS, Design, Levels, planned_runs
from experiments.studies.plan import digest_of

if TYPE_CHECKING:
    from accounts.models import User

MOST_STUDIES = 500  # of a person
MOST_AT_ONCE = 100
LONGEST_REASON = 5_000


def create(
    *,
    owner: "User",
    title: str,
    design: Any,
    plan: Any = None,
    project: str = "",
    at_once: int = 10,
    cost_limit: Decimal | None = None,
) -> Study:
    """A study that has not begun. project: the id of one that its owner has a share of; its members see it. Raises
    Forbidden, and Invalid naming the fields; of the design as `design.factors.0.name`.
    """
    require_role(owner)
    if Study.objects.filter(owner=owner).count() >= MOST_STUDIES:
        raise Forbidden(_("You already have %(most)s studies.") % {"most": MOST_STUDIES})
    shared = checked_project(project, owner=owner)
    checked = checked_design(design, owner=owner).design
    return Study.objects.create(
        owner=owner,
        project=shared,
        title=_checked_title(title),
        design=checked.model_dump(mode="json"),
        plan=None if plan is None else checked_plan(plan, checked, owner=owner).model_dump(mode="json"),
        at_once=at_once,
        cost_limit=cost_limit,
    )


def revise(study: Study, *, by: "User", **changes: Any) -> Study:
    """Change what is named of title, design, plan, at_once and cost_limit. Design and plan until the plan is locked:
    raises Conflict after that; Forbidden and Invalid as `create`.
    """
    with _held(study, by) as held:
        if {"design", "plan"} & changes.keys() and held.state != Study.State.DRAFT:
            raise Conflict(_("The plan of this study is locked. Amend the plan instead; the design stays."))
        if "title" in changes:
            held.title = _checked_title(changes["title"])
        if "design" in changes:
            held.design = checked_design(changes["design"], owner=held.owner).design.model_dump(mode="json")
        if {"design", "plan"} & changes.keys() and (plan := changes.get("plan", held.plan)) is not None:
            design = Design.model_validate(held.design)
            held.plan = checked_plan(plan, design, owner=held.owner).model_dump(mode="json")
        elif "plan" in changes:
            held.plan = None
        held.at_once = changes.get("at_once", held.at_once)
        held.cost_limit = changes.get("cost_limit", held.cost_limit)
        held.save()
        return held


def remove(study: Study, *, by: "User") -> None:
    """Delete a study that has not begun. Raises Forbidden, and Conflict for one that has."""
    with _held(study, by) as held:
        if held.planned_runs.exists():
            raise Conflict(_("This study has begun. What was planned and found stays."))
        held.delete()


def lock(study: Study, *, by: "User") -> StudyPlan:
    """Fix the plan, with its hash and the time. Raises Conflict where it is locked or missing, Forbidden, and Invalid
    where a condition cannot be played any more.
    """
    with _held(study, by) as held:
        if held.state != Study.State.DRAFT:
            raise Conflict(_("The plan of this study is locked already."))
        if held.plan is None:
            raise Conflict(_("This study has no plan yet. Add outcomes and contrasts first."))
        checked_design(held.design, owner=held.owner)
        held.state = Study.State.LOCKED
        held.save(update_fields=["state"])
        return _stored_plan(held, held.plan, by, number=1)


def amend(study: Study, *, by: "User", plan: Any, reason: str) -> StudyPlan:
    """A further version of a locked plan. It stays visible beside the others, and contrasts that the first version did
    not have are exploratory. Raises Conflict before the plan is locked, Invalid without a reason, Forbidden.
    """
    if not reason.strip() or len(reason) > LONGEST_REASON or not is_storable(reason):
        raise Invalid(reason=_("Say why the plan changes, in at most %(most)s characters.") % {"most": LONGEST_REASON})
    with _held(study, by) as held:
        newest = held.newest_plan
        if newest is None:
            raise Conflict(_("The plan is not locked yet. Change it without an amendment."))
        design = Design.model_validate(held.design)
        content = checked_plan(plan, design, owner=held.owner).model_dump(mode="json")
        return _stored_plan(held, content, by, number=newest.number + 1, reason=reason.strip())


def start(study: Study, *, by: "User") -> Study:
    """Make an experiment of each condition, plan all runs, and queue the first ones. Raises Conflict where the plan is
    not locked or it has begun, Forbidden, and Invalid where a condition could not be played any more.
    """
    with _held(study, by) as held:
        if held.state != Study.State.LOCKED:
            raise Conflict(_("A study starts once, after its plan is locked."))
        design = Design.model_validate(held.design)
        conditions = [
            StudyCondition.objects.create(
                study=held, number=number, levels=levels, experiment=_experiment(held, design, levels, by)
            )
            for number, levels in enumerate(design.combinations(), 1)
        ]
        _plan_runs(held, design, conditions, range(1, design.repeats + 1))
        held.state, held.started = Study.State.RUNNING, timezone.now()
        held.save(update_fields=["state", "started"])
    running.advance(study.pk)
    study.refresh_from_db()
    return study


def pause(study: Study, *, by: "User") -> bool:
    """Begin no further run; those under way come to their end. False when it was not running."""
    with _held(study, by) as held:
        rows = Study.objects.filter(pk=held.pk, state=Study.State.RUNNING)
        return bool(rows.update(state=Study.State.PAUSED, note=""))


def resume(study: Study, *, by: "User") -> bool:
    """Go on with a paused study. False when it was not paused."""
    with _held(study, by) as held:
        rows = Study.objects.filter(pk=held.pk, state=Study.State.PAUSED)
        is_changed = bool(rows.update(state=Study.State.RUNNING, note=""))
    running.advance(study.pk)
    return is_changed


def stop(study: Study, *, by: "User") -> bool:
    """Begin no further run for good, and stop those under way. False when it had ended."""
    with _held(study, by) as held:
        rows = Study.objects.filter(pk=held.pk, state__in=(Study.State.RUNNING, Study.State.PAUSED))
        if not rows.update(state=Study.State.STOPPED, ended=timezone.now(), note=""):
            return False
    for run in Run.objects.live().filter(planned__study=study).select_related("experiment"):
        admission.stop(run, by=by)
    return True


def add_repeats(study: Study, *, by: "User", repeats: int, reason: str = "") -> Study:
    """Plan so many further repeats of every condition, as an amendment that says why, and go on. What looks so far have
    spent of alpha stays spent: see `leaderboard.ratings.studies.analysis.analyse`. Raises Conflict before the study has
    begun, Invalid for too many runs, Forbidden.
    """
    with _held(study, by) as held:
        plan, design = held.newest_plan, Design.model_validate(held.design)
        conditions = list(held.conditions.order_by("number"))
        if plan is None or not conditions:
            raise Conflict(_("This study has not begun. Change the number of repeats in its design."))
        planned = held.planned_runs.count()
        if repeats < 1 or planned + repeats * len(conditions) > MOST_RUNS:
            raise Invalid(repeats=_("A study has at most %(most)s runs.") % {"most": MOST_RUNS})
        before = planned // len(conditions)
        _plan_runs(held, design, conditions, range(before + 1, before + repeats + 1))
        said = reason.strip() or _("%(n)s more repeats of each condition.") % {"n": repeats}
        _stored_plan(held, plan.content, by, number=plan.number + 1, reason=said[:LONGEST_REASON])
        held.state, held.ended, held.note = Study.State.RUNNING, None, ""
        held.save(update_fields=["state", "ended", "note"])
    running.advance(study.pk)
    study.refresh_from_db()
    return study


def _checked_title(title: str) -> str:
    checked = actions.checked_title(title)
    if not checked:
        raise Invalid(title=_("Enter a title."))
    return checked


def require_change(study: Study, by: "User") -> None:
    if not Study.objects.changeable_by(by).filter(pk=study.pk).exists():
        raise Forbidden(_("You can view this but not change it. Its owner and the project's members can."))


@contextmanager
def _held(study: Study, by: "User") -> Iterator[Study]:
    """The study with its row locked, in a transaction, for somebody who may change it. Raises Forbidden."""
    require_role(by)
    require_change(study, by)
    with transaction.atomic():
        yield Study.objects.select_for_update(of=("self",)).select_related("owner", "project").get(pk=study.pk)


def _stored_plan(study: Study, content: Any, by: "User", *, number: int, reason: str = "") -> StudyPlan:
    """digest: of plan and design, for the one says nothing without the other."""
    digest = digest_of({"plan": content, "design": study.design})
    ended = study.planned_runs.filter(run__isnull=False).exclude(run__in=Run.objects.live()).count()
    return StudyPlan.objects.create(
        study=study, number=number, content=content, digest=digest, reason=reason, runs_seen=ended, by=by
    )


def _plan_runs(study: Study, design: Design, conditions: list[StudyCondition], repeats: range) -> None:
    StudyRun.objects.bulk_create(
        StudyRun(
            study=study,
            condition=conditions[one.condition - 1],
            number=one.number,
            repeat=one.repeat,
            seed=one.seed,
        )
        for one in planned_runs(design, len(conditions), repeats)
    )


def _experiment(study: Study, design: Design, levels: Levels, by: "User") -> Experiment:
    config, cast = design.condition(levels)
    title = f"{study.title}: {', '.join(levels.values())}"
    experiment = actions.create(
        owner=study.owner,
        workflow=design.workflow,
        title=title[: actions.LONGEST_TITLE],
        config=config,
        cast=cast,
        project=str(study.project_id or ""),
        uses_batches=design.batches,
    )
    admission.require_spending(experiment, by)
    return experiment
