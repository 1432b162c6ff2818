"""Sentences with slots, filled: `{topic|is}` is the topic with a verb that agrees with it."""

import re
from collections.abc import Callable, Mapping
from random import Random
from typing import Final

from experiments.gateway.simulated.tokens import split_tokens
from experiments.gateway.simulated.voices import Voice

_SLOT: Final = re.compile(r"\{(\w+)(?:\|(\w+))?\}")
_PLURAL_VERBS: Final = {"is": "are", "has": "have", "was": "were", "does": "do", "worries": "worry"}
_PLURALS: Final = frozenset(("people", "children", "data", "men", "women", "media", "criteria", "police"))
_SINGULARS: Final = frozenset(
    ("physics", "mathematics", "news", "economics", "ethics", "statistics", "politics", "kubernetes", "postgres")
)
_START: Final = re.compile(r"(“?)([a-z])")


class Pen:
    """Writes one text: no sentence twice as long as there is another, and no filling twice before all were used."""

    def __init__(self, rng: Random, slots: Mapping[str, list[str]], *, chinese: bool) -> None:
        self.rng = rng
        self.chinese = chinese
        self._slots = slots
        self._decks: dict[str, list[str]] = {}
        self._said: set[str] = set()

    def say(self, voice: Voice, part: str, **given: str) -> str:
        fresh = [sentence for sentence in voice[part] if sentence not in self._said]
        return self.fill(self._taken(self.rng.choice(fresh or list(voice[part]))), **given)

    def fill(self, sentence: str, **given: str) -> str:
        return fill(sentence, lambda name: given[name] if name in given else self.draw(name))

    def draw(self, name: str) -> str:
        """The slot's next filling; `topic2` and the like are slots of their own."""
        if not self._decks.get(name):
            self._decks[name] = self.rng.sample(self._slots[name], len(self._slots[name]))
        return self._decks[name].pop()

    def draw_in_order(self, name: str, count: int) -> list[str]:
        """Several fillings in the order in which they are listed."""
        return sorted((self.draw(name) for _ in range(count)), key=self._slots[name].index)

    def join(self, *sentences: str) -> str:
        return ("" if self.chinese else " ").join(sentence for sentence in sentences if sentence)

    def _taken(self, sentence: str) -> str:
        self._said.add(sentence)
        return sentence


def fill(sentence: str, filling: Callable[[str], str]) -> str:
    """The sentence with a filling in every slot, and a capital at its beginning if a slot stood there."""
    filled = _SLOT.sub(lambda slot: _agree(filling(slot[1]), slot[2]), sentence)
    return capitalised(filled) if sentence.startswith(("{", "“{")) else filled


def capitalised(text: str) -> str:
    """With a capital first letter; the rest stays as it is."""
    return _START.sub(lambda start: start[1] + start[2].upper(), text, count=1) if _START.match(text) else text


def longest_piece(sentence: str) -> str:
    """The longest part without a slot, by which a sentence is recognised."""
    return max(_SLOT.split(sentence)[::3], key=len)


def cut(text: str, words: int) -> str:
    """Exactly that many tokens, ending like a sentence."""
    kept = "".join(split_tokens(text)[:words])
    return kept.rstrip(".,;:!?–，。；：！？ \n") + ("。" if kept[-1:] > "\u3000" else ".") if kept else ""


def _agree(noun: str, verb: str | None) -> str:
    """The noun and its verb, given in the singular, in the number of the noun."""
    if verb is None:
        return noun
    return f"{noun} {_PLURAL_VERBS.get(verb, verb.removesuffix('s')) if _is_plural(noun) else verb}"


def _is_plural(noun: str) -> bool:
    head = noun.lower().rpartition(" ")[2]
    if head in _PLURALS:
        return True
    return head.endswith("s") and not head.endswith(("ss", "us", "is")) and head not in _SINGULARS
