"""The battles of a run: several lanes take them one after the other, and every battle is judged in both orders."""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Any

from experiments.workflows.base.records import Record
from experiments.workflows.base.steps import Cast, End, Play
from experiments.workflows.battles.asking import Bench, Question, judged
from experiments.workflows.battles.breaker import Breaker
from experiments.workflows.battles.combining import ORDERS, Order, Verdict, combined, verdict_of
from experiments.workflows.battles.config import JUDGES, MIRRORS, Config, Task
from experiments.workflows.battles.judged import Shown
from experiments.workflows.battles.prompts import PROMPTS, Known
from experiments.workflows.battles.records import BattleJudged


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
class Court:
    """What all battles of a run share: who judges, who answers for the first judge, and who was given up."""

    config: Config
    cast: Cast
    prompt: Known
    judges: tuple[str, ...]
    bench: Bench
    breakers: dict[str, Breaker] = field(default_factory=dict)

    def battles(self) -> Iterator[Battle]:
        """What is left to be judged by those who have not been given up, looked at as late as possible."""
        pairs = ((task, seat) for task in self.config.tasks for seat in self.judges if seat in (task.seats or JUDGES))
        for number, (task, seat) in enumerate(pairs):
            if not self.breakers[seat].is_broken:
                yield Battle(number, seat, task)

    def end(self) -> End:
        broken = [breaker.message(self._called(seat)) for seat, breaker in self.breakers.items() if breaker.is_broken]
        return End("judge_failed", failed=True, message="\n".join(broken)) if broken else End("completed")

    def _called(self, seat: str) -> str:
        names = self.cast.seats[seat].called if seat in self.cast.seats else ()
        return f"The judge {names[0]}" if names else f"The judge in the seat {seat}"


def run(config: Config, cast: Cast) -> Play:
    """The battles of `config.tasks`. Ends as failed when a judge had to be given up, or the prompt was changed."""
    if config.outdated:
        return End("prompt_changed", failed=True, message=config.outdated)
    judges = tuple(seat for seat in JUDGES if seat in cast.seats)
    bench = Bench(("judge", *(seat for seat in MIRRORS if seat in cast.seats)))
    court = Court(config, cast, PROMPTS[config.prompt], judges, bench, {seat: Breaker() for seat in judges})
    battles = court.battles()
    yield [_lane(court, battles) for _lane_number in range(config.side_by_side)]
    return court.end()


def _lane(court: Court, battles: Iterator[Battle]) -> Generator[Any, Any, None]:
    for battle in battles:
        yield from _judge(court, battle)


def _judge(court: Court, battle: Battle) -> Generator[Any, Any, None]:
    verdicts: list[Verdict] = []
    if court.config.calls == "parallel":
        verdicts = yield [_verdict(court, battle, order) for order in ORDERS]
    else:
        for order in ORDERS:
            verdicts.append((yield from _verdict(court, battle, order)))
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
        verdicts=[verdict.found for verdict in verdicts],
    )
    yield Record(battle.key, found)


def _verdict(court: Court, battle: Battle, order: Order) -> Generator[Any, Any, Verdict]:
    first, second = battle.task.left, battle.task.right
    if order == "swapped":
        first, second = second, first
    key = f"{battle.key}/{order}"
    question = Question(
        key=key,
        seat=battle.seat,
        shown=Shown(battle.task.sample, first, second, court.cast.fence(key)),
        prompt=court.prompt,
        version=court.config.prompt_version,
        attempts=1 + court.config.attempts,
    )
    endpoints = court.bench.line_up(battle.number) if battle.seat == "judge" else (battle.seat,)
    answer = yield from judged(question, endpoints, court.bench, court.breakers[battle.seat])
    return verdict_of(order, answer.key, answer.judged)
