"""Logs of Inspect AI: every sample becomes a run. A sample of one of our own logs becomes the run that it was; any
other one a talk with a model, or with its agents, with the scores of all its scorers.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.engine.projections import listed_writers
from experiments.library.imports.drafts import Draft
from experiments.library.imports.inspect_speakers import MODEL, RESEARCHER, TOOL, Line, spoken
from experiments.library.imports.values import (
    Data,
    Taken,
    Unreadable,
    line,
    mapping,
    mappings,
    moment,
    rest,
    slug,
    text,
    whole,
)
from experiments.workflows import REGISTRY, surface_of
from experiments.workflows.base.judge import RANGES
from experiments.workflows.starchamber import WORKFLOW as STARCHAMBER

OURS = "arena_lab/"
STATES = {"success": "completed", "error": "failed", "cancelled": "stopped", "started": "stopped"}
LETTERS = {"C": 1.0, "I": 0.0, "P": 0.5}
NO_ANSWER = "N"
REFUSED_BY_FILTER = "content_filter"
FINISHED = {"max_tokens": "length", "model_length": "length"}
MOST_SCORES = 90
MOST_EXPLAINED = 100_000
HAPPENED = ("events", "events_data", "attachments")
OF_SAMPLE = ("messages", "scores", "uuid", "started_at", "completed_at", "error", *HAPPENED)
OF_SPEAKERS = ("messages", "output", "events", "events_data")
MOST_HAPPENED = 2_000_000  # characters of them that are kept
ATTACHED = "attachment://"  # and the hash of a text that stands once in the log
OF_MESSAGE = ("id", "role", "content", "source", "model")
SUBJECT = re.compile(r"^(?P<seat>[A-Za-z][\w-]{0,39}) turn (?P<turn>\d{1,6})(?: by (?P<by>[\w-]{1,40}))?(?: \(\d+\))?$")


def is_log(value: Any) -> bool:
    said = mapping(value)
    return isinstance(said.get("eval"), Mapping) and "task" in said["eval"]


def read(log: Any, sample: Any, place: str = "") -> Taken:
    """log: the log without its samples. Raises Unreadable."""
    header, said = mapping(log), mapping(sample)
    spec = mapping(header.get("eval"))
    task = text(spec.get("task"))
    if task.startswith(OURS) and task.removeprefix(OURS) in REGISTRY:
        return _ours(header, spec, said, place)
    return _talk(header, spec, said, place)


def _talk(header: Mapping[str, Any], spec: Mapping[str, Any], said: Mapping[str, Any], place: str) -> Taken:
    """What a log of anybody says of one sample, as a talk. Each turn begins with what a user says; tools answer within
    it. Its events and attachments are kept beside the run as they are.
    """
    attached = mapping(said.get("attachments"))
    told = spoken({name: _resolved(item, attached) for name, item in said.items() if name in OF_SPEAKERS})
    if not told.lines:
        raise Unreadable(_("The sample has no messages."), place)
    first = next((_words(one.message) for one in told.lines if one.role == "user"), "")
    system = [_words(one.message) for one in told.lines if one.role == "system"]
    config = {
        "context": "\n\n".join(dict.fromkeys(system)),
        "first_message": first.strip() or "(not in the file)",
        "logprobs": False,
    }
    name = f"{line(spec.get('task'), 120) or 'Inspect'} · {line(str(said.get('id')), 60)}"
    draft = Draft(STARCHAMBER.slug, name, config)
    draft.seat(MODEL, spec.get("model"))
    draft.run |= _end_of_sample(header, said)
    for note in told.notes:
        draft.note(note)
    turn, speaker = 0, ""
    for number, one in enumerate(told.lines):
        if one.role == "system":
            continue
        if turn == 0 or (one.role == "user" and speaker):
            if turn:
                draft.completed(turn)
            turn, speaker = turn + 1, ""
            draft.begun(turn)
        if one.is_answer:
            _answer(draft, turn, one)
            speaker = one.seat
        else:
            key, seat = (TOOL, TOOL) if one.role == "tool" else ("question", RESEARCHER)
            draft.sent(f"turn/{turn}/{key}", turn, seat, _words(one.message))
        if kept := rest(one.message, OF_MESSAGE):
            draft.kept.setdefault("messages", []).append({"place": number, **kept})
    if speaker:
        _judge(draft, turn, speaker, mapping(said.get("scores")))
        draft.completed(turn)
    about = {name: spec.get(name) for name in ("task", "task_id", "run_id", "eval_id", "model", "created")}
    draft.kept["log"] = {name: item for name, item in about.items() if item is not None}
    draft.kept["sample"] = rest(said, OF_SAMPLE)
    document, identity = draft.document(), dict(draft.kept)
    happened = {name: said[name] for name in HAPPENED if said.get(name)}
    if len(json.dumps(happened)) <= MOST_HAPPENED:
        draft.kept |= happened
    else:
        note = _("The events of the log are longer than %(most)s characters and were left out.")
        draft.note(note % {"most": f"{MOST_HAPPENED:,}"})
    return Taken(place, document, tuple(draft.notes), draft.kept, identity=[document, identity])


def _resolved(value: Any, attachments: Mapping[str, Any]) -> Any:
    """With the texts in the places of their hashes."""
    if isinstance(value, str) and value.startswith(ATTACHED):
        found = attachments.get(value.removeprefix(ATTACHED))
        return found if isinstance(found, str) else value
    if isinstance(value, list):
        return [_resolved(one, attachments) for one in value]
    return {name: _resolved(one, attachments) for name, one in value.items()} if isinstance(value, dict) else value


def _end_of_sample(header: Mapping[str, Any], said: Mapping[str, Any]) -> Data:
    """How the run ended, and when."""
    error, limit = mapping(said.get("error")), mapping(said.get("limit"))
    end: Data = {}
    if error:
        end = {"state": "failed", "stop_reason": "error", "error": text(error.get("message"))[:20_000]}
    elif limit:
        end = {"state": "stopped", "stop_reason": f"limit_{line(limit.get('type'), 20)}"}
    elif STATES.get(text(header.get("status"))) == "stopped":
        end = {"state": "stopped", "stop_reason": "cancelled"}
    return end | _moments(said)


def _moments(said: Mapping[str, Any]) -> Data:
    moments = {"started": moment(said.get("started_at")), "ended": moment(said.get("completed_at"))}
    return {name: at for name, at in moments.items() if at}


def _answer(draft: Draft, turn: int, one: Line) -> None:
    """What a model said; where it only called tools, its calls."""
    reason, calls = one.stop_reason, one.message.get("tool_calls")
    fields: Data = {"reasoning": _reasoning(one.message), "finish_reason": FINISHED.get(reason, line(reason, 40))}
    if one.model:
        fields["model"] = slug(one.model)
    fields["flags"] = ["truncated"] if reason in FINISHED else []
    if reason == REFUSED_BY_FILTER:
        fields["flags"] = ["refusal"]
    words = _words(one.message) or (json.dumps(calls, ensure_ascii=False) if calls else "")
    draft.said(f"turn/{turn}/answer", turn, one.seat, words, **fields)


def _judge(draft: Draft, turn: int, subject: str, told: Mapping[str, Any]) -> None:
    """Numbers by name, why others are none, and what the scorers said about them. subject: who spoke last."""
    scores: dict[str, float] = {}
    reasons: list[str] = []
    explained: list[str] = []
    for scorer, said in told.items():
        score = mapping(said)
        value = score.get("value", said)
        parts = value if isinstance(value, Mapping) else {"": value}
        for part, one in parts.items():
            name = _score_name(f"{scorer}_{part}" if part else scorer, scores)
            number = _number(one)
            if number is None:
                why = "no answer." if one == NO_ANSWER else "no number in the log."
                reasons.append(f"{line(name, 40)}: {why}")
            elif len(scores) < MOST_SCORES:
                scores[name] = number
        if explanation := text(score.get("explanation")).strip():
            explained.append(f"{line(scorer, 60)}: {explanation}")
    if scores or reasons:
        draft.judged(turn, [{
            "subject": subject, "judge": line(", ".join(line(name, 60) for name in list(told)[:5])),
            "scores": scores or None, "unscored_reason": " ".join(reasons)[:500],
            "rationale": "\n\n".join(explained)[:MOST_EXPLAINED],
        }])  # fmt: skip


def _ours(header: Mapping[str, Any], spec: Mapping[str, Any], said: Mapping[str, Any], place: str) -> Taken:
    """A log that `reports.inspect_log` wrote: what was said and found is in the metadata."""
    workflow = text(spec.get("task")).removeprefix(OURS)
    about, told = mapping(said.get("metadata")), mapping(spec.get("metadata"))
    draft = Draft(workflow, line(spec.get("task_display_name")) or workflow, dict(mapping(spec.get("task_args"))))
    for seat, seated in mapping(spec.get("model_roles")).items():
        draft.seat(line(seat, 40), mapping(seated).get("model"))
    state, otherwise = text(about.get("state")), STATES.get(text(header.get("status")), "stopped")
    draft.run = {
        "state": state if state in {"completed", "stopped", "failed"} else otherwise,
        "stop_reason": line(about.get("stop_reason"), 40),
        "seed": whole(about.get("seed"), -(2**63), 2**63 - 1) or 0,
        "mode": "manual" if told.get("mode") == "manual" else "automatic",
        "error": text(mapping(said.get("error")).get("message")),
        **_moments(said),
    }
    messages = [_message(one) for one in mappings(said.get("messages"))]
    messages += [{**one, "superseded": True, "call": None} for one in mappings(about.get("superseded"))]
    draft.rows["messages"] = sorted(messages, key=lambda one: text(one.get("created")))
    beside: Data = {}
    for listed, _writer in listed_writers():
        found = [{**one, **({"call": None} if "call" in one else {})} for one in mappings(about.get(listed.name))]
        (beside if listed.needs_steps else draft.rows)[listed.name] = found
    judgments = _judgments(mapping(said.get("scores")), mapping(about.get("unscored")))
    if steps := surface_of(workflow).steps_of_log:
        steps(draft, judgments)
    else:
        draft.rows["judgments"] = judgments
    notes = [_("The log does not have the requests: calls, tokens and costs are missing.")]
    if any(beside.values()):
        notes.append(_("The sandbox's results were kept beside the run."))
    if about.get("annotations"):
        notes.append(_("What instruments found was kept beside the run."))
    kept = {name: about.get(name) for name in ("interventions", "annotations")}
    kept |= {"model_usage": said.get("model_usage")} | beside
    return Taken(place, draft.document(), tuple(notes), {name: item for name, item in kept.items() if item})


def _message(one: Mapping[str, Any]) -> Data:
    told = mapping(one.get("metadata"))
    raw = _words(one)
    taken = {
        name: told.get(name) for name in ("seat", "turn", "parsed", "filter", "operator", "finish_reason", "created")
    }
    taken |= {
        "purpose": told.get("purpose") or "reply",
        "model": text(told.get("model")),
        "flags": told.get("flags") or [],
    }
    if isinstance(taken["filter"], Mapping):
        taken["filter"] = {**taken["filter"], "call": None}
    said = {"id": one.get("id"), "text": text(told["seen_as"]) if "seen_as" in told else raw, "raw_text": raw}
    return {name: item for name, item in {**said, **taken, "reasoning": _reasoning(one)}.items() if item is not None}


def _judgments(scores: Mapping[str, Any], unscored: Mapping[str, Any]) -> list[Data]:
    """By the names that our logs give them; rankings and tests are counted from ballots and executions."""
    found: list[Data] = []
    for name in dict.fromkeys((*scores, *unscored)):
        place = SUBJECT.match(name)
        if place is None or place["seat"] in ("ranking", "tests"):
            continue
        told = mapping(scores.get(name))
        about = mapping(told.get("metadata")) or mapping(unscored.get(name))
        value = told.get("value")
        found.append({
            "turn": int(place["turn"]),
            "subject": place["seat"],
            "judge": line(about.get("judge")),
            "judge_seat": line(about.get("judge_seat"), 40),
            "scores": dict(value) if isinstance(value, Mapping) else None,
            "unscored_reason": text(about.get("unscored_reason"))[:500],
            "rationale": text(told.get("explanation")),
            "dynamics": text(about.get("dynamics")),
            "confidence": about.get("confidence"),
            "flags": about.get("flags") or [],
        })  # fmt: skip
    return found


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value) if -1e15 <= value <= 1e15 else None
    return LETTERS.get(value) if isinstance(value, str) else None


def _score_name(name: str, taken: Mapping[str, Any]) -> str:
    """As scores are named here; never one whose range is already ours."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:32] or "score"
    plain = plain if plain[0].isalpha() else f"s_{plain}"
    plain = f"inspect_{plain}" if plain in RANGES else plain
    number, free = 1, plain
    while free in taken:
        number += 1
        free = f"{plain}_{number}"
    return free


def _words(message: Mapping[str, Any]) -> str:
    """Pictures and the like are not taken over: what was there is said."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = [part for part in mappings(content) if part.get("type") != "reasoning"]
    return "\n\n".join(
        text(part.get("text")) if part.get("type") == "text" else f"[{line(part.get('type'), 40) or 'part'}]"
        for part in parts
    )


def _reasoning(message: Mapping[str, Any]) -> str:
    parts = mappings(message.get("content"))
    return "\n\n".join(text(part.get("reasoning")) for part in parts if part.get("type") == "reasoning")
