"""What a debate knows at a point of its course: the task, what was added to it, and who has said what."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from experiments.workflows.base.flags import language_of
from experiments.workflows.base.script import next_line
from experiments.workflows.base.steps import Cast
from experiments.workflows.debate.config import DEBATERS, Config

LONGEST_SHORTENED = 160  # characters that are left of a point when the context is to be shorter


@dataclass(frozen=True, slots=True)
class Speech:
    """What became of one debater's part in one round: points, an answer that could not be read (raw), or a failure."""

    seat: str
    round: int
    key: str
    points: Mapping[str, Any] | None = None
    raw: str = ""
    error_kind: str = ""
    error: str = ""

    @property
    def name(self) -> str:
        return f"{self.seat}{self.round}"

    @property
    def has_failed(self) -> bool:
        return bool(self.error_kind)

    @property
    def items(self) -> list[Mapping[str, Any]]:
        return [*self.points["new_perspectives"], *self.points["counterpoints"]] if self.points else []

    @property
    def words(self) -> str:
        """All that was said; "" by a failure."""
        return "\n".join(item["contents"] for item in self.items) or self.raw

    @property
    def references(self) -> list[str]:
        """By what a summary may name it: its points, or itself when they could not be read."""
        return [f"{self.name}.{item['id']}" for item in self.items] or ([self.name] if self.raw else [])

    def lines(self, *, is_short: bool = False) -> str:
        """A point a line, so that no point can be taken for another one."""
        contents = [" ".join(item["contents"].split()) for item in self.items]
        shown = [_shortened(text) for text in contents] if is_short else contents
        return "\n".join(f"{name}: {text}" for name, text in zip(self.references, shown, strict=True))


@dataclass(frozen=True, slots=True)
class Talk:
    """said: a person's own words, the latest last. speeches: in the order in which they were made. place: in the
    script, of the next message.
    """

    config: Config
    cast: Cast
    task: str = ""
    said: tuple[str, ...] = ()
    addenda: tuple[str, ...] = ()
    speeches: tuple[Speech, ...] = ()
    place: int = 0

    @property
    def language(self) -> str | None:
        """The language of the person's last words that are long enough to tell."""
        return next((code for text in reversed(self.said) if (code := language_of(text))), None)

    def debated(self, task: str, *, is_own: bool) -> "Talk":
        return replace(self, task=task, said=(*self.said, task) if is_own else self.said)

    def added(self, addendum: str) -> "Talk":
        return replace(self, addenda=(*self.addenda, addendum), said=(*self.said, addendum))

    def and_then(self, speech: Speech) -> "Talk":
        """A debater who is asked again speaks last; the failed attempt is no part of the talk."""
        kept = [said for said in self.speeches if said.name != speech.name]
        return replace(self, speeches=(*kept, speech))

    def to_say(self, number: int) -> tuple[int, str]:
        """What was decided on to be said after a round, and where the script goes on; "" for nothing."""
        script = self.config.script
        if not script:
            return 0, self.config.addendum if number == 1 else ""
        found = next_line(script, self.place, *(speech.words for speech in self.of_round(number)))
        return (len(script), "") if found is None else (found + 1, script[found].text)

    def of_round(self, number: int) -> list[Speech]:
        return [speech for speech in self.speeches if speech.round == number]

    def heard_by(self, seat: str, number: int) -> list[Speech]:
        """The points that somebody knows who speaks in a round: all that were made, in a blind first round none."""
        if number == 1 and self.config.blind:
            return []
        return [speech for speech in self.speeches if speech.points and speech.name != f"{seat}{number}"]

    @property
    def references(self) -> list[str]:
        return [name for speech in self.speeches for name in speech.references]


def order(config: Config, number: int) -> Sequence[str]:
    """Who speaks when in a round."""
    return (*DEBATERS[1:], DEBATERS[0]) if config.rotate and number > 1 else DEBATERS


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_SHORTENED else f"{text[:LONGEST_SHORTENED].rstrip()}…"
