"""The things that a question is about, told by the words around them: `voices/<language>/words.txt` has the lists."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Final

from experiments.gateway.simulated.voices import load_voice

_TOKEN: Final = re.compile(r"[A-Za-z][A-Za-z+#'’-]*|\d[\d.,]*|[^\sA-Za-z\d]|\n")
_CODE: Final = re.compile(r"```.*?(?:```|$)|`[^`\n]*`|https?://\S+", re.DOTALL)
_SENTENCE_ENDS: Final = '.?!:\n“"'
# Who is to do something comes before what is to be done, and is seldom what the question is about.
_ACTOR: Final = re.compile(
    r"(?:^|[.?!]\s+)(?:(?:how|why|when|what|where) )?(?:should|can|could|do|does|did|will|would) "
    r"(?:an? |the |our |my |all |most )?([\w -]+)",
    re.IGNORECASE,
)
_HAN_HELPERS: Final = "(?:应|该|能|会|要|可以|怎|如何|是否|想)"
_LONGEST: Final = 3
_LONGEST_HAN: Final = 8
_MOST: Final = 6


@dataclass(frozen=True, slots=True)
class Noun:
    """article: "the " where the text had a determiner, otherwise empty."""

    text: str
    article: str

    def __str__(self) -> str:
        return self.article + self.text


def find_nouns(text: str, *, chinese: bool) -> list[Noun]:
    """The likeliest first: what stands early, has a determiner or is said again."""
    bare = _CODE.sub(" . ", text)
    if chinese:
        return [Noun(noun, "") for noun in _han_nouns(bare)][:_MOST]
    found = list(_chunks(_TOKEN.findall(bare)))
    said = Counter(noun.text.lower() for noun in found)
    actors = tuple(match[1].lower() for match in _ACTOR.finditer(bare))
    first = {noun.text.lower(): (place, noun) for place, noun in reversed(list(enumerate(found)))}

    def weight(key: str) -> float:
        place, noun = first[key]
        acts = any(actor.startswith(key) for actor in actors) or key.rpartition(" ")[2] in _words("person")
        return 0.6 * said[key] + 0.5 * bool(noun.article) + 0.5 * (" " in noun.text) - 0.8 * acts - place / 9

    return [first[key][1] for key in sorted(first, key=weight, reverse=True)][:_MOST]


@cache
def _words(part: str, language: str = "en") -> frozenset[str]:
    return frozenset(word for line in load_voice(language, "words")[part] for word in line.split())


def _chunks(tokens: list[str]) -> Iterator[Noun]:
    """Runs of words that are in no list; a run is a thing when it does not look like a verb."""
    start = 0
    for index, token in enumerate([*tokens, "."]):
        if _belongs(token, tokens, index):
            continue
        noun = _noun(tokens, start, index)
        if noun is not None:
            yield noun
        start = index + 1


def _belongs(token: str, tokens: list[str], index: int) -> bool:
    lowered = token.lower()
    if not token[0].isalpha() or lowered in _words("determiner") | _words("subject") | _words("helper"):
        return False
    if lowered in _words("adjective"):
        return index > 0 and tokens[index - 1].lower() in _words("determiner")
    if lowered in _words("ending") and index and _awaits_ending(tokens[:index]):
        return True
    is_free = lowered not in _words("break") and not lowered.endswith(("'s", "’s"))
    return is_free or _is_name(token, tokens, index)


def _awaits_ending(tokens: list[str]) -> bool:
    """After "a linked" or "remote", a "list" or "work" is a thing."""
    last = tokens[-1].lower()
    is_owned = len(tokens) > 1 and tokens[-2].lower() in _words("owner")
    return last in _words("modifier") or (is_owned and last not in _words("break") - _words("adjective"))


def _is_name(token: str, tokens: list[str], index: int) -> bool:
    """A capital in the middle of a sentence."""
    return token[0].isupper() and len(token) > 1 and index > 0 and tokens[index - 1] not in _SENTENCE_ENDS


def _noun(tokens: list[str], start: int, end: int) -> Noun | None:
    before = tokens[start - 1].lower() if start else ""
    words = tokens[start:end]
    if words and _stands_for_verb(tokens, start, words):
        words, before = words[1:], ""  # "we adopt solar panels"
    is_owned = before in _words("owner")
    if not is_owned:
        words = _without_verbs(words, tokens, end)
    if len(words) > 1 and words[-1].endswith("ed"):
        words = words[:-1]  # "keep volunteers motivated"
    words = words[-_LONGEST:]
    if not words or (len(words) == 1 and not _stands_alone(words[0], is_owned=is_owned)):
        return None
    return Noun(_lowered(words, tokens, start), "the " if is_owned else "")


def _stands_for_verb(tokens: list[str], start: int, words: list[str]) -> bool:
    """Whether the run begins where a verb stands: after "we", "to" or "must", but not after a question's "should"."""
    before = tokens[start - 1].lower() if start else ""
    if _is_name(words[0], tokens, start):
        return False
    if before == "to":
        return len(words) > 1 or not words[0].endswith("s")
    opens = start == 1 or tokens[start - 2].lower() in _words("opener") or tokens[start - 2] in ".?!,\n"
    return before in _words("subject") or (before in _words("helper") and not opens)


