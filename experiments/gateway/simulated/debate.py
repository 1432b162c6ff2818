"""A debater's turn: new perspectives in the view of its part, and counterpoints to what others said."""

import re
from collections.abc import Callable
from functools import partial
from random import Random
from typing import Any, Final

from experiments.gateway.simulated.notes import shortened
from experiments.gateway.simulated.points import Point, has_points, read_points
from experiments.gateway.simulated.prompt import Prompt
from experiments.gateway.simulated.subject import Subject
from experiments.gateway.simulated.tokens import is_mostly_chinese
from experiments.gateway.simulated.voices import Voice, load_voice

_SPEAKER: Final = re.compile(r"\bdebater[ _-]?([A-Z])\b", re.IGNORECASE)
_SECOND: Final = re.compile(r"\bround (?:2|two)\b|\bsecond round\b|第(?:二|2) ?轮", re.IGNORECASE)
_PARTS: Final = "ABC"
_WORDS, _CHARACTERS = range(20, 46), range(36, 105)
_TRIES: Final = 24


def debater_turn(prompt: Prompt, seed: int) -> dict[str, Any]:
    """{speaker, new_perspectives, counterpoints}: three perspectives or two, two counterpoints or none."""
    named = _SPEAKER.search(prompt.instructions)
    speaker = named[1].upper() if named else "A"
    turn = _Turn(prompt, speaker, Random(seed))
    perspectives = turn.perspectives(2 if _SECOND.search(prompt.instructions) else 3)
    counterpoints = turn.counterpoints(2) if has_points(prompt) else []
    return {
        "speaker": speaker,
        "new_perspectives": [{"id": f"p{n}", "contents": text} for n, text in enumerate(perspectives, 1)],
        "counterpoints": [{"id": f"c{n}", "contents": text} for n, text in enumerate(counterpoints, 1)],
    }


class _Turn:
    def __init__(self, prompt: Prompt, speaker: str, rng: Random) -> None:
        subject = Subject.of(prompt.fences.get("task", prompt.scenario))
        part = speaker if speaker in _PARTS else _PARTS[ord(speaker) % len(_PARTS)]
        self._voice = _unsaid(load_voice(subject.language, f"debater-{part}"), prompt.whole)
        self._pen = subject.pen(rng, used=prompt.whole)
        self._speaker = speaker
        self._addendum = prompt.fences.get("addendum", "").strip()
        self._points = read_points(prompt)

    def perspectives(self, count: int) -> list[str]:
        texts = [fitting(lambda: self._pen.say(self._voice, "perspective")) for _ in range(count)]
        if self._addendum:
            quote = shortened(self._addendum, 10, 24)
            texts[0] = fitting(lambda: self._pen.say(self._voice, "addendum", quote=quote))
        return texts

    def counterpoints(self, count: int) -> list[str]:
        return [fitting(partial(self._against, point)) for point in self._chosen(count)]

    def _chosen(self, count: int) -> list[Point]:
        """Of the others' points the new ones rather than the answers, each of another speaker where possible."""
        others = [point for point in self._points if point.speaker != self._speaker] or self._points
        mixed = self._pen.rng.sample(others, len(others))
        fresh = sorted(mixed, key=lambda point: (point.is_counterpoint, -int(re.findall(r"\d+", point.reference)[0])))
        firsts = list({point.speaker: point for point in reversed(fresh)}.values())
        return [*firsts, *(point for point in fresh if point not in firsts)][:count]

    def _against(self, point: Point) -> str:
        return self._pen.say(self._voice, "counter", ref=point.reference, quote=point.quote())


def fitting(make: Callable[[], str]) -> str:
    """The first text of a sensible length, otherwise the one that comes closest."""
    made = [make()]
    while _misses(made[-1]) and len(made) < _TRIES:
        made.append(make())
    return min(made, key=_misses)


def _misses(text: str) -> int:
    """By how many words or characters the text is too short or too long."""
    chinese = is_mostly_chinese(text)
    size, sizes = (len(text), _CHARACTERS) if chinese else (len(text.split()), _WORDS)
    return max(sizes.start - size, size - sizes.stop + 1, 0)


def _unsaid(voice: Voice, said: str) -> Voice:
    """Without the sentences whose beginning was said in an earlier round, as long as enough remain."""
    starts = {sentence: sentence.partition("{")[0][:24] for sentence in voice["perspective"]}
    fresh = tuple(sentence for sentence, start in starts.items() if not start or start not in said)
    return {**voice, "perspective": fresh if len(fresh) > 2 else voice["perspective"]}
