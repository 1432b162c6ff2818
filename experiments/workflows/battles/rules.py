"""The rules of battles: several lanes take them one after the other, and each is judged in both orders.

Both orders agree: that winner, or the tie. They differ: a tie, and inconsistent. One is missing: the battle stays open.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, Literal, NamedTuple

from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Ask, Cast, End, Outcome, Play, Prompt, numbered
from experiments.workflows.battles.config import JUDGES, MIRRORS, Config, Task
from experiments.workflows.battles.judge_prompt import JudgePrompt, Shown, asked_again
from experiments.workflows.battles.reading import Judged
from experiments.workflows.battles.records import BattleJudged, VerdictFound, Winner

Order = Literal["original", "swapped"]
ORDERS: tuple[Order, ...] = ("original", "swapped")
SHOWN: Mapping[Order, str] = {"original": "with the left output first", "swapped": "with the right output first"}
SIDES: Mapping[Order, Mapping[str, Winner]] = {
    "original": {"first": "left", "second": "right", "tie": "tie"},
    "swapped": {"first": "right", "second": "left", "tie": "tie"},
}
LONGEST_REASON = 300
LONGEST_OF_TWO = LONGEST_REASON // 2 - 35  # each reason, where the two orders have different ones
PATIENCE = 5.0  # seconds; who wants to be left alone for longer is not waited for where another could answer
PAUSE = 0.2  # seconds between one endpoint's failure and the next one's question
LONGEST_ANSWER = 4096  # tokens, thinking included
FAILING = 3  # failures in a row after which an endpoint is asked last
PROBED = 20  # every so many questions a failing endpoint is asked in its turn all the same
OF_THE_REQUEST = frozenset({"refused", "context_exceeded", "no_material"})  # it would be refused elsewhere, too
MOST_FAILURES = 20  # in a row, all of the same kind
NOTHING_TO_SHOW = "no_material"  # an output that is missing or unreadable is no fault of who was to be asked
OF_ONE_REQUEST = frozenset({"refused", "context_exceeded", "no_material", "empty_answer", "bad_answer", "tool_call"})


@dataclass(slots=True)
class Breaker:
    """Counts the failures of one seat. Those that may be the fault of a single request count only as long as nothing
    has ever succeeded: a few samples that a provider refuses are no broken judge.
    """

    kind: str = ""
    failures: int = 0
    error: str = ""
    has_succeeded: bool = False

    def note(self, outcome: Outcome) -> None:
        if self.is_broken or outcome.error_kind == NOTHING_TO_SHOW:
            return
        if outcome.ok:
            self.kind, self.failures, self.has_succeeded = "", 0, True
            return
        self.failures = self.failures + 1 if outcome.error_kind == self.kind else 1
        self.kind, self.error = outcome.error_kind, outcome.error

    @property
    def is_broken(self) -> bool:
        return self.failures >= MOST_FAILURES and not (self.has_succeeded and self.kind in OF_ONE_REQUEST)


class Breakers(dict[str, Breaker]):
    """Those of a run, by seat."""

    def __init__(self, seats: Iterable[str]) -> None:
        super().__init__((seat, Breaker()) for seat in seats)

    def end(self, cast: Cast, role: str) -> End:
        """How the run ends: as failed when one of this role had to be given up."""
        sentences = []
        for seat, breaker in self.items():
            if breaker.is_broken:
                names = cast.seats[seat].called
                sentences.append(
                    f"The {role} {names[0] if names else f'in the seat {seat}'} failed {breaker.failures} times in a "
                    f"row with the same error, so no more is asked of it: {breaker.error} Remove the cause and resume."
                )
        if sentences:
            return End(f"{role}_failed", failed=True, message="\n".join(sentences))
        return End("completed")


@dataclass(frozen=True, slots=True)
class Battle:
    """One judge's battle. number: its place among all of the run."""

    number: int
    seat: str
    task: Task

    @property
    def key(self) -> str:
        return f"battle/{self.seat}/{self.task.sample}-{self.task.left}-{self.task.right}"


@dataclass(slots=True)
class Endpoints:
    """The endpoints of the first judge, which share its load. The keys of steps do not depend on who answers."""

    seats: tuple[str, ...]
    failures: dict[str, int] = field(default_factory=dict)

    def line_up(self, number: int) -> tuple[str, ...]:
        """In which order they are asked for battle `number`: each has its turn, those that keep failing come last."""
        start = number % len(self.seats)
        turn = (*self.seats[start:], *self.seats[:start])
        if number // len(self.seats) % PROBED == PROBED - 1:
            return turn
        return tuple(sorted(turn, key=lambda seat: self.failures.get(seat, 0) >= FAILING))

    def note(self, seat: str, outcome: Outcome) -> None:
        self.failures[seat] = 0 if outcome.ok else self.failures.get(seat, 0) + 1


@dataclass(frozen=True, slots=True)
class Judging:
    """What all battles of a run share: who judges, who answers for the first judge, and who was given up."""

    config: Config
    cast: Cast
    prompt: JudgePrompt
    endpoints: Endpoints
    breakers: Breakers

    def battles(self) -> Iterator[Battle]:
        """What is left to be judged by those who have not been given up, looked at as late as possible."""
        pairs = ((task, seat) for task in self.config.tasks for seat in self.breakers if seat in (task.seats or JUDGES))
        for number, (task, seat) in enumerate(pairs):
            if not self.breakers[seat].is_broken:
                yield Battle(number, seat, task)


