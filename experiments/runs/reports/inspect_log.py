"""A run as a log of Inspect AI (`inspect_ai.log.read_eval_log` reads it): one log, one sample, plain dictionaries. It
is a JSON file, or the zip `.eval` that Inspect View and Scout read.

The first judged seat is the assistant, everybody else a user; in a council and a debate every model is an assistant,
and whoever concludes gives the output. Each message carries its seat, turn and what became of it in its metadata.
Scores are those that the judge gave, of a council the Borda scores of its answers, of a contest of coding every vote
and the share of tests passed, and what instruments found: one that is missing is left out, with its reason in the
metadata of the sample, because Inspect has no number for "not scored".
"""

import io
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from statistics import fmean
from typing import Any
from uuid import UUID

from experiments.api.serializers import BallotSerializer
from experiments.library.instruments.api import AnnotationSerializer
from experiments.models import Annotation, Call, Judgment, Message, Run
from experiments.runs.reports.document import Row, annotations_of, encoded, interventions, lineage, message_rows
from experiments.runs.reports.inspect_events import (
    SCORER,
    STOP_REASONS,
    Data,
    annotation_score,
    content_of,
    events,
    given_scores,
    usage,
)
from experiments.runs.zipping import entry
from experiments.workflows import workflow_of
from experiments.workflows.coding.pages.serializers import CycleSerializer, ExecutionSerializer
from experiments.workflows.coding.rows import cycles, executions
from experiments.workflows.council.pages.rankings import Ranking, rankings_of
from experiments.workflows.council.rows import ballots

LOG_VERSION = 2
BORDA = "borda"
SANDBOX = "sandbox"
STATUS = {"completed": "success", "failed": "error", "stopped": "cancelled"}
LIMITS = {"limit_tokens": ("token", "tokens"), "limit_seconds": ("time", "seconds"), "limit_cost": ("cost", "cost")}
METADATA = (  # of a message
    *("seat", "turn", "purpose", "model", "parsed", "filter", "operator", "flags", "finish_reason"),
    *("created", "call"),
)
OF_SUMMARY = (
    *("id", "epoch", "uuid", "input", "target", "scores", "model_usage"),
    *("started_at", "completed_at", "total_time"),
)


def inspect_log(run: Run) -> bytes:
    """The log as JSON. `run` needs the totals of `with_totals`."""
    sample = _sample(run)
    return encoded(_header(run, sample) | {"samples": [sample]})


def inspect_archive(run: Run) -> bytes:
    """The log as an `.eval` file: a zip whose header and sample are read one without the other."""
    sample = _sample(run)
    header = _header(run, sample)
    summary = {name: sample[name] for name in OF_SUMMARY if name in sample}
    if isinstance(error := sample.get("error"), dict):
        summary["error"] = error["message"]
    files = {
        "_journal/start.json": {name: header[name] for name in ("version", "eval", "plan")},
        f"samples/{sample['id']}_epoch_{sample['epoch']}.json": sample,
        "summaries.json": [
            summary | {"completed": run.is_over, "message_count": run.messages.filter(superseded=False).count()}
        ],
        "header.json": header,
    }
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(entry(name), encoded(content))
    return packed.getvalue()


def _header(run: Run, sample: Data) -> Data:
    """The log without its samples."""
    workflow = run.experiment.workflow
    header: Data = {
        "version": LOG_VERSION,
        "status": STATUS.get(run.state, "started"),
        "eval": _spec(run),
        "plan": {"name": workflow, "steps": [{"solver": workflow, "params": {}}]},
        "results": _results(run),
        "stats": {
            "started_at": _moment(run.started) or "",
            "completed_at": _moment(run.ended) or "",
            "model_usage": sample["model_usage"],
        },
    }
    return header | ({"error": _error(run)} if run.state == Run.State.FAILED else {})


def log_name(run: Run, ending: str = "json") -> str:
    """As Inspect names its logs: it lists only those that begin with a moment."""
    moment = (run.started or run.created).strftime("%Y-%m-%dT%H-%M-%S+00-00")
    return f"{moment}_arena-lab-{run.experiment.workflow}_{run.pk.hex}.{ending}"


