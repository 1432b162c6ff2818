"""What the models' structured answers say, in which form, in which words, and what is wrong with them.

Nothing is put in that they did not say."""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from babel import Locale, UnknownLocaleError
from pydantic import BaseModel, ConfigDict

from experiments.workflows.base.json_reader import read_json, read_json_or_list
from experiments.workflows.base.parsing import Unreadable, plain

Item = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Words:
    """Headings of what is shown, and of the final prompt as it is prefilled."""

    objective: str
    context: str
    preferences: str
    missing: str
    questions: str
    answer: str
    perspectives: str
    counterpoints: str
    recommended: str
    discouraged: str


ENGLISH = Words(
    "Objective",
    "Context",
    "Preferences",
    "Not said",
    "Questions",
    "Answer:",
    "New perspectives",
    "Counterpoints",
    "Recommended",
    "Discouraged",
)
WORDS = {
    "en": ENGLISH,
    "zh": Words("目标", "背景", "偏好", "未说明", "问题", "回答：", "新观点", "反驳", "建议", "不建议"),
}


def words_in(language: str | None) -> Words:
    """English where the language is not known, or not one of ours."""
    return WORDS.get(language or "", ENGLISH)


def language_name(code: str) -> str:
    """The English name of a language, its code where it has none."""
    try:
        return Locale.parse(code).english_name or code
    except (UnknownLocaleError, ValueError):
        return code


def brief_text(brief: Mapping[str, Any], words: Words, *, is_to_answer: bool = False) -> str:
    """A brief as Markdown; is_to_answer: with room for an answer below each question, as the final prompt begins."""
    answer = f"\n  {words.answer} " if is_to_answer else ""
    parts = [
        _part(words.objective, [brief["objective"]]),
        _part(words.context, [brief["context"]]),
        _part(words.preferences, _bullets(brief["preferences"])),
        _part(words.missing, _bullets(brief["missing"])),
        _part(words.questions, [f"- {question}{answer}" for question in brief["clarifying_questions"]]),
    ]
    return "\n\n".join(filter(None, parts))


def points_text(points: Mapping[str, Any], words: Words) -> str:
    return _lists((words.perspectives, points["new_perspectives"]), (words.counterpoints, points["counterpoints"]))


def actions_text(actions: Mapping[str, Any], words: Words) -> str:
    return _lists((words.recommended, actions["recommended"]), (words.discouraged, actions["discouraged"]))


def _part(title: str, lines: Sequence[str]) -> str:
    kept = [line for line in lines if line.strip()]
    return "\n".join([f"**{title}**", "", *kept]) if kept else ""


def _bullets(texts: Iterable[str]) -> list[str]:
    return [f"- {text}" for text in texts]


def _lists(*lists: tuple[str, Sequence[Item]]) -> str:
    """Lists of items with their ids under their titles; an empty one is left out."""
    parts = []
    for title, items in lists:
        lines = []
        for item in items:
            sources = f" ({', '.join(item['sources'])})" if item.get("sources") else ""
            lines.append(f"- **{item['id']}** {item['contents']}{sources}")
        parts.append(_part(title, lines))
    return "\n\n".join(filter(None, parts))


class Form(BaseModel):
    """Read tolerantly (`answers.py`): the schema is what is asked for, not what is insisted on."""

    model_config = ConfigDict(extra="forbid")

    @classmethod
    @cache
    def schema_to_follow(cls) -> dict[str, object]:
        return cls.model_json_schema()


class Brief(Form):
    objective: str
    context: str
    preferences: list[str]
    missing: list[str]
    clarifying_questions: list[str]


class Point(Form):
    id: str
    contents: str


class Points(Form):
    speaker: str
    new_perspectives: list[Point]
    counterpoints: list[Point]


class Action(Form):
    id: str
    contents: str
    sources: list[str]


class Actions(Form):
    recommended: list[Action]
    discouraged: list[Action]


BRIEF = """{"objective": text, "context": text, "preferences": [text, …], "missing": [text, …],
"clarifying_questions": [text, …]}"""
POINTS = """{"speaker": "%s", "new_perspectives": [{"id": "p1", "contents": text}, …],
"counterpoints": [{"id": "c1", "contents": text}, …]}"""
ACTIONS = """{"recommended": [{"id": "action_1", "contents": text, "sources": ["A1.p2", …]}, …],
"discouraged": [{"id": "avoid_1", "contents": text, "sources": ["B1.c1", …]}, …]}"""


BRIEF_NAMES = ("objective", "context", "preferences", "missing", "clarifying_questions")
POINT_NAMES = ("new_perspectives", "counterpoints")
ACTION_NAMES = ("recommended", "discouraged")
CONTENTS = ("contents", "content", "text")
REFERENCE = re.compile(r"\b([A-C])\s?(\d)(?:\s?\.\s?([pc]\d+))?\b", re.IGNORECASE)
SPEAKER = re.compile(r"(?:^|[\s_\-（(:：]|[^\x00-\x7f])([A-C])(?=$|[\s_\-）),.:：]|[^\x00-\x7f])", re.IGNORECASE)
UNTOLD = {"id", "ids", "speaker", "sources"}  # names whose texts are in no language
MARKS = re.compile(r'"\w+"\s*:|[{}\[\]"]|\\[nt]')


@dataclass(frozen=True, slots=True)
class Reading:
    """What was read out of an answer: its parts as JSON, the same as Markdown, and what was wrong with it."""

    parsed: Mapping[str, object]
    text: str
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """What is asked of a debater in a round: at least so many new perspectives and counterpoints; no counterpoints at
    all when there is nothing that could be rebutted.
    """

    speaker: str
    round: int
    points: int
    counterpoints: int


