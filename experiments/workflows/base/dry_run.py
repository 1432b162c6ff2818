"""Plays a workflow's own generator without a model, to count what a run would ask for: calls, tokens and seconds.

In the place of texts stand marks of so many tokens, which go through prompts, fences and JSON as texts do. A play is
`typical`, with the usual answers, or `at most`, with the dearest answers that a workflow declares.
"""

import json
import math
import random
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from heapq import heappop, heappush
from typing import Any, NamedTuple

from experiments.workflows.base.material import LONGEST
from experiments.workflows.base.replay import Replay, Todo, passed
from experiments.workflows.base.steps import Ask, Cast, Excerpt, Execute, Listen, Outcome, Prompt, Seat, Stored
from experiments.workflows.base.workflow import Workflow

TYPICAL_ANSWER = 350  # tokens, where a workflow says nothing else
TYPICAL_REASONING = 600  # tokens before an answer, of a model that is known to reason
LONGEST_ANSWER = 8192  # tokens, where neither the request nor the catalogue has a limit
BYTES_PER_TOKEN = {False: 4, True: 3}  # typical, at most: as a call's usage is estimated, and its cost reserved
TOKENS_A_SECOND = 60
SECONDS_BEFORE_AN_ANSWER = 1.0
SECONDS_OF_AN_EXECUTION = 2.5
MOST_CALLS = 5_000  # of one play
MOST_TURNS = 200  # of runs with more turns only the first is played
_MARK = re.compile("([\ue000\ue001])(\\d+)\ue002")


def mark(tokens: int) -> str:
    """Stands for a text of so many tokens."""
    return f"\ue000{tokens}\ue002"


def mark_of(text: str) -> str:
    """Stands for a text of which only the length matters."""
    return f"\ue001{len(text.encode('utf-8', 'replace'))}\ue002"


def marks_in(text: str) -> str:
    """The marks alone."""
    return "".join(found[0] for found in _MARK.finditer(text))


def tokens_of(text: str, *, at_most: bool = False) -> int:
    tokens, size = _sizes(text)
    return tokens + math.ceil(size / BYTES_PER_TOKEN[at_most])


@lru_cache(maxsize=2048)
def _sizes(text: str) -> tuple[int, int]:
    """Tokens that are marked, and bytes of all else. A talk shows the same messages again and again."""
    found = _MARK.findall(text)
    tokens = sum(int(size) for kind, size in found if kind == "\ue000")
    marked = sum(int(size) for kind, size in found if kind == "\ue001")
    rest = _MARK.sub("", text) if found else text
    return tokens, marked + len(rest.encode("utf-8", "replace"))


class Path(Enum):
    """What becomes of a call that is paid for: an answer that is read, or that cannot be; nothing but reasoning; an
    error after all of its tokens.
    """

    READ = "read"
    UNREAD = "unread"
    EMPTY = "empty_answer"
    FAILED = "bad_answer"


def _follows_its_schema(ask: Ask, tokens: int, at_most: bool) -> str | None:
    return None


def all_passed(step: Execute, at_most: bool) -> Outcome:
    results = [{"verdict": "passed", "value": test["expected"]} for test in step.tests]
    return Outcome(found={"complaint": "", "results": results})


def as_set_up(config: Any, pause: Listen, at_most: bool) -> Outcome | None:
    return passed(pause) if pause.may_pass else None


def unattended(config: Any, pause: Listen, at_most: bool) -> Outcome | None:
    """No person answers: an automatic run passes over what may be passed."""
    return as_set_up(config, pause, at_most) if getattr(config, "mode", "manual") == "automatic" else None


def _always_read(config: Any, ask: Ask, earlier: int) -> Path:
    return Path.READ


def _as_it_is(ask: Ask, at_most: bool) -> Ask:
    return ask


