"""The chair's conclusion from the members' answers and reviews, and the title of the whole."""

import re
from itertools import pairwise
from random import Random
from typing import Final

from experiments.gateway.simulated.domains import PARTS, load_domain
from experiments.gateway.simulated.merit import merit
from experiments.gateway.simulated.notes import Notes, shortened, take_notes
from experiments.gateway.simulated.phrasing import capitalised
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.subject import Subject
from experiments.gateway.simulated.tokens import count_tokens
from experiments.gateway.simulated.voices import load_voice

_ANSWER: Final = re.compile(r"answer-(\d+|[A-Z]{1,2})")
_RANKED: Final = re.compile(r"(?:answer|回答)[ -]?(\d+|[A-Z]{1,2})\b", re.IGNORECASE)
_LONGEST: Final = 196
_CLAIM: Final = 20
_PHRASE: Final = 14
_TITLE_WORDS, _TITLE_HAN = range(3, 6), range(4, 11)


class Chair:
    """number: of an answer, as its fence has it; best first when the prompt ranks them, otherwise by merit."""

    def __init__(self, prompt: Prompt, seed: int) -> None:
        self._rng = Random(seed)
        self._subject = Subject.of(prompt.fences.get("question", ""))
        self._voice = load_voice(self._subject.language, "chair")
        self._pen = self._subject.pen(self._rng)
        found = {match[1]: text for name, text in prompt.fences.items() if (match := _ANSWER.fullmatch(name))}
        notes = {number: take_notes(text) for number, text in found.items()}
        self._declined = [number for number, note in notes.items() if note.declines]
        self._notes = {number: note for number, note in notes.items() if not note.declines} or notes
        self._order = self._ranked(prompt.fences.get("ranking", ""))
        best = self._name(self._order[:1])
        given = {"number": str(len(found)), "best": best}
        self.thought = self._pen.join(self._say("thought", **given), self._say("thought", **given))

    def text(self) -> str:
        verdict, disagreed, last = self._verdict(), self._disagreed(), self._last()
        room = _LONGEST - sum(map(count_tokens, (verdict, disagreed, last)))
        return "\n\n".join((verdict, self._agreed(room), disagreed, last))

    def _ranked(self, ranking: str) -> list[str]:
        named = [number for number in dict.fromkeys(_RANKED.findall(ranking)) if number in self._notes]
        rest = self._notes.keys() - set(named)
        return named + sorted(rest, key=lambda number: (-merit(self._notes[number].text), number))

    def _verdict(self) -> str:
        claim = self._claim(self._order[0]) if self._order else self._subject.nouns[0].text
        reason = self._say("because") if len(self._order) > 1 else self._say("lone")
        end = "" if claim.endswith("…") else "。" if self._pen.chinese else "."
        said = self._say("verdict", best=self._name(self._order[:1]), claim=claim + end)
        return self._pen.join(said, reason)

    def _agreed(self, room: int) -> str:
        """As many points as there is room for, at least one."""
        heading = self._voice["agreed"][0]
        points: list[str] = []
        for point in self._points():
            if points and count_tokens("\n".join((heading, *points, point))) > room:
                break
            points.append(point)
        return f"{heading}\n\n" + "\n".join(points[:3])

    def _points(self) -> list[str]:
        shared = [
            self._say("shared", thing=capitalised(thing), who=self._name(who), phrase=self._around(thing, who))
            for thing, who in self._shared()[:3]
        ]
        common = [
            self._say("common", who=self._name([number]), phrase=self._notes[number].quote(self._rng))
            for number in self._order[: len(self._voice["common"])]
            if self._notes[number].sentences
        ]
        return (shared + common)[:3] or [f"- {self._say('lone')}"]

    def _shared(self) -> list[tuple[str, list[str]]]:
        """What several answers speak of, with their numbers; the most shared first."""
        domain = load_domain(self._subject.domain, chinese=self._subject.is_chinese)
        things = [thing for part in PARTS if part not in ("fact", "step") for thing in domain[part]]
        found = [(thing, [number for number in self._order if _has(self._notes[number], thing)]) for thing in things]
        several = [(thing, sorted(who)) for thing, who in found if len(who) > 1]
        return sorted(several, key=lambda pair: (-len(pair[1]), things.index(pair[0])))

    def _around(self, thing: str, who: list[str]) -> str:
        """The sentence in which one of the answers speaks of it."""
        notes = self._notes[self._rng.choice(who)]
        sentence = next(sentence for sentence in notes.sentences if thing.lower() in sentence.lower())
        clauses = [clause.strip() for clause in re.split(r"(?<=[;；，：。:])|, ", sentence)]
        within = next((clause for clause in clauses if thing.lower() in clause.lower()), sentence)
        says_more = len(within) > len(thing) + 4
        return shortened(within.rstrip(";；，：:") if says_more else sentence, 2 * _PHRASE, 3 * _PHRASE)

    def _disagreed(self) -> str:
        parts = [self._voice["disagreed"][0], ""]
        others = [number for number in reversed(self._order[1:]) if self._claim(number) != self._claim(self._order[0])]
        if others:
            pair = {"one": self._order[0], "two": others[0]}
            names = {role: self._name([number]) for role, number in pair.items()}
            parts.append(
                self._say("against", **names, first=self._position(pair["one"]), second=self._position(pair["two"]))
            )
        else:
            parts.append(self._say("same"))
        if self._declined and self._order[0] not in self._declined:
            parts[-1] = self._pen.join(parts[-1], self._say("declined", who=capitalised(self._name(self._declined))))
        return "\n".join(parts)

    def _last(self) -> str:
        return self._say("last", best=self._name(self._order[:1]))

    def _claim(self, number: str) -> str:
        return self._notes[number].opening(_CLAIM)

    def _position(self, number: str) -> str:
        """Its claim, once more and in short."""
        return shortened(self._claim(number), _PHRASE, 2 * _PHRASE)

    def _name(self, numbers: list[str]) -> str:
        one, several, joint, everybody = self._voice["names"]
        if len(numbers) < 2:
            return one.format(number="".join(numbers) or "1")
        if len(numbers) == len(self._notes) > 2:
            return everybody
        if self._pen.chinese:
            return several.format(numbers="、".join(numbers[:-1]) + joint + numbers[-1])
        return several.format(numbers=f"{', '.join(numbers[:-1])} {joint} {numbers[-1]}")

    def _say(self, part: str, **given: str) -> str:
        return self._pen.say(self._voice, part, **given)


def title(prompt: Prompt, seed: int) -> str:
    """Three to five words, or four to ten Chinese characters, without quotation marks."""
    subject = Subject.of(prompt.fences["question"])
    sizes = _TITLE_HAN if subject.is_chinese else _TITLE_WORDS
    made = [
        capitalised(pattern.format(topic=topic.text if pattern.startswith("{") else topic, topic2=other))
        for pattern in load_voice(subject.language, "chair")["title"]
        for topic, other in pairwise(subject.nouns)
    ]
    size = len if subject.is_chinese else lambda text: len(text.split())
    fitting = [text for text in dict.fromkeys(made) if size(text) in sizes]
    return Random(seed).choice(fitting) if fitting else _fallback(subject)


def _fallback(subject: Subject) -> str:
    if subject.is_chinese:
        return f"关于{subject.nouns[0].text}"[: _TITLE_HAN.stop - 1]
    return capitalised(" ".join(f"a question about {subject.nouns[0].text}".split()[: _TITLE_WORDS.stop - 1]))


def _has(notes: Notes, thing: str) -> bool:
    return any(thing.lower() in sentence.lower() for sentence in notes.sentences)
