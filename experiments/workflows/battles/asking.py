"""One verdict: asked for at one endpoint, at the next where one fails, and again where it cannot be read."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from experiments.workflows.base.steps import Ask, Outcome, Prompt, numbered
from experiments.workflows.battles.breaker import Breaker
from experiments.workflows.battles.judged import Judged, Shown
from experiments.workflows.battles.layout import asked_again
from experiments.workflows.battles.prompts import Known

PATIENCE = 5.0  # seconds; who wants to be left alone for longer is not waited for where another could answer
PAUSE = 0.2  # seconds between one endpoint's failure and the next one's question
LONGEST_ANSWER = 4096  # tokens, thinking included
SICK = 3  # failures in a row after which an endpoint is asked last
PROBED = 20  # every so many questions a sick endpoint is asked in its turn all the same
OF_THE_REQUEST = frozenset({"refused", "context_exceeded", "no_material"})  # it would be refused elsewhere, too
TRUNCATED = "length"


@dataclass(slots=True)
class Bench:
    """The endpoints of one judge, which share its load. The keys of steps do not depend on who answers."""

    endpoints: tuple[str, ...]
    failures: dict[str, int] = field(default_factory=dict)

    def line_up(self, number: int) -> tuple[str, ...]:
        """In which order they are asked for battle `number`: each has its turn, those that keep failing come last."""
        start = number % len(self.endpoints)
        turn = (*self.endpoints[start:], *self.endpoints[:start])
        if number // len(self.endpoints) % PROBED == PROBED - 1:
            return turn
        return tuple(sorted(turn, key=lambda seat: self.failures.get(seat, 0) >= SICK))

    def note(self, seat: str, outcome: Outcome) -> None:
        self.failures[seat] = 0 if outcome.ok else self.failures.get(seat, 0) + 1


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked. attempts: at how many answers in all one is looked for that can be read."""

    key: str
    seat: str
    shown: Shown
    prompt: Known
    version: str
    attempts: int


@dataclass(frozen=True, slots=True)
class Answer:
    """What was read, and the key of the step in which it was said, or which failed last."""

    key: str
    judged: Judged


@dataclass(slots=True)
class _Asked:
    """How often was asked so far: every time it is another step."""

    times: int = 0
    key: str = ""
    outcome: Outcome = field(default_factory=Outcome)


def judged(question: Question, endpoints: Sequence[str], bench: Bench, breaker: Breaker) -> Generator[Any, Any, Answer]:
    """A verdict, or why there is none. A failure is data, and so is an answer that cannot be read."""
    asked = _Asked()
    read = Judged(None)
    for attempt in range(1, question.attempts + 1):
        yield from _asked(question, endpoints, bench, asked, is_again=attempt > 1)
        breaker.note(asked.outcome)
        if not asked.outcome.ok:
            return Answer(asked.key, Judged(None, unread_reason=_failure(asked.outcome)))
        read = question.prompt.read(asked.outcome.text)
        if read.winner:
            break
        read = replace(read, unread_reason=_unread(read, asked.outcome))
    return Answer(asked.key, read)


def _asked(
    question: Question, endpoints: Sequence[str], bench: Bench, asked: _Asked, *, is_again: bool
) -> Generator[Any, Any, None]:
    """Ask one endpoint after the other until one answers."""
    for place, endpoint in enumerate(endpoints):
        asked.times += 1
        asked.key = numbered(question.key, asked.times)
        has_others = place + 1 < len(endpoints)
        asked.outcome = yield _ask(question, asked.key, endpoint, is_again=is_again, place=place, has_others=has_others)
        bench.note(endpoint, asked.outcome)
        if asked.outcome.ok or asked.outcome.error_kind in OF_THE_REQUEST:
            return


def _ask(question: Question, key: str, endpoint: str, *, is_again: bool, place: int, has_others: bool) -> Ask:
    parts = question.prompt.parts(question.shown)
    return Ask(
        key=key,
        seat=question.seat,
        messages=(Prompt("user", parts=asked_again(parts) if is_again else parts, token=question.shown.token),),
        purpose="verdict",
        schema=question.prompt.schema,
        params={"temperature": 0.0, "max_tokens": LONGEST_ANSWER},
        prompt_version=question.version,
        delay=PAUSE if place else 0.0,
        played_by="" if endpoint == question.seat else endpoint,
        patience=PATIENCE if has_others else None,
    )


def _failure(outcome: Outcome) -> str:
    return outcome.error or f"The call failed ({outcome.error_kind})."


def _unread(read: Judged, outcome: Outcome) -> str:
    cut = " It was cut off at the token limit." if outcome.finish_reason == TRUNCATED else ""
    return f"{read.unread_reason}{cut}"
