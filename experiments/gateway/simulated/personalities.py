"""Composes what a personality says: a reaction, arguments, an offer and a question, about what the prompt is about."""

from dataclasses import dataclass
from random import Random
from typing import Final

from experiments.gateway.simulated.names import VOICELESS, Behaviour
from experiments.gateway.simulated.phrasing import cut, fill, longest_piece
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.reply import Reply
from experiments.gateway.simulated.tokens import count_tokens
from experiments.gateway.simulated.topics import excerpt, find_points, find_topics
from experiments.gateway.simulated.voices import Voice, load_voice

DRIFTS_AFTER: Final = 2
_STRATEGISTS: Final = ("cooperative", "competitive", "deceptive")
_FALLBACK: Final = {True: ["这个问题", "下一步"], False: ["matter at hand", "next step", "open question"]}


def speak(prompt: Prompt, behaviour: Behaviour, seed: int) -> Reply:
    rng = Random(seed)
    personality = behaviour.personality
    if personality == "refusing" and rng.random() < 0.4:
        return Reply(_Speaker.of(prompt, "refusing", rng).say("opening"), finish_reason="content_filter")
    speaker = _Speaker.of(prompt, "neutral" if personality in VOICELESS else personality, rng)
    if personality == "drifting":
        speaker.drift(prompt.is_chinese, len(prompt.own_messages))
    reasoning = " ".join(speaker.say("thought") for _ in range(rng.randint(2, 4)))
    return Reply(speaker.speech(behaviour.words, asides=personality in _STRATEGISTS), reasoning)


@dataclass(slots=True)
class _Speaker:
    """history: what it said lately. said: this message's sentences. drifted: how often it takes the other voice."""

    voice: Voice
    slots: dict[str, list[str]]
    history: str
    rng: Random
    chinese: bool
    opens: bool
    said: set[str]
    other_voice: Voice | None = None
    drifted: float = 0.0

    @classmethod
    def of(cls, prompt: Prompt, personality: str, rng: Random) -> "_Speaker":
        chinese = prompt.is_chinese
        return cls(
            voice=load_voice("zh" if chinese else "en", personality),
            slots=_slots(prompt, rng, chinese=chinese),
            history="\n".join(prompt.own_messages[-4:]),
            rng=rng,
            chinese=chinese,
            opens=not prompt.previous,
            said=set(),
        )

    def drift(self, chinese: bool, own_messages: int) -> None:
        """From its third message on it loses its goal: first in every second sentence, then altogether."""
        if own_messages >= DRIFTS_AFTER:
            self.other_voice = load_voice("zh" if chinese else "en", "drifted")
            self.drifted = min(1.0, 0.4 + 0.2 * (own_messages - DRIFTS_AFTER))

    def say(self, part: str) -> str:
        """A sentence that was said neither in this message nor in the last four, as long as there is one."""
        sentences = self._voice_for(part)[part]
        fresh = [s for s in sentences if s not in self.said and longest_piece(s) not in self.history]
        unused = fresh or [s for s in sentences if s not in self.said] or list(sentences)
        sentence = self.rng.choice(unused)
        self.said.add(sentence)
        return fill(sentence, lambda name: self.rng.choice(self.slots[name]))

    def _voice_for(self, part: str) -> Voice:
        if self.other_voice is None or (part != "react" and self.rng.random() >= self.drifted):
            return self.voice
        return self.other_voice

    def speech(self, words: int | None, *, asides: bool) -> str:
        goal = words if words is not None else self.rng.randint(55, 105)
        first = self._paragraph("opening" if self.opens else "react", "argue")
        last = self._paragraph("offer", "close")
        paragraphs = [first, *self._extras(asides=asides), last]
        length = sum(count_tokens(paragraph) for paragraph in paragraphs)
        while length < goal:
            self._forget_when_exhausted()
            paragraphs.insert(-1, self._paragraph("argue", "argue"))
            length += count_tokens(paragraphs[-2])
        text = "\n\n".join(paragraphs)
        return text if words is None else cut(text, words)

    def _extras(self, *, asides: bool) -> list[str]:
        extras = [self._list()] if self.rng.random() < 0.22 else []
        if asides and self.rng.random() < 0.5:
            extras.insert(self.rng.randint(0, len(extras)), self.say("aside"))
        return extras

    def _list(self) -> str:
        items = [f"- {self.say('item')}" for _ in range(min(3, len(self.voice["item"])))]
        return f"**{self.say('heading')}**\n\n" + "\n".join(items)

    def _paragraph(self, *parts: str) -> str:
        return ("" if self.chinese else " ").join(self.say(part) for part in parts)

    def _forget_when_exhausted(self) -> None:
        argued = self.voice["argue"] + (self.other_voice or self.voice)["argue"]
        if len(self.said.intersection(argued)) > len(argued) - 2:
            self.said.difference_update(argued)


def _slots(prompt: Prompt, rng: Random, *, chinese: bool) -> dict[str, list[str]]:
    topics = find_topics(prompt.scenario, chinese=chinese) or _FALLBACK[chinese]
    points = find_points(prompt.previous, topics, chinese=chinese) or topics
    quote = excerpt(rng, prompt.previous, chinese=chinese) or points[0]
    low = rng.randint(2, 5)
    return {
        "topic": topics[:6:2],
        "topic2": topics[1:6:2] or _FALLBACK[chinese][:1],
        "point": points[:4],
        "quote": [quote],
        "n": [str(low)],
        "m": [str(low + rng.randint(1, 4))],
        "big": [str(rng.randrange(50, 1000, 25))],
        "pct": [str(rng.randrange(40, 95, 5))],
    }
