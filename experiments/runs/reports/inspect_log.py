"""A run as a log of Inspect AI (`inspect_ai.log.read_eval_log` reads it): one log, one sample, plain dictionaries.

The first judged seat is the assistant, everybody else a user; in a council and a debate every model is an assistant,
and whoever concludes gives the output. Each message carries its seat, turn and what became of it in its metadata.
Scores are those that the judge gave, of a council the Borda scores of its answers, of a contest of coding every vote
and the share of tests passed: one that is missing is left out, with its reason in the metadata of the sample, because
Inspect has no number for "not scored".
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from statistics import fmean
from typing import Any
from uuid import UUID

from experiments.api.serializers import BallotSerializer
from experiments.models import Call, Cycle, Judgment, Message, Run
from experiments.runs.reports.document import lineage
from experiments.runs.reports.exports import Row, encoded, interventions, message_rows
from experiments.workflows import workflow_of
from experiments.workflows.coding.pages.serializers import CycleSerializer, ExecutionSerializer
from experiments.workflows.coding.rows import cycles, executions
from experiments.workflows.council.pages.rankings import Ranking, rankings_of
from experiments.workflows.council.rows import ballots

LOG_VERSION = 2
SCORER = "arena_lab_judge"
BORDA = "borda"
SANDBOX = "sandbox"
STATUS = {"completed": "success", "failed": "error", "stopped": "cancelled"}
LIMITS = {"limit_tokens": ("token", "tokens"), "limit_seconds": ("time", "seconds"), "limit_cost": ("cost", "cost")}
STOP_REASONS = {"stop": "stop", "length": "max_tokens", "content_filter": "content_filter", "tool_calls": "tool_calls"}
TOLD = (
    *("seat", "turn", "purpose", "model", "parsed", "filter", "operator", "flags", "finish_reason"),
    *("created", "call"),
)
Data = dict[str, object]


def inspect_log(run: Run) -> bytes:
    """The log as JSON. `run` needs the totals of `with_totals`."""
    return encoded(eval_log(run))


def log_name(run: Run) -> str:
    """As Inspect names its logs: it lists only those that begin with a moment."""
    moment = (run.started or run.created).strftime("%Y-%m-%dT%H-%M-%S+00-00")
    return f"{moment}_arena-lab-{run.experiment.workflow}_{run.pk.hex}.json"


def eval_log(run: Run) -> Data:
    sample = _sample(run)
    error = {"error": _error(run)} if run.state == Run.State.FAILED else {}
    return {
        "version": LOG_VERSION,
        "status": STATUS.get(run.state, "started"),
        "eval": _spec(run),
        "plan": {"name": run.experiment.workflow, "steps": [{"solver": run.experiment.workflow, "params": {}}]},
        "results": _results(run),
        "stats": {
            "started_at": _moment(run.started) or "",
            "completed_at": _moment(run.ended) or "",
            "model_usage": sample["model_usage"],
        },
        "samples": [sample],
        **error,
    }


def _spec(run: Run) -> Data:
    experiment = run.experiment
    cast = {seated.seat: seated for seated in experiment.participants.select_related("model")}
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
        "metadata": {"origin": run.origin, "mode": run.mode, "seed": run.seed, "lineage": lineage(run)},
    }


def _sample(run: Run) -> Data:
    messages = list(run.messages.select_related("call", "step"))
    as_row = message_rows()
    rows = {message.pk: as_row(message) for message in messages}
    said = [message for message in messages if not message.superseded]
    scores, unscored = _scores(run.judgments.order_by("turn", "id"))
    counted = rankings_of(run)
    sample = {
        "id": str(run.experiment_id),
        "epoch": _epoch(run),
        "uuid": str(run.pk),
        "input": _input(run),
        "target": "",
        "messages": [_chat(message, rows[message.pk], run) for message in said],
        "output": _output(run, said, rows),
        "scores": scores
        | {f"ranking turn {one.turn}": ranked for one in counted if (ranked := _ranked(one))}
        | {f"tests turn {row.turn}": tested for row in cycles(run) if (tested := _tested(row))},
        "metadata": {
            "run": str(run.pk),
            "state": run.state,
            "stop_reason": run.stop_reason,
            "seed": run.seed,
            "interventions": list(interventions(run)),
            "superseded": [rows[message.pk] for message in messages if message.superseded],
            "unscored": unscored,
            "ballots": BallotSerializer(ballots(run), many=True).data,
            "rankings": [asdict(one) for one in counted],
            "cycles": CycleSerializer(cycles(run), many=True).data,
            "executions": ExecutionSerializer(executions(run), many=True).data,
        },
        "events": [],
        "model_usage": _usage_by_model(run),
        "started_at": _moment(run.started),
        "completed_at": _moment(run.ended),
        "total_time": (run.ended - run.started).total_seconds() if run.started and run.ended else None,
    }
    if run.state == Run.State.FAILED:
        sample["error"] = _error(run)
    if limit := _limit(run):
        sample["limit"] = limit
    return {name: value for name, value in sample.items() if value is not None}


def _lead(run: Run) -> str:
    workflow = workflow_of(run.experiment.workflow)
    return next(iter((*workflow.subjects, workflow.leads)))


def _is_assistant(message: Message, run: Run) -> bool:
    if workflow_of(run.experiment.workflow).leads:
        return bool(message.model)
    return message.seat == _lead(run)


def _epoch(run: Run) -> int:
    """Which repetition of the experiment this is, from 1."""
    return run.experiment.runs.filter(created__lt=run.created).count() + 1


def _input(run: Run) -> str:
    """What the talk was set up with, in the workflow's own words."""
    return str(run.experiment.parsed_config(run.overrides).summary())