@dataclass(frozen=True, slots=True)
class Assumptions:
    """What a workflow says of its usual and its dearest course.

    typical: tokens of an answer, by purpose. answer: its text, of so many tokens, where the schema does not say what is
    usual: what later prompts show stands in it as a mark; None for the schema's (or a text's) plain form. executed:
    what the sandbox finds. said: what a person says at a pause; None ends the play there. dearest: which path costs
    most, by the configuration, the question and how often the seat was asked for this purpose in the same turn before.
    measured: the question as it would be with whole texts, where the rules cut or count their characters.
    """

    typical: Mapping[str, int] = field(default_factory=dict)
    answer: Callable[[Ask, int, bool], str | None] = _follows_its_schema
    executed: Callable[[Execute, bool], Outcome] = all_passed
    said: Callable[[Any, Listen, bool], Outcome | None] = as_set_up
    dearest: Callable[[Any, Ask, int], Path] = _always_read
    measured: Callable[[Ask, bool], Ask] = _as_it_is


@dataclass(frozen=True, slots=True)
class Sample:
    """A configuration that stands for so many like it, typically and at most. dearest, measured: its own, where it has
    them.
    """

    config: Any
    typical: Fraction = Fraction(1)
    most: Fraction = Fraction(1)
    dearest: Callable[[Any, Ask, int], Path] | None = None
    measured: Callable[[Ask, bool], Ask] | None = None

    def assuming(self, assumptions: Assumptions) -> Assumptions:
        dearest, measured = self.dearest or assumptions.dearest, self.measured or assumptions.measured
        return replace(assumptions, dearest=dearest, measured=measured)


def _none_stored(part: Stored) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Planned:
    """What is played where a run is too long to be played whole, or is many runs. stored: tokens of stored material.
    at_once: calls that are made at the same time; 0: as the samples make them. lead, note, warnings: sentences before,
    below and beside the figures.
    """

    samples: Sequence[Sample]
    stored: Callable[[Stored], int] = _none_stored
    at_once: int = 0
    lead: Sequence[Any] = ()
    note: Any = ""
    warnings: Sequence[str] = ()

    def is_all_in_the_configuration(self, sample: Sample) -> bool:
        """Whether nothing but the sample's configuration says what is played."""
        return self.stored is _none_stored and sample.dearest is None and sample.measured is None


@dataclass(frozen=True, slots=True)
class Model:
    """Who answers for a seat. max_tokens: of an answer, as the seat says; longest: where nothing else limits it.
    weight: what a token of it costs, to be compared with that of others. is_person: a person answers, whose time and
    words are not counted.
    """

    max_tokens: int | None = None
    longest: int = LONGEST_ANSWER
    reasons: bool = False
    takes_schema: bool = True
    weight: float = 0.0
    persona: str = ""
    is_person: bool = False


@dataclass(slots=True)
class Usage:
    """Calls of one seat, and the tokens that they read and write."""

    calls: int = 0
    read: int = 0
    written: int = 0


@dataclass(frozen=True, slots=True)
class Played:
    """by_seat: of the seats whose models are asked. seconds: from the beginning to the end, people's time not counted;
    busy: of all calls together. is_whole False: it goes on after the first turn, without end or for very long. waits:
    nobody answered at a pause that is no offer.
    """

    by_seat: Mapping[str, Usage]
    seconds: float
    busy: float
    is_whole: bool
    waits: bool

    @property
    def calls(self) -> int:
        return sum(one.calls for one in self.by_seat.values())


def play(
    workflow: Workflow,
    config: Any,
    models: Mapping[str, Model],
    assumptions: Assumptions,
    *,
    at_most: bool,
    roles: Mapping[str, int] = {},
    stored: Callable[[Stored], int] = _none_stored,
    is_first_turn: bool = False,
) -> Played:
    """models: by seat. roles: tokens of an answer at most, as the server limits them. is_first_turn: no more is played
    than that.
    """
    return _Play(workflow, config, models, assumptions, at_most, roles, stored, is_first_turn).to_the_end()


def waits_for_person(workflow: Workflow, config: Any, seats: Collection[str]) -> bool:
    """Whether a run that nobody attends waits for a person in its first turn, or after it."""
    models, assumptions = dict.fromkeys(seats, Model()), Assumptions(said=unattended)
    return play(workflow, config, models, assumptions, at_most=False, is_first_turn=True).waits


