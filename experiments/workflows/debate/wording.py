"""The few words of our own among those of models and people, in the language of the debate."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from babel import Locale, UnknownLocaleError

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
    lists = ((words.perspectives, points["new_perspectives"]), (words.counterpoints, points["counterpoints"]))
    return "\n\n".join(filter(None, (_part(title, [_item(item) for item in items]) for title, items in lists)))


def actions_text(actions: Mapping[str, Any], words: Words) -> str:
    lists = ((words.recommended, actions["recommended"]), (words.discouraged, actions["discouraged"]))
    return "\n\n".join(filter(None, (_part(title, [_item(item) for item in items]) for title, items in lists)))


def _part(title: str, lines: Sequence[str]) -> str:
    kept = [line for line in lines if line.strip()]
    return "\n".join([f"**{title}**", "", *kept]) if kept else ""


def _bullets(texts: Iterable[str]) -> list[str]:
    return [f"- {text}" for text in texts]


def _item(item: Item) -> str:
    sources = f" ({', '.join(item['sources'])})" if item.get("sources") else ""
    return f"- **{item['id']}** {item['contents']}{sources}"
