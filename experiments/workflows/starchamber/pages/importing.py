"""StarChamber: a researcher's conversation with one model, with its set-up and its judge's scores."""

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
    mapping,
    mappings,
    moment,
    rest,
    text,
    whole,
)
from experiments.models.imports import ImportSource
from experiments.workflows.arena.pages import importing as arena

ROLES = ("researcher", "model")
OF_PERSON = ("researcher", "user", "human")
OF_A_MESSAGE = (
    *("id", "role", "senderName", "content", "thinking", "turnNumber", "turn", "timestamp", "logprobs"),
    *("originalContent", "modelName"),
)
OF_A_STATE = (
    *("messages", "conversation", "metrics", "config", "startTime", "endTime", "error", "experimentId"),
    *("model", "modelId", "modelName", "systemContext", "researcherPersona", "requestLogprobs", "presetId"),
)


def is_state(value: Any) -> bool:
    said = mapping(value)
    if "researcherPersona" in said or "researcherPersona" in mapping(said.get("config")):
        return True
    return any(one.get("role") == "researcher" for one in _messages(said))


def read(value: Any, place: str = "") -> Taken:
    """Raises Unreadable."""
    state = mapping(value)
    spoken = [one for one in _messages(state) if one.get("role") in (*OF_PERSON, "model", "assistant")]
    if not spoken:
        raise Unreadable(_("There is no conversation in it."), place)
    config = mapping(state.get("config")) or state
    first = next((text(one.get("content")) for one in spoken if one.get("role") in OF_PERSON), "")
    draft = Draft("starchamber", line(first, 80) or "StarChamber", _config(config, first))
    draft.seat("model", _model(state, config, spoken))
    draft.lasted(moment(state.get("startTime")), moment(state.get("endTime")))
    _talk(draft, state, spoken)
    kept = {
        "state": rest(state, OF_A_STATE),
        "config": rest(config, (*OF_A_STATE, "apiKey")) if config is not state else {},
        "metrics": rest(mapping(state.get("metrics")), ("sentimentHistory", *arena.LATEST)),
    }
    draft.kept |= {name: said for name, said in kept.items() if said}
    return Taken(place, draft.document(), tuple(draft.notes), draft.kept)


def _messages(state: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return mappings(state.get("messages")) or mappings(state.get("conversation"))


def _config(config: Mapping[str, Any], first: str) -> Data:
    return {
        "context": text(config.get("systemContext")),
        "preset": line(config.get("presetId"), 80),
        "persona": line(config.get("researcherPersona"), 100),
        "first_message": first.strip() or "(not in the file)",
        "logprobs": config.get("requestLogprobs") is True,
        "judge": True,
    }


def _model(state: Mapping[str, Any], config: Mapping[str, Any], spoken: list[Mapping[str, Any]]) -> Any:
    told = mapping(config.get("model"))
    sender = next((one.get("senderName") for one in spoken if one.get("role") not in OF_PERSON), None)
    names = (told.get("modelId"), told.get("modelName"), config.get("modelId"), state.get("modelId"), sender)
    return next((name for name in names if isinstance(name, str) and name.strip()), None)


def _talk(draft: Draft, state: Mapping[str, Any], spoken: list[Mapping[str, Any]]) -> None:
    """A turn is a question and what it is answered; turns that the file counts are taken as counted."""
    metrics = mapping(state.get("metrics"))
    history = {whole(one.get("turn")): one for one in mappings(metrics.get("sentimentHistory"))}
    last = max((turn for turn in history if turn), default=0)
    turn, begun, answered = 0, set[int](), set[int]()
    for one in spoken:
        is_person = one.get("role") in OF_PERSON
        told = whole(one.get("turnNumber", one.get("turn")), 1, 100_000)
        turn = told or (turn + 1 if is_person or not turn else turn)
        if turn not in begun:
            begun.add(turn)
            draft.begun(turn)
        if is_person:
            draft.sent(
                f"turn/{turn}/question", turn, "researcher", text(one.get("content")), at=moment(one.get("timestamp"))
            )
        else:
            _answer(draft, turn, one)
            answered.add(turn)
        draft.keep("messages", rest(one, OF_A_MESSAGE), turn=turn, role=one.get("role"))
    for turn in sorted(answered):
        if turn in history:
            draft.judged(
                turn, [_judgment(draft, turn, history[turn], metrics, turn == last)], f"turn/{turn}/answer/judge"
            )
        draft.completed(turn)


def _answer(draft: Draft, turn: int, said: Mapping[str, Any]) -> None:
    words, key = text(said.get("content")), f"turn/{turn}/answer"
    if arena.ERROR.match(words):
        draft.note(_("Provider errors that the original stores as messages were stored as errors."))
        draft.failed(key, turn, "model", words)
        return
    fields: Data = {"reasoning": arena.reasoning(draft, said), "created": moment(said.get("timestamp"))}
    if probabilities := arena.logprobs(said.get("logprobs")):
        fields["call"] = {"logprobs": probabilities}
    draft.said(key, turn, "model", words, **fields)


def _judgment(draft: Draft, turn: int, said: Mapping[str, Any], metrics: Mapping[str, Any], is_last: bool) -> Data:
    found = arena.judgment(draft, turn, "model", said, metrics, is_last)
    if found["scores"] is None:  # then the notes, too, are those of a judge that has failed
        found.pop("rationale", None)
    return found


FORMAT = RunFormat(ImportSource.STARCHAMBER, 5, is_state, read)
