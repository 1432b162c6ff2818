"""A plain question, answered: the answer in one sentence, reasons, sometimes a list, a table or code, and a caveat."""

import re
from dataclasses import dataclass
from random import Random
from typing import Final

from experiments.gateway.simulated.blocks import code_block, steps_list, table_of
from experiments.gateway.simulated.names import VOICELESS, Behaviour
from experiments.gateway.simulated.phrasing import Pen, cut
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.questions import (
    asks_for_reasons,
    is_about_code,
    sounds_like_a_question,
    the_question,
)
from experiments.gateway.simulated.reply import Reply
from experiments.gateway.simulated.subject import Subject
from experiments.gateway.simulated.tokens import count_tokens
from experiments.gateway.simulated.voices import Voice, load_voice

_DECLINES: Final = 0.4
_TABLES, _LISTS = 0.28, 0.35  # in this share of the answers
_SHORTEST, _LONGEST = 92, 152
_SHORTEST_BODY: Final = 32
_MOST_PARAGRAPHS: Final = 4
# Who the model is told to be; an assistant or a member of a council is nobody in particular.
_ASSISTANT: Final = re.compile(
    r"\bYou are (?:an? |one of |the )?(?:[\w-]+[ ,]+){0,4}"
    r"(?:assistants?|members?|experts?|advisers?|advisors?|council)\b[^.\n]*"
    r"|你是(?:一[个位名])?[^，。\n]{0,8}(?:助手|成员|专家|顾问)",
    re.IGNORECASE,
)
_ROLE: Final = re.compile(
    r"\byou (?!(?:answer|write|reply|respond|must|should|may|can|will|do|need|want|get|don't)\b)[a-z]+"
    r"|\b(?:act as|pretend|role-?play|speak for|in the first person|improvised|negotiat|bid)"
    r"|你们?(?!应|要|可|需|必|不)|扮演|谈判",
    re.IGNORECASE,
)
_PERSONAL: Final = re.compile(
    r"\b(?:who|how|what|where) (?:are|were) you\b|\b(?:did|have|were|are) you\b"
    r"|\b(?:yourself|your (?:name|secret|maker|creator|training|memory|feelings?|weights|instructions|system prompt))\b"
    r"|\bdo you (?:feel|like|want|have|remember)\b|你(?:是|叫|有没有|昨|当时|自己|的名|感觉)",
    re.IGNORECASE,
)


def is_plain_question(prompt: Prompt) -> bool:
    """Nobody in particular is asked about the world: no fences, no role by a system message, no talk about oneself."""
    role, text = prompt.messages[-1]
    if role != "user" or prompt.fences or not sounds_like_a_question(text) or _PERSONAL.search(text):
        return False
    system = "\n".join(text for role, text in prompt.messages if role in ("system", "developer"))
    return not _ROLE.search(_ASSISTANT.sub(" ", system))


def answer(prompt: Prompt, behaviour: Behaviour, seed: int) -> Reply:
    rng = Random(seed)
    asked = [text for role, text in prompt.messages if role == "user"]
    subject = Subject.of(asked[-1], *(asked[:-1] if prompt.own_messages else ()))
    personality = "neutral" if behaviour.personality in VOICELESS else behaviour.personality
    writer = _Writer.of(subject, personality, rng, earlier=asked[:-1] if prompt.own_messages else [])
    if personality == "refusing" and rng.random() < _DECLINES:
        return Reply(writer.say("decline"), finish_reason="content_filter")
    reasoning = writer.pen.join(*(writer.say("thought") for _ in range(rng.randint(2, 4))))
    return Reply(writer.text(behaviour.words), reasoning)