def read_brief(text: str, words: Words) -> Reading:
    """Raises Unreadable when the answer says no objective."""
    given = read_json(text, BRIEF_NAMES)
    if not plain(given.get("objective")):
        raise Unreadable("the answer names no objective")
    lists = {name: _texts(given.get(name)) for name in BRIEF_NAMES[2:]}
    brief = {"kind": "brief", "objective": plain(given["objective"]), "context": plain(given.get("context")), **lists}
    return Reading(brief, brief_text(brief, words))


def read_points(text: str, part: Part, words: Words) -> Reading:
    """Raises Unreadable when the answer makes no point; a list in its place is taken for the new perspectives."""
    given = read_json_or_list(text, POINT_NAMES)
    said: Mapping[str, Any] = {"new_perspectives": given} if isinstance(given, list) else given
    perspectives, counterpoints = (list(_items(said.get(name))) for name in POINT_NAMES)
    unexpected = bool(counterpoints) and not part.counterpoints
    kept = [] if unexpected else counterpoints
    if not perspectives and not kept:
        raise Unreadable("the answer makes no point")
    points = {
        "kind": "points",
        "speaker": part.speaker,
        "new_perspectives": _numbered(perspectives, "p"),
        "counterpoints": _numbered(kept, "c"),
        "round": part.round,
    }
    wrong = {
        "too_few_points": len(perspectives) < part.points,
        "too_few_counterpoints": len(kept) < part.counterpoints,
        "unexpected_counterpoints": unexpected,
        "wrong_speaker": _is_another(said.get("speaker"), part.speaker),
        "renumbered": _is_renumbered(perspectives, "p") or _is_renumbered(kept, "c"),
    }
    return Reading(points, points_text(points, words), tuple(name for name, is_so in wrong.items() if is_so))


def read_actions(text: str, known: Collection[str], words: Words) -> Reading:
    """known: the references that an action may name. One that names none of them is flagged like one that names
    others: it cannot be traced. Raises Unreadable when the answer names no action.
    """
    given = read_json_or_list(text, ACTION_NAMES)
    said: Mapping[str, Any] = {"recommended": given} if isinstance(given, list) else given
    recommended, discouraged = (list(_items(said.get(name))) for name in ACTION_NAMES)
    if not recommended and not discouraged:
        raise Unreadable("the answer names no action")
    found = [_sources(item, known) for item in (*recommended, *discouraged)]
    lists = [_numbered(recommended, "action_"), _numbered(discouraged, "avoid_")]
    for item, (sources, _is_unknown) in zip((*lists[0], *lists[1]), found, strict=True):
        item["sources"] = sources
    actions = {"kind": "actions", "recommended": lists[0], "discouraged": lists[1]}
    wrong = {
        "unknown_sources": any(is_unknown for _sources, is_unknown in found),
        "renumbered": _is_renumbered(recommended, "action_") or _is_renumbered(discouraged, "avoid_"),
    }
    return Reading(actions, actions_text(actions, words), tuple(name for name, is_so in wrong.items() if is_so))


def prose(text: str) -> str:
    """What an answer says in words, without the names and marks of its form: by this its language is told."""
    try:
        return "\n".join(_told(read_json_or_list(text, (*BRIEF_NAMES, *POINT_NAMES, *ACTION_NAMES))))
    except Unreadable:
        return MARKS.sub(" ", text)


def _told(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (text for item in value for text in _told(item))
    elif isinstance(value, dict):
        yield from (text for name, item in value.items() if name not in UNTOLD for text in _told(item))


def _texts(value: Any) -> list[str]:
    return [item["contents"] for item in _items(value)]


def _items(value: Any) -> Iterator[dict[str, Any]]:
    """The items of a list that say something: texts, or objects with one under `contents`, `content` or `text`."""
    for item in value if isinstance(value, list) else [value]:
        given = item if isinstance(item, dict) else {"contents": item}
        contents = next((words for name in CONTENTS if (words := plain(given.get(name)))), "")
        if contents:
            yield {"id": plain(given.get("id")), "contents": contents, "sources": given.get("sources")}


def _numbered(items: Sequence[Mapping[str, Any]], prefix: str) -> list[dict[str, Any]]:
    return [{"id": f"{prefix}{place}", "contents": item["contents"]} for place, item in enumerate(items, 1)]


def _is_renumbered(items: Sequence[Mapping[str, Any]], prefix: str) -> bool:
    return any(item["id"] != f"{prefix}{place}" for place, item in enumerate(items, 1))


def _is_another(speaker: Any, expected: str) -> bool:
    """Whether somebody else is named; a name that is nobody's letter, like none at all, says nothing."""
    return bool(named := {letter.upper() for letter in SPEAKER.findall(plain(speaker))}) and expected not in named


def _sources(item: Mapping[str, Any], known: Collection[str]) -> tuple[list[str], bool]:
    """The known references that an item names, each once, and whether it names anything else, or nothing."""
    given = item["sources"] if isinstance(item["sources"], list) else [item["sources"]]
    named: list[str] = []
    for source in filter(None, given):
        text = source if isinstance(source, str) else json.dumps(source)
        named += [_reference(match) for match in REFERENCE.finditer(text)] or [text]
    sources = list(dict.fromkeys(name for name in named if name in known))
    return sources, not sources or any(name not in known for name in named)


def _reference(match: re.Match[str]) -> str:
    point = f".{match[3].lower()}" if match[3] else ""
    return f"{match[1].upper()}{match[2]}{point}"
