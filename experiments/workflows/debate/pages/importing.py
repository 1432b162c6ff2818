"""multi-llm-assistant: the history that its pages keep in the browser, one debate per record."""

import json
from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _

from experiments.library.imports.drafts import Draft
from experiments.library.imports.formats import RunFormat
from experiments.library.imports.values import Taken, Unreadable, line, mapping, mappings, moment, rest, text
from experiments.models.imports import ImportSource
from experiments.workflows.base.json_reader import Found, find_json
from experiments.workflows.base.parsing import Unreadable as UnreadableAnswer
from experiments.workflows.debate.answers import Part, Reading, Words, read_actions, read_brief, read_points, words_in

ROLES = {"debater_a": "A", "debater_b": "B", "debater_c": "C"}
TELLING = ("rawPrompt", "finalPrompt", "round1Results", "summaryResult")
ADDENDA = ("addendumCommitted", "round2AddendumCommitted", "addendumDraft", "round2AddendumDraft", "addendum")
OF_RECORD = (
    *("id", "createdAt", "updatedAt", "uiLang", "rawPrompt", "refinerSuggestion", "refinerModel", "finalPrompt"),
    *("debaterModels", "summarizerModel", "round1Results", "round2Results", "round2Started", "summaryResult"),
    *ADDENDA,
)
OF_RESULT = ("role", "model", "content", "error", "ok")
SUMMARY_NAMES = {"new_perspectives": "recommended", "counterpoints": "discouraged"}


def is_record(value: Any) -> bool:
    said = mapping(value)
    return sum(name in said for name in TELLING) >= 2


def records(value: Any) -> list[Any]:
    """Of a history, an entry of the browser's store, or a record by itself."""
    if isinstance(value, list):
        return [one for one in value if is_record(one)]
    if is_record(value):
        return [value]
    found = []
    for item in mapping(value).values():
        if isinstance(item, str) and any(f'"{name}"' in item for name in TELLING):
            try:
                item = json.loads(item)
            except (ValueError, RecursionError):
                continue
        if isinstance(item, list | Mapping):
            found += [one for one in (item if isinstance(item, list) else [item]) if is_record(one)]
    return found


def read(value: Any, place: str = "") -> Taken:
    """Raises Unreadable."""
    said = mapping(value)
    prompt = text(said.get("finalPrompt")) or text(said.get("rawPrompt"))
    if not prompt.strip():
        raise Unreadable(_("It has neither a first nor a final prompt."), place)
    return _Debate(said, prompt, place).taken()


