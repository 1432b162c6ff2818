"""LLM Arena: the state of an experiment, as its status, its events and its exports hold it.

Its judge writes the same seven numbers into the history whenever it fails, and its errors into the conversation as if
they had been said: both are told by their pattern, and stored as what they are.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.library.imports.drafts import Draft
from experiments.library.imports.formats import RunFormat
from experiments.library.imports.values import (
    Data,
    Taken,
    Unreadable,
    line,
    listed,
    mapping,
    mappings,
    moment,
    number,
    rest,
    text,
    whole,
)
from experiments.models.imports import ImportSource
from experiments.workflows.base.judge import SENTIMENTS

SIDES = ("A", "B")
INVENTED = {"happiness": 0.3, "sadness": 0.1, "anger": 0.05, "hopelessness": 0.05, "excitement": 0.2, "fear": 0.1}
ERROR = re.compile(r"^\W{0,6}(?:streaming error|failed to get (?:a )?response)\b", re.IGNORECASE)
PLACEHOLDER = re.compile(
    r"^\W{0,4}no\b[^.\n]{0,60}\b(?:pattern|thinking|reasoning)\b[^.\n]{0,40}\b(?:detected|found|available)\b\W*$",
    re.IGNORECASE,
)
INTERRUPTED = re.compile(r"\W(?:incomplete\W{1,4}stream interrupted|interrupted\W{1,4}manual stop)\W*$", re.IGNORECASE)
LATEST = ("goalDeviationScore", "cooperationScore", "lastBehavioralNotes")
OF_A_MESSAGE = (
    *("id", "model", "modelName", "turn", "content", "originalContent", "thinking", "timestamp", "filterMetadata"),
    "logprobs",
)
OF_A_STATE = ("conversation", "metricsA", "metricsB", "startTime", "endTime", "error", "config", "experimentId")
OF_A_CONFIG = (
    *("experimentMode", "promptingMode", "systemPrompt", "sharedPrompt", "promptA", "promptB", "maxTurns"),
    *("modelA", "modelB", "apiKeyA", "apiKeyB"),
)


def is_state(value: Any) -> bool:
    """Whether it is an experiment of two models."""
    said = mapping(value)
    spoken = mappings(said.get("conversation"))
    return "metricsA" in said or any(one.get("model") in SIDES for one in spoken)


def read(value: Any, place: str = "") -> Taken:
    """Raises Unreadable."""
    state = mapping(value)
    conversation = mappings(state.get("conversation"))
    if not conversation:
        raise Unreadable(_("There is no conversation in it."), place)
    config = mapping(state.get("config")) or state
    opening = text(config.get("sharedPrompt")) or text(config.get("promptA"))
    draft = Draft("arena", line(opening, 80) or "LLM Arena", _config(config, conversation))
    for side in SIDES:
        named = next((one.get("modelName") for one in conversation if one.get("model") == side), None)
        draft.seat(side, config.get(f"model{side}") or named)
    if error := line(state.get("error"), 2000):
        draft.run |= {"state": "failed", "stop_reason": "error", "error": error}
    if config.get("experimentMode") == "manual":
        draft.run["mode"] = "manual"
    draft.lasted(moment(state.get("startTime")), moment(state.get("endTime")))
    _talk(draft, state, conversation)
    kept = {"state": rest(state, (*OF_A_STATE, *OF_A_CONFIG)), "config": rest(config, (*OF_A_CONFIG, *OF_A_STATE))}
    draft.kept |= {name: said for name, said in kept.items() if said and not (name == "config" and config is state)}
    return Taken(place, draft.document(), tuple(draft.notes), draft.kept)


def logprobs(value: Any) -> list[Data]:
    """Token probabilities as a call holds them; those whose logarithm is no number have none."""
    return [
        {
            "token": text(one.get("token")),
            "logprob": number(one.get("logprob"), -1e15, 1e15),
            "alternatives": [
                {"token": text(other.get("token")), "logprob": number(other.get("logprob"), -1e15, 1e15)}
                for other in mappings(one.get("topAlternatives"))[:100]
            ],
        }
        for one in mappings(mapping(value).get("tokens"))
    ]


def reasoning(draft: Draft, said: Mapping[str, Any]) -> str:
    thinking = text(said.get("thinking"))
    if PLACEHOLDER.match(thinking.strip()):
        draft.note(_("Placeholders for reasoning such as “no pattern detected” were left out."))
        return ""
    return thinking


def sentiments(draft: Draft, turn: int, said: Mapping[str, Any]) -> tuple[Data | None, str]:
    """The seven scores of a turn, or why there are none."""
    if all(said.get(name) == value for name, value in INVENTED.items()) and said.get("deception", 0) == 0:
        draft.note(_("Scores that the original writes when its judge fails were left out."))
        return None, "The judge failed there; the numbers in the file are its fixed substitute."
    scores = {name: number(said.get(name), 0, 1) for name in SENTIMENTS}
    given = {name: score for name, score in scores.items() if score is not None}
    missing = [name for name in SENTIMENTS if name not in given]
    return given or None, f"Not in the file: {', '.join(missing)}." if missing else ""


def _config(config: Mapping[str, Any], conversation: list[Mapping[str, Any]]) -> Data:
    prompts = {"A": text(config.get("promptA")), "B": text(config.get("promptB"))}
    unknown = "(not in the file)"
    individual = config.get("promptingMode") == "individual" or (
        not text(config.get("sharedPrompt")).strip() and any(words.strip() for words in prompts.values())
    )
    asked: Data = {"prompting": "shared", "prompt": text(config.get("sharedPrompt")).strip() or unknown}
    if individual:
        asked = {
            "prompting": "individual",
            "prompts": {side: words.strip() or unknown for side, words in prompts.items()},
        }
    return {
        **asked,
        "mode": "manual" if config.get("experimentMode") == "manual" else "automatic",
        "system_prompt": text(config.get("systemPrompt")),
        "max_turns": whole(config.get("maxTurns"), 1, 100),
        "filter": any("filterMetadata" in one for one in conversation),
        "logprobs": any("logprobs" in one for one in conversation),
        "judge": True,
        "gap_seconds": 2.0,
    }


def _talk(draft: Draft, state: Mapping[str, Any], conversation: list[Mapping[str, Any]]) -> None:
    by_turn: dict[int, list[Mapping[str, Any]]] = {}
    for one in conversation:
        by_turn.setdefault(whole(one.get("turn"), 1, 100_000) or 1, []).append(one)
    judged = {side: _history(draft, mapping(state.get(f"metrics{side}"))) for side in SIDES}
    last = {side: max(turns, default=0) for side, turns in judged.items()}
    for turn in sorted(by_turn):
        draft.begun(turn)
        for one in by_turn[turn]:
            _speak(draft, turn, one)
        draft.judged(turn, [
            judgment(draft, turn, side, judged[side][turn], mapping(state.get(f"metrics{side}")), last[side] == turn)
            for side in SIDES if turn in judged[side]
        ])  # fmt: skip
        if {text(one.get("model")) for one in by_turn[turn]} >= set(SIDES):
            draft.completed(turn)
    for side in SIDES:
        if beside := rest(mapping(state.get(f"metrics{side}")), (*LATEST, "sentimentHistory")):
            draft.kept[f"metrics{side}"] = beside


def _history(draft: Draft, metrics: Mapping[str, Any]) -> dict[int, Mapping[str, Any]]:
    """Sentiments by turn; of a turn told twice the last, as the original has it."""
    said = mappings(metrics.get("sentimentHistory"))
    return {turn: one for one in said if (turn := whole(one.get("turn"), 1, 100_000))}


def _speak(draft: Draft, turn: int, said: Mapping[str, Any]) -> None:
    side = said.get("model")
    if side not in SIDES:
        draft.keep("messages", dict(said))
        draft.note(_("Messages of neither side were kept beside the conversation."))
        return
    seen, whole_text = text(said.get("content")), text(said.get("originalContent"))
    key = f"turn/{turn}/{side}"
    if ERROR.match(whole_text or seen) or text(said.get("id")).endswith("-error"):
        draft.note(_("Provider errors that the original stores as messages were stored as errors."))
        draft.failed(key, turn, side, whole_text or seen)
        return
    fields: Data = {"text": seen, "raw_text": whole_text or seen, "reasoning": reasoning(draft, said)}
    fields |= {"created": moment(said.get("timestamp")), "filter": _filter(said, seen, whole_text or seen)}
    if INTERRUPTED.search(whole_text or seen):
        fields |= {"flags": ["truncated"], "finish_reason": "interrupted"}
    if probabilities := logprobs(said.get("logprobs")):
        fields["call"] = {"logprobs": probabilities}
    draft.said(key, turn, side, whole_text or seen, **fields)
    draft.keep("messages", rest(said, OF_A_MESSAGE), turn=turn, seat=side)


def _filter(said: Mapping[str, Any], seen: str, raw: str) -> Data | None:
    found = said.get("filterMetadata")
    if not isinstance(found, Mapping):
        return None
    removed = [text(label) for label in listed(found.get("removedSections")) if isinstance(label, str)][:1000]
    confidence = number(found.get("filterConfidence"), 0, 1)
    changed = seen != raw
    has_failed = confidence == 0 and not removed and not changed
    status = "failed" if has_failed else "emptied" if not seen.strip() else "filtered" if changed or removed else "kept"
    reason = text(found.get("filterReasoning"))
    confidence = None if has_failed else confidence
    return {"changed": changed, "removed": removed, "confidence": confidence, "reasoning": reason, "status": status}


def judgment(
    draft: Draft, turn: int, subject: str, said: Mapping[str, Any], metrics: Mapping[str, Any], is_last: bool
) -> Data:
    """Deviation and cooperation are those of the last judged turn: the file has no others."""
    scores, missing = sentiments(draft, turn, said)
    found: Data = {"subject": subject, "judge": "", "scores": scores, "unscored_reason": missing}
    if not is_last:
        return found
    found["rationale"] = text(metrics.get("lastBehavioralNotes"))
    if scores is not None:
        more = {
            "goal_deviation": number(metrics.get("goalDeviationScore"), 0, 100),
            "cooperation": number(metrics.get("cooperationScore"), -1, 1),
        }
        found["scores"] = {**scores, **{name: score for name, score in more.items() if score is not None}}
    return found


FORMAT = RunFormat(ImportSource.ARENA, 4, is_state, read)