def _without_verbs(words: list[str], tokens: list[str], end: int) -> list[str]:
    """Without the verb of "reverses a list" and of "hurting local shops"."""
    after = [token.lower() for token in tokens[end : end + 2]]
    if words and after and after[0] in _words("article") and after[-1] not in ("better", "best", "right", "same"):
        words = words[:-1]
    return words[1:] if len(words) > 1 and words[0].endswith("ing") else words


def _stands_alone(word: str, *, is_owned: bool) -> bool:
    if word.isupper() and len(word) > 1:
        return True
    return len(word) > 2 and (is_owned or not word.endswith(tuple(_words("alone"))))


def _lowered(words: list[str], tokens: list[str], start: int) -> str:
    """Without the capital that only the sentence's beginning gave it."""
    begins = start == 0 or tokens[start - 1] in _SENTENCE_ENDS
    if begins and words[0][1:].islower() and words[0] is tokens[start]:
        return " ".join([words[0].lower(), *words[1:]])
    return " ".join(words)


@cache
def _han_pattern() -> re.Pattern[str]:
    kept, breaks = (sorted(_words(part, "zh"), key=lambda word: (-len(word), word)) for part in ("kept", "break"))
    number = r"[一二三四五六七八九十百千万两\d]+(?![天年日周小])[块台份条张位名所家座项次元岁篇]?"
    return re.compile(rf"(?P<kept>{'|'.join(kept)})|{'|'.join(breaks)}|{number}|[^\u4e00-\u9fffA-Za-z0-9+#. -]")


def _han_nouns(text: str) -> list[str]:
    found = list(_han_chunks(text))
    said = Counter(found)

    def weight(noun: str) -> float:
        begins = re.search(rf"(?:^|[。？！]){re.escape(noun)}{_HAN_HELPERS}", text)
        acts = bool(begins) or noun.endswith(tuple(_words("person", "zh")))
        return 0.6 * said[noun] + 0.12 * min(len(noun), 6) - 0.8 * acts - found.index(noun) / 9

    return sorted(said, key=weight, reverse=True)


def _han_chunks(text: str) -> Iterator[str]:
    """What is left between the words that break; those that are kept are never torn apart."""
    chunk, position = "", 0
    while position < len(text):
        match = _han_pattern().match(text, position)
        if match is None or match["kept"]:
            chunk += match[0] if match else text[position]
        else:
            yield from _han_noun(chunk)
            chunk = ""
        position = match.end() if match else position + 1
    yield from _han_noun(chunk)


def _han_noun(chunk: str) -> Iterator[str]:
    noun = re.sub(r"^[学用做写选](?=[A-Za-z])", "", chunk.strip(" .-"))
    if 2 <= len(noun) <= _LONGEST_HAN or (noun.isascii() and 2 <= len(noun) <= 2 * _LONGEST_HAN):
        yield noun
