"""Files of the original batch research become a study: its runs are imported, and models are its factor.

A plan that is written after the runs is exploratory whatever it says: the study has no planned contrast.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from experiments.library.imports import storing
from experiments.library.imports.storing import File
from experiments.library.imports.values import Data, Taken, Unreadable, line, mapping, mappings, moment, slug, text
from experiments.models import Run, Study, StudyCondition, StudyPlan, StudyRun
from experiments.models.imports import ImportSource
from experiments.runs import actions
from experiments.runs.admission import require_role
from experiments.runs.reports.json_values import InvalidDocument
from experiments.studies.design import MOST_REPEATS, MOST_RUNS, Design, Factor, Level
from experiments.studies.plan import Contrast, Flagged, Outcome, Plan, digest_of
from experiments.workflows.base.flags import REFUSAL, flags
from experiments.workflows.starchamber import WORKFLOW
from experiments.workflows.starchamber.pages import importing as interviews

if TYPE_CHECKING:
    from accounts.models import User

STATES = {"failed": Run.State.FAILED, "stopped": Run.State.STOPPED}
[SEAT] = WORKFLOW.subjects


def store_batch(value: Any, *, name: str, by: "User") -> tuple[Study, bool]:
    """The study, and whether it is new: the same file is stored once. Raises Forbidden, and InvalidDocument for what is
    no stored batch, or has no run that can be read.
    """
    require_role(by)
    batch, file = mapping(value), File(name, storing.sha256_of(value))
    script = mapping(mapping(batch.get("config")).get("script"))
    if "batchId" not in batch or "sequence" not in script:
        raise InvalidDocument({"batchId": [_("This is not a stored batch of the original StarChamber.")]})
    told = mappings(batch.get("runs"))[:MOST_RUNS]
    with transaction.atomic():
        stored = [(_model(one), _stored(one, script, number, file, by)) for number, one in enumerate(told)]
        runs = [run for _name, run in stored if run]
        if not runs:
            raise InvalidDocument({"runs": [_("There is no run in this file.")]})
        if before := Study.objects.filter(owner=by, planned_runs__run__in=runs).first():
            return before, False
        return _study(batch, script, stored, by), True


def _model(told: Mapping[str, Any]) -> str:
    return slug(told.get("modelId"))[:80]


def _stored(told: Mapping[str, Any], script: Mapping[str, Any], number: int, file: File, by: "User") -> Run | None:
    """None for one in which nothing was said, as where it failed at once."""
    config, times = mapping(script.get("config")), mapping(told.get("timestamps"))
    state = {
        "messages": told.get("conversation"),
        "startTime": times.get("started"),
        "endTime": times.get("completed"),
        "config": {
            "modelId": told.get("modelId"),
            "systemContext": config.get("systemContext"),
            "requestLogprobs": config.get("requestLogprobs"),
            "researcherPersona": "",
        },
        "batchRun": {name: told[name] for name in ("runId", "runIndex", "metrics", "compliance") if name in told},
    }
    try:
        taken = interviews.read(state, f"runs[{number}]")
    except Unreadable:
        return None
    ended: Data = {}
    if outcome := STATES.get(text(told.get("status"))):
        ended = {"state": outcome, "error": line(told.get("error"), 500)}
    document = {**taken.document, "run": {**taken.document["run"], **ended}}
    for message in document["messages"]:
        if message["seat"] == SEAT:
            message["flags"] = flags(message["raw_text"], SEAT)
    kept = Taken(taken.place, document, taken.notes, taken.kept, identity=[file.sha256, number])
    return storing.store(kept, source=ImportSource.STARCHAMBER, file=file, by=by)[0]


def _study(
    batch: Mapping[str, Any], script: Mapping[str, Any], stored: Sequence[tuple[str, Run | None]], by: "User"
) -> Study:
    """With the conditions of which a run could be read. Planned runs are in the order of the file."""
    models = list(dict.fromkeys(name for name, run in stored if run))
    design, plan = _design(script, models, len(stored)), _plan(models)
    created = moment(mapping(batch.get("timestamps")).get("created")) or timezone.now()
    study = Study.objects.create(
        owner=by,
        title=(line(script.get("name")) or _("Batch"))[: actions.LONGEST_TITLE],
        design=design.model_dump(mode="json"),
        plan=plan.model_dump(mode="json"),
        state=Study.State.COMPLETED,
        started=created,
        ended=timezone.now(),
    )
    conditions: dict[str, StudyCondition] = {}
    repeats = dict.fromkeys(models, 0)
    for number, (name, run) in enumerate(stored, 1):
        if name not in conditions:
            if run is None:
                continue
            levels = {design.factors[0].name: name}
            conditions[name] = StudyCondition.objects.create(
                study=study, number=len(conditions) + 1, levels=levels, experiment=run.experiment
            )
        repeats[name] += 1
        StudyRun.objects.create(
            study=study, condition=conditions[name], number=number, repeat=repeats[name], seed=number, run=run
        )
    StudyPlan.objects.create(
        study=study,
        number=1,
        content=study.plan,
        digest=digest_of({"plan": study.plan, "design": study.design}),
        reason=_("Imported: written after its runs, so everything is exploratory."),
        runs_seen=len(stored),
        by=by,
    )
    return study


def _design(script: Mapping[str, Any], models: Sequence[str], runs: int) -> Design:
    first, *others = [text(step.get("content")) for step in mappings(script.get("sequence"))] or [""]
    config = {
        "context": text(mapping(script.get("config")).get("systemContext")),
        "first_message": first,
        "script": [{"text": said} for said in others],
    }
    levels = [Level(name=name, value=name) for name in models]
    factor = Factor(name="model", varies=f"cast.{SEAT}.model", levels=levels)
    repeats = min(MOST_REPEATS, max(1, runs // len(models)))
    return Design(workflow=WORKFLOW.slug, config=config, factors=[factor], repeats=repeats)


def _plan(models: Sequence[str]) -> Plan:
    """How often models refuse, each beside the first."""
    refused = Outcome(name=REFUSAL, kind="rate", source=Flagged(flag=REFUSAL, seat=SEAT))
    pairs = [
        Contrast(
            name=f"{other} – {models[0]}"[:80], outcome=REFUSAL, first={"model": other}, second={"model": models[0]}
        )
        for other in models[1:]
    ]
    return Plan(outcomes=[refused], explored=pairs)
