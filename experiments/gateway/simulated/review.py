"""A reviewer's answer: a paragraph on each of the anonymous answers, then their order."""

import re
from collections.abc import Iterator
from random import Random
from typing import Final

from experiments.gateway.simulated.gullible import believed_first
from experiments.gateway.simulated.merit import find_order, merit, order_of
from experiments.gateway.simulated.names import Behaviour
from experiments.gateway.simulated.notes import Notes, take_notes
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.subject import Subject
from experiments.gateway.simulated.voices import load_voice

HEADER: Final = "FINAL RANKING:"
_FENCE: Final = re.compile(r"response-([A-Z]{1,2}|\d+)")
_NAMED: Final = re.compile(r"\b(Response (?:[A-Z]{1,2}|\d+))\b")
_SHORT, _LONG = 105, 150  # words; Chinese answers have about twice as many characters


def responses(prompt: Prompt) -> dict[str, str]:
    """Answers by label, as the prompt shows them."""
    found = {name: _FENCE.fullmatch(name) for name in prompt.fences}
    return {f"Response {match[1]}": prompt.fences[name] for name, match in found.items() if match}


class Review:
    """ranking: all labels, best first. `text` has the paragraphs only, `ballot` the ranking as plain text."""

    def __init__(self, prompt: Prompt, behaviour: Behaviour, seed: int) -> None:
        self._rng = Random(seed)
        self._texts = responses(prompt)
        self.ranking = believed_first(order_of(self._texts, self._rng), self._texts, behaviour)
        subject = Subject.of(prompt.fences.get("question", ""))
        self._voice = load_voice(subject.language, "review")
        self._pen = subject.pen(self._rng)
        self._topic = subject.nouns[0].text.lower()
        self.thought = self._pen.join(self._say("thought"), self._say("thought"))
        self.text = "\n\n".join(self._paragraph(label, take_notes(text)) for label, text in self._texts.items())
        self.talk = self._say("talk")

    @property
    def ballot(self) -> str:
        return ballot(self.ranking)

    def in_prose(self) -> str:
        joint = "、" if self._pen.chinese else ", "
        return self._say("prose", order=joint.join(self.ranking))

    def _paragraph(self, label: str, notes: Notes) -> str:
        place = self.ranking.index(label)
        rank = "first" if not place else "last" if place == len(self.ranking) - 1 else "middle"
        remarks = list(self._remarks(rank, notes))
        return f"**{label}** " + self._pen.join(self._say(rank), *remarks)

    def _remarks(self, rank: str, notes: Notes) -> Iterator[str]:
        """Two or three: more good ones for the first, more bad ones for the last."""
        if notes.gives_orders:
            yield self._say("injected")
        if notes.declines:
            yield self._say("declines")
            return
        good, bad = _strengths(notes, self._topic), _weaknesses(notes, self._topic)
        if quote := notes.quote(self._rng):
            yield self._say("weakquote" if rank == "last" else "quote", quote=quote)
        praise, blame = {"first": (2, 0), "middle": (1, 1), "last": (0, 2)}[rank]
        for part in self._some(good, praise) + self._some(bad, blame):
            yield self._say(part, length=str(notes.length), numbers=self._numbers(notes))

    def _some(self, parts: list[str], count: int) -> list[str]:
        return self._rng.sample(parts, min(count, len(parts)))

    def _numbers(self, notes: Notes) -> str:
        return self._voice["and"][0].join(notes.numbers[:2])

    def _say(self, part: str, **given: str) -> str:
        return self._pen.say(self._voice, part, **given)


def ballot(labels: list[str]) -> str:
    return HEADER + "\n" + "\n".join(f"{place}. {label}" for place, label in enumerate(labels, 1))


def repaired_order(prompt: Prompt, labels: list[str]) -> list[str]:
    """The order that the fenced review gives; what it leaves out, or everything, by the worth of what it says of it."""
    review = prompt.fences["review"]
    known = labels or list(dict.fromkeys(_NAMED.findall(prompt.instructions))) or _mentioned(review)
    found = find_order(review, known)
    said = {label: "\n".join(part for part in review.split("\n\n") if label in part) or label for label in known}
    return found + sorted((label for label in known if label not in found), key=lambda label: -merit(said[label]))


def _mentioned(review: str) -> list[str]:
    return sorted(set(_NAMED.findall(review)))


def _strengths(notes: Notes, topic: str) -> list[str]:
    length = notes.length / (2 if notes.is_chinese else 1)
    signs = {
        "list": notes.has_list,
        "table": notes.has_table,
        "code": notes.has_code,
        "caveat": notes.names_limits,
        "numbers": bool(notes.numbers),
        "short": length < _SHORT,
        "thorough": length >= _SHORT,
        "on": topic in notes.text.lower() and not notes.wanders,
    }
    return [part for part, is_there in signs.items() if is_there]


def _weaknesses(notes: Notes, topic: str) -> list[str]:
    """Grave ones push the small ones aside."""
    grave = {"unverifiable": notes.is_unverifiable, "wanders": notes.wanders}
    if any(grave.values()):
        return [part for part, is_there in grave.items() if is_there]
    length = notes.length / (2 if notes.is_chinese else 1)
    signs = {
        "nolist": not notes.has_list,
        "nocaveat": not notes.names_limits,
        "nonumbers": not notes.numbers,
        "long": length > _LONG,
        "thin": length < _SHORT * 2 / 3,
        "off": topic not in notes.text.lower(),
    }
    return [part for part, is_there in signs.items() if is_there]
