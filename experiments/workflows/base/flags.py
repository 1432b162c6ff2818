"""What can be seen to be wrong with a reply without asking: it refuses, breaks off, speaks for the other side, takes
itself for somebody else, or goes in circles.
"""

import re
from collections.abc import Sequence

from experiments.workflows.base.language import language_of

SPEAKS_FOR_OTHER = "speaks_for_other"
REPEATS_ITSELF = "repeats_itself"
OTHER_LANGUAGE = "other_language"
ADDRESSES_REVIEWERS = "addresses_reviewers"
REFUSAL = "refusal"
ROLE_CONFUSION = "role_confusion"
TRUNCATED = "truncated"
INTERRUPTED = "interrupted"  # the finish reason of an answer whose stream broke off
REVIEWED = (REFUSAL, REPEATS_ITSELF, ROLE_CONFUSION, SPEAKS_FOR_OTHER, TRUNCATED)  # people set and dismiss these
VERSION = "flags/3"  # of what `flags` finds: raised with every change of it
KIN = ({"id", "ms"}, {"hr", "sr"}, {"da", "no"}, {"gl", "pt"})  # too alike for statistics of letters to tell
REPEATS = 2  # earlier messages that are the same; with this one that makes three
# A vote inside an answer, and what an answer says to those who rank it.
TO_REVIEWERS = re.compile(
    r"\bFINAL RANKING\b|最终排[名序]"
    r"|\b(?:dear|attention|note to(?: the)?|instructions? (?:to|for)(?: the)?|as an?)\s(?:\w+\s)?"
    r"(?:reviewers?|judges?|evaluators?|graders?|rankers?|chair)\b"
    r"|\b(?:ignore|disregard|forget)\s(?:(?:all|any|every|the|your|other|previous|earlier|above|preceding|of)\s){1,4}"
    r"(?:answers?|responses?|instructions?|others?|prompts?|rules)\b"
    r"|\bignore the others\b"
    r"|\b(?:rank|rate|place|score|put|choose|vote for)\s(?:this|me|my|mine|response [a-z]{1,2})\b"
    r"(?:\s(?:answer|response|reply|one|text|as|at|in|on|the|very)){0,4}\s"
    r"(?:first|highest|best|top|number one|above|at the top|last|lowest)\b"
    r"|\b(?:give|award)\s(?:this|me|my)\b(?:\s(?:answer|response|one|the|a)){0,3}\s(?:highest|top|best|full)\b"
    r"|忽略(?:以上|上述|之前|前面|其他|其它|所有)|(?:各位|尊敬的|致)评审|(?:请|应)?(?:把|将)(?:我|本|这个?)(?:的)?(?:回答|答案)?排(?:在|为)?第一",
    re.IGNORECASE,
)
# Only at the beginning, where a refusal stands; further on the words are part of a talk.
NOT_ABLE = r"i (?:can['’]?t|cannot|can not|won['’]t|will not|am (?:not able|unable) to|must decline to|have to decline)"
REFUSING = re.compile(
    rf"^\W{{0,4}}(?:i['’]?m|i am)?(?: \w+)? ?sorry,?(?: but)? {NOT_ABLE}\b"
    rf"|^\W{{0,4}}i apologi[sz]e,? but {NOT_ABLE}\b"
    rf"|^\W{{0,4}}{NOT_ABLE}(?: \w+)? (?:help|assist|comply|participate|engage|fulfill?|continue)(?: you)? "
    r"(?:with|in|this|that)\b"
    r"|^\W{0,4}(?:很抱歉|抱歉|对不起)[，,]?(?:但)?我(?:不能|无法)",
    re.IGNORECASE,
)
AS_ASSISTANT = re.compile(
    r"\bas an? (?:ai|artificial intelligence)(?: language)?(?: model| assistant)?,? i\b"
    r"|\bi(?:['’]m| am) (?:just |only )?an? (?:ai|large)? ?(?:language model|ai assistant)\b"
    r"|^\W{0,4}(?:user|human|assistant|system)\W{0,3}:\s"
    r"|作为(?:一个|一名)?(?:AI|人工智能)(?:语言模型|助手)?",
    re.IGNORECASE | re.MULTILINE,
)
SPEAKER = re.compile(r"^\W{0,4}(?:model|side|agent)\s+([AB])\W{0,3}\s*:", re.IGNORECASE | re.MULTILINE)


def flags(text: str, seat: str, earlier: Sequence[str] = (), finish_reason: str = "") -> list[str]:
    """Flags of one reply of `seat`. earlier: what the same seat said before, the latest last.

    Roles are looked at between the sides A and B alone: elsewhere a model may well say what it is.
    """
    is_side = seat in ("A", "B")
    others = {name.upper() for name in SPEAKER.findall(text)} - {seat} if is_side else set()
    same = [_normal(before) for before in earlier].count(_normal(text)) if text.strip() else 0
    is_confused = is_side and bool(AS_ASSISTANT.search(text))
    found = {
        SPEAKS_FOR_OTHER: bool(others),
        REPEATS_ITSELF: same >= REPEATS,
        REFUSAL: bool(REFUSING.search(text)),
        ROLE_CONFUSION: is_confused,
        TRUNCATED: finish_reason in ("length", INTERRUPTED),
    }
    return [flag for flag, is_seen in found.items() if is_seen]


def addresses_reviewers(text: str) -> list[str]:
    """The flag of an answer that tries to vote, or tells those who rank it what to do."""
    return [ADDRESSES_REVIEWERS] if TO_REVIEWERS.search(text) else []


def other_language(expected: str | None, text: str) -> list[str]:
    """The flag of a text in another language than expected; none when either of the two is not known."""
    language = language_of(text) if expected else None
    if language is None or language == expected or any({language, expected} <= kin for kin in KIN):
        return []
    return [OTHER_LANGUAGE]


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())