class _Dearest(random.Random):
    """Where chance chooses a seat, it is the dearest."""

    def __init__(self, key: str, models: Mapping[str, Model]) -> None:
        super().__init__(key)
        self._models = models

    def choice(self, seq: Any) -> Any:
        return max(seq, key=self._price) if all(one in self._models for one in seq) else super().choice(seq)

    def _price(self, seat: str) -> tuple[float, int]:
        model = self._models[seat]
        longest = model.max_tokens or model.longest
        return model.weight * longest, longest


@dataclass(frozen=True, slots=True)
class _DearestCast(Cast):
    models: Mapping[str, Model] = field(default_factory=dict)

    def random(self, key: str) -> random.Random:
        return _Dearest(key, self.models)


class _Message(NamedTuple):
    """key: of its step. text, thought: tokens of what was said, and of the reasoning before it."""

    key: str
    turn: int | None
    text: int
    thought: int


class _Play:
    """One play, with a clock of its own: what is asked side by side takes as long as the slowest."""

    def __init__(
        self,
        workflow: Workflow,
        config: Any,
        models: Mapping[str, Model],
        assumptions: Assumptions,
        at_most: bool,
        roles: Mapping[str, int],
        stored: Callable[[Stored], int],
        is_first_turn: bool,
    ) -> None:
        self._config, self._models, self._assumptions = config, models, assumptions
        self._at_most, self._roles, self._stored = at_most, roles, stored
        seats = {seat: Seat(seat, model.persona, is_person=model.is_person) for seat, model in models.items()}
        cast = _DearestCast(seats, models=models) if at_most else Cast(seats)
        self._replay = Replay(workflow.run(config, cast), {})
        turns = getattr(config, "max_turns", 1)
        self._only_first = is_first_turn or turns is None or turns > MOST_TURNS
        self._earlier: Counter[tuple[str, str, int | None]] = Counter()
        self._due: list[tuple[float, int, str, Outcome]] = []
        self._used: dict[str, Usage] = {}
        self._said: list[_Message] = []
        self._steps, self._now, self._busy, self._is_whole, self._waits = 0, 0.0, 0.0, True, False

    def to_the_end(self) -> Played:
        self._take(self._replay.start())
        while self._due and self._steps < MOST_CALLS:
            self._now, _number, key, outcome = heappop(self._due)
            self._take(self._replay.resolve(key, outcome))
        return Played(self._used, self._now, self._busy, self._is_whole and not self._due, self._waits)

    def _take(self, todo: Todo) -> None:
        for step in todo.steps:
            if self._only_first and (step.turn or 0) > 1:
                self._is_whole = False
            elif isinstance(step, Ask):
                self._ask(step)
            elif isinstance(step, Execute):
                self._end(step.key, SECONDS_OF_AN_EXECUTION, self._assumptions.executed(step, self._at_most))
            elif isinstance(step, Listen):
                said = self._assumptions.said(self._config, step, self._at_most)
                if said is not None:
                    self._end(step.key, 0.0, said)
                else:
                    self._waits = self._waits or not step.is_offer

    def _end(self, key: str, seconds: float, outcome: Outcome) -> None:
        self._steps += 1
        heappush(self._due, (self._now + seconds, self._steps, key, outcome))

    def _ask(self, step: Ask) -> None:
        ask = self._assumptions.measured(step, self._at_most)
        seat = ask.played_by or ask.seat
        model = self._models.get(seat, Model())
        outcome, written = self._answer(ask, model)
        if ask.is_spoken:
            text, thought = (tokens_of(one, at_most=self._at_most) for one in (outcome.text, outcome.reasoning))
            self._said.append(_Message(ask.key, ask.turn, text, thought))
        if model.is_person:
            self._end(ask.key, 0.0, outcome)
            return
        used = self._used.setdefault(seat, Usage())
        used.calls += 1
        used.read += self._read(ask, model)
        used.written += written
        seconds = SECONDS_BEFORE_AN_ANSWER + written / TOKENS_A_SECOND
        self._busy += seconds
        self._end(ask.key, ask.delay + seconds, outcome)

    def _read(self, ask: Ask, model: Model) -> int:
        """At most, a schema is counted as it is when a call's cost is reserved."""
        is_sent = self._at_most and ask.schema is not None and (model.takes_schema or not ask.if_native)
        schema = tokens_of(str(ask.schema), at_most=True) if is_sent else 0
        return schema + sum(self._size(part) for prompt in ask.messages for part in _parts(prompt))

    def _size(self, part: str | Stored) -> int:
        if isinstance(part, Excerpt) and not part.run:
            return self._shown(part)
        return self._stored(part) if isinstance(part, Stored) else tokens_of(part, at_most=self._at_most)

    def _shown(self, part: Excerpt) -> int:
        """What of the run itself has been said so far, as far as it is shown."""
        sees = part.sees
        is_first = (part.unit == "run" or one.key == part.step or one.turn == part.place for one in self._said)
        first = next((at for at, found in enumerate(is_first) if found), 0)
        shown = self._said[max(0, first - sees.earlier) if sees.earlier is not None else 0 :]
        tokens = sum(one.text + one.thought * sees.reasoning for one in shown)
        return min(tokens, 2 * LONGEST // BYTES_PER_TOKEN[self._at_most])

    def _answer(self, ask: Ask, model: Model) -> tuple[Outcome, int]:
        """What comes back, and the tokens that are written for it."""
        limit = self._limit(ask, model)
        if not self._at_most:
            text, tokens = self._text(ask, min(limit, self._assumptions.typical.get(ask.purpose, TYPICAL_ANSWER)))
            reasoning = TYPICAL_REASONING if model.reasons else 0
            thought = mark(reasoning) if reasoning else ""
            return Outcome(text=text, reasoning=thought, finish_reason="stop"), min(limit, tokens + reasoning)
        asked = (ask.seat, ask.purpose, ask.turn)
        path = self._assumptions.dearest(self._config, ask, self._earlier[asked])
        self._earlier[asked] += 1
        if path is Path.READ:
            return Outcome(text=self._text(ask, limit)[0], finish_reason="stop"), limit
        if path is Path.UNREAD:
            return Outcome(text=mark(limit), finish_reason="stop"), limit
        return Outcome(ok=False, error_kind=path.value, error="It gave no answer."), limit

    def _text(self, ask: Ask, tokens: int) -> tuple[str, int]:
        """An answer and its tokens: those that are assumed for its purpose, else those of what it says."""
        text = self._assumptions.answer(ask, tokens, self._at_most)
        if text is not None:
            return text, tokens if ask.purpose in self._assumptions.typical else tokens_of(text)
        return filled(ask.schema, tokens) if ask.schema else mark(tokens), tokens

    def _limit(self, ask: Ask, model: Model) -> int:
        """Tokens that the answer may have, as a request says them."""
        of_seat = max(model.max_tokens or 0, ask.room)
        limit = of_seat or ask.params.get("max_tokens") or self._roles.get(ask.role) or model.longest
        return max(1, min(limit, self._roles.get(ask.role, limit)))


def _parts(prompt: Prompt) -> Iterable[str | Stored]:
    return prompt.parts or (prompt.content,)


def filled(schema: Mapping[str, Any], tokens: int) -> str:
    """A JSON answer that follows its schema: the first text in it is a mark of all tokens, a list of choices names each
    of them once, and numbers are in the middle of their range.
    """
    return json.dumps(_value(schema, schema, iter((mark(tokens),))), ensure_ascii=False)


def _value(part: Mapping[str, Any], schema: Mapping[str, Any], texts: Iterator[str]) -> Any:
    if "$ref" in part:
        return _value(schema["$defs"][part["$ref"].rpartition("/")[2]], schema, texts)
    if choices := part.get("enum"):
        return choices[0]
    if several := part.get("anyOf"):
        return _value(several[0], schema, texts)
    kind = part.get("type")
    if kind == "object":
        return {name: _value(one, schema, texts) for name, one in part.get("properties", {}).items()}
    if kind == "array":
        items = part.get("items", {})
        return list(items["enum"]) if "enum" in items else [_value(items, schema, texts)]
    if kind in ("number", "integer"):
        low = part.get("minimum", 0)
        middle = (low + part.get("maximum", low)) / 2
        return int(middle) if kind == "integer" else middle
    return next(texts, "-") if kind == "string" else {"boolean": False}.get(str(kind))