class _Debate:
    def __init__(self, said: Mapping[str, Any], prompt: str, place: str) -> None:
        self.said, self.place = said, place
        self.words: Words = words_in(text(said.get("uiLang"))[:2])
        self.rounds = [_results(said.get(f"round{number}Results")) for number in (1, 2)]
        is_refined = bool(text(said.get("refinerSuggestion")).strip())
        config = {"mode": "manual", "prompt": text(said.get("rawPrompt")) or prompt, "refine": is_refined,
                  "rounds": 2 if self.rounds[1] else 1, "addendum": self._addendum()}  # fmt: skip
        self.draft = Draft("debate", line(prompt, 80), config)
        self.prompt, self.is_refined = prompt, is_refined
        self._seat()

    def taken(self) -> Taken:
        draft, said = self.draft, self.said
        draft.lasted(moment(said.get("createdAt")), moment(said.get("updatedAt")))
        draft.run |= {"mode": "manual", "stop_reason": "concluded"}
        draft.sent("request", 0, "person", text(said.get("rawPrompt")) or self.prompt, kind="request")
        if self.is_refined:
            suggestion = text(said.get("refinerSuggestion"))
            draft.stage("stage/refine", 0, "refine")
            self._said("refine", 0, "refiner", suggestion, "refinement", lambda: read_brief(suggestion, self.words))
        draft.sent("prompt/final", 0, "person", self.prompt, kind="final_prompt")
        for number, results in enumerate(self.rounds, 1):
            if results:
                self._round(number, results)
        self._summarize()
        if kept := rest(said, OF_RECORD):
            draft.kept["record"] = kept
        return Taken(self.place, draft.document(), tuple(draft.notes), draft.kept)

    def _seat(self) -> None:
        told = self.said.get("debaterModels")
        models = dict(zip(ROLES, told, strict=False)) if isinstance(told, list) else mapping(told)
        for role, seat in ROLES.items():
            answered = next((one.get("model") for results in self.rounds if (one := results.get(role))), None)
            self.draft.seat(seat, models.get(role) or models.get(seat) or answered)
        if self.is_refined:
            self.draft.seat("refiner", self.said.get("refinerModel"))
        summary = mapping(self.said.get("summaryResult"))
        self.draft.seat("summarizer", self.said.get("summarizerModel") or summary.get("model"))

    def _addendum(self) -> str:
        return next((words for name in ADDENDA if (words := text(self.said.get(name)).strip())), "")

    def _round(self, number: int, results: Mapping[str, Mapping[str, Any]]) -> None:
        if number == 2 and (addendum := self._addendum()):
            self.draft.sent("round/2/addendum", 1, "person", addendum, kind="addendum")
        self.draft.step(f"round/{number}", "turn_started", number, data={"turn": number})
        for role, seat in ROLES.items():
            if role not in results:
                continue
            result = results[role]
            key, words = f"round/{number}/{seat}", text(result.get("content"))
            if text(result.get("error")) or not words.strip():
                self.draft.failed(key, number, seat, text(result.get("error")) or "The answer is empty in the file.")
            else:
                part = Part(seat, number, 0, 0 if (number, seat) == (1, "A") else 1)
                self._said(key, number, seat, words, "reply", lambda w=words, p=part: _lenient(w, p, self.words))
            self.draft.keep("results", rest(result, OF_RESULT), round=number, seat=seat)
        self.draft.step(f"round/{number}/completed", "turn_completed", number, data={"turn": number})

    def _summarize(self) -> None:
        told = self.said.get("summaryResult")
        words = text(told) or text(mapping(told).get("content"))
        turn = 1 + sum(bool(results) for results in self.rounds)
        if not told:
            return
        self.draft.stage("stage/summary", turn, "summary")
        if text(mapping(told).get("error")) or not words.strip():
            self.draft.note(
                _("The original stores an empty or failed summary as a success; it was stored as an error.")
            )
            error = text(mapping(told).get("error")) or "The summary is empty in the file."
            self.draft.failed("summary", turn, "summarizer", error, "summary")
            return
        self._said("summary", turn, "summarizer", words, "summary", lambda: _actions(words, self.words))

    def _said(self, key: str, turn: int, seat: str, words: str, purpose: str, reading: Any) -> None:
        """What was said, with what can be read out of it as one of ours would be read."""
        try:
            found: Reading = reading()
        except UnreadableAnswer as error:
            found = Reading({"kind": "unread", "reason": str(error)}, words, ("unread",))
        fields = {"text": found.text, "raw_text": words, "parsed": found.parsed, "flags": list(found.flags)}
        key = self.draft.said(key, turn, seat, words, purpose=purpose, **fields)
        self.draft.parsed(key, turn)


def _results(value: Any) -> dict[str, Mapping[str, Any]]:
    """By role, whether the file has a list of results or an object of them."""
    if isinstance(value, Mapping):
        told = {role: mapping(value.get(role, value.get(seat))) for role, seat in ROLES.items()}
        return {role: one for role, one in told.items() if one}
    found = {text(one.get("role")): one for one in mappings(value)}
    if not set(found) & set(ROLES):
        return dict(zip(ROLES, mappings(value), strict=False))
    return {role: found[role] for role in ROLES if role in found}


def _lenient(words: str, part: Part, told: Words) -> Reading:
    """Without the complaints of a round that was played by other rules."""
    found = read_points(words, part, told)
    ours = ("too_few_points", "too_few_counterpoints", "renumbered")
    return Reading(found.parsed, found.text, tuple(flag for flag in found.flags if flag not in ours))


def _actions(words: str, told: Words) -> Reading:
    """The original's summary says its actions under the names of points."""
    given = find_json(words, SUMMARY_NAMES)
    if isinstance(given, Found) and isinstance(given.value, dict):
        words = json.dumps({SUMMARY_NAMES.get(name, name): item for name, item in given.value.items()})
    found = read_actions(words, (), told)
    return Reading(found.parsed, found.text, tuple(flag for flag in found.flags if flag != "unknown_sources"))


FORMAT = RunFormat(ImportSource.DEBATE, 2, is_record, read, several=records)
