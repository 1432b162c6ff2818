"""Texts as the simulated models read and write them: tokens, what a text is about, and sentences with slots."""

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Final

_CJK: Final = r"\u3000-\u303f\u3400-\u9fff\uff00-\uffef"
_TOKEN: Final = re.compile(rf"\s*[{_CJK}]{{1,2}}|\s*[^\s{_CJK}]+|\s+")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_MARKUP: Final = re.compile(r"^\s*(?:[-*#>|]+|\d+[.)])\s*|[*_`#]|<think>.*?</think>", re.MULTILINE | re.DOTALL)
_ASIDE: Final = re.compile(r"^(?:My reasoning|Strategy|我的思路|策略)[:：].*", re.MULTILINE)
# An English noun follows a determiner, number or preposition, and ends before one of these words.
_ENDS: Final = (
    "and|but|not|are|was|has|had|can|may|you|who|why|how|all|any|our|for|the|two|six|run|own|between|which|among|that|with|"
    "from|into|about|have|what|until|after|before|will|more|than|want|would|could|should|need|must|their|they|when|whose|"
    "then|here|each|only|one|this|some|most|once|ago|share|list|speak|come|them|sixth"
)
_NOUN: Final = re.compile(
    rf"\b(?:an?|the|one|two|four|six|seven|our|own|your|its|their|this|of|for|about|between|each|share)"
    rf" ((?:(?!(?:{_ENDS})s?\b)[a-z]{{3,}}(?<!ly)(?<!ed)(?<!ing)(?: |\b)){{1,2}})",
    re.IGNORECASE,
)
_NO_NOUN: Final = re.compile(
    r"\w*(?:able|ful|less|ous|ive)$|\b(?:answer|question|way|kind|people|day|week|month|year|time|small|new|night|request)$"
)
_HAN_GAP: Final = re.compile(
    r"[^\u3400-\u9fff]+|应该|还是|怎么|怎样|如何|什么|我们|自己|可以|需要|是否|希望|使用|一个|一起|以及|关于|因为|所以|"
    r"[的了是在和与或把被将从对为吗呢吧有这那哪你他要不能会想做用让给到每最很都也就]"
)
_FALLBACK: Final = {"en": ["question", "next step"], "zh": ["这个问题", "下一步"]}


def split_tokens(text: str) -> list[str]:
    """A word with the whitespace before it, or up to two Chinese characters. Joined, they are the text."""
    return _TOKEN.findall(text)


@lru_cache(maxsize=4096)
def count_tokens(text: str) -> int:
    """Cached, because a conversation sends the same messages with every request."""
    return len(split_tokens(text))


def sentences(text: str) -> list[str]:
    """Without markup and asides."""
    plain = _MARKUP.sub("", _ASIDE.sub("", text))
    return [part.strip() for part in _SENTENCE.split(plain) if len(part.strip()) > 1]


def quoted(text: str, rng: Random) -> str:
    """The beginning of one of the text's sentences, short enough to be quoted; empty for an empty text."""
    known = sentences(text)
    own = [one for one in known if "“" not in one and count_tokens(one) < 24 and not one[0].islower()] or known
    return shortened(rng.choice(own), 16).replace("“", "").replace("”", "") if own else ""


def shortened(sentence: str, words: int) -> str:
    tokens = split_tokens(sentence)
    return "".join(tokens[:words]).rstrip(" .,;:，；：。!！") + (" …" if len(tokens) > words else "")


def topics(text: str, language: str) -> list[str]:
    """What the text is about, the most important first; at least two, to stand behind an article."""
    if language == "zh":
        found = [piece for piece in _HAN_GAP.split(text) if piece and 2 <= len(piece) <= 6]
    else:
        singular = (
            re.sub(r"(?<![sui])s$", "", noun.strip().lower().replace("ies", "y")) for noun in _NOUN.findall(text)
        )
        found = [one for noun in singular if (one := _NO_NOUN.sub("", noun).strip())]
    heads = Counter(noun.split()[-1] for noun in found)
    ranked: dict[str, str] = {}
    for noun in sorted(found, key=lambda noun: -heads[noun.split()[-1]]):
        ranked.setdefault(noun.split()[-1], noun)
    return [*list(ranked.values())[:4], *_FALLBACK[language]][: max(2, min(len(ranked), 4))]


@lru_cache
def voice(language: str, name: str) -> dict[str, list[str]]:
    """Sentences by part, from the section of this name in `voices/<language>.txt`; `|` stands between two of a line."""
    sections = (Path(__file__).parent / "voices" / f"{language}.txt").read_text(encoding="utf-8").split("\n[")
    lines = next((one.splitlines()[1:] for one in sections if one.strip("[").startswith(f"{name}]")), [])
    found: dict[str, list[str]] = {}
    for part, _, said in (line.partition(": ") for line in lines):
        found.setdefault(part, []).extend(said.split(" | "))
    return found


class Pen:
    """Chooses sentences and fills their slots. avoided: text whose sentences are not said again if there are others."""

    def __init__(self, rng: Random, language: str, about: str, avoided: str = "") -> None:
        self.rng, self.language, self._topics = rng, language, topics(about, language)
        self._avoided, self._said = avoided, set[str]()

    def say(self, voices: str, part: str, **slots: str) -> str:
        """A sentence of one of the voices, of the first that has this part for the most part; "" if none has it."""
        languages = ([voice(one, name) for name in voices.split()] for one in (self.language, "en"))
        found = ([one[part] for one in several if part in one] for several in languages)
        known = next(filter(None, found), [[""]])
        preferred = known[self.rng.random() > 0.8 and len(known) > 1]
        fresh = [one for one in preferred if self._is_fresh(one)]
        fresh = fresh or [one for several in known for one in several if self._is_fresh(one)] or preferred
        self._said.add(chosen := self.rng.choice(fresh))
        for _ in range(8):  # until it differs from what was said before
            low, (first, second) = self.rng.randint(2, 5), self.rng.sample(self._topics, 2)
            given = {"n": str(low), "m": str(low + self.rng.randint(1, 4)), "pct": str(self.rng.randrange(40, 95, 5))}
            text = chosen.format(**{"topic": first, "topic2": second, **given, **slots})
            if text not in self._avoided and text not in self._said:
                break
        self._said.add(text)
        return text

    def join(self, *parts: str) -> str:
        return ("" if self.language == "zh" else " ").join(filter(None, parts))

    def _is_fresh(self, sentence: str) -> bool:
        longest = max(re.split(r"\{\w+\}", sentence), key=len)
        return sentence not in self._said and longest not in self._avoided
