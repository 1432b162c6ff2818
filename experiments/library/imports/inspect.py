"""Logs of Inspect AI: every sample becomes a run. A sample of one of our own logs becomes the run that it was; any
other one a talk with a model, with the scores of all its scorers.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _

from experiments.engine.projections import listed_writers
from experiments.library.imports.drafts import Draft
from experiments.library.imports.values import (
    Data,
    Taken,
    Unreadable,
    line,
    mapping,
    mappings,
    moment,
    rest,
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
OF_SAMPLE = ("messages", "scores", "uuid", "started_at", "completed_at", "error", "events", "attachments")
OF_MESSAGE = ("id", "role", "content", "source", "model")
SUBJECT = re.compile(r"^(?P<seat>[A-Za-z][\w-]{0,39}) turn (?P<turn>\d{1,6})(?: by (?P<by>[\w-]{1,40}))?(?: \(\d+\))?$")


def is_log(value: Any) -> bool:
    said = mapping(value)
    return isinstance(said.get("eval"), Mapping) and "task" in said["eval"]


def is_sample(value: Any) -> bool:
    said = mapping(value)
    return "epoch" in said and "messages" in said


def read(log: Any, sample: Any, place: str = "") -> Taken:
    """log: the log without its samples. Raises Unreadable."""
    header, said = mapping(log), mapping(sample)
    spec = mapping(header.get("eval"))
    task = text(spec.get("task"))
    if task.startswith(OURS) and task.removeprefix(OURS) in REGISTRY:
        return _Ours(header, spec, said, place).taken()
    return _Sample(header, spec, said, place).taken()


class _Sample:
    """What a log of anybody says of one sample, as a talk."""

    def __init__(self, header: Mapping[str, Any], spec: Mapping[str, Any], said: Mapping[str, Any], place: str) -> None:
        self.spec, self.said, self.place = spec, said, place
        self.messages = mappings(said.get("messages"))
        if not self.messages:
            raise Unreadable(_("The sample has no messages."), place)
        name = f"{line(spec.get('task'), 120) or 'Inspect'} · {line(str(said.get('id')), 60)}"
        self.draft = Draft(STARCHAMBER.slug, name, self._config())
        self.draft.seat("model", spec.get("model"))
        self._end(header)

    def taken(self) -> Taken:
        draft = self.draft
        self._talk()
        about = {name: self.spec.get(name) for name in ("task", "task_id", "run_id", "eval_id", "model", "created")}
        draft.kept["log"] = {name: item for name, item in about.items() if item is not None}
        draft.kept["sample"] = rest(self.said, OF_SAMPLE)
        return Taken(self.place, draft.document(), tuple(draft.notes), draft.kept)

    def _config(self) -> Data:
        first = next((_words(one) for one in self.messages if one.get("role") == "user"), "")
        system = [_words(one) for one in self.messages if one.get("role") == "system"]
        return {
            "context": "\n\n".join(system),
            "first_message": first.strip() or "(not in the file)",
            "logprobs": False,
        }

    def _end(self, header: Mapping[str, Any]) -> None:
        error, limit = mapping(self.said.get("error")), mapping(self.said.get("limit"))
        state = STATES.get(text(header.get("status")), "completed")
        if error:
            self.draft.run |= {"state": "failed", "stop_reason": "error", "error": text(error.get("message"))[:20_000]}
        elif limit:
            self.draft.run |= {"state": "stopped", "stop_reason": f"limit_{line(limit.get('type'), 20)}"}
        elif state == "stopped":
            self.draft.run |= {"state": "stopped", "stop_reason": "cancelled"}
        moments = {"started": moment(self.said.get("started_at")), "ended": moment(self.said.get("completed_at"))}
        self.draft.run |= {name: at for name, at in moments.items() if at}

    def _talk(self) -> None:
        """Each turn begins with what a user says; tools answer within it."""
        turn, has_answer = 0, False
        for number, one in enumerate(self.messages):
            role = one.get("role")
            if role == "system":
                continue
            if turn == 0 or (role == "user" and has_answer):
                if turn:
                    self.draft.completed(turn)
                turn, has_answer = turn + 1, False
                self.draft.begun(turn)
            if role == "assistant":
                self._answer(turn, number, one)
                has_answer = True
            elif role == "tool":
                self.draft.sent(f"turn/{turn}/tool", turn, "tool", _words(one))
            else:
                self.draft.sent(f"turn/{turn}/question", turn, "researcher", _words(one))
            if kept := rest(one, OF_MESSAGE):
                self.draft.kept.setdefault("messages", []).append({"place": number, **kept})
        if has_answer:
            self._judge(max(turn, 1))
            self.draft.completed(turn)

    def _answer(self, turn: int, number: int, said: Mapping[str, Any]) -> None:
        output = mapping(self.said.get("output"))
        is_last = number == len(self.messages) - 1
        reason = text(next(iter(mappings(output.get("choices"))), {}).get("stop_reason")) if is_last else ""
        fields: Data = {"reasoning": _reasoning(said), "finish_reason": FINISHED.get(reason, line(reason, 40))}
        fields["flags"] = ["truncated"] if reason in FINISHED else []
        if reason == REFUSED_BY_FILTER:
            fields["flags"] = ["refusal"]
        calls = said.get("tool_calls")
        words = _words(said) or (json.dumps(calls, ensure_ascii=False) if calls else "")
        self.draft.said(f"turn/{turn}/answer", turn, "model", words, **fields)

    def _judge(self, turn: int) -> None:
        scores, reasons, explained = _scores(mapping(self.said.get("scores")))
        if not scores and not reasons:
            return
        names = ", ".join(line(name, 60) for name in list(mapping(self.said.get("scores")))[:5])
        self.draft.judged(turn, [{
            "subject": "model", "judge": line(names), "scores": scores or None,
            "unscored_reason": " ".join(reasons)[:500], "rationale": explained,
        }])  # fmt: skip


class _Ours:
    """A log that `reports.inspect_log` wrote: what was said and found is in the metadata."""

    def __init__(self, header: Mapping[str, Any], spec: Mapping[str, Any], said: Mapping[str, Any], place: str) -> None:
        self.said, self.place = said, place
        workflow = text(spec.get("task")).removeprefix(OURS)
        self.about = mapping(said.get("metadata"))
        self.draft = Draft(
            workflow, line(spec.get("task_display_name")) or workflow, dict(mapping(spec.get("task_args")))
        )
        for seat, seated in mapping(spec.get("model_roles")).items():
            self.draft.seat(line(seat, 40), mapping(seated).get("model"))
        told = mapping(spec.get("metadata"))
        state, otherwise = text(self.about.get("state")), STATES.get(text(header.get("status")), "stopped")
        self.draft.run = {
            "state": state if state in {"completed", "stopped", "failed"} else otherwise,
            "stop_reason": line(self.about.get("stop_reason"), 40),
            "seed": whole(self.about.get("seed"), -(2**63), 2**63 - 1) or 0,
            "mode": "manual" if told.get("mode") == "manual" else "automatic",
            "error": text(mapping(said.get("error")).get("message")),
        }
        moments = {"started": moment(said.get("started_at")), "ended": moment(said.get("completed_at"))}
        self.draft.run |= {name: at for name, at in moments.items() if at}

    def taken(self) -> Taken:
        messages = [_message(one) for one in mappings(self.said.get("messages"))]
        messages += [{**one, "superseded": True, "call": None} for one in mappings(self.about.get("superseded"))]
        messages.sort(key=lambda one: text(one.get("created")))
        judgments = _judgments(mapping(self.said.get("scores")), mapping(self.about.get("unscored")))
        rows = self.draft.rows
        rows["messages"] = messages
        beside: Data = {}
        for listed, _writer in listed_writers():
            found = [
                {**one, **({"call": None} if "call" in one else {})} for one in mappings(self.about.get(listed.name))
            ]
            (beside if listed.needs_steps else rows)[listed.name] = found
        if steps := surface_of(self.draft.workflow).steps_of_log:
            steps(self.draft, judgments)
        else:
            rows["judgments"] = judgments
        notes = [_("The log does not say what was sent to the models: calls, their tokens and costs are missing.")]
        kept = {"interventions": self.about.get("interventions"), "model_usage": self.said.get("model_usage")}
        if any(beside.values()):
            notes.append(_("What the sandbox ran was kept beside the run."))
        kept = {name: item for name, item in (kept | beside).items() if item}
        return Taken(self.place, self.draft.document(), tuple(notes), kept)


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


def _scores(told: Mapping[str, Any]) -> tuple[dict[str, float], list[str], str]:
    """Numbers by name, why others are none, and what the scorers said about them."""
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
                reasons.append(f"{line(name, 40)}: {_why(one)}")
            elif len(scores) < MOST_SCORES:
                scores[name] = number
        if explanation := text(score.get("explanation")).strip():
            explained.append(f"{line(scorer, 60)}: {explanation}")
    return scores, reasons, "\n\n".join(explained)[:MOST_EXPLAINED]


def _number(value: Any) -> float | None:
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value) if -1e15 <= value <= 1e15 else None
    return LETTERS.get(value) if isinstance(value, str) else None


def _why(value: Any) -> str:
    return "no answer." if value == NO_ANSWER else "no number in the log."


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
    content = message.get("content")
    if isinstance(content, str):
        return content
    return "\n\n".join(_part(part) for part in mappings(content) if part.get("type") != "reasoning")


def _part(part: Mapping[str, Any]) -> str:
    """Pictures and the like are not taken over: what was there is said."""
    return text(part.get("text")) if part.get("type") == "text" else f"[{line(part.get('type'), 40) or 'part'}]"


def _reasoning(message: Mapping[str, Any]) -> str:
    parts: Sequence[Mapping[str, Any]] = mappings(message.get("content"))
    return "\n\n".join(text(part.get("reasoning")) for part in parts if part.get("type") == "reasoning")