def _spec(run: Run) -> Data:
    experiment = run.experiment
    cast = {seated.seat: seated for seated in experiment.participants.select_related("model")}
    people = {one.seat: one.called for one in experiment.people.select_related("person")}
    lead = cast.get(_lead(run)) or next(iter(cast.values()), None)
    return {
        "eval_id": str(run.pk),
        "run_id": str(run.pk),
        "created": _moment(run.created),
        "task": f"arena_lab/{experiment.workflow}",
        "task_id": str(experiment.pk),
        "task_display_name": experiment.title,
        "task_args": run.config,
        "dataset": {"name": experiment.title, "samples": 1, "sample_ids": [str(experiment.pk)]},
        "model": lead.model.slug if lead else "none/none",
        "model_roles": {seat: {"model": seated.model.slug} for seat, seated in cast.items()},
        "config": {},
        "packages": {},
        "metadata": {
            "origin": run.origin,
            "mode": run.mode,
            "seed": run.seed,
            "lineage": lineage(run),
            **({"people": people} if people else {}),
        },
    }


def _sample(run: Run) -> Data:
    messages = list(run.messages.select_related("call", "step"))
    as_row = message_rows()
    rows = {message.pk: as_row(message) for message in messages}
    said = [message for message in messages if not message.superseded]
    scores, unscored = _scores(run.judgments.order_by("turn", "id"))
    counted, contests = rankings_of(run), cycles(run)
    happened, attachments = events(run)
    measured = list(annotations_of(run))
    scores |= _measured(measured)
    scores |= {f"ranking turn {one.turn}": ranked for one in counted if (ranked := _ranked(one))}
    for cycle in contests:  # the share of tests that each solution passed
        if passed := cycle.found.get("passed"):
            tested = {"value": passed, "explanation": cycle.title, "metadata": {"scorer": SANDBOX}}
            scores[f"tests turn {cycle.turn}"] = tested
    sample = {
        "id": str(run.experiment_id),
        "epoch": run.experiment.runs.filter(created__lt=run.created).count() + 1,  # which repetition of the experiment
        "uuid": str(run.pk),
        "input": str(run.experiment.parsed_config(run.overrides).summary()),
        "target": "",
        "messages": [_chat(message, rows[message.pk], run) for message in said],
        "output": _output(run, said, rows),
        "scores": scores,
        "metadata": {
            "run": str(run.pk),
            "state": run.state,
            "stop_reason": run.stop_reason,
            "seed": run.seed,
            "interventions": list(interventions(run)),
            "superseded": [rows[message.pk] for message in messages if message.superseded],
            "unscored": unscored,
            **({"annotations": AnnotationSerializer(measured, many=True).data} if measured else {}),
            "ballots": BallotSerializer(ballots(run), many=True).data,
            "rankings": [asdict(one) for one in counted],
            "cycles": CycleSerializer(contests, many=True).data,
            "executions": ExecutionSerializer(executions(run), many=True).data,
        },
        "events": happened,
        "attachments": attachments,
        "model_usage": _usage_by_model(run),
        "started_at": _moment(run.started),
        "completed_at": _moment(run.ended),
        "total_time": (run.ended - run.started).total_seconds() if run.started and run.ended else None,
    }
    if run.state == Run.State.FAILED:
        sample["error"] = _error(run)
    kind, field = LIMITS.get(run.stop_reason, ("", ""))
    limit = (run.config.get("limits") or {}).get(field)
    if kind and limit is not None:
        sample["limit"] = {"type": kind, "limit": limit, "reason": run.error or None}
    return {name: value for name, value in sample.items() if value is not None}


def _lead(run: Run) -> str:
    """The seat whose answers are the output."""
    workflow = workflow_of(run.experiment.workflow)
    return next(iter((*workflow.subjects, workflow.leads)))


def _chat(message: Message, row: Row, run: Run) -> Data:
    has_many_assistants = bool(workflow_of(run.experiment.workflow).leads)
    is_assistant = bool(message.model) if has_many_assistants else message.seat == _lead(run)
    metadata = {name: row[name] for name in METADATA}
    if message.text != message.raw_text:
        metadata["seen_as"] = message.text
    chat: Data = {
        "id": str(message.pk),
        "role": "assistant" if is_assistant else "user",
        "content": content_of(message.reasoning, message.raw_text),
        "metadata": metadata,
        "source": "generate" if message.model else "input",
    }
    return chat | ({"model": message.model} if is_assistant else {})