def _chat(message: Message, row: Row, run: Run) -> Data:
    role = "assistant" if _is_assistant(message, run) else "user"
    told = (
        "seat",
        "turn",
        "purpose",
        "model",
        "parsed",
        "filter",
        "operator",
        "flags",
        "finish_reason",
        "created",
        "call",
    )
    metadata = {name: row[name] for name in told} | (
        {"seen_as": message.text} if message.text != message.raw_text else {}
    )
    chat: Data = {"id": str(message.pk), "role": role, "content": _content(message), "metadata": metadata}
    chat["source"] = "generate" if message.model else "input"
    return chat | ({"model": message.model} if role == "assistant" else {})


def _content(message: Message) -> str | list[Data]:
    if not message.reasoning:
        return message.raw_text
    reasoning: Data = {"type": "reasoning", "reasoning": message.reasoning}
    return [reasoning, {"type": "text", "text": message.raw_text}]


def _output(run: Run, said: Sequence[Message], rows: Mapping[UUID, Row]) -> Data:
    """The last answer of the assistant."""
    last = next((message for message in reversed(said) if message.seat == _lead(run)), None)
    if last is None:
        return {"model": "", "choices": []}
    choice = {
        "message": _chat(last, rows[last.pk], run),
        "stop_reason": STOP_REASONS.get(last.finish_reason, "unknown"),
    }
    usage = _usage([last.call]) if last.call else None
    return {"model": last.model, "choices": [choice], "completion": last.raw_text} | ({"usage": usage} if usage else {})


def _scores(judgments: Any) -> tuple[dict[str, Data], dict[str, Data]]:
    """The scores by seat and turn, and why those that are missing are."""
    scores: dict[str, Data] = {}
    unscored: dict[str, Data] = {}
    for judgment in judgments:
        by = f" by {judgment.judge_seat}" if judgment.judge_seat else ""
        name = _free(f"{judgment.subject} turn {judgment.turn}{by}", {**scores, **unscored})
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
            value = {key: score for key, score in judgment.scores.items() if score is not None}
            scores[name] = {"value": value, "explanation": judgment.rationale or None, "metadata": about}
        if judgment.unscored_reason or not judgment.scores:
            unscored[name] = about
    return scores, unscored


