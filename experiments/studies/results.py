"""Looking at a study: its analysis at that moment, stored as it was seen."""

from dataclasses import asdict
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.errors import Conflict
from experiments.models import Run, Study, StudyLook, StudyPlan
from experiments.runs.admission import require_role
from experiments.studies.design import Design
from experiments.studies.labels import labeled_units
from experiments.studies.outcomes import rows_of
from experiments.studies.plan import Plan, for_analysis
from experiments.studies.services import require_change
from leaderboard.ratings.studies import labeled, table
from leaderboard.ratings.studies.analysis import Plan as Analyzed
from leaderboard.ratings.studies.analysis import analyse, survival_curves

if TYPE_CHECKING:
    from accounts.models import User


def look(study: Study, *, by: "User") -> StudyLook:
    """Analyze what has ended so far, and keep it. Every look before the end costs a part of alpha, planned or not; at
    the end it can be repeated. Raises Forbidden, and Conflict before any run of a new look has ended.
    """
    require_role(by)
    require_change(study, by)
    with transaction.atomic():
        held = Study.objects.select_for_update(of=("self",)).get(pk=study.pk)
        plan = held.newest_plan
        planned, ended = held.planned_runs.count(), ended_runs(held)
        if plan is None or not ended:
            raise Conflict(_("No run of this study has ended yet, so there is nothing to look at."))
        shares, spent_at = shares_of(held, ended, planned)
        contents = contents_of(held, plan)
        outcomes = Plan.model_validate(plan.content)
        analyzed, rows = Analyzed.read(contents), rows_of(held, outcomes, reader=by)
        units = labeled_units(held, outcomes, reader=by)
        return StudyLook.objects.create(
            study=held,
            number=held.looks.count() + 1,
            plan=plan,
            ended=ended,
            share=ended / planned,
            analyzed=contents,
            data=table.written(analyzed, rows),
            labels=labeled.written(units) if units else "",
            results={
                "shares": shares,
                "spent_at": spent_at,
                "results": [one.as_data() for one in analyse(analyzed, rows, shares, spent_at)],
                "curves": [asdict(one) for one in survival_curves(analyzed, rows)],
                "corrected": [asdict(one) for one in labeled.corrected_contrasts(analyzed, rows, units)],
            },
            by=by,
        )


def ended_runs(study: Study) -> int:
    """Planned runs whose run has ended, or is deleted."""
    begun = study.planned_runs.filter(run__isnull=False)
    return begun.exclude(run__in=Run.objects.live()).count()


def shares_of(study: Study, ended: int, planned: int) -> tuple[list[float], list[float]]:
    """The shares of the runs planned now at all looks up to one with so many ended runs, and as they were at each look,
    which differ where repeats were added. Looking twice at the same runs is one look.
    """
    then = {ended: ended / planned}
    for before, share in study.looks.filter(ended__lte=ended).values_list("ended", "share"):
        then[before] = max(share, then.get(before, 0.0))
    order = sorted(then)
    return [seen / planned for seen in order], [then[seen] for seen in order]


def contents_of(study: Study, plan: StudyPlan) -> dict[str, object]:
    """plan.json: what is planned and what is exploratory, by the plan as it was locked."""
    locked, design = study.plans.get(number=1), Design.model_validate(study.design)
    return for_analysis(Plan.model_validate(plan.content), Plan.model_validate(locked.content), design, plan.digest)