def _output(run: Run, said: Sequence[Message], rows: Mapping[UUID, Row]) -> Data:
    """The last answer of the assistant."""
    last = next((message for message in reversed(said) if message.seat == _lead(run)), None)
    if last is None:
        return {"model": "", "choices": []}
    stop_reason = STOP_REASONS.get(last.finish_reason, "unknown")
    choice = {"message": _chat(last, rows[last.pk], run), "stop_reason": stop_reason}
    output = {"model": last.model, "choices": [choice], "completion": last.raw_text}
    tokens = usage([last.call]) if last.call else None
    return output | ({"usage": tokens} if tokens else {})


def _scores(judgments: Any) -> tuple[dict[str, Data], dict[str, Data]]:
    """The scores by seat and turn, and why those that are missing are."""
    scores: dict[str, Data] = {}
    unscored: dict[str, Data] = {}
    times: Counter[str] = Counter()
    for judgment in judgments:
        by = f" by {judgment.judge_seat}" if judgment.judge_seat else ""
        name = f"{judgment.subject} turn {judgment.turn}{by}"
        times[name] += 1  # an answer that was asked for again is judged again in the same turn
        name += f" ({times[name]})" if times[name] > 1 else ""
        about = {
            "seat": judgment.subject,
            "turn": judgment.turn,
            "judge": judgment.judge,
            "confidence": judgment.confidence,
            "unscored_reason": judgment.unscored_reason,
            "dynamics": judgment.dynamics,
            **({"judge_seat": judgment.judge_seat, "flags": judgment.flags} if by else {}),
        }
        if judgment.scores:
            value = given_scores(judgment)
            scores[name] = {"value": value, "explanation": judgment.rationale or None, "metadata": about}
        if judgment.unscored_reason or not judgment.scores:
            unscored[name] = about
    return scores, unscored


def _measured(found: Sequence[Annotation]) -> dict[str, Data]:
    """Values of instruments by dimension, unit and participant: "lies of message 12, A"."""
    scores: dict[str, Data] = {}
    times: Counter[str] = Counter()
    for one in found:
        if one.value is not None:
            name = f"{one.dimension} of {one.unit} {one.place}" + (f", {one.subject}" if one.subject else "")
            times[name] += 1  # measured again
            scores[f"{name} ({times[name]})" if times[name] > 1 else name] = annotation_score(one)
    return scores


def _ranked(found: Ranking) -> Data | None:
    """The Borda score of each answer; the explanation is the order."""
    value = {one.seat: one.borda.value for one in found.standings if one.borda.value is not None}
    order = next((one.groups for one in found.orders if one.method == "borda"), None) or ()
    explanation = " > ".join(" = ".join(group) for group in order)
    return {"value": value, "explanation": explanation, "metadata": {"scorer": BORDA}} if value else None


def _results(run: Run) -> Data:
    """Means over the turns that were scored, by seat; a dimension that was never scored has none."""
    judgments: dict[str, list[Judgment]] = {}
    for judgment in run.judgments.order_by("subject", "turn", "id"):
        judgments.setdefault(judgment.subject, []).append(judgment)
    scored = [score for subject, found in sorted(judgments.items()) if (score := _mean_score(subject, found))]
    return {"total_samples": 1, "completed_samples": int(run.state == Run.State.COMPLETED), "scores": scored}


def _mean_score(subject: str, judgments: Sequence[Judgment]) -> Data | None:
    given: dict[str, list[float]] = {}
    for judgment in judgments:
        for name, score in given_scores(judgment).items():
            given.setdefault(name, []).append(score)
    if not given:
        return None
    metrics = {
        name: {"name": name, "value": fmean(values), "metadata": {"turns": len(values)}}
        for name, values in given.items()
    }
    turns = {"judged": len(judgments), "scored": sum(bool(one.scores) for one in judgments)}
    return {"name": subject, "scorer": SCORER, "reducer": "mean", "metrics": metrics, "metadata": turns}


def _usage_by_model(run: Run) -> dict[str, Data]:
    calls: dict[str, list[Call]] = {}
    for call in run.calls.select_related("model").defer("request", "logprobs", "text", "reasoning").order_by("id"):
        calls.setdefault(call.model.slug, []).append(call)
    return {slug: counted for slug, those in calls.items() if (counted := usage(those))}


def _error(run: Run) -> Data:
    return {"message": run.error or run.stop_reason or "failed", "traceback": "", "traceback_ansi": ""}


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