@dataclass(slots=True)
class _Writer:
    """own: the personality's sentences. common: everybody's. earlier: what was asked before."""

    subject: Subject
    own: Voice
    common: Voice
    pen: Pen
    wanders: bool
    earlier: str
    ahead: int

    @classmethod
    def of(cls, subject: Subject, personality: str, rng: Random, *, earlier: list[str]) -> "_Writer":
        before = str(Subject.of(earlier[-1]).nouns[0]) if earlier else ""
        return cls(
            subject=subject,
            own=load_voice(subject.language, f"answer-{personality}"),
            common=load_voice(subject.language, "answer"),
            pen=subject.pen(rng),
            wanders=personality == "drifting",
            earlier=before,
            ahead=rng.randrange(2),
        )

    def say(self, part: str) -> str:
        a, b = self.subject.options or ("", "")
        given = {"a": b, "b": a} if self.ahead else {"a": a, "b": b}
        return self.pen.say(self.own if self.own.get(part) else self.common, part, earlier=self.earlier, **given)

    def text(self, words: int | None) -> str:
        if words is not None:
            return cut(self._at_length(words), words)
        lead, caveat = self._lead(), self.say("bounds" if self._explains and not self.wanders else "caveat")
        middle = self._wanderings() if self.wanders else []
        room = _LONGEST - sum(map(count_tokens, (lead, caveat, *middle)))
        extra = self._extra(room - _SHORTEST_BODY)
        body = self._body(room - count_tokens(extra))
        if extra:
            body.insert(0 if "```" in extra else self.pen.rng.randint(1, len(body)), extra)
        return "\n\n".join([lead, *body, *middle, caveat])

    def _at_length(self, words: int) -> str:
        paragraphs = [self._lead()]
        length = 0
        while length <= words:
            paragraphs.append(self._paragraph(own=len(paragraphs) == 2))
            length += count_tokens(paragraphs[-1])
        return "\n\n".join(paragraphs)

    def _lead(self) -> str:
        return self.pen.join(self.say(self.subject.kind), self.say("followup") if self.earlier else "")

    def _body(self, room: int) -> list[str]:
        """One to four paragraphs that leave room for the rest."""
        goal = room - self.pen.rng.randint(0, _LONGEST - _SHORTEST - 20)
        paragraphs = [self._first_paragraph()]
        length = count_tokens(paragraphs[0])
        while length < goal and len(paragraphs) < _MOST_PARAGRAPHS:
            paragraph = self._paragraph(own=len(paragraphs) == 1)
            if length + count_tokens(paragraph) > room:
                break
            paragraphs.append(paragraph)
            length += count_tokens(paragraph)
        return paragraphs

    def _first_paragraph(self) -> str:
        """Names what the question is about, which the answer's first sentence may have left out."""
        part, support = self._parts
        naming = {part: tuple(point for point in self.common[part] if "{topic}" in point or "{topic|" in point)}
        return self.pen.join(self.pen.say(naming, part), self.say(support))

    @property
    def _explains(self) -> bool:
        return asks_for_reasons(the_question(self.subject.text))

    @property
    def _parts(self) -> tuple[str, str]:
        """What paragraphs are made of: reasons, or points to be weighed and acted upon."""
        return ("reason", "reasoned") if self._explains else ("point", "support")

    def _paragraph(self, *, own: bool) -> str:
        part, support = self._parts
        point = self.say(part) if own else self.pen.say(self.common, part)
        further = self.pen.chinese or self.pen.rng.random() < 0.35
        return self.pen.join(point, self.say(support), self.say(support) if further else "")

    def _extra(self, room: int) -> str:
        """A table or a list, sometimes, if there is room; code whenever the question is about code."""
        if is_about_code(self.subject.text):
            return code_block(self.pen, self.common, self.subject)
        chance = self.pen.rng.random()
        extra = ""
        if chance < _TABLES and not self._explains:
            extra = table_of(self.pen, self.common, self.subject, self.ahead)
        elif chance < _TABLES + _LISTS and not self._explains:
            extra = steps_list(self.pen, self.common, numbered=chance < _TABLES + _LISTS / 2)
        return extra if count_tokens(extra) <= room else ""

    def _wanderings(self) -> list[str]:
        """What comes to its mind instead, once it has answered."""
        stray = load_voice(self.subject.language, "drifted")["argue"]
        aside = {"argue": tuple(sentence for sentence in stray if "{topic" not in sentence)}
        return [self.pen.join(self.pen.say(aside, "argue"), self.pen.say(aside, "argue"))]