def _ranked(found: Ranking) -> Data | None:
    """The Borda score of each answer; the explanation is the order."""
    value = {one.seat: one.borda.value for one in found.standings if one.borda.value is not None}
    order = next((one.groups for one in found.orders if one.method == "borda"), None) or ()
    explanation = " > ".join(" = ".join(group) for group in order)
    return {"value": value, "explanation": explanation, "metadata": {"scorer": BORDA}} if value else None


def _tested(row: Cycle) -> Data | None:
    """The share of tests that each solution passed; the explanation is what the problem is called."""
    value = row.found.get("passed")
    return {"value": value, "explanation": row.title, "metadata": {"scorer": SANDBOX}} if value else None


def _free(name: str, taken: Mapping[str, Any]) -> str:
    """An answer that was asked for again is judged again in the same turn."""
    number = 2
    free = name
    while free in taken:
        free, number = f"{name} ({number})", number + 1
    return free


def _results(run: Run) -> Data:
    """Means over the turns that were scored, by seat; a dimension that was never scored has none."""
    judgments = list(run.judgments.order_by("turn", "id"))
    subjects = sorted({judgment.subject for judgment in judgments})
    scored = [found for subject in subjects if (found := _score(subject, judgments))]
    over = run.state == Run.State.COMPLETED
    return {"total_samples": 1, "completed_samples": int(over), "scores": scored}


def _score(subject: str, judgments: Sequence[Judgment]) -> Data | None:
    of_subject = [judgment for judgment in judgments if judgment.subject == subject]
    given: dict[str, list[float]] = {}
    for name, score in ((name, score) for one in of_subject for name, score in (one.scores or {}).items()):
        if score is not None:
            given.setdefault(name, []).append(score)
    if not given:
        return None
    metrics = {
        name: {"name": name, "value": fmean(values), "metadata": {"turns": len(values)}}
        for name, values in given.items()
    }
    turns = {"judged": len(of_subject), "scored": sum(bool(one.scores) for one in of_subject)}
    return {"name": subject, "scorer": SCORER, "reducer": "mean", "metrics": metrics, "metadata": turns}


def _usage_by_model(run: Run) -> dict[str, Data]:
    calls: dict[str, list[Call]] = {}
    rows = run.calls.select_related("model").defer("request", "logprobs", "text", "reasoning").order_by("id")
    for call in rows:
        calls.setdefault(call.model.slug, []).append(call)
    return {slug: usage for slug, those in calls.items() if (usage := _usage(those))}


def _usage(calls: Sequence[Call]) -> Data | None:
    """Tokens and US dollars; None when none are known. The cost is left out unless all of it is known."""
    known = [call for call in calls if call.input_tokens is not None or call.output_tokens is not None]
    if not known:
        return None
    read, written = (sum(getattr(c, name) or 0 for c in known) for name in ("input_tokens", "output_tokens"))
    usage: Data = {"input_tokens": read, "output_tokens": written, "total_tokens": read + written}
    for ours, theirs in (("reasoning_tokens", "reasoning_tokens"), ("cached_input_tokens", "input_tokens_cache_read")):
        counts = [getattr(call, ours) for call in known if getattr(call, ours) is not None]
        usage |= {theirs: sum(counts)} if counts else {}
    costs = [call.cost for call in calls]
    return usage | ({"total_cost": float(sum(cost for cost in costs if cost))} if None not in costs else {})


def _limit(run: Run) -> Data | None:
    kind, field = LIMITS.get(run.stop_reason, ("", ""))
    limit = (run.config.get("limits") or {}).get(field)
    return {"type": kind, "limit": limit, "reason": run.error or None} if kind and limit is not None else None


def _error(run: Run) -> Data:
    return {"message": run.error or run.stop_reason or "failed", "traceback": "", "traceback_ansi": ""}


def _moment(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
