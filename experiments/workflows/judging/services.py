"""Judging a transcript again: a run of its own, beside the first scores."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypedDict

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.errors import ActionUnavailable
from experiments.engine.excerpts import interventions
from experiments.models import Experiment, Run
from experiments.runs import actions
from experiments.runs.admission import require_spending
from experiments.runs.sharing import sharing
from experiments.workflows import workflow_of
from experiments.workflows.base.judge import SECONDS, Sees, as_shown
from experiments.workflows.judging import WORKFLOW

if TYPE_CHECKING:
    from accounts.models import User


class Saw(TypedDict):
    judge_sees: Sees
    judge_sees_reasoning: bool


def judge_again(
    run: Run,
    *,
    by: "User",
    model: str | None = None,
    rubric: str = "",
    judge_sees: Sees | None = None,
    judge_sees_reasoning: bool | None = None,
) -> Run:
    """Have the transcript scored again, by another judge or another rubric; a run of its own, beside the first scores.
    judge_sees and judge_sees_reasoning: None for what the first judge saw. Raises ActionUnavailable or Invalid.
    """
    experiment = run.experiment
    require_spending(experiment, by)
    workflow = workflow_of(experiment.workflow)
    if workflow.judge is None:
        raise ActionUnavailable(_("Runs of this workflow cannot be judged again."))
    first = first_judge_saw(run)
    sees = judge_sees or first["judge_sees"]
    sees_reasoning = first["judge_sees_reasoning"] if judge_sees_reasoning is None else judge_sees_reasoning
    config = {
        "source": str(run.pk),
        "workflow": experiment.workflow,
        "title": experiment.title,
        "subjects": list(workflow.subjects),
        "objectives": experiment.parsed_config(run.overrides).objectives(),
        "turns": list(_turns(run, sees, sees_reasoning)),
        "rubric": rubric,
        "judge_sees": sees,
        "judge_sees_reasoning": sees_reasoning,
        "judge_seconds": run.experiment.config.get("judge_seconds", SECONDS),
    }
    cast = {"judge": {"model": model}} if model else {}
    with transaction.atomic():
        # What is made of a run stays in its project where all of its members may see the one and the other.
        is_shared = experiment.visibility != Experiment.Visibility.PRIVATE
        stays = is_shared and experiment.project in sharing.projects_of(by)
        place = str(experiment.project_id) if stays else ""
        again = actions.create(
            owner=by, workflow=WORKFLOW.slug, title=experiment.title, config=config, cast=cast, project=place
        )
        Experiment.objects.filter(pk=again.pk).update(project=experiment.project_id)  # whose budget it uses
        [started] = actions.start(again, by=by, seed=run.seed)
        Run.objects.filter(pk=started.pk).update(parent=run)
        started.parent = run
    return started


def first_judge_saw(run: Run) -> Saw:
    """What the run's own judge was set to see, under the names of the settings. A StarChamber has no filter."""
    return {
        "judge_sees": run.config.get("judge_sees", "original"),
        "judge_sees_reasoning": bool(run.config.get("judge_sees_reasoning")),
    }


def _turns(run: Run, sees: Sees, sees_reasoning: bool) -> Iterator[dict[str, Any]]:
    said: dict[int, dict[str, str]] = {}
    thought: dict[int, dict[str, str]] = {}
    for message in run.messages.filter(superseded=False).order_by("turn", "seq"):
        raw = message.raw_text if message.raw_text.strip() else message.text
        said.setdefault(message.turn, {})[message.seat] = as_shown(raw, message.text, sees)
        if sees_reasoning and message.reasoning:
            thought.setdefault(message.turn, {})[message.seat] = message.reasoning
    for turn, messages in said.items():
        yield {
            "turn": turn,
            "messages": messages,
            "reasoning": thought.get(turn, {}),
            "deeds": interventions(run, turn),
        }