def run(config: Config, cast: Cast) -> Play:
    """The battles of `config.tasks`. Ends as failed when a judge had to be given up, or the prompt was changed."""
    if config.judge_prompt is None or config.outdated:
        return End("prompt_changed", failed=True, message=config.outdated)
    endpoints = Endpoints(("judge", *(seat for seat in MIRRORS if seat in cast.seats)))
    breakers = Breakers(seat for seat in JUDGES if seat in cast.seats)
    judging = Judging(config, cast, config.judge_prompt, endpoints, breakers)
    battles = judging.battles()
    yield [_lane(judging, battles) for _lane_number in range(config.side_by_side)]
    return breakers.end(cast, "judge")


def _lane(judging: Judging, battles: Iterator[Battle]) -> Generator[Any, Any, None]:
    for battle in battles:
        verdicts: list[VerdictFound] = []
        if judging.config.calls == "parallel":
            verdicts = yield [_verdict(judging, battle, order) for order in ORDERS]
        else:
            for order in ORDERS:
                verdicts.append((yield from _verdict(judging, battle, order)))
                if not verdicts[-1].winner:
                    break  # it stays open whatever the other order would say
        result = combined(verdicts)
        found = BattleJudged(
            seat=battle.seat,
            sample=battle.task.sample,
            left=battle.task.left,
            right=battle.task.right,
            winner=result.winner,
            is_consistent=result.is_consistent,
            open_reason=result.open_reason,
            verdicts=verdicts,
        )
        yield Record(battle.key, found)


def _verdict(judging: Judging, battle: Battle, order: Order) -> Generator[Any, Any, VerdictFound]:
    """A verdict, or why there is none. A failure is data, and so is an answer that cannot be read, which is asked for
    again. Every time is another step; the verdict has the key of the one that counts, or failed last.
    """
    first, second = battle.task.left, battle.task.right
    if order == "swapped":
        first, second = second, first
    key = f"{battle.key}/{order}"
    shown = Shown(battle.task.sample, first, second, judging.cast.fence(key))
    parts = judging.prompt.parts(shown)
    seats = judging.endpoints.line_up(battle.number) if battle.seat == "judge" else (battle.seat,)
    keys = (numbered(key, times) for times in count(1))
    step, judged = "", Judged(None)
    for attempt in range(1 + judging.config.attempts):
        prompt = Prompt("user", parts=asked_again(parts) if attempt else parts, token=shown.token)
        step, outcome = yield from _asked(judging, battle.seat, seats, keys, prompt)
        judging.breakers[battle.seat].note(outcome)
        if not outcome.ok:
            judged = Judged(None, unread_reason=outcome.error or f"The call failed ({outcome.error_kind}).")
            break
        judged = judging.prompt.read(outcome.text)
        if judged.winner:
            break
        if outcome.finish_reason == "length":
            reason = f"{judged.unread_reason} It was cut off at the token limit."
            judged = replace(judged, unread_reason=reason)
    return verdict_of(order, step, judged)


def _asked(
    judging: Judging, seat: str, seats: Sequence[str], keys: Iterator[str], prompt: Prompt
) -> Generator[Any, Any, tuple[str, Outcome]]:
    """Ask one endpoint after the other until one answers. Returns the key of the last step, and what came of it."""
    for place, endpoint in enumerate(seats, 1):
        ask = Ask(
            key=next(keys),
            seat=seat,
            messages=(prompt,),
            purpose="verdict",
            schema=judging.prompt.schema,
            params={"temperature": 0.0, "max_tokens": LONGEST_ANSWER},
            prompt_version=judging.config.prompt_version,
            delay=PAUSE if place > 1 else 0.0,
            played_by="" if endpoint == seat else endpoint,
            patience=PATIENCE if place < len(seats) else None,
        )
        outcome: Outcome = yield ask
        judging.endpoints.note(endpoint, outcome)
        if outcome.ok or outcome.error_kind in OF_THE_REQUEST:
            break
    return ask.key, outcome


def verdict_of(order: Order, key: str, judged: Judged) -> VerdictFound:
    """What a judge said of the first and the second, said of left and right. scores: "left" and "right" to the
    criteria's names to numbers, and under "absent" why others were not taken, where some were not; None when there are
    none.
    """
    sides = SIDES[order]
    scores: dict[str, Any] = {sides[side]: dict(given) for side, given in (judged.scores or {}).items()}
    if judged.absent:
        scores = {"left": {}, "right": {}, **scores, "absent": list(judged.absent)}
    return VerdictFound(
        order=order,
        key=key,
        winner=sides[judged.winner] if judged.winner else "",
        scores=scores or None,
        confidence=judged.confidence,
        rationale=judged.rationale,
        unread_reason=judged.unread_reason[:LONGEST_REASON],
    )


class Result(NamedTuple):
    """winner: "" when the battle stays open, and `open_reason` says why. is_consistent: None as long as it is open."""

    winner: Winner
    is_consistent: bool | None
    open_reason: str = ""


def combined(verdicts: Sequence[VerdictFound]) -> Result:
    """Two verdicts on a pair, one in each order, become the battle's result."""
    by_order = {verdict.order: verdict for verdict in verdicts}
    if all(order in by_order and by_order[order].winner for order in ORDERS):
        winners = {verdict.winner for verdict in verdicts}
        return Result(winners.pop(), is_consistent=True) if len(winners) == 1 else Result("tie", is_consistent=False)
    reasons = {order: one.unread_reason for order, one in by_order.items() if not one.winner}
    if len(set(reasons.values())) == 1:
        return Result("", None, next(iter(reasons.values())))
    return Result("", None, " ".join(f"{SHOWN[order].capitalize()}: {_cut(why)}" for order, why in reasons.items()))


def _cut(reason: str) -> str:
    return reason if len(reason) <= LONGEST_OF_TWO else f"{reason[: LONGEST_OF_TWO - 1]}…"
