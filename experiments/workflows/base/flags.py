"""What can be seen to be wrong with a reply without asking: it refuses, breaks off, speaks for the other side, takes
itself for somebody else, or goes in circles.
"""

import re
from collections.abc import Sequence
from functools import cache
from threading import Event, Lock, Thread

from py3langid.langid import MODEL_FILE, LanguageIdentifier

LONGEST_SAMPLE = 20_000  # characters: more of a text tells no more
FEWEST_LETTERS = 12
FEWEST_SIGNS = 3  # of a script whose signs are syllables or words
SURE = 0.8
KANA_SHARE = 0.1  # of Japanese; Chinese has a の here and there for decoration
# Languages that people write at length. Among more of them, creoles and dialects take the probability that a
# short text in a language of millions has.
KNOWN = (
    *("af", "ar", "be", "bg", "bn", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr"),
    *("ga", "gl", "gu", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ka", "kk", "km", "kn", "la", "lo", "lt"),
    *("lv", "mk", "ml", "mn", "mr", "my", "ne", "nl", "no", "pa", "pl", "pt", "ro", "ru", "si", "sk", "sl", "sq"),
    *("sr", "sv", "sw", "ta", "te", "th", "tl", "tr", "uk", "ur", "vi", "zu"),
)
# A fence is closed by its like, or by the end of the text: what is cut short is code to its end.
NO_PROSE = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|(?:https?://|www\.)\S+|[\w.+-]{1,64}@[\w.-]+", re.DOTALL
)
HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9d]")
HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")
WORD = re.compile(r"[^\W\d_]{2,}")
_loading = Event()
_reading = Lock()


def language_of(text: str) -> str | None:
    """The ISO 639-1 code of the language of a text's prose, code and addresses left out. None when it is too short to
    tell, or could be in several.
    """
    prose = NO_PROSE.sub(" ", text[:LONGEST_SAMPLE])
    return _by_script(prose) or _by_letters(prose)


def _by_script(prose: str) -> str | None:
    """Chinese, Japanese or Korean: where their signs outnumber the words in other scripts."""
    han, kana, hangul = (len(script.findall(prose)) for script in (HAN, KANA, HANGUL))
    signs = han + kana + hangul
    words = sum(1 for word in WORD.findall(prose) if word.isascii())
    if signs < FEWEST_SIGNS or signs <= words:
        return None
    if hangul > han + kana:
        return "ko"
    return "ja" if kana > KANA_SHARE * signs else "zh"


def _by_letters(prose: str) -> str | None:
    if sum(map(str.isalpha, prose)) < FEWEST_LETTERS:
        return None
    language, probability = _identifier().classify(prose)
    return str(language) if probability >= SURE else None


def load_ahead() -> None:
    """Have the model read beside whatever else is done, so that the first text need not wait for it."""
    if not _loading.is_set():
        _loading.set()
        Thread(target=_identifier, name="language-model", daemon=True).start()


def _identifier() -> LanguageIdentifier:
    """Read once, by whoever comes first: it takes most of a second."""
    with _reading:
        return _read()


@cache
def _read() -> LanguageIdentifier:
    identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    identifier.set_languages(KNOWN)
    return identifier


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
